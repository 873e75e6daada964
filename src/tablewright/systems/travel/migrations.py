"""The migrations of Skratch's table: each a new form beside the old one, with a way back for thirty days (SK-33).

Visits of form 1 kept an edit as a map beside the fields it was about; form 2 has the fields, and stamps that say which
change set which. Reading one as the other is the design's (`Schema`); here every item is written whole in the newer
form, with its index keys, into a table of its own, and changes are written back in the older.
Must hold: items that are not visits are copied unchanged. Elsewhere: how it is done (mapping/migrate).

Form 1 has no `stamps`, so these are left out. After a rollback all fields of a visit that was changed
in form 2 are treated as set by its last change, so that a device with an older version gets a conflict and does not
overwrite anything. Trips are kept as an attribute that programs of form 1 ignore.
"""

from typing import Any, TypeAlias

from tablewright.mapping.items import item_of, model_of
from tablewright.mapping.migrate import Migration, TableVersion
from tablewright.systems.travel.design import TRAVEL
from tablewright.systems.travel.design import table as skratch
from tablewright.systems.travel.design import visits as visited

Item: TypeAlias = dict[str, Any]

FORM_1_EDITS = ("notes", "visited_date")


def visits_to_2(item: Item) -> tuple[Item, ...]:
    """A visit of form 1 whole in form 2; everything else, and what is in form 2 already, as it is."""
    if not visited.shape.recognises(item) or item.get("schema_version") == {"N": "2"}:
        return (item,)
    return (item_of(visited.shape, model_of(visited.shape, item)),)


def visits_to_1(item: Item) -> tuple[Item, ...]:
    """A visit as form 1 had it: the edit as a map beside the fields, and no stamps."""
    if not visited.shape.recognises(item) or item.get("schema_version") != {"N": "2"}:
        return (item,)
    edit = {name: item[name] for name in FORM_1_EDITS if name in item}
    kept = {name: value for name, value in item.items() if name != "stamps"}
    return ({**kept, "schema_version": {"N": "1"}, "entity_data": {"M": edit}},)


VISITS_2 = Migration(
    "skratch-visits-2",
    TableVersion(TRAVEL, skratch.table, older={"visit": frozenset(("entity_data",))}),
    TableVersion(TRAVEL, skratch.table, name="skratch-data-2"),
    visits_to_2,
    visits_to_1,
    about="Visits of form 1 become form 2, in a table of their own.",
)
MIGRATIONS = (VISITS_2,)
