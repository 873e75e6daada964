"""How a region copies a table from another, page by page: when it joins, was away too long, or mirrors the writer.

Must hold: a page and how far it goes are one commit; who copies takes on the line of its source as it goes, and begins
anew where that has gone over to another.
Elsewhere: what is told (replica_telling.py), what a page changes here (replicas.py), following after it
(replica_pulls.py).
"""

from dataclasses import replace

from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import ServiceError
from tablewright.engine.replica_group import Copying, Group, line_from, role_of
from tablewright.engine.replica_lines import Ask
from tablewright.engine.replica_roles import with_heard_role
from tablewright.engine.replica_succession import Line, is_left, missed, outlived
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
    if group.copying.is_mirror and group.writer is None and not _is_whole(page, group.region):
        doors.write(lambda writing: _ask_another(writing, table.name, region))
        return False  # nothing has come of it: where none of them is whole they are not asked without a pause
    return doors.write(lambda writing: _take_page(writing, table.name, region, group.copying, page))


def _is_whole(page: Request, reader: str) -> bool:
    """Whether a region was not left behind itself, and has what came along of ours when its last writer took over.

    When all write again it may still have to read that; from us, who would have it no longer.
    """
    line = line_from(page["Line"])
    came_along = line[-1].known.get(reader, 0) if line else 0
    return not page["Held"] and page["Vector"].get(reader, 0) >= came_along


def _ask_another(writing: Writing, name: str, region: str) -> None:
    """Mirror the next of the replicas instead: that one is not whole itself."""
    table = writing.tables.get(name)
    group = None if table is None else table.replicas
    if table is None or group is None or group.copying is None or group.copying.source != region:
        return
    others = [one.region for one in group.readers]
    later = [*others[others.index(region) + 1 :], *others] if region in others else others
    if later and later[0] != region:
        group = replace(group, copying=group.copying.anew(later[0]))
        writing.save_table(replace(table, replicas=group))


def _take_page(writing: Writing, name: str, region: str, asked: Copying | None, page: Request) -> bool:
    table = writing.tables.get(name)
    group = None if table is None else table.replicas
    if table is None or group is None or group.copying is None or group.copying != asked:
        return False  # meanwhile it was dropped, or has come further
    copying, line, role = group.copying, line_from(page["Line"]), role_of(*page["Role"])
    if copying.start is None:
        copying = replace(copying, start=page["Vector"], line=line, role=role)
    group = with_heard_role(replace(group, copying=copying), role[0], role[1] or None)
    if group.copying == copying:
        group = _with_source_on(writing, table, group, copying, None if page["Held"] else line)
    table = replace(table, replicas=group)
    if group.copying != copying:  # it begins anew
        writing.save_table(table)
        return True
    keys = [
        Arrived(bytes.fromhex(key), item, None if stamp is None else Stamp(*stamp))
        for key, item, stamp in page["Items"]
    ]
    last = page["Last"]
    upto = None if last is None else bytes.fromhex(last)
    writing.save_table(take_page(writing, table, keys, upto, page["Pruned"]))
    return True


def _with_source_on(
    writing: Writing, table: Table, group: Group, copying: Copying, line: Line | None
) -> Group:
    """The group when its source is on that line by now (None: on none).

    A mirror is of one line. Else it is taken on, unless something was copied that was given up on it.
    """
    anew = replace(group, copying=copying.anew(copying.source))
    if copying.is_mirror:
        return group if line in (None, copying.line) else anew
    later = () if line is None else missed(group.line, line)
    if line is None or not later or has_given_up(writing.rows, table, outlived(later)):
        return group
    # On another line the pages so far may lack what had been given up, and counts there.
    return replace(anew if is_left(group.line, line) else group, line=line)
