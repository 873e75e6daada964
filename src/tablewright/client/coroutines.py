"""Code that calls and waits, run in a coroutine: it is suspended where it would wait, and the event loop goes on.

    await in_coroutine(db.one, request)       # `db` calls; what it calls uses `wait_for`

The code runs in a greenlet of the same thread, so one implementation serves both kinds of callers, and no thread is
started. Needs the extra `async` (greenlet), and is imported only by those who ask for it.
Must hold: an error of what is waited for, and the cancellation of the task, are raised where the code waits.
Elsewhere: HTTP that waits so (async_http.py), the mapping (mapping/async_db.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ParamSpec, Protocol, TypeVar

from greenlet import getcurrent, greenlet

from tablewright.client.call import Call

P = ParamSpec("P")
T = TypeVar("T")


class AsyncCall(Protocol):
    """`calls` is a Call that waits with `wait_for`: to be used below `in_coroutine` only."""

    @property
    def calls(self) -> Call: ...


class NotInCoroutine(RuntimeError):
    """Something that waits for the event loop was called outside of `in_coroutine`."""

    def __init__(self) -> None:
        super().__init__("this waits for the event loop; call it with `await in_coroutine(function, ...)`")


class _Suspendable(greenlet):  # type: ignore[misc]  # greenlet has no types
    """A greenlet whose parent awaits what it switches back with."""


def wait_for(awaitable: Awaitable[T]) -> T:
    """The result of an awaitable, from code that cannot await."""
    here = getcurrent()
    if not isinstance(here, _Suspendable) or here.parent is None:
        if asyncio.iscoroutine(awaitable):
            awaitable.close()
        raise NotInCoroutine
    result: T = here.parent.switch(awaitable)
    return result


async def in_coroutine(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function to its end, and await whatever it waits for."""
    worker = _Suspendable(function)
    # The same context variables, such as the span of the caller.
    worker.gr_context = getcurrent().gr_context
    result: Any = worker.switch(*args, **kwargs)
    while not worker.dead:
        try:
            value = await result
        except BaseException as error:  # cancellation too: the function must clean up
            result = worker.throw(error)
        else:
            result = worker.switch(value)
    found: T = result
    return found


def pause(seconds: float) -> None:
    """`time.sleep` for code below `in_coroutine`."""
    wait_for(asyncio.sleep(seconds))


class ThreadedCall:
    """A Call that blocks (an engine of this process, boto3), each call in a thread of the event loop's pool."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def calls(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return wait_for(asyncio.to_thread(self._call, verb, request))
