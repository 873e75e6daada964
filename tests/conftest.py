"""Options of the whole test tree, in which order it runs; fixtures live beside the tests that use them."""

import gc
from functools import cache

import pytest
from httpx._transports import default as transports

# A client of httpx reads the certificates of all authorities, 26 ms, also for the plain HTTP that tests speak: once
# is enough.
transports.create_ssl_context = cache(  # type: ignore[attr-defined]  # theirs; there is no other place for it
    transports.create_ssl_context  # type: ignore[attr-defined]  # as above
)

# Nothing is garbage while 14 000 tests are collected.
gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--endpoint",
        metavar="URL",
        help="DynamoDB endpoint for tests/conformance (default: our own engine, in memory)",
    )
    parser.addoption(
        "--pictures", action="store_true", help="keep what tests/browser sees in artifacts/, as PNG files"
    )


# Two workers that each take a file at a time end together only if the long ones are begun first.
LONG = (
    "test_terraform",
    "terraform",
    "browser",
    "properties",
    "crash",
    "test_consumer_properties",
    "test_third_party_clients",
    "test_scenarios_enforcement",
)


def pytest_collection_finish() -> None:
    """Collect garbage again, though more rarely, and without looking through the collected tests: 15 % of CPU time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_turn)  # stable: the order inside a file stays


def _turn(item: pytest.Item) -> int:
    within = {item.path.stem, item.path.parent.name}
    return next((turn for turn, name in enumerate(LONG) if name in within), len(LONG))
