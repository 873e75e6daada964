"""The calls of a design in the proportions that it states, as functions that send one.

Reads are access patterns and gets; writes are the verbs of entities. What a service adds to them (checks before a
write, several writes in one transaction) is not part of a design, so a load run measures tables, not the service.
Must hold: every call with a stated load is in the mix; a call only touches items that the run made.
Elsewhere: rates and units by arithmetic (design/cost/calls.py), sample items (samples.py), running them (run.py).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from tablewright.design import Design
from tablewright.design.cost.calls import PlannedCall, calls_of
from tablewright.design.entities import Entity
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.patterns import Plan, get, query
from tablewright.design.requests import Write
from tablewright.design.traits import Load
from tablewright.mapping.db import Db
from tablewright.mapping.load.samples import padding_field, sample_arguments, sample_item
from tablewright.mapping.read_requests import get_request, query_request
from tablewright.mapping.receipts import RECEIPT_LIFETIME, receipt_action
from tablewright.world import World

# Items of each entity that are there when a run begins.
PREPARED = 200


@dataclass(frozen=True, slots=True)
class Operation:
    """A kind of call: how many a second the design states, and a function that sends one."""

    planned: PlannedCall
    a_second: float
    send: Callable[[], None]

    @property
    def name(self) -> str:
        return self.planned.name


class Numbers:
    """Which items of an entity there are: those prepared, and those that the run made."""

    def __init__(self, world: World) -> None:
        self._next, self._world = count(PREPARED), world

    def new(self) -> int:
        return next(self._next)

    def known(self) -> int:
        return int(self._world.jitter() * PREPARED)


def prepare(db: Db, designs: Sequence[Design], notify: Callable[[int, int], None]) -> None:
    """Put the items that reads and updates find."""
    shapes = [shape for design in designs for shape in design.shapes]
    for done, shape in enumerate(shapes):
        notify(done, len(shapes))
        sizes = [load.item_bytes for load in shape.load.values()]
        made = (_put(shape, sample_item(shape, number, max(sizes, default=0))) for number in range(PREPARED))
        # Of two numbers with the same key the second stays; a batch may have each key once.
        db.batch({repr(write.key): write for write in made}.values())
    notify(len(shapes), len(shapes))


def operations(db: Db, designs: Sequence[Design]) -> tuple[Operation, ...]:
    """Every call that a design states a load for."""
    return tuple(operation for design in designs for operation in _operations(db, design))


def _operations(db: Db, design: Design) -> Iterator[Operation]:
    plans = {plan.name: plan for plan in design.plans}
    shapes = {shape.tag: shape for shape in design.shapes}
    numbers = {tag: Numbers(db.world) for tag in shapes}
    for planned in calls_of(design):
        a_second = float(planned.a_month) / (30 * 86_400)
        if planned.name in plans:
            send = partial(_read, db, plans[planned.name])
        else:
            tag, _, verb = planned.name.rpartition(".")
            send = partial(_VERBS[verb], db, shapes[tag], numbers[tag], shapes[tag].load[verb])
        yield Operation(planned, a_second, send)


# --- reads: sent as they are, because nothing decodes the samples ---


def _read(db: Db, plan: Plan) -> None:
    arguments = sample_arguments(plan, int(db.world.jitter() * PREPARED))
    if plan.kind == "get":
        _ask(db, plan.name, "GetItem", get_request(get(plan, arguments), db.physical, plan.consistent))
        return
    asked = query(plan, arguments)
    now = int(db.world.now().timestamp())
    limit = max(int(plan.load.items), 1) if plan.load is not None else plan.page
    for number, partition in enumerate(asked.partitions):
        request = query_request(asked, partition, db.physical, now) | {"Limit": limit}
        _ask(db, plan.name, "Query", request, calls=0 if number else 1)


def _ask(db: Db, name: str, verb: str, request: Mapping[str, Any], calls: int = 1) -> None:
    answer = db.call(verb, {**request, "ReturnConsumedCapacity": "TOTAL"})
    db.meter.count(name, verb, answer, calls)


def _get(db: Db, shape: EntitySpec, numbers: Numbers, load: Load) -> None:
    entity = Entity[Any, Any](shape, shape.model)
    key = _put(shape, sample_item(shape, numbers.known())).values
    asked = entity.get(**{name: key[name] for name in shape.parameters})
    _ask(db, f"{shape.tag}.get", "GetItem", get_request(asked, db.physical, True))


# --- writes ---


def _put(shape: EntitySpec, item: Any) -> Write[Any]:
    """The whole item, whatever there is: conditions of versions and states belong to the service."""
    return Write("put", shape, shape.key_of(item.__dict__), item.__dict__, item=item)


def _create(db: Db, shape: EntitySpec, numbers: Numbers, load: Load) -> None:
    item = sample_item(shape, numbers.new(), load.item_bytes)
    _write(db, f"{shape.tag}.create", Entity[Any, Any](shape, type(item)).create(item), load)


def _replace(db: Db, shape: EntitySpec, numbers: Numbers, load: Load, verb: str = "put") -> None:
    is_new = verb == "put" and db.world.jitter() < (1 if load.new is None else load.new)
    number = numbers.new() if is_new else numbers.known()
    _write(db, f"{shape.tag}.{verb}", _put(shape, sample_item(shape, number, load.item_bytes)), load)


def _update(db: Db, shape: EntitySpec, numbers: Numbers, load: Load, verb: str = "update") -> None:
    """One field of an item that is there; the whole item where no field may be set alone."""
    field = padding_field(shape)
    if field is None:
        _replace(db, shape, numbers, load, verb)
        return
    item = sample_item(shape, numbers.known(), load.item_bytes)
    key = {name: getattr(item, name) for name in shape.parameters}
    slot = Entity[Any, Any](shape, type(item)).update(**key).at(lambda each: getattr(each, field))
    _write(db, f"{shape.tag}.{verb}", slot.set(getattr(item, field)), load)


def _delete(db: Db, shape: EntitySpec, numbers: Numbers, load: Load) -> None:
    """An item that is put for it, uncounted."""
    put = _put(shape, sample_item(shape, numbers.new(), load.item_bytes))
    _ask(
        db,
        "samples",
        "PutItem",
        {"TableName": db.physical(shape.table.name), "Item": db.wire(put)[0]["Put"]["Item"]},
    )
    write: Write[Any] = Write("delete", shape, put.key, put.values)
    _write(db, f"{shape.tag}.delete", write, load)


def _check(db: Db, shape: EntitySpec, numbers: Numbers, load: Load) -> None:
    put = _put(shape, sample_item(shape, numbers.known()))
    write: Write[Any] = Write("check", shape, put.key, put.values)
    _write(db, f"{shape.tag}.check", write, load)


def _write(db: Db, name: str, write: Write[Any], load: Load) -> None:
    """Alone, or as a transaction with its guards and its receipt where the design states one."""
    sent = db.wire(write)
    if load.once:
        receipt = receipt_action(db.world.new_id(), None, db.world.now(), RECEIPT_LIFETIME, db.physical)
        sent.append({receipt.verb: receipt.body})
    ((verb, body),) = sent[0].items()
    if load.transaction or len(sent) > 1 or verb == "ConditionCheck":
        db.transact(name, sent)  # tries again where another call of the run has the item
    else:
        _ask(db, name, f"{verb}Item", body)


_VERBS: Mapping[str, Callable[[Db, EntitySpec, Numbers, Load], None]] = {
    "get": _get,
    "create": _create,
    "put": _replace,
    "change": partial(_replace, verb="change"),
    "update": _update,
    "upsert": partial(_update, verb="upsert"),
    "delete": _delete,
    "check": _check,
}
