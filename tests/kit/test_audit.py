"""The audit log: JSON values, newest first, of a record and of a month."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from tests.kit.shop import Thing, log, things

from tablewright.kit.audit import differences
from tablewright.kit.tables import Actor, Tables
from tablewright.testing import Clock

ANN = Actor("ann@example.org", "admin")
LAMP = Thing(id="1", name="Lamp", tags=["old"])
DEARER = Thing(id="1", name="Lamp", price=Decimal("2.5"), tags=["old", "dear"], version=2)


def test_numbers_stay_numbers_and_lists_stay_lists(tables: Tables) -> None:
    tables.write(
        "THING", things.create(LAMP), log.entry(tables, "1", "price changed", ANN, LAMP, DEARER, "dearer")
    )
    (entry,) = tables.db.all(log.of("1"))
    assert entry.before == {"price": 1, "tags": ["old"]}
    assert entry.after == {"price": 2.5, "tags": ["old", "dear"]}
    assert (entry.actor, entry.role, entry.reason) == (ANN.name, "admin", "dearer")


def test_a_new_record_has_nothing_before(tables: Tables) -> None:
    old, new = differences(None, LAMP, {"version"})
    assert (old, new["name"]) == ({}, "Lamp")


def test_what_changes_with_every_write_is_no_difference() -> None:
    assert differences(LAMP, LAMP.model_copy(update={"version": 9}), {"version"}) == ({}, {})


def test_the_log_is_read_newest_first_by_record_and_by_month(tables: Tables, clock: Clock) -> None:
    for thing, action in (("1", "made"), ("2", "made"), ("1", "sold")):
        tables.db.write(log.entry(tables, thing, action, ANN, after={"in": 3}))
        clock.move(timedelta(days=20))
    assert [entry.action for entry in tables.db.all(log.of("1"))] == ["sold", "made"]
    start = clock.now() - timedelta(days=60)
    assert [entry.thing_id for entry in tables.db.all(log.of_month(start))] == ["2", "1"]


def test_an_entry_expires(tables: Tables, clock: Clock) -> None:
    tables.db.write(log.entry(tables, "1", "made", ANN))
    clock.move(timedelta(days=401))
    assert list(tables.db.all(log.of("1"))) == []
