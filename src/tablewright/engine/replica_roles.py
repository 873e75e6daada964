"""Who may write: one region at a time, if that is wanted, and never two that both believe it is theirs for long.

By default every replica takes writes. Once a region was promoted it is the writer: the others refuse clients' writes
and take over changes from the writer only. Promoting another region raises the epoch; who hears of a higher epoch
stops writing at once and for good, and what was written under an old epoch and had not been read is not taken over
any more. A region that so lost writes nobody else has is *held*: it follows nobody until somebody has looked at the
differences and had it mirror the writer. Who has lost nothing is let go by itself.
Must hold: (epoch, writer) only grows; a region becomes the writer by itself only when those who could write yield to it
and everything they wrote has been read.
Elsewhere: what was lost (replica_succession.py), the commands in their order (replica_control.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.replica_group import (
    Copying,
    Group,
    Role,
    Takeover,
    copying_from,
    line_from,
    role_of,
)
from tablewright.engine.replica_succession import Line, is_left, lengthened, missed, outlived
from tablewright.engine.replicas import has_given_up
from tablewright.engine.shapes import Request
from tablewright.engine.storage_replicas import vector
from tablewright.engine.storage_rows import Rows
from tablewright.engine.writing import Writing

Vector = Mapping[str, int]
# Who has heard of a new writer and not from it yet does not know whose word counts.
NOBODY: tuple[str, ...] = ()


def with_heard(rows: Rows, table: Table, group: Group, by: str, said: Request) -> Group:
    """The group after a region said, asking or answering, who the writer is and which takeovers it has followed."""
    group = with_heard_role(group, said["Epoch"], said["Writer"])
    if said["Held"] or role_of(said["Epoch"], said["Writer"]) != group.role:
        return group
    line = line_from(said["Line"]) if "Line" in said else None
    since = role_of(*said["Since"])
    return _with_heard_line(
        group, by, since, line, said["Vector"], lambda left: has_given_up(rows, table, left)
    )


def with_heard_role(group: Group, epoch: int, writer: str | None) -> Group:
    """The group after some region said who the writer is. What is being copied is copied from that one then."""
    # One that names us yields to us: we take over when all of it was read (with_yielded).
    if role_of(epoch, writer) <= group.role or writer == group.region:
        return group
    # Until somebody who has followed the takeovers we missed has spoken, nobody knows whether we have what was given up
    # on the way. It is the writer of the epoch before who lets all write: who has followed that one has missed none.
    has_followed = writer is None and group.since[0] == epoch - 1
    copying = group.copying
    if copying is not None and writer is not None and copying.source != writer:
        copying = copying.anew(writer)  # its source may be gone, or be left behind itself
    return replace(
        group,
        epoch=epoch,
        writer=writer,
        held=group.held if has_followed else {},
        drained=(),
        copying=copying,
        voters=NOBODY,
    )


def _with_heard_line(
    group: Group,
    by: str,
    since: Role,
    line: Line | None,
    theirs: Vector,
    has_given_up: Callable[[Vector], bool],
) -> Group:
    """The group after one that is not held itself, and names the same writer, said which takeovers it has followed.

    `since` is the last of them, `line` all if they were told, `theirs` how far it has read everybody by now;
    `has_given_up` says whether something here is later than such numbers.
    """
    is_its_word = group.writer is None or by == group.writer
    if not is_its_word or by == group.region or (group.held is None and since <= group.since):
        return group
    if group.copying is not None:
        return group  # what is still to come may not have come along
    if since == group.since and group.writer is None:
        return group if group.held else replace(group, held=None)  # what was given up, it may have too
    if since == group.since:
        # A writer whose store is from before takeovers were noted has read of the others what it had read then.
        is_noted = since == group.role
        return replace(group, held=None if is_noted or not has_given_up(theirs) else theirs)
    if line is None:
        return group
    left = outlived(missed(group.line, line))
    if has_given_up(left):
        return replace(group, held=left)
    followed = replace(group, line=line, held=None)
    if is_left(group.line, line):
        why = f"it copies {by} anew: it had given up what counts there"
        return copying_from(followed, Copying(by), why)
    return followed


def with_heard_voters(group: Group, epoch: int, writer: str | None, by: str, theirs: Sequence[str]) -> Group:
    """The group after region `by` said whose word counts: the writer tells; whom it hears from, it counts."""
    if group.writer is None or role_of(epoch, writer) != group.role:
        return group
    if by == group.writer:
        return replace(group, voters=tuple(theirs))
    if group.writer == group.region and group.voters is not None and by not in group.voters:
        return replace(group, voters=tuple(sorted({*group.voters, by})))
    return group


def yields_to_us(group: Group, epoch: int, writer: str | None, by: str) -> bool:
    """Whether region `by`, which could write until now, says that we are the writer."""
    is_newer = role_of(epoch, writer) > group.role
    is_whole = group.held is None and group.copying is None
    return is_newer and writer == group.region and group.writer in (None, by) and is_whole


def with_yielded(group: Group, epoch: int, by: str, mine: Vector) -> Group:
    """The group when all of a region that yields to us was read: we are the writer when that was the last one."""
    drained = {by, *(one for one in group.drained if group.has_drained(one, epoch))}
    needed = {one.region for one in group.readers} if group.writer is None else {group.writer}
    if needed <= drained:
        return _taking_over(group, epoch, mine)
    return replace(group, drained=tuple(sorted(drained)), draining=epoch)


def _taking_over(group: Group, epoch: int, mine: Vector) -> Group:
    line = lengthened(group.line, Takeover(epoch, group.region, mine))
    return replace(group, epoch=epoch, writer=group.region, line=line, held=None, drained=())


# --- what an operator asks for ---


def promote(
    writing: Writing,
    table: Table,
    epoch: int,
    agreeing: Sequence[str] | None = None,
    *,
    although_held: bool = False,
) -> None:
    """Make this region the writer, whoever was it before. `epoch` is the one that was looked at.

    Where writers need a lease, those who agree and nobody else have a say in it, until others come back. One that is
    held goes on where it was left behind: what the writer it did not follow wrote is then what was given up.
    """
    group = _looked_at(table, epoch)
    _refuse_copying(table, group)
    if group.held is not None and not although_held:
        raise _is_held(table, group)
    _take_over(writing, table, group.epoch + 1, agreeing)


def _take_over(writing: Writing, table: Table, epoch: int, agreeing: Sequence[str] | None) -> None:
    group = _taking_over(_group(table), epoch, vector(writing.rows, table.number))
    voters = None if agreeing is None else tuple(sorted({group.region, *agreeing}))
    writing.save_table(replace(table, replicas=replace(group, voters=voters)))


def give_way(writing: Writing, table: Table, epoch: int, writer: str, seen: int | None = None) -> None:
    """Stop writing in favour of another region, which takes over when it has read everything.

    With `seen`, only if that is still the epoch, and another region's: to give up what was handed to us and is not yet
    ours.
    """
    group = _group(table)
    if role_of(epoch, writer) == group.role:
        return
    if seen is not None and (group.epoch != seen or group.writer == group.region):
        raise _changed_since(table, group)
    if epoch <= group.epoch:
        raise _changed_since(table, group)
    if group.writer is None and group.held is not None:
        raise _is_held(table, group)
    to = group.member(writer)
    if to is not None and to.is_gone:
        raise invalid(f"{writer} is being taken away from the replicas of {table.name}")
    # Until the new writer has told that it has read everything, nobody knows whether we are the same.
    writing.save_table(
        replace(
            table,
            replicas=replace(group, epoch=epoch, writer=writer, held={}, drained=(), voters=NOBODY),
        )
    )


def take_back(
    writing: Writing, table: Table, epoch: int, new_epoch: int, agreeing: Sequence[str] | None
) -> None:
    """Be the writer again, after giving way to a region that did not take over and has promised that it will not."""
    group = _group(table)
    if group.role == role_of(new_epoch, group.region):
        return
    if _looked_at(table, epoch).writer in (None, group.region) or new_epoch <= epoch:
        raise _changed_since(table, group)
    _refuse_copying(table, group)
    _take_over(writing, table, new_epoch, agreeing)


def release(writing: Writing, table: Table, epoch: int) -> None:
    """Let every replica take writes again."""
    group = _looked_at(table, epoch)
    if group.writer != group.region:
        raise invalid(f"{table.name}: {group.region} is not its writer; ask {group.writer}")
    group = replace(group, epoch=group.epoch + 1, writer=None, voters=None)
    writing.save_table(replace(table, replicas=group))


def rejoin(writing: Writing, table: Table, epoch: int) -> None:
    """Mirror the writer, or if all write one that is not held: what only this region has is given up."""
    group = _looked_at(table, epoch)
    others = [one.region for one in group.readers] if group.held is not None else []
    sources = others if group.writer is None else [group.writer]
    if not sources or group.writer == group.region:
        raise invalid(f"{table.name} in {group.region} has no other writer to mirror")
    group = copying_from(group, Copying(sources[0], is_mirror=True), f"it mirrors {sources[0]}")
    writing.save_table(replace(table, replicas=group))


def _group(table: Table) -> Group:
    if table.replicas is None:
        raise invalid(f"{table.name} has no replicas")
    return table.replicas


def _looked_at(table: Table, epoch: int) -> Group:
    group = _group(table)
    if group.epoch != epoch:
        raise _changed_since(table, group)
    return group


def _refuse_copying(table: Table, group: Group) -> None:
    if table.status != "ACTIVE" or group.copying is not None:
        raise invalid(f"{table.name} is still being copied in {group.region}; wait until it is ACTIVE")


def _is_held(table: Table, group: Group) -> ServiceError:
    return invalid(
        f"{table.name} in {group.region} has writes {_whose(group)} not have; compare them, then let {group.region} "
        "rejoin"
    )


def _whose(group: Group) -> str:
    return "the others do" if group.writer is None else f"the writer {group.writer} does"


def _changed_since(table: Table, group: Group) -> ServiceError:
    return invalid(
        f"{table.name} is at epoch {group.epoch} in {group.region}, its writer is {group.writer or 'everyone'}: "
        "that has changed since you looked; look again"
    )
