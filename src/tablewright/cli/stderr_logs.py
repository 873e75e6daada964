"""Log lines of a command on stderr: the event text, then its fields.

Must hold: of an exception only the type and the source lines are logged; its message may contain item data.
"""

import logging

from tablewright.engine.errors import fault

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class EventFormatter(logging.Formatter):
    """`WARNING tablewright.wire: request failed verb=Scan mistake=KeyError`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {name: value for name, value in vars(record).items() if name not in _OWN}
        if record.exc_info and record.exc_info[1] is not None:
            fields |= fault(record.exc_info[1])
        shown = "".join(f" {name}={value}" for name, value in fields.items())
        return f"{record.levelname} {record.name}: {record.getMessage()}{shown}"


def log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(EventFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
