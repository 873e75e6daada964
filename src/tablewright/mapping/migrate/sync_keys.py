"""Synchronising keys: the one operation that copying, following and repairing consist of.

Read what the origin holds under a key, consistently; compute what the goal should hold; write that in one transaction
that checks that the origin still holds exactly what was read, and that the epoch has not ended. If the origin changed,
read again. So any number of workers may synchronise the same key at once, in any order, twice, or be cut off anywhere:
what is written to the goal was the origin's state at that moment, and the goal never returns to an older one.
Must hold: the goal is written only in such a transaction; nothing is written where the goal is already right; an item
of the goal is deleted only if it stands for this very key and is still as it was read.
Elsewhere: which keys, and when (backfill.py, change_follower.py, verifier.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tablewright.client import CallRefused, TransactionRefused, batch_get, transact_write
from tablewright.client.call import json_of
from tablewright.client.item_identity import identity_of
from tablewright.client.retries import ONCE
from tablewright.client.transactions import ACTIONS, TRANSIENT
from tablewright.expressions import PlaceholderAllocator, render
from tablewright.expressions.build import all_of, attribute_exists, attribute_not_exists, equal
from tablewright.expressions.nodes import Condition
from tablewright.mapping.executor import failed_conditions
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.errors import EpochEnded, MigrationMistake, NotExact, TargetsCollide
from tablewright.mapping.migrate.migration import Direction, Key, TableVersion
from tablewright.mapping.migrate.state import GATES, Gate, gates
from tablewright.values import Item

ItemIdentity: TypeAlias = tuple[str, str]

BATCH = 49
ROUNDS = 50
# Below the 4 MB of a transaction, since not everything is counted here.
BYTES = 3_000_000
# The service's limits of an expression.
_EXPRESSION_BYTES, _OPERATORS = 4096, 300


class KeyKeepsChanging(MigrationMistake):
    """A key changes faster than it can be synchronised."""


class GateClosed(MigrationMistake):
    """The sides were just changed, and following has to wait until consumers have read the markers."""


@dataclass(frozen=True, slots=True)
class Task:
    """A key of the origin to synchronise, and the goal's items of its old image, which may have to be deleted.

    `seen` is the item if it was just read; it may be out of date.
    """

    key: Key
    before: tuple[Item, ...] = ()
    seen: Item | None = None


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """What a transaction has to do for one key: nothing if `puts` and `deletes` are empty."""

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
    size: int


def sync_keys(context: MigrationContext, direction: Direction, epoch: int, tasks: Sequence[Task]) -> None:
    """Make the goal match the origin under these keys. EpochEnded if the epoch has ended."""
    asked = list(merge_tasks(direction, tasks).values())
    for start in range(0, len(asked), BATCH):
        _sync_batch(context, direction, epoch, asked[start : start + BATCH])


def merge_tasks(direction: Direction, tasks: Iterable[Task]) -> dict[ItemIdentity, Task]:
    """One task for each key, with everything that may have to go."""
    found: dict[ItemIdentity, Task] = {}
    for task in tasks:
        place = identity_of(direction.origin.called, task.key)
        other = found.get(place)
        found[place] = (
            task if other is None else replace(task, before=(*other.before, *task.before), seen=None)
        )
    return found


def _sync_batch(context: MigrationContext, direction: Direction, epoch: int, tasks: Sequence[Task]) -> None:
    for tried in range(ROUNDS):
        plans = plan_tasks(context, direction, tasks)
        pending = [_key_actions(context, direction, plan) for plan in plans if not plan.is_in_sync]
        again = [one for pack in _packs(pending) for one in _send(context, direction, epoch, pack)]
        if not again:
            return
        # Written keys are done: later changes of them come through the stream.
        tasks = [replace(one.plan.task, seen=None) for one in again]
        if tried:
            context.sleep(0.01 * context.world.jitter() * tried)
    table = direction.origin.called
    raise KeyKeepsChanging(f"{table}: an item keeps changing while it is copied; it is tried again later")


# --- what is to be done ---


def plan_tasks(context: MigrationContext, direction: Direction, tasks: Sequence[Task]) -> list[KeyPlan]:
    """For each key what the goal lacks, or has too much. The origin is read before the goal."""
    unseen = [task.key for task in tasks if task.seen is None]
    read = read_items(context, direction.origin, unseen)
    items = [task.seen or read.get(identity_of(direction.origin.called, task.key)) for task in tasks]
    wanted = [direction.made(item) for item in items]
    if len({place for made in wanted for place in made}) < sum(map(len, wanted)):
        raise TargetsCollide(direction.migration, direction.goal.called)
    keys = [direction.goal.key(one) for made in wanted for one in made.values()]
    keys += [direction.goal.key(one) for task in tasks for one in task.before]
    there = read_items(context, direction.goal, keys)
    return [
        _plan(direction, task, item, made, there)
        for task, item, made in zip(tasks, items, wanted, strict=True)
    ]


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
    gone = [there[place] for place in sorted(old) if place in there]
    return KeyPlan(task, item, puts, tuple(one for one in gone if _stands_for(direction, one, home)))


def _stands_for(direction: Direction, there: Item, home: ItemIdentity) -> bool:
    """Whether an item of the goal is this key's: another may have come to its place since."""
    homes = [identity_of(direction.origin.called, key) for key in direction.origin_keys(there)]
    return not homes or home in homes


def find_orphans(context: MigrationContext, direction: Direction, page: Sequence[Item]) -> list[Task]:
    """The items of a page of the goal that no item of the origin stands for, after a missed change or a foreign write.

    Each is a task for the key it seems to come from: whether it is deleted shows when that is synchronised. In the
    direction `back`, items that the newer version cannot express are left alone.
    """
    homes = [direction.origin_keys(item) for item in page]
    origin = read_items(context, direction.origin, [key for keys in homes for key in keys])
    tasks = []
    for item, keys in zip(page, homes, strict=True):
        if not keys and direction.course == "back":
            continue
        made = [direction.made(origin.get(identity_of(direction.origin.called, key))) for key in keys]
        if not any(direction.place(item) in each for each in made):
            tasks.append(Task(keys[0] if keys else direction.origin.key(item), (item,)))
    return tasks


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
    goal = context.physical(direction.goal)
    check = _if_unchanged(context, direction.origin, plan.task.key, plan.item)
    actions: list[Mapping[str, Any]] = [{"ConditionCheck": check}]
    actions += [{"Put": {"TableName": goal, "Item": item}} for item in plan.puts]
    actions += [
        {"Delete": _if_unchanged(context, direction.goal, direction.goal.key(item), item)}
        for item in plan.deletes
    ]
    places = frozenset(direction.place(item) for item in (*plan.puts, *plan.deletes))
    return KeyActions(plan, tuple(actions), places, sum(len(json_of("settle", action)) for action in actions))


def _if_unchanged(
    context: MigrationContext, version: TableVersion, key: Key, item: Item | None
) -> dict[str, Any]:
    """The body of an action that holds only while the key has exactly this item; None: while it has none.

    DynamoDB has no condition on a whole item, so every attribute that the item could have is named: those it has with
    their values, the others as absent. Where this cannot be expressed, NotExact is raised; nothing is guessed.
    """
    known, placeholders = frozenset[str](), PlaceholderAllocator()
    condition: Condition | None = attribute_not_exists(version.table.pk)
    if item is not None:
        known = version.attributes(item) - key.keys()
        # The key itself is how the item was found; that it is there at all has to be said.
        same = [equal(name, item.get(name)) for name in sorted(known)]
        condition = all_of(attribute_exists(version.table.pk), *same)
    assert condition is not None
    text = render(condition, placeholders)
    if len(text) > _EXPRESSION_BYTES or 2 * (len(known) + 1) > _OPERATORS:
        raise NotExact(version.called, "an item", many=len(known | key.keys()))
    table = context.physical(version)
    return {"TableName": table, "Key": key, "ConditionExpression": text, **placeholders.members()}


def _packs(pending: Iterable[KeyActions]) -> Iterator[list[KeyActions]]:
    """The actions in groups that fit into one transaction: beside the gate, and no item twice."""
    pack: list[KeyActions] = []
    for new in pending:
        count = 1 + sum(len(one.actions) for one in (*pack, new))
        size = sum(one.size for one in (*pack, new))
        if pack and (count > ACTIONS or size > BYTES or any(new.places & one.places for one in pack)):
            yield pack
            pack = []
        pack.append(new)
    if pack:
        yield pack


def _send(
    context: MigrationContext, direction: Direction, epoch: int, pack: list[KeyActions]
) -> list[KeyActions]:
    """Send the actions of some keys as one transaction; returns the keys to try again. Halved on conflicts."""
    if not pack:
        return []
    # The check that the epoch has not ended; any gate will do.
    gate = gates.check(context.name, int(context.world.jitter() * GATES) % GATES)
    gate = gate.when(lambda v: v.epoch == epoch).when(lambda v: v.course == direction.course)
    owners = [None, *(one for one in pack for _ in one.actions)]
    actions = [*context.db.wire(gate), *(action for one in pack for action in one.actions)]
    try:
        transact_write(context.call, actions, world=context.world, retries=replace(ONCE, sleep=context.sleep))
        return []
    except TransactionRefused as refusal:
        failed = {reason.position for reason in failed_conditions(refusal)}
        if 0 in failed:
            _raise_gate_error(context, epoch)
        if not failed and not all(reason.code in TRANSIENT for reason in refusal.reasons):
            raise
    if len(pack) == 1:
        return pack
    if failed:
        stale = {id(owners[position]) for position in failed}
        rest = [one for one in pack if id(one) not in stale]
        return [*(one for one in pack if id(one) in stale), *_send(context, direction, epoch, rest)]
    half = len(pack) // 2
    return [*_send(context, direction, epoch, pack[:half]), *_send(context, direction, epoch, pack[half:])]


def _raise_gate_error(context: MigrationContext, epoch: int) -> None:
    """Raise why the check of a gate failed."""
    gate: Gate | None = context.db.one(gates.get(context.name, 0), consistent=True)
    state = context.find_state()
    if gate is not None and gate.epoch == epoch and state is not None and state.barred:
        raise GateClosed(f"{context.name}: following begins in a moment")
    raise EpochEnded(context.name, epoch)
