"""Options of the whole test tree; fixtures live beside the tests that use them."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--endpoint",
        metavar="URL",
        help="DynamoDB endpoint for tests/conformance (default: our own engine, in memory)",
    )
