"""An app of the little library, over real HTTP; a browser without a script is an httpx client with cookies."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TypeAlias

import httpx
import pytest
from tests.app.library import LIBRARY

from tablewright import testing
from tablewright.app.house import House, open_house
from tablewright.app.serve import app_of
from tablewright.edge import serving_app

Enter: TypeAlias = Callable[..., httpx.Client]


@pytest.fixture
def clock() -> testing.Clock:
    return testing.Clock()


@pytest.fixture
def house(clock: testing.Clock) -> Iterator[House]:
    with open_house(memory=True, systems=(LIBRARY,), world=clock.world()) as opened:
        yield opened


@pytest.fixture
def url(house: House) -> Iterator[str]:
    with serving_app(app_of(house)) as served:
        yield served


@pytest.fixture
def enter(url: str) -> Iterator[Enter]:
    """Somebody at a browser: `enter("lib_ines")` is signed in, `enter()` is not."""
    with ExitStack() as stack:

        def entered(person: str | None = None) -> httpx.Client:
            client = stack.enter_context(
                httpx.Client(base_url=url, headers={"Accept": "text/html"}, follow_redirects=True, timeout=30)
            )
            if person is not None:
                assert client.post("/sign-in", data={"person": person}).status_code == 200
            return client

        yield entered
