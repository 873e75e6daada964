"""An app of the little library, over real HTTP; a browser without a script is an httpx client with cookies."""

from collections.abc import Iterator

import pytest
from tests.app.browsing import Enter, browsers
from tests.app.library import LIBRARY

from tablewright import testing
from tablewright.app import passwords
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.edge import serving_app


@pytest.fixture(autouse=True, scope="module")
def log_n() -> Iterator[int]:
    """A password costs a fifth of a second, on purpose; here it is cheap. What the cost is without this."""
    with pytest.MonkeyPatch.context() as patch:
        cost = passwords._LOG_N
        patch.setattr(passwords, "_LOG_N", 6)
        yield cost


@pytest.fixture
def clock() -> testing.Clock:
    return testing.Clock()


@pytest.fixture
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    with open_app(memory=True, systems=(LIBRARY,), world=clock.world()) as opened:
        yield opened


@pytest.fixture
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture
def enter(url: str) -> Iterator[Enter]:
    with browsers(url) as entered:
        yield entered
