"""Options of the whole test tree; fixtures live beside the tests that use them."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--endpoint",
        metavar="URL",
        help="DynamoDB endpoint for tests/conformance (default: our own engine, in memory)",
    )


# Two workers that each take a file at a time end together only if the long ones are begun first.
LONG = (
    "test_terraform",
    "browser",
    "properties",
    "crash",
    "test_consumer_properties",
    "test_third_party_clients",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_turn)  # stable: the order inside a file stays


def _turn(item: pytest.Item) -> int:
    within = {item.path.stem, item.path.parent.name}
    return next((turn for turn, name in enumerate(LONG) if name in within), len(LONG))
