"""Which tables of a source are those of a design, and how the design calls them. Pure.

A deployment has tables beside those of its designs: receipts, and the positions of stream consumers. Tablewright makes
them wherever a design runs, so an import leaves them out. Where the names of all tables end in the same `-prod`, that
is the environment, and the design has the names without it.
Must hold: the names in the environment that is made are those of the source.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from tablewright.mapping.consumer.design import stream_consumers
from tablewright.mapping.deploy.states import Key
from tablewright.mapping.formats.imported_tables import ImportedTable
from tablewright.mapping.receipts import TABLE as RECEIPTS

# With one table, an end is an environment only if it is called as one: `campus-cloud` is a name.
_USUAL = frozenset(
    (
        "dev", "development", "test", "testing", "qa", "uat", "int", "integration", "stage", "staging", "preprod",
        "prod", "production", "live", "sandbox", "demo", "local",
    )
)  # fmt: skip
_TAGS = ("environment", "env", "stage")
_END = re.compile(r".+-([A-Za-z][A-Za-z0-9]*)")


def own_tables(tables: Sequence[ImportedTable]) -> tuple[list[ImportedTable], list[str]]:
    """The tables without those that Tablewright makes beside them, and a note on each of these; all, if no other is
    there."""
    own = [table for table in tables if not _is_beside(table)]
    if not own:
        return list(tables), []
    return own, [
        f"{table.state.name}: left out; Tablewright makes it beside the tables of a design."
        for table in tables
        if table not in own
    ]


def _is_beside(table: ImportedTable) -> bool:
    names = re.split(r"[-.]", table.state.name)
    (consumers,) = stream_consumers.tables.values()
    return any(
        each.name in names
        and _key(each.pk, each.sk) == table.state.key
        and table.state.ttl in (None, each.ttl)
        for each in (RECEIPTS, consumers)
    )


def _key(pk: str, sk: str | None) -> Key:
    return ((pk, "HASH"), *(((sk, "RANGE"),) if sk else ()))


def environment_in(tables: Sequence[ImportedTable]) -> str:
    """The environment in which all names end, `prod` of `shop-prod`; empty if they do not end alike."""
    ends = {found[1] if (found := _END.fullmatch(table.state.name)) else "" for table in tables}
    if len(ends) != 1:
        return ""
    (end,) = ends
    tagged = {value for table in tables for name, value in table.state.tags.items() if name.lower() in _TAGS}
    return end if len(tables) > 1 or end.lower() in _USUAL or end in tagged else ""


def without(environment: str, table: ImportedTable) -> ImportedTable:
    """The table by its name in the design."""
    if not environment:
        return table
    return replace(table, state=replace(table.state, name=table.state.name.removesuffix(f"-{environment}")))
