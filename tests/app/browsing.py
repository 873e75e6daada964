"""Who sits at a browser without a script, and a clock by which no two things happen at once: for tests of pages."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import TypeAlias

import httpx

from tablewright import testing
from tablewright.world import World

Enter: TypeAlias = Callable[..., httpx.Client]
_numbers = count(16)


def another_network() -> str:
    """An address of this machine that was not used before: to it, every limit of a network is as new."""
    number = next(_numbers)
    return f"127.0.{number >> 8}.{number & 255}"


@contextmanager
def browsers(url: str, network: str = "127.0.0.1") -> Iterator[Enter]:
    """`enter("lib_ines")` is signed in, `enter()` is not; `follow=False` shows where one is sent."""
    with ExitStack() as stack:

        def entered(person: str | None = None, *, follow: bool = True) -> httpx.Client:
            transport, headers = httpx.HTTPTransport(local_address=network), {"Accept": "text/html"}
            client = stack.enter_context(
                httpx.Client(
                    base_url=url, transport=transport, headers=headers, follow_redirects=follow, timeout=60
                )
            )
            if person is not None:
                assert client.post("/sign-in", data={"person": person}).status_code in (200, 303)
            return client

        yield entered


def ticking(clock: testing.Clock) -> World:
    """The clock's world, in which a moment passes with every look at it."""

    def now() -> datetime:
        clock.move(timedelta(milliseconds=1))
        return clock.now()

    return replace(clock.world(), now=now)
