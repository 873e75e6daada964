"""A log line for machines."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from tablewright.edge.json_logs import JsonFormatter, log_as_json


def line_of(**facts: object) -> dict[str, object]:
    record = logging.makeLogRecord(
        {"name": "tablewright.edge", "levelname": "INFO", "msg": "request answered", "created": 1767225600.12}
        | facts
    )
    text = JsonFormatter().format(record)
    assert "\n" not in text
    found: dict[str, object] = json.loads(text)
    return found


def test_a_line_is_one_object_with_the_event_and_its_fields() -> None:
    assert line_of(status=200, route="/v1/{id}") == {
        "time": "2026-01-01T00:00:00.120Z",
        "level": "INFO",
        "logger": "tablewright.edge",
        "event": "request answered",
        "status": 200,
        "route": "/v1/{id}",
    }


def test_of_an_exception_only_its_kind_and_place_are_shown() -> None:
    try:
        raise ValueError("the item of anna")
    except ValueError:
        line = line_of(exc_info=sys.exc_info())
    assert line["mistake"] == "ValueError"
    assert str(line["where"]).startswith("test_logs.py:")
    assert "anna" not in str(line)


def test_a_field_that_is_no_plain_value_shows_its_type_only() -> None:
    class Secret:
        def __repr__(self) -> str:
            return "anna"

    assert line_of(found=Secret())["found"] == "Secret"


def test_a_field_cannot_pass_for_the_event() -> None:
    assert line_of(event="forged", text="a\nb")["event"] == "request answered"


@pytest.fixture
def root() -> Iterator[None]:
    """The root logger, given back as it was."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    logger.handlers[:] = []
    yield
    logger.handlers[:], logger.level = handlers, level


@pytest.mark.usefixtures("root")
def test_once_installed_every_logger_of_the_process_writes_so() -> None:
    stream = io.StringIO()
    log_as_json(stream=stream)
    logging.getLogger("uvicorn.error").warning("port %s", 80)
    assert json.loads(stream.getvalue())["event"] == "port 80"
