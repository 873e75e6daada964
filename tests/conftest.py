"""Options of the whole test tree, in which order it runs; fixtures live beside the tests that use them."""

import gc
import gettext
from functools import cache

import pytest
from httpx._transports import default as transports
from hypothesis import settings
from tests import targets, workers

from tablewright.design.capabilities import TARGETS

# A client of httpx reads the certificates of all authorities, 26 ms, also for the plain HTTP that tests speak: once
# is enough.
transports.create_ssl_context = cache(  # type: ignore[attr-defined]  # theirs; there is no other place for it
    transports.create_ssl_context  # type: ignore[attr-defined]  # as above
)

# For each of its words argparse looks for a translation on the disk, and does not remember that there is none: that is
# a sixth of the time of tests that run commands.
gettext.find = cache(gettext.find)  # type: ignore[assignment]  # it has several signatures

# A slow example says nothing on a busy machine.
settings.register_profile("no deadline", settings(deadline=None))
settings.load_profile("no deadline")

# Nothing is garbage while 20 000 tests are collected.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    targets.target = config.getoption("--target")
    targets.endpoint = config.getoption("--endpoint")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count = session.config.getoption("workers")
    if count < 2 or session.testsfailed or session.config.getoption("collectonly"):
        return None  # as pytest does it: in this process, or not at all
    workers.run(session, workers.files_of(session.items, TOGETHER), count)
    return True


def pytest_addoption(parser: pytest.Parser) -> None:
    workers.add_option(parser)
    parser.addoption(
        "--endpoint",
        metavar="URL",
        help="DynamoDB endpoint for tests/conformance and tests/systems (default: our own engine, in memory)",
    )
    parser.addoption(
        "--target",
        choices=TARGETS,
        default="embedded",
        help="what the endpoint is: tests of what it lacks are skipped, with the name of the capability",
    )
    parser.addoption(
        "--pictures", action="store_true", help="keep what tests/browser sees in artifacts/, as PNG files"
    )


# Workers that each take a file at a time end together only if the long ones are begun first, and those that mostly wait
# (wire) beside others that compute.
LONG = (
    "browser",
    "terraform",
    "test_terraform",
    "test_message_secrets",
    "test_serve",
    "crash",
    "wire",
    "test_unusable_ids",
    "test_files_scenarios",
    "test_scenarios_enforcement",
    "test_third_party_clients",
    "test_object_memory",
    "properties",
    "test_consumer_properties",
)
_TURNS = {name: turn for turn, name in enumerate(LONG)}

# Folders whose files one worker takes together: they share a server and a browser, which cost more than most files.
TOGETHER = ("tests/browser/",)

# The parameters that say how a test reaches its database, and those of their values that are not this process.
WAYS = ("at", "way", "rig")
ELSEWHERE = ("http", "boto3")


def pytest_collection_finish() -> None:
    """Collect garbage again, though more rarely, and never look through the collected tests: 15 % of CPU time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--endpoint"):
        items[:] = [item for item in items if not _is_further_example_elsewhere(item)]
    else:
        elsewhere = {_rule(item) for item in items if _is_on_way(item, ELSEWHERE)}
        items[:] = [
            item for item in items if not _is_on_way(item, ("embedded",)) or _rule(item) not in elsewhere
        ]
    items.sort(key=_turn)  # stable: the order inside a file stays


def _is_further_example_elsewhere(item: pytest.Item) -> bool:
    """Whether it is a rule on a way to a database that is not in this process, with another example than the first.

    A rule is tried on every way with its first example and in this process with all of them: that each way carries
    every request and answer as it is has tests of its own (client/test_every_way.py).
    """
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return False
    ways = {name for name, value in item.callspec.params.items() if name in WAYS and value in ELSEWHERE}
    return bool(ways) and any(at for name, at in item.callspec.indices.items() if name not in ways)


def _is_on_way(item: pytest.Item, ways: tuple[str, ...]) -> bool:
    """Whether it is a rule on one of these ways to a database."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return False
    return any(item.callspec.params.get(name) in ways for name in WAYS)


def _rule(item: pytest.Item) -> str:
    """The rule that is tried on several ways."""
    return item.nodeid.partition("[")[0]


def _turn(item: pytest.Item) -> int:
    return min(_TURNS.get(item.path.stem, len(LONG)), _TURNS.get(item.path.parent.name, len(LONG)))
