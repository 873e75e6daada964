"""What a command's log lines show, and what they keep to themselves."""

from __future__ import annotations

import logging
import sys

from tablewright.cli.stderr_logs import EventFormatter


def test_a_line_is_the_event_and_then_its_fields() -> None:
    record = logging.makeLogRecord(
        {"name": "tablewright.wire", "levelname": "ERROR", "msg": "request failed"}
    )
    record.__dict__.update(verb="Scan", mistake="KeyError")
    assert (
        EventFormatter().format(record) == "ERROR tablewright.wire: request failed verb=Scan mistake=KeyError"
    )


def test_of_an_exception_only_its_kind_and_place_are_shown() -> None:
    try:
        raise ValueError("the item of anna")
    except ValueError:
        record = logging.makeLogRecord(
            {"name": "x", "levelname": "ERROR", "msg": "failed", "exc_info": sys.exc_info()}
        )
    line = EventFormatter().format(record)
    assert line.startswith("ERROR x: failed mistake=ValueError where=test_logs.py:")
    assert "anna" not in line
