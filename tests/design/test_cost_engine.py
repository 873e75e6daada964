"""The cost model beside the engine: what a design is said to take is what the engine counts, call by call.

Each write and read goes through the mapping, as a system's would, and what the engine says it consumed is compared.
Items weigh exactly what the load says, so that rounding is put to the test as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Design, Entity, Keys, Load, Unique
from tablewright.design.cost.calls import calls_of
from tablewright.mapping import Db
from tablewright.mapping.items import item_of
from tablewright.mapping.meter import Meter
from tablewright.values import item_size

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Tenant(BaseModel):
    """As the portal's: in three indexes, with an address nobody else has."""

    id: str
    email: str
    status: str = "NEW"
    active: bool = True
    created: datetime = NOW
    text: str = ""


class Event(BaseModel):
    """In a sharded index, in one of keys only, and in one that holds only what is open."""

    id: str
    kind: str = "noise"
    at: datetime = NOW
    open: bool = False
    text: str = ""


def tenant_key(id: str) -> None: ...


@dataclass(frozen=True)
class World:
    design: Design
    db: Db
    size: int
    tenants: Entity[Tenant, [str]]
    events: Entity[Event, [str]]
    patterns: dict[str, Any]

    def sized(self, entity: Any, item: Any) -> Any:
        """The item, made to weigh what the loads say."""
        filled = item.model_copy(update={"text": ""})
        missing = self.size - item_size(item_of(entity.shape, filled)) - len(item.text)
        return item.model_copy(update={"text": item.text + "x" * missing})

    def expected(self, name: str) -> float:
        return float(next(call for call in calls_of(self.design) if call.name == name).units)

    def spent(self) -> tuple[float, float]:
        """Read and write units since it was asked last."""
        found = self.db.meter.spent().values()
        self.db.meter = Meter()
        return sum(each.read for each in found), sum(each.write for each in found)


def _designed(size: int) -> tuple[Design, Any, Any, dict[str, Any]]:
    def load(**more: Any) -> Load:
        return Load(per_month=1, item_bytes=size, **more)

    design = Design("costed")
    tenants_table = design.table("tenants", pk="PK", sk="SK")
    by_email = tenants_table.gsi("ByEmail", pk="email")
    by_status = tenants_table.gsi("ByStatus", pk="status", sk="created")
    by_active = tenants_table.gsi("ByActive", pk="activeKey", sk="created")
    tenants = tenants_table.entity(
        Tenant,
        tenant_key,
        tag="tenant",
        pk="TENANT#{id}",
        sk="TENANT",
        on={
            by_email: Keys("{email}"),
            by_status: Keys("{status}", "{created}"),
            by_active: Keys("{active:bool}", "{created}"),
        },
        unique=[Unique("email", "{email:lower}")],
        load={
            "create": load(),
            "change": load(changes=("status",), once=True),
            "delete": load(),
            "check": load(),
        },
    )
    events_table = design.table("events", pk="PK")
    by_kind = events_table.gsi("ByKind", pk="kindKey", sk="at")
    when_open = events_table.gsi("WhenOpen", pk="openKey")
    only_keys = events_table.gsi("OnlyKeys", pk="atKey", project="KEYS_ONLY")
    few = ("ByKind", "OnlyKeys")
    events = events_table.entity(
        Event,
        tenant_key,
        tag="event",
        pk="EVENT#{id}",
        on={
            by_kind: Keys("{kind}#{id:shard.4}", "{at}"),
            when_open: Keys("{open:flag}"),
            only_keys: Keys("AT#{at:ms}"),
        },
        load={
            "create": load(),
            "update": load(changes=("text",), indexes=few),
            "change": load(changes=("kind",), indexes=few),
            "upsert": load(changes=("text",), indexes=few, transaction=True),
        },
    )

    @design.get(events, load=load())
    def event_by_id(*, id: str) -> None:
        """One event."""

    @design.get(tenants, consistent=True, load=load())
    def tenant_by_id(*, id: str) -> None:
        """One tenant."""

    @design.query(events, on=by_kind, pk="{kind}#{id:shard.4}", load=load(items=4))
    def events_of(*, kind: str) -> None:
        """The events of a kind, from four shards."""

    @design.query(events, pk="EVENT#{id}", consistent=True, load=load())
    def events_with(*, id: str) -> None:
        """The events of an id."""

    patterns = {each.plan.name: each for each in (event_by_id, tenant_by_id, events_of, events_with)}
    return design.build(), tenants, events, patterns


@pytest.fixture(params=[700, 1024, 1025, 5000], ids=lambda size: f"{size} bytes")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    design, tenants, events, patterns = _designed(request.param)
    with testing.engine() as engine:
        db = Db(embedded(engine), design)
        db.create_tables()
        yield World(design, db, request.param, tenants, events, patterns)


def test_cp_d9_three_indexes_are_three_more_writes_and_a_status_that_moves_four(world: World) -> None:
    """Beside the guard of the address, or the receipt, and the doubling in their transaction."""
    before = world.sized(world.tenants, Tenant(id="t1", email="a@b.c"))
    world.db.write(world.tenants.create(before))
    assert world.spent() == (0, world.expected("tenant.create"))
    after = world.sized(world.tenants, before.model_copy(update={"status": "OLD"}))
    world.db.write(world.tenants.change(before, after), once="changed")
    assert world.spent() == (0, world.expected("tenant.change"))
    world.db.write(world.tenants.delete(after))
    assert world.spent() == (0, world.expected("tenant.delete"))
    if world.size <= 1024:
        # The item doubled and three indexes, one of them moved; beside it the guard, or the receipt, doubled as well.
        assert world.expected("tenant.create") == world.expected("tenant.delete") == 2 + 3 + 2
        assert world.expected("tenant.change") == 2 + 4 + 2


def test_what_is_only_checked_is_doubled_and_touches_no_index(world: World) -> None:
    tenant = world.sized(world.tenants, Tenant(id="t1", email="a@b.c"))
    event = world.sized(world.events, Event(id="e1"))
    world.db.write(world.tenants.create(tenant))
    world.spent()
    world.db.write(world.tenants.check("t1"), world.events.upsert(event))
    both = world.spent()[1]
    # The event's own part: doubled, and one entry in each index that holds it; of keys only, one unit.
    own = 2 * -(-world.size // 1024) + -(-world.size // 1024) + 1
    assert both - own == world.expected("tenant.check")


def test_an_update_pays_for_entries_that_change_and_not_for_keys_alone(world: World) -> None:
    event = world.sized(world.events, Event(id="e1"))
    world.db.write(world.events.create(event))
    made = world.spent()[1]
    assert made <= world.expected("event.create"), "sparse and of keys only: the model takes the worse"
    other = "y" + event.text[1:]
    world.db.write(world.events.update("e1").at(lambda each: each.text).set(other))
    assert world.spent() == (0, world.expected("event.update"))


def test_a_key_that_moves_in_an_index_pays_twice(world: World) -> None:
    event = world.sized(world.events, Event(id="e1"))
    world.db.write(world.events.create(event))
    world.spent()
    after = event.model_copy(update={"kind": "sound"})
    world.db.write(world.events.change(event, after))
    assert world.spent() == (0, world.expected("event.change"))


def test_reads_are_what_the_engine_counts(world: World) -> None:
    world.db.write(world.tenants.create(world.sized(world.tenants, Tenant(id="t1", email="a@b.c"))))
    chosen = iter(range(1000))
    ids: dict[str, str] = {}
    while len(ids) < 4:  # one for each shard, as the model spreads them
        id = f"e{next(chosen)}"
        key = world.events.shape.derive(Event(id=id).__dict__)["kindKey"]["S"]
        ids.setdefault(key, id)
    for id in ids.values():
        world.db.write(world.events.create(world.sized(world.events, Event(id=id))))
    first = next(iter(ids.values()))
    world.spent()
    world.db.one(world.patterns["event_by_id"](id=first))
    assert world.spent() == (world.expected("event_by_id"), 0)
    world.db.one(world.patterns["tenant_by_id"](id="t1"))
    assert world.spent() == (world.expected("tenant_by_id"), 0)
    assert len(list(world.db.all(world.patterns["events_of"](kind="noise")))) == 4
    assert world.spent() == (world.expected("events_of"), 0)
    assert len(list(world.db.all(world.patterns["events_with"](id=first)))) == 1
    assert world.spent() == (world.expected("events_with"), 0)


@pytest.mark.parametrize("items", [20, 50, 60, 200])
def test_a_page_of_shards_is_read_of_each_of_them(items: int) -> None:
    """Eight shards of 60 items of 600 bytes: each is asked for a page and one more, and the page is merged."""
    design = Design("sharded")
    table = design.table("events", pk="PK")
    index = table.gsi("ByKind", pk="kindKey", sk="atKey")
    on = {index: Keys("{kind}#{id:shard.8}", "{at:ms}#{id}")}
    events = table.entity(Event, tenant_key, tag="event", pk="EVENT#{id}", on=on)
    stated = Load(per_month=1, items=items, item_bytes=600)

    @design.query(events, on=index, pk="{kind}#{id:shard.8}", page=min(items, 50), at_most=100, load=stated)
    def events_of(*, kind: str) -> None:
        """The events of a kind, from eight shards."""

    (call,) = calls_of(design.build())
    with testing.engine() as engine:
        db = Db(embedded(engine), design)
        db.create_tables()
        kept: dict[str, list[Event]] = {}
        for number in range(2000):
            event = Event(id=f"e{number:04}")
            kept.setdefault(events.shape.derive(event.__dict__)["kindKey"]["S"], []).append(event)
        assert len(kept) == 8
        # More than a page may have are all there are; of what fills a page each shard has enough.
        most = 60 if items <= 100 else items // 8
        chosen = [event for each in kept.values() for event in each[:most]]
        empty = item_size(item_of(events.shape, chosen[0]))
        sized = [event.model_copy(update={"text": "x" * (600 - empty)}) for event in chosen]
        db.batch([events.put(event) for event in sized])
        db.meter = Meter()
        asked = events_of(kind="noise")
        found = list(db.all(asked)) if items > 100 else db.page(asked, size=items).items
        measured = sum(each.read for each in db.meter.spent().values())
        assert len(found) == items
        assert float(call.units) == measured
        if items <= 50:
            assert db.explain(asked).read_units == measured
    if items == 50:
        assert measured == 32
        assert call.uses[0].why.startswith("51 items of 600 B in each of 8 shards, to merge a page of 50")
