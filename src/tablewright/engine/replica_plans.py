"""What promoting a region would mean: who could write until now, what differs, and why it may take force.

Nothing is changed by looking. Elsewhere: doing it (replica_control.py), how things stand (replica_standings.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tablewright.engine.replica_lease import MARGIN, needed_for_promotion
from tablewright.engine.replica_lines import Ask, PeerUnreachable
from tablewright.engine.replica_standings import (
    Comparison,
    Pause,
    ReplicasMistake,
    Standing,
    compare,
    lines,
    standing,
    unread,
)

# How often one looks whether a region hears from another before that stops writing: some rounds of theirs.
LINE_LOOKS = 25


@dataclass(frozen=True, slots=True)
class Promotion:
    """What promoting a region would mean."""

    table: str
    region: str
    epoch: int
    writer: str | None
    # Regions that could write until now and do not answer: what they have and nobody has read stays with them.
    silent: Sequence[str] = ()
    # Those of them that answer, but have lost the table; and regions that have writes of theirs which this one has not.
    lost: Sequence[str] = ()
    ahead: Mapping[str, int] = field(default_factory=dict)
    comparisons: Sequence[Comparison] = field(default_factory=list)
    # The lease of a writer that does not answer, in seconds: it has to run out. And the regions beside this one that
    # agree to its promotion, which has to be so many.
    lease: float | None = None
    agreeing: Sequence[str] = ()
    needed: int = 1
    # Regions that could write until now and answer us, but not the region of this plan: it cannot read them to the end.
    unheard: Sequence[str] = ()
    # Regions that were left behind by an earlier promotion, while all write: they have what nobody else has.
    left_behind: Sequence[str] = ()
    # Whom the present writer has still to read before it takes over: what it lacks of that would stay there.
    unfinished: Sequence[str] = ()
    # The region itself was left behind when the present writer took over; those who answer and were not.
    is_held: bool = False
    whole: Sequence[str] = ()
    # The region gave way to the present writer, which has not taken over and has nothing of its own: it goes on.
    is_back: bool = False

    @property
    def obstacles(self) -> list[str]:
        """Why it takes force."""
        found = [
            f"{one} has no {self.table} any more: what {self.region} has not read of it is lost"
            if one in self.lost
            else f"{one} does not answer: what it has and {self.region} has not stays there"
            for one in self.silent
        ]
        if self.is_back:
            return []
        found += [
            f"{one} has {'1 write' if count == 1 else f'{count} writes'} that {self.region} has not, and would lose "
            "less if it were promoted"
            for one, count in self.ahead.items()
        ]
        if self.is_held:
            found.append(
                f"{self.region} was left behind when {self.writer or 'another region'} took over: what it has from "
                "before would count again"
            )
            found += [
                f"{one} was not left behind, and would lose less if it were promoted" for one in self.whole
            ]
        found += [
            f"{self.writer} has not read everything of {one} yet, which gave way to it: what it lacks would stay there"
            for one in self.unfinished
        ]
        found += [
            f"{self.region} does not hear from {one}: what it has not read yet would stay there"
            for one in self.unheard
        ]
        found += [
            f"{one} was left behind when another region took over, and has writes nobody else has: let it rejoin first"
            for one in self.left_behind
        ]
        found += [
            f"{one.count} of the items of {self.table} are not the same in {' and '.join(one.regions)}"
            for one in self.comparisons
            if not one.is_equal
        ]
        return found

    @property
    def is_alone(self) -> bool:
        """Whether nobody answers who could write until now: one that was left behind may be the last that there is."""
        return not self.comparisons

    @property
    def wait(self) -> float:
        """For how many seconds at most it waits for the lease of the writer."""
        return 0.0 if self.lease is None else self.lease * MARGIN


def promotion(asks: Mapping[str, Ask], region: str, table: str, pause: Pause = lambda: None) -> Promotion:
    """What promoting that region would mean; `asks` are the regions that can be asked."""
    now = standing(asks[region], table)
    if now.writer == region:
        raise ReplicasMistake(f"{region} is the writer of {table} already, since epoch {now.epoch}")
    writers = [now.writer] if now.writer is not None else [one["Region"] for one in now.replicas]
    silent: list[str] = []
    lost: list[str] = []
    comparisons: list[Comparison] = []
    left_behind: list[str] = []
    unfinished: list[str] = []
    for writer in writers:
        ask = asks.get(writer)
        try:
            if ask is None:
                raise PeerUnreachable(writer)
            then = standing(ask, table)
            if now.writer is None and then.unread is not None:
                left_behind.append(writer)
                continue
            if now.writer is not None and then.writer not in (writer, region):
                unfinished.append(then.writer or "the others")
            comparisons.append(compare(asks[region], ask, table, pause))
        except PeerUnreachable:
            silent.append(writer)
        except ReplicasMistake:
            silent.append(writer)
            lost.append(writer)
    answering = [writer for writer in writers if writer not in (*silent, *left_behind)]
    plan = Promotion(
        table,
        region,
        now.epoch,
        now.writer,
        silent,
        lost,
        {} if not silent or now.unread is not None else _ahead(asks, now, writers),
        comparisons,
        unheard=[one for one in answering if _line(asks[region], one).get("Cut", True)],
        left_behind=left_behind,
        unfinished=unfinished,
        is_held=now.unread is not None,
        whole=[one for one in asks if now.unread is not None and _is_whole(asks[one], now)],
        is_back=now.writer in answering and _gave_way(asks, now),
    )
    return plan if now.writer not in (*silent, *plan.unheard) else without_writer(asks, plan, now)


def _ahead(asks: Mapping[str, Ask], now: Standing, writers: Sequence[str]) -> dict[str, int]:
    """Who follows the same writer and has read more of it: how many keys' writes."""
    found = {}
    for region, ask in asks.items():
        if region == now.region or region in writers:
            continue
        try:
            then = standing(ask, now.table)
            is_alike = then.unread is None and (then.epoch, then.writer) == (now.epoch, now.writer)
            count = len(unread(ask, now.table, now.vector)) if is_alike else 0
        except (PeerUnreachable, ReplicasMistake):
            continue
        if count:
            found[region] = count
    return found


def _is_whole(ask: Ask, now: Standing) -> bool:
    """Whether a region follows the writer by whom another was left behind."""
    try:
        then = standing(ask, now.table)
    except (PeerUnreachable, ReplicasMistake):
        return False
    return then.unread is None and then.writer == now.writer and then.region != now.writer


def _gave_way(asks: Mapping[str, Ask], now: Standing) -> bool:
    """Whether a region gave way to another that did not take over, and has nothing that counts and this one has not."""
    then = standing(asks[now.writer or ""], now.table)
    is_known = all(number <= now.vector.get(region, 0) for region, number in then.vector.items())
    return then.writer == now.region and (is_known or then.unread is not None)


def without_writer(asks: Mapping[str, Ask], plan: Promotion, now: Standing) -> Promotion:
    """The plan where the writer's part in it is missing: if it has a lease, that has to run out, and others agree."""
    if now.lease is None:
        return plan
    voters = now.lease["Voters"]
    agreeing = [
        one for one in voters if one not in (plan.region, now.writer) and answers(asks.get(one), plan.table)
    ]
    needed = needed_for_promotion(len(voters))
    return replace(plan, lease=now.lease["Seconds"], agreeing=agreeing, needed=needed)


def answers(ask: Ask | None, table: str) -> bool:
    try:
        return ask is not None and standing(ask, table).table == table
    except (PeerUnreachable, ReplicasMistake):
        return False


def _line(ask: Ask, source: str) -> Mapping[str, Any]:
    """The line on which that region reads from another; nothing if it knows of no way there."""
    return next((one for one in lines(ask) if one["Source"] == source), {})


def hears(ask: Ask, source: str, pause: Pause) -> bool:
    """Whether answers of another region arrive there while we look."""
    line = first = _line(ask, source)
    for _ in range(LINE_LOOKS):
        if line.get("Cut", True):
            return False
        if line["Answers"] != first["Answers"]:
            return True
        pause()
        line = _line(ask, source)
    return False
