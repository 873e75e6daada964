"""The table is the document's: its keys, what is in which index, what expires, and older forms that are still read."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from tests.systems.travel.talk import ANNA, Gadget, Place

from tablewright.design import Get, Query
from tablewright.design.check import findings
from tablewright.mapping import Outdated
from tablewright.systems.travel import design as d
from tablewright.systems.travel.design import TRAVEL
from tablewright.systems.travel.model import Stored

# A.0, as it is written there.
KEYS = {
    "profile": ("USER#{user_id}", "PROFILE"),
    "identity": ("AUTH#{provider}#{provider_id}", "IDENTITY"),
    "email_identity": ("EMAIL#{email_hmac}", "IDENTITY"),
    "visit": ("USER#{user_id}", "VISIT#{region_type}#{region_code}"),
    "operation": ("SYNC#{user_id}", "OP#{timestamp_ms:13}#{operation_id}"),
    "operation_receipt": ("SYNC#{user_id}", "OPID#{operation_id}"),
    "change": ("SYNC#{user_id}", "CHG#{server_version:12}"),
    "sync_head": ("SYNC#{user_id}", "HEAD"),
    "region": ("GEO#{region_type}", "REGION#{region_code}"),
    "region_cell": ("GEO#{region_type}", "CELL#{bbox_key}#{region_code}"),
    "region_alias": ("GEO#{region_type}", "ALIAS#{token}#{region_code}"),
    "statistic": ("USER#{user_id}", "STATS#{calculation_date}"),
    "session": ("USER#{user_id}", "SESSION#{session_id}"),
    "device": ("USER#{user_id}", "DEVICE#{device_id}"),
}
# Kept for so long after the field.
KEPT = {
    "visit": ("deleted_at", 180),
    "operation": ("server_timestamp", 30),
    "operation_receipt": ("done_at", 30),
    "change": ("changed_at", 30),
    "statistic": ("calculated_at", 7),
    "session": ("last_seen_at", 90),
}
# By the number of the document: what is asked, at which index, and the key that is looked at there.
PATTERNS: dict[int, tuple[Get[Any] | Query[Any], str | None, str, str]] = {
    6: (d.profile_by_id(user_id="u"), None, "USER#u", "PROFILE"),
    7: (d.profiles_by_login(provider="apple", provider_id="001"), "GSI1", "AUTH#apple#001", ""),
    8: (d.profiles_by_email(email_hmac="1.ab"), "GSI2", "EMAIL#1.ab", ""),
    11: (d.visits_of(user_id="u"), None, "USER#u", "VISIT#"),
    12: (d.visits_of_type(user_id="u", region_type="us_state"), "GSI2", "USER#u#us_state", "VISIT#"),
    13: (d.visitors_of(region_type="country", region_code="FR"), "GSI1", "REGION#country#FR#00", "VISIT#"),
    14: (d.visits_of_type(user_id="u", region_type="country"), "GSI2", "USER#u#country", "VISIT#"),
    17: (d.operations_of(user_id="u"), None, "SYNC#u", "OP#"),
    18: (d.operations_by_status(status="conflict"), "GSI1", "SYNC_STATUS#conflict#00", "TIMESTAMP#"),
    19: (d.operations_of_device(user_id="u", device_id="p"), "GSI2", "USER#u#DEVICE#p", "OP#"),
    23: (d.region_by_code(region_type="country", region_code="FR"), None, "GEO#country", "REGION#FR"),
    24: (d.regions_named(region_type="country", first="a", last="b"), "GSI1", "SEARCH#country", "NAME#a"),
    25: (d.regions_in_cell(bbox_key="r01c02"), "GSI2", "BOUNDS#r01c02", "REGION#"),
}
NEWEST_FIRST = (12, 13, 14, 17, 19)


def test_the_design_keeps_every_rule() -> None:
    assert findings(TRAVEL) == []


@pytest.mark.parametrize("tag", KEYS)
def test_an_entity_lies_where_the_document_says(tag: str) -> None:
    shape = TRAVEL.shape(tag)
    assert shape.sk is not None
    assert (shape.pk.text, shape.sk.text) == KEYS[tag]


@pytest.mark.parametrize("tag", KEPT)
def test_what_expires_does_so_when_the_document_says(tag: str) -> None:
    expires = TRAVEL.shape(tag).expires
    assert expires is not None
    assert (expires.field, expires.after) == (KEPT[tag][0], timedelta(days=KEPT[tag][1]))


@pytest.mark.parametrize("tag", ["profile", "identity", "email_identity", "sync_head", "region", "device"])
def test_what_an_account_rests_on_never_expires(tag: str) -> None:
    assert TRAVEL.shape(tag).expires is None


@pytest.mark.parametrize("number", PATTERNS)
def test_every_access_pattern_of_the_document_asks_for_the_key_it_says(at: Place, number: int) -> None:
    wanted, index, partition, sort = PATTERNS[number]
    (verb, request), *_ = at.db.explain(wanted).calls
    assert request.get("IndexName") == index
    asked = request["Key"] if verb == "GetItem" else request["ExpressionAttributeValues"]
    first, *rest = [value["S"] for value in asked.values() if "S" in value]
    assert (first, (rest or [""])[0]) == (partition, sort)
    assert request.get("ScanIndexForward", True) == (number not in NEWEST_FIRST)
    assert re.search(rf"\bSK-{number}\b", next(it.about for it in TRAVEL.plans if it.name == wanted.name))


def test_there_is_one_table_with_two_indexes_named_by_the_environment() -> None:
    (table,) = TRAVEL.tables.values()
    assert (table.pk, table.sk, table.ttl) == ("PK", "SK", "ttl")
    assert [(index.name, index.pk, index.sk, index.project) for index in TRAVEL.indexes] == [
        ("GSI1", ("GSI1PK",), ("GSI1SK",), "ALL"),
        ("GSI2", ("GSI2PK",), ("GSI2SK",), "ALL"),
    ]
    assert TRAVEL.environments["prod"].physical(table.name) == "skratch-data-prod"


def test_every_entity_has_a_number_of_its_form_and_says_what_it_is() -> None:
    for shape in TRAVEL.shapes:
        assert issubclass(shape.model, Stored)
        assert shape.schema is not None
        assert shape.model.model_fields["schema_version"].default == shape.schema.version
        assert shape.derived["item_type"] == shape.tag


def test_every_item_of_a_day_says_what_it_is_and_which_form_it_has(at: Place, phone: Gadget) -> None:
    phone.mark(("us_state", "US-NY"), notes="x")
    phone.push()
    phone.pull()
    at.travel.statistics.of(ANNA)
    kinds = {item["item_type"]["S"]: int(item["schema_version"]["N"]) for item in at.items()}
    assert kinds == {
        "profile": 1,
        "identity": 1,
        "device": 1,
        "sync_head": 1,
        "visit": 2,
        "operation": 1,
        "operation_receipt": 1,
        "change": 1,
        "statistic": 1,
    }


def test_only_what_waits_for_somebody_is_in_the_list_of_statuses(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.mark(("country", "ZZ"))
    phone.push()
    listed = {
        item["status"]["S"]: item.get("GSI1PK", {}).get("S")
        for item in at.items()
        if item["item_type"]["S"] == "operation"
    }
    assert listed["processed"] is None
    assert (listed["failed"] or "").startswith("SYNC_STATUS#failed#")
    (failed,) = at.db.all(d.operations_by_status(status="failed"))
    assert failed.processing_error == "UNKNOWN_REGION"
    (first, second) = at.db.all(d.operations_of_device(user_id=ANNA, device_id="phone"))
    assert {first.status, second.status} == {"processed", "failed"}


# --- older forms ---


def as_form_1(at: Place) -> dict[str, Any]:
    """France as the first form had it: the edit lies beside the fields, in a map."""
    (item,) = [item for item in at.items() if item["SK"]["S"] == "VISIT#country#FR"]
    later = ("schema_version", "notes", "stamps", "trips", "server_version")
    old = {name: value for name, value in item.items() if name not in later}
    old["entity_data"] = {"M": {"notes": {"S": "from the map"}, "visited_date": {"S": "2024"}}}
    at.call("PutItem", {"TableName": at.db.physical(d.table.table.name), "Item": old})
    return old


def test_a_visit_of_the_first_form_is_read_as_one_of_today(at: Place, phone: Gadget, tablet: Gadget) -> None:
    phone.mark()
    phone.push()
    as_form_1(at)
    visit = at.travel.visits.one(ANNA, "country", "FR")
    assert (visit.notes, visit.visited_date, visit.schema_version) == ("from the map", "2024", 1)
    tablet.pull()
    assert tablet.places()["country#FR"]["notes"] == "from the map"


def test_a_visit_of_the_first_form_has_todays_once_it_is_written(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    as_form_1(at)
    phone.change(visited_date="2025")
    assert phone.push()[0].status == "applied"
    (item,) = [item for item in at.items() if item["SK"]["S"] == "VISIT#country#FR"]
    assert "entity_data" not in item
    assert (item["schema_version"], item["notes"], item["visited_date"]) == (
        {"N": "2"},
        {"S": "from the map"},
        {"S": "2025"},
    )


def test_a_tombstone_of_the_first_form_can_be_marked_anew(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    at.travel.visits.unmark(ANNA, "country", "FR")
    as_form_1(at)
    assert at.travel.visits.mark(ANNA, "country", "FR").status == "applied"
    assert at.travel.visits.one(ANNA, "country", "FR").notes is None


def test_what_others_did_to_a_visit_of_the_first_form_is_not_overwritten_unseen(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    phone.push()
    tablet.pull()
    at.travel.visits.mark(ANNA, "country", "FR", {"visited_date": "2020"})
    as_form_1(at)
    tablet.change(visited_date="2011")
    (result,) = tablet.push()
    assert result.status == "conflict"
    assert [(clash.server, clash.client) for clash in result.conflicts] == [("2024", "2011")]
    assert at.travel.visits.one(ANNA, "country", "FR").visited_date == "2024"


def test_single_fields_of_a_visit_of_the_first_form_cannot_be_changed(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    as_form_1(at)
    with pytest.raises(Outdated):
        at.db.write(d.visits.update(ANNA, "country", "FR").at(lambda visit: visit.notes).set("half"))
