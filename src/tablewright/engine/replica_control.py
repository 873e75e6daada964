"""What an operator does with replicas: promote one, let an old writer rejoin.

Each step is asked of the regions themselves (replica_peers.py), so that it is the same in one process and over HTTP,
and breaking off between two steps leaves nothing that cannot be gone on with.
Must hold: before a promotion that the old writer takes part in, the two are compared; nothing is given up that was not
listed before, unless it is forced; one that the old writer takes no part in waits for its lease, if it has one; nobody
stops writing for a region that cannot take over, and who stopped for one that did not goes on.
Elsewhere: looking and comparing (replica_standings.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tablewright.engine.errors import ServiceError
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
)

# How often one looks whether something that takes time is done; the pause between two looks is the caller's.
LOOKS = 300
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
            f"{one} does not answer: what it has and {self.region} has not stays there" for one in self.silent
        ]
        if self.is_back:
            return []
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


# --- who writes ---


def promotion(asks: Mapping[str, Ask], region: str, table: str, pause: Pause = lambda: None) -> Promotion:
    """What promoting that region would mean; `asks` are the regions that can be asked."""
    now = standing(asks[region], table)
    if now.writer == region:
        raise ReplicasMistake(f"{region} is the writer of {table} already, since epoch {now.epoch}")
    writers = [now.writer] if now.writer is not None else [one["Region"] for one in now.replicas]
    silent: list[str] = []
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
    answering = [writer for writer in writers if writer not in (*silent, *left_behind)]
    plan = Promotion(
        table,
        region,
        now.epoch,
        now.writer,
        silent,
        comparisons,
        unheard=[one for one in answering if _line(asks[region], one).get("Cut", True)],
        left_behind=left_behind,
        unfinished=unfinished,
        is_held=now.unread is not None,
        whole=[one for one in asks if now.unread is not None and _is_whole(asks[one], now)],
        is_back=now.writer in answering and _gave_way(asks, now),
    )
    return plan if now.writer not in (*silent, *plan.unheard) else _without_writer(asks, plan, now)


def _is_whole(ask: Ask, now: Standing) -> bool:
    """Whether a region follows the writer by whom another was left behind."""
    try:
        then = standing(ask, now.table)
    except PeerUnreachable:
        return False
    return then.unread is None and then.writer == now.writer and then.region != now.writer


def _gave_way(asks: Mapping[str, Ask], now: Standing) -> bool:
    """Whether a region gave way to another that did not take over, and has nothing that counts and this one has not."""
    then = standing(asks[now.writer or ""], now.table)
    is_known = all(number <= now.vector.get(region, 0) for region, number in then.vector.items())
    return then.writer == now.region and (is_known or then.unread is not None)


def _without_writer(asks: Mapping[str, Ask], plan: Promotion, now: Standing) -> Promotion:
    """The plan where the writer's part in it is missing: if it has a lease, that has to run out, and others agree."""
    if now.lease is None:
        return plan
    voters = now.lease["Voters"]
    agreeing = [
        one for one in voters if one not in (plan.region, now.writer) and _answers(asks.get(one), plan.table)
    ]
    needed = needed_for_promotion(len(voters))
    return replace(plan, lease=now.lease["Seconds"], agreeing=agreeing, needed=needed)


def _answers(ask: Ask | None, table: str) -> bool:
    try:
        return ask is not None and standing(ask, table).table == table
    except PeerUnreachable:
        return False


def _line(ask: Ask, source: str) -> Mapping[str, Any]:
    """The line on which that region reads from another; nothing if it knows of no way there."""
    return next((one for one in lines(ask) if one["Source"] == source), {})


def _hears(ask: Ask, source: str, pause: Pause) -> bool:
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


def promote(asks: Mapping[str, Ask], plan: Promotion, pause: Pause, *, force: bool = False) -> Standing:
    """Make the region of the plan the writer. Those who could write and answer stop first, and are read to the end.

    Where that cannot be, nobody stops, unless it is forced; and where it turns out later, who stopped goes on.
    """
    if plan.obstacles and not force:
        raise ReplicasMistake("; ".join(plan.obstacles))
    now = standing(asks[plan.region], plan.table)
    if plan.is_back and plan.writer is not None:
        return _take_back(asks, plan.table, plan.region, plan.writer, (now.lease or {}).get("Voters"))
    _refuse_unready(now, is_alone=force and plan.is_alone)
    writers = sorted(one.regions[1] for one in plan.comparisons)
    _refuse_left_behind(asks, plan, writers)
    unheard = [one for one in writers if not _hears(asks[plan.region], one, pause)]
    plan = replace(plan, unheard=unheard)
    _refuse_unready(
        standing(asks[plan.region], plan.table), is_alone=force and plan.is_alone
    )  # it has heard more
    if unheard and not force:
        raise ReplicasMistake(f"{'; '.join(plan.obstacles)}. Nothing was done")
    if plan.writer in (*plan.silent, *unheard):
        plan = _without_writer(asks, plan, now)
        _refuse_too_few(plan)
    voters: Sequence[str] | None = None
    for writer in writers:
        request = {"Table": plan.table, "Epoch": plan.epoch + 1, "Writer": plan.region}
        voters = asks[writer]("PeerYield", request).get("Voters")
    try:
        return _taken_over(asks, plan, writers, pause, force)
    except (ReplicasMistake, ServiceError, PeerUnreachable) as trouble:
        if plan.writer not in writers:
            raise
        return _given_back(asks, plan, voters, trouble)


def _refuse_unready(now: Standing, is_alone: bool) -> None:
    """A region that cannot be promoted, whatever the others do, is refused before one of them stops writing."""
    if now.status != "ACTIVE" or now.is_copying:
        raise ReplicasMistake(
            f"{now.table} is still being copied in {now.region}; wait until it is ACTIVE. Nothing was done"
        )
    if now.unread is not None and not is_alone:
        raise ReplicasMistake(
            f"{now.table} in {now.region} may have writes {_whose(now.writer)} not have; compare them, then let "
            f"{now.region} rejoin. Nothing was done"
        )


def _refuse_left_behind(asks: Mapping[str, Ask], plan: Promotion, writers: Sequence[str]) -> None:
    """While all write, one that has heard only now that it was left behind will not yield: the others would in vain."""
    held = [
        one for one in writers if plan.writer is None and standing(asks[one], plan.table).unread is not None
    ]
    if held:
        obstacles = replace(plan, left_behind=held).obstacles
        raise ReplicasMistake(f"{'; '.join(obstacles)}. Nothing was done")


def _whose(writer: str | None) -> str:
    return "the others do" if writer is None else f"its writer {writer} does"


def _taken_over(
    asks: Mapping[str, Ask], plan: Promotion, yielded: Sequence[str], pause: Pause, force: bool
) -> Standing:
    """The new writer, once all who could write before have stopped, or are past waiting for."""
    ask = asks[plan.region]
    heard = [one for one in yielded if one not in plan.unheard]
    try:
        if heard and not plan.silent and not plan.unheard and not plan.left_behind:
            return _wait(
                ask, plan.table, pause, lambda now: now.writer == plan.region, "to have read everything"
            )
        if heard:
            ends = {writer: standing(asks[writer], plan.table).vector.get(writer, 0) for writer in heard}
            _wait(
                ask,
                plan.table,
                pause,
                lambda now: all(now.vector.get(writer, 0) >= end for writer, end in ends.items()),
                "to have read everything",
            )
    except ReplicasMistake:
        if not force:
            raise
        heard = []
        plan = _without_writer(asks, plan, standing(ask, plan.table))
    if plan.lease is not None:
        _let_lapse(asks, plan, pause)
    # Who has stopped and is not heard of has no say in the new writer's lease: it cannot be promoted either.
    request = {"Table": plan.table, "Epoch": plan.epoch, "Agreeing": [*plan.agreeing, *heard]}
    request["AlthoughHeld"] = force and plan.is_alone
    try:
        ask("PeerPromote", request)
    except ServiceError as refusal:
        now = standing(ask, plan.table)
        if now.writer != plan.region:  # else it has read everything after all
            raise ReplicasMistake(refusal.message) from refusal
    return standing(ask, plan.table)


def _given_back(
    asks: Mapping[str, Ask], plan: Promotion, voters: Sequence[str] | None, trouble: Exception
) -> Standing:
    """After a hand-over that failed: the old writer goes on. If it has succeeded after all, that is well too."""
    why = trouble.message if isinstance(trouble, ServiceError) else str(trouble)
    try:
        now = standing(asks[plan.region], plan.table)
        if now.writer == plan.region:
            return now
        back = _take_back(asks, plan.table, plan.writer or "", plan.region, voters)
    except (ReplicasMistake, ServiceError, PeerUnreachable) as further:
        reason = further.message if isinstance(further, ServiceError) else str(further)
        raise ReplicasMistake(
            f"{why}. {plan.writer} has stopped writing {plan.table} and cannot go on now ({reason}): nobody writes "
            f"until {plan.region} has read everything, or {plan.writer} is promoted"
        ) from trouble
    raise ReplicasMistake(
        f"{why}. {back.region} goes on writing {plan.table}, epoch {back.epoch}"
    ) from trouble


def _take_back(
    asks: Mapping[str, Ask], table: str, region: str, given_to: str, voters: Sequence[str] | None
) -> Standing:
    """Let a region that gave way to another write again, once that has given up taking over.

    Where writers need a lease so many others have to know that none can have been promoted without one of them.
    """
    now, then = standing(asks[region], table), standing(asks[given_to], table)
    if then.writer == given_to:
        raise ReplicasMistake(f"{given_to} has taken over {table} meanwhile, epoch {then.epoch}")
    is_told = then.writer == region and then.epoch > now.epoch
    epoch = then.epoch if is_told else max(now.epoch, then.epoch) + 1
    request = {"Table": table, "Epoch": epoch, "Writer": region}
    _ask_or_refuse(asks[given_to], "PeerYield", request | {"Seen": then.epoch})
    others = [one for one in voters or () if one not in (region, given_to)]
    agreeing = [one for one in others if _answers(asks.get(one), table)]
    if 1 + len(agreeing) < (2 + len(others)) // 2:
        raise ReplicasMistake(f"{', '.join(others)} would have to agree, and too few of them answer")
    for one in agreeing if (2 + len(others)) // 2 > 1 else ():
        seen = standing(asks[one], table)
        if seen.writer not in (region, given_to):
            raise ReplicasMistake(f"the writer of {table} is {seen.writer} for {one}, epoch {seen.epoch}")
        _ask_or_refuse(asks[one], "PeerYield", request | {"Seen": seen.epoch})
    _ask_or_refuse(
        asks[region],
        "PeerTakeBack",
        {"Table": table, "Epoch": now.epoch, "NewEpoch": epoch, "Voters": voters or None},
    )
    return standing(asks[region], table)


def _refuse_too_few(plan: Promotion) -> None:
    if 1 + len(plan.agreeing) < plan.needed:
        raise ReplicasMistake(
            f"{plan.table}: {plan.writer} has a lease, and {plan.needed} replicas have to agree that it is over; "
            f"{', '.join([plan.region, *plan.agreeing])} would. Name the others, or wait until they answer"
        )


def _let_lapse(asks: Mapping[str, Ask], plan: Promotion, pause: Pause) -> None:
    """Wait until the writer, which does not answer, has stopped by itself: nobody promises it anything any more."""
    _refuse_too_few(plan)
    for region in plan.agreeing:
        request = {"Table": plan.table, "Epoch": plan.epoch + 1, "Writer": plan.region}
        _ask_or_refuse(asks[region], "PeerYield", request)
    for _ in range(LOOKS * 100):
        left = [asks[plan.region]("PeerWithhold", {"Table": plan.table})["Left"]]
        left += [
            (standing(asks[region], plan.table).lease or {}).get("Left", 0.0) for region in plan.agreeing
        ]
        # It may have heard from the writer by itself meanwhile, and have taken over.
        if max(left) == 0 or standing(asks[plan.region], plan.table).writer == plan.region:
            return
        pause()
    raise ReplicasMistake(
        f"{plan.table}: the lease of {plan.writer} does not run out; do the clocks stand still?"
    )


def release(ask: Ask, table: str) -> Standing:
    """Let every replica take writes again; asked of the writer."""
    _ask_or_refuse(ask, "PeerRelease", {"Table": table, "Epoch": standing(ask, table).epoch})
    return standing(ask, table)


def rejoin(ask: Ask, table: str, pause: Pause) -> Standing:
    """Let a region mirror the writer: what only it has is given up (`unread` and `compare` list it)."""
    now = standing(ask, table)
    _ask_or_refuse(ask, "PeerRejoin", {"Table": table, "Epoch": now.epoch})
    return _wait(ask, table, pause, lambda now: not now.is_copying, "to have copied everything")


def _ask_or_refuse(ask: Ask, verb: str, request: dict[str, Any]) -> None:
    try:
        ask(verb, request)
    except ServiceError as refusal:
        raise ReplicasMistake(refusal.message) from refusal


def _wait(ask: Ask, table: str, pause: Pause, is_done: Callable[[Standing], bool], what: str) -> Standing:
    for _ in range(LOOKS):
        now = standing(ask, table)
        if is_done(now):
            return now
        pause()
    raise ReplicasMistake(
        f"{table}: {now.region} takes too long {what}; it goes on by itself, look again later"
    )
