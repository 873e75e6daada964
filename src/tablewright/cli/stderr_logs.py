"""Log lines of a command on stderr: the event text, then its fields.

Must hold: of an exception only the type and the source lines are logged; its message may contain item data.
"""

import logging
import traceback

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class EventFormatter(logging.Formatter):
    """`WARNING tablewright.wire: request failed verb=Scan mistake=KeyError`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {name}={value}" for name, value in vars(record).items() if name not in _OWN)
        if record.exc_info and record.exc_info[0] is not None:
            frames = reversed(traceback.extract_tb(record.exc_info[2]))
            where = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames)
            fields += f" mistake={record.exc_info[0].__name__} where={where}"
        return f"{record.levelname} {record.name}: {record.getMessage()}{fields}"


def log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(EventFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
