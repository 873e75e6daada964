"""How a region copies a table from another, page by page: when it joins, was away too long, or mirrors the writer.

Must hold: a page and how far it goes are one commit; who copies takes on the line of its source as it goes.
Elsewhere: what is told (replica_telling.py), what a page changes here (replicas.py), following after it
(replica_pulls.py).
"""

from dataclasses import replace

from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import ServiceError
from tablewright.engine.replica_group import Copying, line_from, role_of
from tablewright.engine.replica_lines import Ask
from tablewright.engine.replica_succession import Line, missed, outlived
from tablewright.engine.replicas import Arrived, has_given_up, take_page
from tablewright.engine.shapes import Request
from tablewright.engine.storage_replicas import Stamp
from tablewright.engine.writing import Reading, Writing


def copies_from(reading: Reading, region: str) -> list[Table]:
    return [
        table
        for table in reading.tables.values()
        if table.replicas is not None
        and table.replicas.copying is not None
        and table.replicas.copying.source == region
    ]


def copy_some(doors: Doors, region: str, table: Table, ask: Ask) -> bool:
    group = table.replicas
    if group is None or group.copying is None:
        return False
    try:
        page = ask("PeerItems", {"Table": table.name, "Group": group.id, "After": group.copying.after})
    except ServiceError as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        return False  # it was dropped there: following it will find that out
    if page["Held"] and group.copying.is_mirror and group.writer is None:
        return doors.write(lambda writing: _ask_another(writing, table.name, region))
    return doors.write(lambda writing: _take_page(writing, table.name, region, group.copying, page))


def _ask_another(writing: Writing, name: str, region: str) -> bool:
    """Mirror the next of the replicas instead: that one was left behind itself."""
    table = writing.tables.get(name)
    group = None if table is None else table.replicas
    if table is None or group is None or group.copying is None or group.copying.source != region:
        return False
    others = [one.region for one in group.readers]
    later = [*others[others.index(region) + 1 :], *others] if region in others else others
    if not later or later[0] == region:
        return False
    copying = replace(group.copying, source=later[0], after="", start=None)
    writing.save_table(replace(table, replicas=replace(group, copying=copying)))
    return True


def _take_page(writing: Writing, name: str, region: str, asked: Copying | None, page: Request) -> bool:
    table = writing.tables.get(name)
    group = None if table is None else table.replicas
    if table is None or group is None or group.copying is None or group.copying != asked:
        return False  # meanwhile it was dropped, or has come further
    copying = group.copying
    if copying.start is None:
        copying = replace(
            copying, start=page["Vector"], line=line_from(page["Line"]), role=role_of(*page["Role"])
        )
        table = replace(table, replicas=replace(group, copying=copying))
    if not copying.is_mirror and not page["Held"]:
        table = _on_line_of(writing, table, line_from(page["Line"]))
    keys = [
        Arrived(bytes.fromhex(key), item, None if stamp is None else Stamp(*stamp))
        for key, item, stamp in page["Items"]
    ]
    last = page["Last"]
    writing.save_table(take_page(writing, table, keys, None if last is None else bytes.fromhex(last)))
    return True


def _on_line_of(writing: Writing, table: Table, line: Line) -> Table:
    """The table on the line its source follows by now, unless something was copied that was given up on it."""
    group = table.replicas
    later = () if group is None else missed(group.line, line)
    if group is None or not later or has_given_up(writing.rows, table, outlived(later)):
        return table
    return replace(table, replicas=replace(group, line=line))
