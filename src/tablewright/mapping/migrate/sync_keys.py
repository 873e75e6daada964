"""Synchronising keys: the one operation that copying, following and repairing consist of.

Read what the origin holds under a key, consistently; compute what the goal should hold; write that in one transaction
that checks that the origin still holds exactly what was read, and that the epoch has not ended. If the origin changed,
read again; or leave the key to the record of that change, where a follower will read it. So any number of workers may
synchronise the same key at once, in any order, twice, or be cut off anywhere: what is written to the goal was the
origin's state at that moment, and the goal never returns to an older one.
Where several items of the origin become one (`Group`), the key is that of their anchor, which every write to them
changes too; the others are read after it.
Must hold: the goal is written only in such a transaction; nothing is written where the goal is already right; an item
of the goal is deleted only if it stands for this very key and is still as it was read. What one key needs may take
several transactions; each checks the origin, and the last one that fails brings the key back.
Elsewhere: which keys, and when (backfill.py, change_follower.py, verifier.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tablewright.client import CallRefused, TransactionRefused, batch_get, pages, transact_write
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
from tablewright.mapping.migrate.migration import Direction, Group, Key, TableVersion
from tablewright.mapping.migrate.state import GATES, Gate, gates
from tablewright.values import Item

ItemIdentity: TypeAlias = tuple[str, str]
# What the origin holds under a key, and the parts that belong to it; empty if it holds nothing.
Whole: TypeAlias = tuple[Item, ...]

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
    whole: Whole
    puts: tuple[Item, ...]
    deletes: tuple[Item, ...]

    @property
    def item(self) -> Item | None:
        """What the origin holds under the key itself."""
        return self.whole[0] if self.whole else None

    @property
    def is_in_sync(self) -> bool:
        return not self.puts and not self.deletes


@dataclass(frozen=True, slots=True)
class KeyActions:
    """Actions of one key that fit into one transaction, the places they are about, and their size."""

    plan: KeyPlan
    actions: tuple[Mapping[str, Any], ...]
    places: frozenset[ItemIdentity]
    size: int


def sync_keys(
    context: MigrationContext,
    direction: Direction,
    epoch: int,
    tasks: Sequence[Task],
    *,
    leave_changed: bool = False,
) -> None:
    """Make the goal match the origin under these keys. EpochEnded if the epoch has ended.

    With `leave_changed`, a key that changes after it was read is left to the follower: writers that never pause change
    some keys of every batch, and a worker that read them again and again would never catch up.
    """
    asked = list(merge_tasks(direction, tasks).values())
    for start in range(0, len(asked), BATCH):
        _sync_batch(context, direction, epoch, asked[start : start + BATCH], leave_changed)


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


def _sync_batch(
    context: MigrationContext, direction: Direction, epoch: int, tasks: Sequence[Task], leave_changed: bool
) -> None:
    for tried in range(ROUNDS):
        plans = plan_tasks(context, direction, tasks)
        pending = [
            part for plan in plans if not plan.is_in_sync for part in _key_actions(context, direction, plan)
        ]
        sent = [_send(context, direction, epoch, pack) for pack in _packs(pending)]
        again = [one for each in sent for one in (*each.changed, *each.busy)]
        if leave_changed and any(each.changed for each in sent) and context.state().is_open:
            again = [one for each in sent for one in (*filter(_needs_deletes, each.changed), *each.busy)]
        if not again:
            return
        # Written keys are done: later changes of them come through the stream.
        unsynced = merge_tasks(direction, [one.plan.task for one in again])
        tasks = [replace(task, seen=None) for task in unsynced.values()]
        if tried:
            context.sleep(0.01 * context.world.jitter() * tried)
    table = direction.origin.called
    raise KeyKeepsChanging(f"{table}: an item keeps changing while it is copied; it is tried again later")


def _needs_deletes(one: KeyActions) -> bool:
    """Whether only this task knows of items that have to be deleted. Otherwise a changed key can be left.

    Its change came after the records of this task were read and, if writes are not paused even now, before any marker:
    so its own record follows, and has as its old image what was read here. In a pause that is not certain.
    """
    return bool(one.plan.deletes)


# --- what is to be done ---


def plan_tasks(context: MigrationContext, direction: Direction, tasks: Sequence[Task]) -> list[KeyPlan]:
    """For each key what the goal lacks, or has too much. The origin is read before the goal."""
    wholes = read_wholes(context, direction, [task.key for task in tasks if task.seen is None])
    found = [
        (task.seen,) if task.seen else wholes.get(identity_of(direction.origin.called, task.key), ())
        for task in tasks
    ]
    wanted = [direction.made(*whole) for whole in found]
    if len({place for made in wanted for place in made}) < sum(map(len, wanted)):
        raise TargetsCollide(direction.migration, direction.goal.called)
    keys = [direction.goal.key(one) for made in wanted for one in made.values()]
    keys += [direction.goal.key(one) for task in tasks for one in task.before]
    there = read_items(context, direction.goal, keys)
    return [
        _plan(direction, task, whole, made, there)
        for task, whole, made in zip(tasks, found, wanted, strict=True)
    ]


def _plan(
    direction: Direction,
    task: Task,
    whole: Whole,
    wanted: Mapping[ItemIdentity, Item],
    there: Mapping[ItemIdentity, Item],
) -> KeyPlan:
    puts = tuple(
        one for place, one in wanted.items() if not direction.is_equivalent(whole, there.get(place), one)
    )
    home = identity_of(direction.origin.called, task.key)
    old = {direction.place(one) for one in task.before} - wanted.keys()
    gone = [there[place] for place in sorted(old) if place in there]
    return KeyPlan(task, whole, puts, tuple(one for one in gone if _stands_for(direction, one, home)))


def _stands_for(direction: Direction, there: Item, home: ItemIdentity) -> bool:
    """Whether an item of the goal is this key's: another may have come to its place since.

    The places of a group are of one key only.
    """
    if direction.group is not None and not direction.gathers:
        return True
    homes = [identity_of(direction.origin.called, key) for key in direction.origin_keys(there)]
    return not homes or home in homes


def find_orphans(context: MigrationContext, direction: Direction, page: Sequence[Item]) -> list[Task]:
    """The items of a page of the goal that no item of the origin stands for, after a missed change or a foreign write.

    Each is a task for the key it seems to come from: whether it is deleted shows when that is synchronised. In the
    direction `back`, items that the newer version cannot express are left alone.
    """
    homes = origin_keys(context, direction, page)
    origin = read_wholes(context, direction, [key for keys in homes for key in keys or ()])
    # Once for each: many items of a page may come from one.
    made = {place: direction.made(*whole).keys() for place, whole in origin.items()}
    tasks = []
    for item, keys in zip(page, homes, strict=True):
        if keys is None or (not keys and direction.course == "back"):
            continue
        wanted = [made.get(identity_of(direction.origin.called, key), ()) for key in keys]
        if not any(direction.place(item) in each for each in wanted):
            tasks.append(Task(keys[0] if keys else direction.origin.key(item), (item,)))
    return tasks


def origin_keys(
    context: MigrationContext, direction: Direction, page: Sequence[Item]
) -> list[list[Key] | None]:
    """The keys of the origin that items of the goal stand for; None for an item that is not the migration's."""
    group = direction.group
    if group is None or direction.gathers:
        return [direction.origin_keys(item) for item in page]
    anchors = [group.anchor(item) for item in page]
    there = read_items(context, direction.goal, [key for key in anchors if key is not None])
    found: list[list[Key] | None] = []
    for key in anchors:
        anchor = there.get(identity_of(direction.goal.called, key)) if key is not None else None
        home = group.home(anchor) if anchor is not None else None
        found.append([home] if home is not None else None)
    return found


def origin_tasks(direction: Direction, page: Sequence[Item]) -> list[Task]:
    """The tasks of a page of the origin: each item, or each group whose anchor is in the page."""
    if direction.gathers:
        return [Task(direction.origin.key(item)) for item in page if direction.is_unit(item)]
    return [Task(direction.origin.key(item), (), item) for item in page]


def read_wholes(
    context: MigrationContext, direction: Direction, keys: Iterable[Key]
) -> dict[ItemIdentity, Whole]:
    """What the origin holds under some keys with the parts of each, which are read later, by place."""
    items = read_items(context, direction.origin, keys)
    if direction.group is None or not direction.gathers:
        return {place: (item,) for place, item in items.items()}
    return {
        place: (item, *read_parts(context, direction.origin, direction.group, item))
        for place, item in items.items()
    }


def read_parts(context: MigrationContext, version: TableVersion, group: Group, anchor: Item) -> list[Item]:
    """The items of a group besides its anchor."""
    assert version.table.sk is not None
    found: list[Item] = []
    for partition, start in group.parts(anchor):
        request = {
            "TableName": context.physical(version),
            "ConsistentRead": True,
            "KeyConditionExpression": "#p = :p AND begins_with(#s, :s)",
            "ExpressionAttributeNames": {"#p": version.table.pk, "#s": version.table.sk},
            "ExpressionAttributeValues": {":p": {"S": partition}, ":s": {"S": start}},
        }
        found += [item for page in pages(context.call, "Query", request) for item in page["Items"]]
    return found


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


def _key_actions(context: MigrationContext, direction: Direction, plan: KeyPlan) -> list[KeyActions]:
    """What a key needs, in parts of at most one transaction each: beside the gate, each with the check of the key."""
    goal = context.physical(direction.goal)
    check = {"ConditionCheck": _if_unchanged(context, direction.origin, plan.task.key, plan.item)}
    origin = identity_of(direction.origin.called, plan.task.key)
    writes: list[tuple[Item, Mapping[str, Any]]] = [
        (item, {"Put": {"TableName": goal, "Item": direction.stored(item)}}) for item in plan.puts
    ]
    writes += [
        (item, {"Delete": _if_unchanged(context, direction.goal, direction.goal.key(item), item)})
        for item in plan.deletes
    ]
    parts = [writes[start : start + ACTIONS - 2] for start in range(0, len(writes), ACTIONS - 2)]
    made = []
    for part in parts:
        actions = (check, *(action for _, action in part))
        places = frozenset({origin, *(direction.place(item) for item, _ in part)})
        size = sum(len(json_of("settle", action)) for action in actions)
        made.append(KeyActions(plan, actions, places, size))
    return made


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


@dataclass(frozen=True, slots=True)
class Sent:
    """What a transaction did not do: keys that have `changed` since they were read, and those that were `busy`."""

    changed: tuple[KeyActions, ...] = ()
    busy: tuple[KeyActions, ...] = ()

    def __add__(self, other: "Sent") -> "Sent":
        return Sent((*self.changed, *other.changed), (*self.busy, *other.busy))


def _send(context: MigrationContext, direction: Direction, epoch: int, pack: list[KeyActions]) -> Sent:
    """Send the actions of some keys as one transaction; returns the keys to try again. Halved on conflicts."""
    if not pack:
        return Sent()
    # The check that the epoch has not ended; any gate will do.
    gate = gates.check(context.name, int(context.world.jitter() * GATES) % GATES)
    gate = gate.when(lambda v: v.epoch == epoch).when(lambda v: v.course == direction.course)
    owners = [None, *(one for one in pack for _ in one.actions)]
    actions = [*context.db.wire(gate), *(action for one in pack for action in one.actions)]
    try:
        transact_write(context.call, actions, world=context.world, retries=replace(ONCE, sleep=context.sleep))
        return Sent()
    except TransactionRefused as refusal:
        failed = {reason.position for reason in failed_conditions(refusal)}
        if 0 in failed:
            _raise_gate_error(context, epoch)
        if not failed and not all(reason.code in TRANSIENT for reason in refusal.reasons):
            raise
    if failed:
        changed = {id(owners[position]) for position in failed}
        rest = [one for one in pack if id(one) not in changed]
        return Sent(tuple(one for one in pack if id(one) in changed)) + _send(context, direction, epoch, rest)
    if len(pack) == 1:
        return Sent(busy=tuple(pack))
    half = len(pack) // 2
    return _send(context, direction, epoch, pack[:half]) + _send(context, direction, epoch, pack[half:])


def _raise_gate_error(context: MigrationContext, epoch: int) -> None:
    """Raise why the check of a gate failed."""
    gate: Gate | None = context.db.one(gates.get(context.name, 0), consistent=True)
    state = context.find_state()
    if gate is not None and gate.epoch == epoch and state is not None and state.barred:
        raise GateClosed(f"{context.name}: following begins in a moment")
    raise EpochEnded(context.name, epoch)
