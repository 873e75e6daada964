"""AsyncDb: the scenarios of Db, told to it over HTTP in an event loop, and what only tasks can do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest
from tests.client.driven import Driven, Driver
from tests.client.ways import KEY, REGION, over_http
from tests.mapping.shop import START, customer, customers, day, days, order, orders, orders_of, shop
from tests.mapping.talk import Shop
from tests.mapping.test_pages import *  # noqa: F403  # each of its tests, with the fixtures below
from tests.mapping.test_receipts import *  # noqa: F403  # each of its tests, with the fixtures below
from tests.mapping.test_transactions import *  # noqa: F403  # each of its tests, with the fixtures below
from tests.mapping.test_upserting import *  # noqa: F403  # each of its tests, with the fixtures below
from tests.places import reached

from tablewright import testing
from tablewright.client import HttpCall, embedded
from tablewright.client.async_http import AsyncHttpCall
from tablewright.client.coroutines import ThreadedCall
from tablewright.mapping import Db
from tablewright.mapping.async_db import AsyncDb
from tablewright.testing import Clock

# What a scenario does with threads, or with a Db of its own.
del test_no_increment_of_an_upsert_is_lost_among_eight_threads  # noqa: F821
del test_all_reads_on_in_large_steps_and_only_as_far_as_wanted  # noqa: F821

SECRET = b"the same secret in every process"


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def at(clock: Clock) -> Iterator[Shop]:
    """A shop whose Db is an AsyncDb in an event loop; the Call beside it is an ordinary one."""
    driver = Driver()
    with reached("http", None, clock.world(), shop) as there:
        assert isinstance(there.call, HttpCall)
        call = AsyncHttpCall(there.call.endpoint, REGION, KEY)
        awaited = AsyncDb(call, shop, world=clock.world(), secret=SECRET)
        db = cast(Db, Driven(driver, awaited, awaited.db))
        yield Shop(db, there.call, clock, there.engine, SECRET)
        driver.result(call.aclose())
    driver.close()


@pytest.fixture
def db(at: Shop) -> Db:
    return at.db


def run(story: Any) -> None:
    """A story with an AsyncDb of an engine behind HTTP."""
    with testing.engine() as engine:
        Db(embedded(engine), shop).create_tables()
        engine.settle()
        with over_http(engine) as call:
            assert isinstance(call, HttpCall)
            url = call.endpoint

            async def main() -> None:
                async with AsyncHttpCall(url, REGION, KEY) as opened:
                    await story(AsyncDb(opened, shop))

            asyncio.run(main())


def test_of_many_tasks_that_add_to_one_item_none_is_lost() -> None:
    async def story(db: AsyncDb) -> None:
        await db.write(days.create(day()))
        visits = days.update("c1", day().day).at(lambda d: d.visits).add(1)
        before = threading.active_count()
        await asyncio.gather(*(db.write(visits) for _ in range(40)))
        assert threading.active_count() == before
        found = await db.one(days.get("c1", day().day), consistent=True)
        assert found is not None
        assert found.visits == day().visits + 40
        assert db.db.meter.spent()["day.update"].calls == 40

    run(story)


def test_of_many_tasks_that_create_one_unique_value_one_succeeds() -> None:
    async def story(db: AsyncDb) -> None:
        creates = [customers.create(customer(f"c{n}", email="one@example.org")) for n in range(8)]
        found = await asyncio.gather(*(db.get_or_create(create) for create in creates))
        assert sum(created for _, created in found) == 1
        assert len({one.id for one, _ in found}) == 1
        holder = await db.holder(customers, "email", email="one@example.org")
        assert holder == found[0][0]

    run(story)


def test_items_come_as_they_are_wanted_and_tasks_take_turns() -> None:
    async def story(db: AsyncDb) -> None:
        await db.batch(orders.put(order(n)) for n in range(250))

        async def ids() -> list[str]:
            return [one.id async for one in db.all(orders_of(customer="c1"))]

        first, second = await asyncio.gather(ids(), ids())
        assert first == second
        assert len(first) == 250
        async for one in db.all(orders_of(customer="c1")):
            assert one.id == first[0]
            break

    run(story)


def test_an_engine_of_this_process_does_as_well() -> None:
    async def story(db: AsyncDb) -> None:
        await db.create_tables()
        await db.write(orders.create(order(1)))
        assert await db.first(orders_of(customer="c1")) == order(1)

    with testing.engine() as engine:
        asyncio.run(story(AsyncDb(ThreadedCall(embedded(engine)), shop)))


def test_it_has_every_method_of_db_that_calls() -> None:
    plain = {"call", "explain", "physical", "token_at", "wire"}  # AsyncDb.db has them
    assert {name for name in vars(Db) if not name.startswith("_")} - plain <= set(vars(AsyncDb))
