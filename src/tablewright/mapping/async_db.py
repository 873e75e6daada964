"""Db for asyncio: the same requests, the same pages, the same errors, awaited.

    async with AsyncHttpCall(url, region, credentials) as call:
        db = AsyncDb(call, portal)
        await db.write(tenants.create(tenant))
        async for tenant in db.all(tenants_by_status(status="REGISTERED")): ...

Everything is run by a Db (db.py) below `in_coroutine` (client/coroutines.py): there is no second implementation, and no
thread. Needs the extra `async`. A `ThreadedCall` stands for an engine of this process, whose calls block.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from pydantic import BaseModel

from tablewright.client.coroutines import AsyncCall, in_coroutine, pause
from tablewright.design import Design, Entity, Environment
from tablewright.design.large import Large
from tablewright.mapping.db import Db
from tablewright.mapping.executor import Observe
from tablewright.mapping.large_objects import INLINE_BYTES, LargeStore
from tablewright.mapping.meter import Meter
from tablewright.world import World, real_world

E = TypeVar("E", bound=BaseModel)
P = ParamSpec("P")
T = TypeVar("T")
_END: Final = object()


def _awaited(
    method: Callable[Concatenate[Db, P], T],
) -> Callable[Concatenate["AsyncDb", P], Coroutine[Any, Any, T]]:
    @wraps(method)
    async def run(self: "AsyncDb", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await in_coroutine(method, self.db, *args, **kwargs)

    return run


def _iterated(
    method: Callable[Concatenate[Db, P], Iterator[T]],
) -> Callable[Concatenate["AsyncDb", P], AsyncIterator[T]]:
    @wraps(method)
    async def run(self: "AsyncDb", /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        found: Iterator[Any] = await in_coroutine(method, self.db, *args, **kwargs)
        while (one := await in_coroutine(_next, found)) is not _END:
            yield one

    return run


def _next(found: Iterator[Any]) -> Any:
    return next(found, _END)


class AsyncDb:
    """Runs requests of one or more designs over an AsyncCall. Any number of tasks may call.

    `db` has what does not call: `explain`, `wire`, `token_at`, `physical`, `meter`.
    """

    def __init__(
        self,
        call: AsyncCall,
        *designs: Design,
        world: World | None = None,
        secret: bytes | None = None,
        environment: Environment | None = None,
        meter: Meter | None = None,
        observe: Observe | None = None,
        objects: LargeStore | None = None,
        inline_bytes: int = INLINE_BYTES,
    ) -> None:
        """As Db: without a secret, page tokens work in this process only."""
        self.db = Db(
            call.calls,
            *designs,
            world=replace(world or real_world(), sleep=pause),
            secret=secret,
            environment=environment,
            meter=meter,
            observe=observe,
            objects=objects,
            inline_bytes=inline_bytes,
        )

    create_tables = _awaited(Db.create_tables)

    one = _awaited(Db.one)
    many = _awaited(Db.many)
    items = _awaited(Db.items)
    holders = _awaited(Db.holders)
    together = _awaited(Db.together)
    page = _awaited(Db.page)
    first = _awaited(Db.first)
    search = _awaited(Db.search)
    count = _awaited(Db.count)
    all = _iterated(Db.all)
    every = _iterated(Db.every)
    overdue = _iterated(Db.overdue)

    write = _awaited(Db.write)
    transact = _awaited(Db.transact)
    done = _awaited(Db.done)
    apply = _awaited(Db.apply)
    get_or_create = _awaited(Db.get_or_create)
    batch = _awaited(Db.batch)
    clear = _awaited(Db.clear)

    async def large(self, content: bytes) -> Large:
        """As Db.large, in a thread: stores of objects block."""
        return await asyncio.to_thread(self.db.large, content)

    async def content(self, value: Large) -> bytes:
        """As Db.content, in a thread: stores of objects block."""
        return await asyncio.to_thread(self.db.content, value)

    async def holder(
        self, entity: Entity[E, Any], unique: str, *, deleted: bool = False, **fields: object
    ) -> E | None:
        """The item that has a unique value, read through its guard and so always up to date."""
        return await in_coroutine(lambda: self.db.holder(entity, unique, deleted=deleted, **fields))
