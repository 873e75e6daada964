"""What an operator does with replicas: promote one, let an old writer rejoin.

Each step is asked of the regions themselves (replica_peers.py), so that it is the same in one process and over HTTP,
and breaking off between two steps leaves nothing that cannot be gone on with.
Must hold: before a promotion that the old writer takes part in, the two are compared; nothing is given up that was not
listed before, unless it is forced; one that the old writer takes no part in waits for its lease, if it has one; nobody
stops writing for a region that cannot take over, and who stopped for one that did not goes on.
Elsewhere: looking and comparing (replica_standings.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tablewright.engine.errors import ServiceError
from tablewright.engine.replica_lines import Ask, PeerUnreachable
from tablewright.engine.replica_plans import Promotion, answers, hears, without_writer
from tablewright.engine.replica_standings import (
    Pause,
    ReplicasMistake,
    Standing,
    standing,
)

# How often one looks whether something that takes time is done; the pause between two looks is the caller's.
LOOKS = 300


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
    unheard = [one for one in writers if not hears(asks[plan.region], one, pause)]
    plan = replace(plan, unheard=unheard)
    _refuse_unready(
        standing(asks[plan.region], plan.table), is_alone=force and plan.is_alone
    )  # it has heard more
    if unheard and not force:
        raise ReplicasMistake(f"{'; '.join(plan.obstacles)}. Nothing was done")
    if plan.writer in (*plan.silent, *unheard):
        plan = without_writer(asks, plan, now)
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
        plan = without_writer(asks, plan, standing(ask, plan.table))
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
    agreeing = [one for one in others if answers(asks.get(one), table)]
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
