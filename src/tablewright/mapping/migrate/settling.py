"""Settling keys: the one act of which copying, following and repairing are made.

Read what the origin holds under a key, strongly; work out what the goal should hold; write that in one transaction that
checks that the origin still holds exactly what was read, and that the turn is not over. If the origin changed, read
again. So any number may settle the same key at once, in any order, twice, or be cut off anywhere: what the goal is
given was the origin's state at the moment it was given, and the goal never goes back to an older one.
Must hold: nothing is written to the goal but in such a transaction; nothing is written where the goal says the same
already; an item of the goal that may have to go is taken only if it stands for this very key, and is still what was
seen.
Elsewhere: the exact condition (exact.py), which keys, and when (copying.py, following.py, verifying.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from tablewright.client import CallRefused, TransactionRefused, batch_get, transact_write
from tablewright.client.call import json_of
from tablewright.client.identity import place_of
from tablewright.client.retries import ONCE
from tablewright.client.transactions import ACTIONS, PASSING
from tablewright.mapping.migrate.bench import Bench
from tablewright.mapping.migrate.errors import MigrationMistake, TargetsCollide, TurnOver
from tablewright.mapping.migrate.exact import still
from tablewright.mapping.migrate.migration import Form, Key, Way
from tablewright.mapping.migrate.state import GATES, Gate, gates
from tablewright.mapping.reads import get_request
from tablewright.values import Item

PlaceName: TypeAlias = tuple[str, str]

AT_ONCE = 49
ROUNDS = 50
# Of the 4 MB of a transaction, the rest is left for what is not counted here.
BYTES = 3_000_000
CONDITION_FAILED = "ConditionalCheckFailed"


class NeverStill(MigrationMistake):
    """A key changes faster than it can be copied."""

    def __init__(self, table: str) -> None:
        super().__init__(f"{table}: an item keeps changing while it is copied; it is tried again later")


class GateShut(MigrationMistake):
    """Sides were just changed, and following has to wait a moment until consumers were told."""

    def __init__(self, migration: str) -> None:
        super().__init__(f"{migration}: following begins in a moment")


@dataclass(frozen=True, slots=True)
class Task:
    """A key of the origin to be settled, and items of the goal that may have to go: those of what it was before.

    `seen` is what was just read there, if it was: nothing rests on its being fresh.
    """

    key: Key
    before: tuple[Item, ...] = ()
    seen: Item | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """How many keys were written, and how many said the same already."""

    written: int = 0
    alike: int = 0

    def __add__(self, other: "Settled") -> "Settled":
        return Settled(self.written + other.written, self.alike + other.alike)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a transaction has to do for one key: nothing if `puts` and `gone` are empty."""

    task: Task
    item: Item | None
    puts: tuple[Item, ...]
    gone: tuple[Item, ...]

    @property
    def is_alike(self) -> bool:
        return not self.puts and not self.gone


@dataclass(frozen=True, slots=True)
class Deed:
    """The actions of one key, the places of the goal they are about, and their size."""

    plan: Plan
    actions: tuple[Mapping[str, Any], ...]
    places: frozenset[PlaceName]
    size: int = field(default=0)


def settle(bench: Bench, way: Way, turn: int, tasks: Sequence[Task]) -> Settled:
    """Make the goal say what the origin says under these keys. TurnOver if this is no longer to be done."""
    done = Settled()
    asked = list(distinct(way, tasks).values())
    for start in range(0, len(asked), AT_ONCE):
        done += _settle_some(bench, way, turn, asked[start : start + AT_ONCE])
    return done


def distinct(way: Way, tasks: Iterable[Task]) -> dict[PlaceName, Task]:
    """One task for each key, with everything that may have to go."""
    found: dict[PlaceName, Task] = {}
    for task in tasks:
        place = place_of(way.origin.called, task.key)
        other = found.get(place)
        found[place] = (
            replace(task, before=(*other.before, *task.before), seen=None) if other is not None else task
        )
    return found


def _settle_some(bench: Bench, way: Way, turn: int, tasks: Sequence[Task]) -> Settled:
    written, left = 0, list(tasks)
    for tried in range(ROUNDS):
        plans = planned(bench, way, left)
        deeds = [_deed(bench, way, plan) for plan in plans if not plan.is_alike]
        if not deeds:
            return Settled(written, len(tasks) - written)
        again = [deed for pack in _packed(deeds) for deed in _sent(bench, way, turn, pack)]
        written += len(deeds) - len(again)
        # Those that were written are looked at no more: who changes them from now on tells of it in the stream.
        left = [replace(deed.plan.task, seen=None) for deed in again]
        if not left:
            return Settled(written, len(tasks) - written)
        if tried:
            bench.sleep(0.01 * bench.world.jitter() * tried)
    raise NeverStill(way.origin.called)


# --- what is to be done ---


def planned(bench: Bench, way: Way, tasks: Sequence[Task]) -> list[Plan]:
    """For each key what the goal lacks, or has too much. The origin is read before the goal."""
    unseen = [task.key for task in tasks if task.seen is None]
    read = items_at(bench, way.origin, unseen)
    items = [task.seen or read.get(place_of(way.origin.called, task.key)) for task in tasks]
    wanted = [way.made(item) for item in items]
    _refuse_collisions(way, wanted)
    keys = [way.goal.key(one) for made in wanted for one in made.values()]
    keys += [way.goal.key(one) for task in tasks for one in task.before]
    there = items_at(bench, way.goal, keys)
    return [
        _plan(way, task, item, made, there) for task, item, made in zip(tasks, items, wanted, strict=True)
    ]


def _refuse_collisions(way: Way, wanted: Sequence[Mapping[PlaceName, Item]]) -> None:
    seen: set[PlaceName] = set()
    for made in wanted:
        if seen & made.keys():
            raise TargetsCollide(way.migration, way.goal.called)
        seen |= made.keys()


def _plan(
    way: Way,
    task: Task,
    item: Item | None,
    wanted: Mapping[PlaceName, Item],
    there: Mapping[PlaceName, Item],
) -> Plan:
    puts = tuple(
        one
        for place, one in wanted.items()
        if item is not None and not way.says_the_same(item, there.get(place), one)
    )
    home = place_of(way.origin.called, task.key)
    old = {way.place(one) for one in task.before} - wanted.keys()
    gone = tuple(
        there[place] for place in sorted(old) if place in there and _stands_for(way, there[place], home)
    )
    return Plan(task, item, puts, gone)


def _stands_for(way: Way, there: Item, home: PlaceName) -> bool:
    """Whether an item of the goal is this key's: another may have come to its place since."""
    homes = [place_of(way.origin.called, key) for key in way.homes(there)]
    return not homes or home in homes


def items_at(bench: Bench, form: Form, keys: Iterable[Key]) -> dict[PlaceName, Item]:
    """What a table holds under some keys, strongly, by place."""
    asked = list({place_of(form.called, key): key for key in keys}.values())
    if not asked:
        return {}
    found = batch_get(bench.call, {bench.physical(form): asked}, consistent=True, world=bench.world)
    if found.unread:
        raise CallRefused("ProvisionedThroughputExceededException", "a batch was not read to its end")
    return {place_of(form.called, form.key(item)): item for _, item in found.items}


# --- doing it ---


def _deed(bench: Bench, way: Way, plan: Plan) -> Deed:
    origin, goal = bench.physical(way.origin), bench.physical(way.goal)
    check = {"TableName": origin, "Key": plan.task.key, **still(way.origin, plan.task.key, plan.item)}
    actions: list[Mapping[str, Any]] = [{"ConditionCheck": check}]
    actions += [{"Put": {"TableName": goal, "Item": item}} for item in plan.puts]
    for item in plan.gone:
        key = way.goal.key(item)
        actions.append({"Delete": {"TableName": goal, "Key": key, **still(way.goal, key, item)}})
    places = frozenset(way.place(item) for item in (*plan.puts, *plan.gone))
    return Deed(plan, tuple(actions), places, sum(len(json_of("settle", action)) for action in actions))


def _packed(deeds: Iterable[Deed]) -> Iterator[list[Deed]]:
    """As many to a transaction as go into one: beside the gate, and no item twice."""
    pack: list[Deed] = []
    for deed in deeds:
        count = 1 + len(deed.actions) + sum(len(one.actions) for one in pack)
        size = deed.size + sum(one.size for one in pack)
        if pack and (count > ACTIONS or size > BYTES or any(deed.places & one.places for one in pack)):
            yield pack
            pack = []
        pack.append(deed)
    if pack:
        yield pack


def _sent(bench: Bench, way: Way, turn: int, pack: list[Deed]) -> list[Deed]:
    """Carry out some deeds as one; those that have to be looked at again. Halved where others get in the way."""
    gate = _gate(bench, way, turn)
    owners: list[Deed | None] = [None, *(deed for deed in pack for _ in deed.actions)]
    actions = [gate, *(action for deed in pack for action in deed.actions)]
    try:
        transact_write(bench.call, actions, world=bench.world, retries=replace(ONCE, sleep=bench.sleep))
        return []
    except TransactionRefused as refusal:
        failed = {reason.position for reason in refusal.reasons if reason.code == CONDITION_FAILED}
        if 0 in failed:
            _explain(bench, turn)
        if not failed and not all(reason.code in PASSING for reason in refusal.reasons):
            raise
        if failed and len(pack) > 1:
            stale = {id(owners[position]) for position in failed}
            rest = [deed for deed in pack if id(deed) not in stale]
            again = [deed for deed in pack if id(deed) in stale]
            return [*again, *(_sent(bench, way, turn, rest) if rest else ())]
        if len(pack) > 1:
            half = len(pack) // 2
            return [*_sent(bench, way, turn, pack[:half]), *_sent(bench, way, turn, pack[half:])]
        return pack


def _gate(bench: Bench, way: Way, turn: int) -> Mapping[str, Any]:
    """The check that the turn is not over; any gate will do."""
    number = int(bench.world.jitter() * GATES) % GATES
    request = get_request(gates.get(bench.name, number), bench.db.physical, False)
    return {
        "ConditionCheck": {
            "TableName": request["TableName"],
            "Key": request["Key"],
            "ConditionExpression": "#turn = :turn AND #course = :course",
            "ExpressionAttributeNames": {"#turn": "turn", "#course": "course"},
            "ExpressionAttributeValues": {":turn": {"N": str(turn)}, ":course": {"S": way.course}},
        }
    }


def _explain(bench: Bench, turn: int) -> None:
    """Why a gate did not let us through."""
    gate: Gate | None = bench.db.one(gates.get(bench.name, 0), consistent=True)
    state = bench.look()
    if gate is not None and gate.turn == turn and state is not None and state.barred:
        raise GateShut(bench.name)
    raise TurnOver(bench.name, turn)
