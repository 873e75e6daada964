"""Synchronising keys: the one operation that copying, following and repairing consist of.

Read what the origin holds under a key, consistently; compute what the goal should hold; write that in one transaction
that checks that the origin still holds exactly what was read, and that the epoch has not ended. If the origin changed,
read again. So any number of workers may synchronise the same key at once, in any order, twice, or be cut off anywhere:
what is written to the goal was the origin's state at that moment, and the goal never returns to an older one.
Must hold: the goal is written only in such a transaction; nothing is written where the goal is already right; an item
of the goal is deleted only if it stands for this very key and is still as it was read.
Elsewhere: the exact condition (unchanged.py), which keys, and when (backfill.py, change_follower.py, verifier.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from tablewright.client import CallRefused, TransactionRefused, batch_get, transact_write
from tablewright.client.call import json_of
from tablewright.client.item_identity import identity_of
from tablewright.client.retries import ONCE
from tablewright.client.transactions import ACTIONS, TRANSIENT
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.errors import EpochEnded, MigrationMistake, TargetsCollide
from tablewright.mapping.migrate.migration import Direction, Key, TableVersion
from tablewright.mapping.migrate.state import GATES, Gate, gates
from tablewright.mapping.migrate.unchanged import unchanged_condition
from tablewright.mapping.read_requests import get_request
from tablewright.values import Item

ItemIdentity: TypeAlias = tuple[str, str]

BATCH = 49
ROUNDS = 50
# Below the 4 MB of a transaction, since not everything is counted here.
BYTES = 3_000_000
CONDITION_FAILED = "ConditionalCheckFailed"


class KeyKeepsChanging(MigrationMistake):
    """A key changes faster than it can be synchronised."""

    def __init__(self, table: str) -> None:
        super().__init__(f"{table}: an item keeps changing while it is copied; it is tried again later")


class GateClosed(MigrationMistake):
    """The sides were just changed, and following has to wait until consumers have read the markers."""

    def __init__(self, migration: str) -> None:
        super().__init__(f"{migration}: following begins in a moment")


@dataclass(frozen=True, slots=True)
class Task:
    """A key of the origin to synchronise, and the goal's items of its old image, which may have to be deleted.

    `seen` is the item if it was just read; it may be out of date.
    """

    key: Key
    before: tuple[Item, ...] = ()
    seen: Item | None = None


@dataclass(frozen=True, slots=True)
class SyncResult:
    """How many keys were written, and how many needed no write."""

    written: int = 0
    unchanged: int = 0

    def __add__(self, other: "SyncResult") -> "SyncResult":
        return SyncResult(self.written + other.written, self.unchanged + other.unchanged)


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """What a transaction has to do for one key: nothing if `puts` and `gone` are empty."""

    task: Task
    item: Item | None
    puts: tuple[Item, ...]
    deletes: tuple[Item, ...]

    @property
    def is_in_sync(self) -> bool:
        return not self.puts and not self.deletes


@dataclass(frozen=True, slots=True)
class KeyActions:
    """The actions of one key, the places of the goal they are about, and their size."""

    plan: KeyPlan
    actions: tuple[Mapping[str, Any], ...]
    places: frozenset[ItemIdentity]
    size: int = field(default=0)


def sync_keys(
    context: MigrationContext, direction: Direction, epoch: int, tasks: Sequence[Task]
) -> SyncResult:
    """Make the goal match the origin under these keys. EpochEnded if the epoch has ended."""
    done = SyncResult()
    asked = list(merge_tasks(direction, tasks).values())
    for start in range(0, len(asked), BATCH):
        done += _sync_batch(context, direction, epoch, asked[start : start + BATCH])
    return done


def merge_tasks(direction: Direction, tasks: Iterable[Task]) -> dict[ItemIdentity, Task]:
    """One task for each key, with everything that may have to go."""
    found: dict[ItemIdentity, Task] = {}
    for task in tasks:
        place = identity_of(direction.origin.called, task.key)
        other = found.get(place)
        found[place] = (
            replace(task, before=(*other.before, *task.before), seen=None) if other is not None else task
        )
    return found


def _sync_batch(
    context: MigrationContext, direction: Direction, epoch: int, tasks: Sequence[Task]
) -> SyncResult:
    written, left = 0, list(tasks)
    for tried in range(ROUNDS):
        plans = plan_tasks(context, direction, left)
        pending = [_key_actions(context, direction, plan) for plan in plans if not plan.is_in_sync]
        if not pending:
            return SyncResult(written, len(tasks) - written)
        again = [
            actions_of_key
            for pack in _packs(pending)
            for actions_of_key in _send(context, direction, epoch, pack)
        ]
        written += len(pending) - len(again)
        # Written keys are done: later changes of them come through the stream.
        left = [replace(actions_of_key.plan.task, seen=None) for actions_of_key in again]
        if not left:
            return SyncResult(written, len(tasks) - written)
        if tried:
            context.sleep(0.01 * context.world.jitter() * tried)
    raise KeyKeepsChanging(direction.origin.called)


# --- what is to be done ---


def plan_tasks(context: MigrationContext, direction: Direction, tasks: Sequence[Task]) -> list[KeyPlan]:
    """For each key what the goal lacks, or has too much. The origin is read before the goal."""
    unseen = [task.key for task in tasks if task.seen is None]
    read = read_items(context, direction.origin, unseen)
    items = [task.seen or read.get(identity_of(direction.origin.called, task.key)) for task in tasks]
    wanted = [direction.made(item) for item in items]
    _refuse_collisions(direction, wanted)
    keys = [direction.goal.key(one) for made in wanted for one in made.values()]
    keys += [direction.goal.key(one) for task in tasks for one in task.before]
    there = read_items(context, direction.goal, keys)
    return [
        _plan(direction, task, item, made, there)
        for task, item, made in zip(tasks, items, wanted, strict=True)
    ]


def _refuse_collisions(direction: Direction, wanted: Sequence[Mapping[ItemIdentity, Item]]) -> None:
    seen: set[ItemIdentity] = set()
    for made in wanted:
        if seen & made.keys():
            raise TargetsCollide(direction.migration, direction.goal.called)
        seen |= made.keys()


def _plan(
    direction: Direction,
    task: Task,
    item: Item | None,
    wanted: Mapping[ItemIdentity, Item],
    there: Mapping[ItemIdentity, Item],
) -> KeyPlan:
    puts = tuple(
        one
        for place, one in wanted.items()
        if item is not None and not direction.is_equivalent(item, there.get(place), one)
    )
    home = identity_of(direction.origin.called, task.key)
    old = {direction.place(one) for one in task.before} - wanted.keys()
    gone = tuple(
        there[place] for place in sorted(old) if place in there and _stands_for(direction, there[place], home)
    )
    return KeyPlan(task, item, puts, gone)


def _stands_for(direction: Direction, there: Item, home: ItemIdentity) -> bool:
    """Whether an item of the goal is this key's: another may have come to its place since."""
    homes = [identity_of(direction.origin.called, key) for key in direction.origin_keys(there)]
    return not homes or home in homes


def read_items(
    context: MigrationContext, version: TableVersion, keys: Iterable[Key]
) -> dict[ItemIdentity, Item]:
    """What a table holds under some keys, strongly, by place."""
    asked = list({identity_of(version.called, key): key for key in keys}.values())
    if not asked:
        return {}
    found = batch_get(context.call, {context.physical(version): asked}, consistent=True, world=context.world)
    if found.unread:
        raise CallRefused("ProvisionedThroughputExceededException", "a batch was not read to its end")
    return {identity_of(version.called, version.key(item)): item for _, item in found.items}


# --- doing it ---


def _key_actions(context: MigrationContext, direction: Direction, plan: KeyPlan) -> KeyActions:
    origin, goal = context.physical(direction.origin), context.physical(direction.goal)
    check = {
        "TableName": origin,
        "Key": plan.task.key,
        **unchanged_condition(direction.origin, plan.task.key, plan.item),
    }
    actions: list[Mapping[str, Any]] = [{"ConditionCheck": check}]
    actions += [{"Put": {"TableName": goal, "Item": item}} for item in plan.puts]
    for item in plan.deletes:
        key = direction.goal.key(item)
        actions.append(
            {"Delete": {"TableName": goal, "Key": key, **unchanged_condition(direction.goal, key, item)}}
        )
    places = frozenset(direction.place(item) for item in (*plan.puts, *plan.deletes))
    return KeyActions(plan, tuple(actions), places, sum(len(json_of("settle", action)) for action in actions))


def _packs(pending: Iterable[KeyActions]) -> Iterator[list[KeyActions]]:
    """The actions in groups that fit into one transaction: beside the gate, and no item twice."""
    pack: list[KeyActions] = []
    for actions_of_key in pending:
        count = 1 + len(actions_of_key.actions) + sum(len(one.actions) for one in pack)
        size = actions_of_key.size + sum(one.size for one in pack)
        if pack and (
            count > ACTIONS or size > BYTES or any(actions_of_key.places & one.places for one in pack)
        ):
            yield pack
            pack = []
        pack.append(actions_of_key)
    if pack:
        yield pack


def _send(
    context: MigrationContext, direction: Direction, epoch: int, pack: list[KeyActions]
) -> list[KeyActions]:
    """Send the actions of some keys as one transaction; returns the keys to try again. Halved on conflicts."""
    gate = _gate(context, direction, epoch)
    owners: list[KeyActions | None] = [
        None,
        *(actions_of_key for actions_of_key in pack for _ in actions_of_key.actions),
    ]
    actions = [gate, *(action for actions_of_key in pack for action in actions_of_key.actions)]
    try:
        transact_write(context.call, actions, world=context.world, retries=replace(ONCE, sleep=context.sleep))
        return []
    except TransactionRefused as refusal:
        failed = {reason.position for reason in refusal.reasons if reason.code == CONDITION_FAILED}
        if 0 in failed:
            _raise_gate_error(context, epoch)
        if not failed and not all(reason.code in TRANSIENT for reason in refusal.reasons):
            raise
        if failed and len(pack) > 1:
            stale = {id(owners[position]) for position in failed}
            rest = [actions_of_key for actions_of_key in pack if id(actions_of_key) not in stale]
            again = [actions_of_key for actions_of_key in pack if id(actions_of_key) in stale]
            return [*again, *(_send(context, direction, epoch, rest) if rest else ())]
        if len(pack) > 1:
            half = len(pack) // 2
            return [
                *_send(context, direction, epoch, pack[:half]),
                *_send(context, direction, epoch, pack[half:]),
            ]
        return pack


def _gate(context: MigrationContext, direction: Direction, epoch: int) -> Mapping[str, Any]:
    """The check that the epoch has not ended; any gate will do."""
    number = int(context.world.jitter() * GATES) % GATES
    request = get_request(gates.get(context.name, number), context.db.physical, False)
    return {
        "ConditionCheck": {
            "TableName": request["TableName"],
            "Key": request["Key"],
            "ConditionExpression": "#turn = :turn AND #course = :course",
            "ExpressionAttributeNames": {"#turn": "turn", "#course": "course"},
            "ExpressionAttributeValues": {":turn": {"N": str(epoch)}, ":course": {"S": direction.course}},
        }
    }


def _raise_gate_error(context: MigrationContext, epoch: int) -> None:
    """Raise why the check of a gate failed."""
    gate: Gate | None = context.db.one(gates.get(context.name, 0), consistent=True)
    state = context.find_state()
    if gate is not None and gate.epoch == epoch and state is not None and state.barred:
        raise GateClosed(context.name)
    raise EpochEnded(context.name, epoch)
