"""Log lines in production: one JSON object a line, with the event's fixed words and its fields.

Must hold: of an exception only its type and place are logged; its message may quote personal data. A field that is not
a plain value is logged as the name of its type, for the same reason.
Elsewhere: the same lines for people at a terminal (cli/stderr_logs.py).
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from tablewright.engine.errors import fault

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonFormatter(logging.Formatter):
    """`{"status":200,...,"time":"2026-01-31T09:30:00.120Z","level":"INFO","event":"request answered"}`."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
        }
        fields = {name: value for name, value in vars(record).items() if name not in _OWN}
        if record.exc_info and record.exc_info[1] is not None:
            fields |= fault(record.exc_info[1])
        return json.dumps(fields | line, default=lambda value: type(value).__name__, separators=(",", ":"))


def log_as_json(level: int = logging.INFO, stream: TextIO | None = None) -> None:
    """Install the formatter for this process, on stderr by default."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
