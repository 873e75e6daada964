"""Which places a traveller has marked, and who has been to a place (SK-11 to SK-14)."""

from typing import Any

from tablewright.design import Data, Expires, Keys, Load, Retention, Schema, begins
from tablewright.systems.travel.design.base import TOMBSTONES_KEPT, TRAVEL, gsi1, gsi2, table
from tablewright.systems.travel.model import RegionType, Value, Visit
from tablewright.systems.travel.sync.merge import WHOLE

__all__ = [
    "Visitor",
    "visitors_of",
    "visits",
    "visits_of",
    "visits_of_type",
]


def visit_key(user_id: str, region_type: RegionType, region_code: str) -> None: ...


_FIELDS_OF_FORM_1 = ("notes", "visited_date")


def _of_fields(item: dict[str, Any]) -> dict[str, Any]:
    """Form 1 kept an edit as a map beside the fields it was about (SK-D4): what it says are the fields.

    It had no stamps either. Any field may have been changed by the last edit, by whomever: who has seen an older
    version has not seen it.
    """
    edit = item.get("entity_data", {}).get("M", {})
    kept = {name: value for name, value in item.items() if name != "entity_data"}
    stamp = {"M": {"version": item.get("sync_version", {"N": "1"})}}
    stamps = {"stamps": {"M": dict.fromkeys((WHOLE, *_FIELDS_OF_FORM_1), stamp)}}
    return {**kept, **stamps, **{name: edit[name] for name in _FIELDS_OF_FORM_1 if name in edit}}


visits = table.entity(
    Visit,
    visit_key,
    tag="visit",
    pk="USER#{user_id}",
    sk="VISIT#{region_type}#{region_code}",
    on={
        gsi1: Keys(
            "REGION#{region_type}#{region_code}#{user_id:shard.16}{is_listed:when}",
            "VISIT#{timestamp_ms:13}#{user_id}{is_listed:when}",
        ),
        gsi2: Keys(
            "USER#{user_id}#{region_type}{is_deleted:unless}", "VISIT#{timestamp_ms:13}{is_deleted:unless}"
        ),
    },
    schema=Schema("schema_version", (_of_fields,)),
    expires=Expires("deleted_at", TOMBSTONES_KEPT),
    data={"notes": Data.PERSONAL, "visited_date": Data.PERSONAL, "trips": Data.PERSONAL},
    retention=Retention(None, "while the traveller wants it; a tombstone until every device has seen it"),
    # Of ten edits a day few mark a place for the first time: there are some 300 in all.
    load={
        "put": Load(
            per_month=300_000,
            item_bytes=700,
            transaction=True,
            changes=("notes", "visited_date", "trips"),
            new=0.01,
        )
    },
)


# --- access patterns ---


@TRAVEL.query(
    visits,
    pk="USER#{user_id}",
    sk=begins("VISIT#"),
    consistent=True,
    page=100,
    at_most=500,
    load=Load(per_month=300_000, items=40, item_bytes=700),
)
def visits_of(*, user_id: str) -> None:
    """SK-11: all visits, tombstones among them: the repository passes over those (SK-D35)."""


@TRAVEL.query(
    visits,
    on=gsi2,
    pk="USER#{user_id}#{region_type}",
    sk=begins("VISIT#"),
    descending=True,
    page=50,
    at_most=500,
    load=Load(per_month=300_000, items=20, item_bytes=700),
)
def visits_of_type(*, user_id: str, region_type: RegionType) -> None:
    """SK-12, SK-14: the visits of one type, those marked last first; no tombstones."""


class Visitor(Value):
    """A visit in the list of a region: the traveller and when it was marked (SK-D7). Others see only the count."""

    user_id: str
    timestamp_ms: int


@TRAVEL.query(
    visits.view(Visitor),
    on=gsi1,
    pk="REGION#{region_type}#{region_code}#{user_id:shard.16}",
    sk=begins("VISIT#"),
    descending=True,
    page=20,
    at_most=100,
    load=Load(per_month=10_000, items=20, item_bytes=700),
)
def visitors_of(*, region_type: RegionType, region_code: str) -> None:
    """SK-13: travellers who share a visit to a region, the latest first."""
