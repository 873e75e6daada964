"""SQL of exports, imports and bulk loads: their records, an export's files, failed records of the others.

`body` is JSON with the description of the request (under "told"); the columns are what changes.
Elsewhere: the jobs (export.py, import_.py, bulk_put.py).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader, SqlValue
from tablewright.engine.transfer.export_format import DataFile

IN_PROGRESS, COMPLETED, FAILED = "IN_PROGRESS", "COMPLETED", "FAILED"
COMPLETED_WITH_ERRORS, CANCELLING, CANCELLED = "COMPLETED_WITH_ERRORS", "CANCELLING", "CANCELLED"


class Export(NamedTuple):
    """An export: of the state after journal row `last`, or of the changes from `first` to `last`.

    Keys up to `done` are in its files. `owner` is the table's number, `at` and `closed` are microseconds.
    """

    number: int
    arn: str
    owner: int
    status: str
    token: str | None
    at: int
    closed: int | None
    first: int
    last: int
    done: bytes
    items: int
    size: int
    body: bytes


class Import(NamedTuple):
    """An import: `records` records of `object` have been read, and all of the objects before it."""

    number: int
    arn: str
    owner: int
    status: str
    token: str | None
    at: int
    closed: int | None
    object: str
    records: int
    size: int
    processed: int
    imported: int
    errors: int
    body: bytes


class BulkOperation(NamedTuple):
    """A bulk load into an existing table, read like an import.

    `usage` is JSON: the bytes it has written to the table (the key "") and to each index (bulk_put.py).
    """

    number: int
    arn: str
    owner: int
    status: str
    token: str | None
    at: int
    closed: int | None
    object: str
    records: int
    size: int
    processed: int
    errors: int
    usage: bytes
    body: bytes


class FailedRecord(NamedTuple):
    """A record that was not imported, with the reason."""

    object: str
    place: int
    message: str


Record = TypeVar("Record", Export, Import, BulkOperation)


# --- records of all kinds ---


@dataclass(frozen=True, slots=True)
class Records(Generic[Record]):
    """The records of one kind, in the SQL table `name`; their files or errors are in the table `parts`."""

    name: str
    make: Callable[..., Record]
    parts: str
    # The column of `parts` with the record's number.
    of: str
    # The first values of the columns of its kind.
    fresh: Mapping[str, int | str | bytes]
    # The statuses of a record that has not ended.
    open: tuple[str, str] = (IN_PROGRESS, IN_PROGRESS)

    def add(
        self, rows: RowWriter, arn: str, owner: int, token: str | None, at: int, body: bytes, **own: int
    ) -> Record:
        """Add a record, IN_PROGRESS; `own` are columns of its kind that are known now."""
        common: dict[str, SqlValue] = {
            "arn": arn,
            "owner": owner,
            "status": IN_PROGRESS,
            "token": token,
            "at": at,
            "body": body,
        }
        rows.add_row(self.name, **{**common, **self.fresh, **own})
        made = self.named(rows, arn)
        assert made is not None, "it was just made"
        return made

    def named(self, rows: RowReader, arn: str) -> Record | None:
        return self._one(rows, "arn = ?", arn)

    def with_token(self, rows: RowReader, token: str, since: int) -> Record | None:
        """The record with that client token, unless it ended before `since`."""
        return self._one(rows, "token = ? AND coalesce(closed, ?) >= ?", token, since, since)

    def next(self, rows: RowReader) -> Record | None:
        """The oldest record in progress."""
        return self._one(rows, "status IN (?, ?)", *self.open, order="id")

    def under_way(self, rows: RowReader) -> int:
        sql = f"SELECT count(*) FROM {self.name} WHERE status IN (?, ?)"
        ((count,),) = rows.execute(sql, self.open)
        return int(count)

    def all(
        self,
        rows: RowReader,
        owner: int | None = None,
        table_arn: str | None = None,
        before: int | None = None,
        limit: int = -1,
        since: int = 0,
    ) -> list[Record]:
        """Records begun `since`, newest first, of all tables or one, with numbers below `before`."""
        found = rows.execute(
            f"SELECT * FROM {self.name} WHERE at >= ? AND (?2 IS NULL OR owner = ?2) "
            "AND (?3 IS NULL OR substr(arn, 1, length(?3) + 1) = ?3 || '/') AND (?4 IS NULL OR id < ?4) "
            "ORDER BY id DESC LIMIT ?5",
            (since, owner, table_arn, before, limit),
        )
        return [self.make(*row) for row in found]

    def close(self, rows: RowWriter, record: Record, status: str, at: int, reason: dict[str, str]) -> None:
        """End a record. `reason` has the members of its description that say why it failed."""
        body = orjson.loads(record.body)
        body["told"] |= reason
        rows.set_columns(
            self.name, record.number, status=status, closed=max(at, record.at), body=orjson.dumps(body)
        )

    def has_older_than(self, rows: RowReader, before: int) -> bool:
        """Whether a record ended before that moment."""
        sql = f"SELECT EXISTS(SELECT 1 FROM {self.name} WHERE closed < ?)"
        ((found,),) = rows.execute(sql, (before,))
        return bool(found)

    def forget(self, rows: RowWriter, before: int) -> None:
        closed = f"SELECT id FROM {self.name} WHERE closed < ?"
        rows.execute(f"DELETE FROM {self.parts} WHERE {self.of} IN ({closed})", (before,))
        rows.execute(f"DELETE FROM {self.name} WHERE closed < ?", (before,))

    def orphans(self, rows: RowReader) -> list[int]:
        """Numbers of missing records that files or errors refer to."""
        known = f"SELECT id FROM {self.name}"
        return rows.select(
            int, f"SELECT DISTINCT {self.of} FROM {self.parts} WHERE {self.of} NOT IN ({known})"
        )

    def _one(self, rows: RowReader, where: str, *values: str | int, order: str = "id DESC") -> Record | None:
        sql = f"SELECT * FROM {self.name} WHERE {where} ORDER BY {order} LIMIT 1"
        return rows.first(self.make, sql, *values)


EXPORTS = Records("exports", Export, "export_files", "export", {"done": b"", "items": 0, "size": 0})
IMPORTS = Records(
    "imports",
    Import,
    "import_errors",
    "import",
    {"object": "", "records": 0, "size": 0, "processed": 0, "imported": 0, "errors": 0},
)
BULK_OPERATIONS = Records(
    "bulk_operations",
    BulkOperation,
    "bulk_errors",
    "operation",
    {"object": "", "records": 0, "size": 0, "processed": 0, "errors": 0, "usage": b"{}"},
    (IN_PROGRESS, CANCELLING),
)


def described(record: Export | Import | BulkOperation, kind: str) -> dict[str, Any]:
    """The members that all descriptions have; `kind` is Export, Import or BulkOperation."""
    description = {**orjson.loads(record.body)["told"], f"{kind}Status": record.status}
    times = {"StartTime": record.at, "EndTime": record.closed}
    return description | {name: at // 1000 / 1000 for name, at in times.items() if at is not None}


# --- an export's files ---


def export_files(rows: RowReader, export: int) -> list[DataFile]:
    sql = "SELECT key, items, md5, etag FROM export_files WHERE export = ? ORDER BY number"
    return rows.select(DataFile, sql, export)


def add_export_file(
    rows: RowWriter, export: int, number: int, file: DataFile, size: int, done: bytes
) -> None:
    """Record a file that is in its bucket; keys up to `done` are written."""
    rows.add_row("export_files", export=export, number=number, **asdict(file))
    sql = "UPDATE exports SET items = items + ?, size = size + ?, done = ? WHERE id = ?"
    rows.execute(sql, (file.items, size, done, export))


def set_export_done(rows: RowWriter, export: int, done: bytes) -> None:
    rows.set_columns("exports", export, done=done)


# --- an import's progress, and its failed records ---


def add_import_progress(
    rows: RowWriter, number: int, key: str, records: int, size: int, imported: int, errors: int
) -> None:
    """The import has read `records` records of the object `key`; the other numbers are added."""
    sql = (
        "UPDATE imports SET object = ?, records = ?, size = size + ?, processed = processed + ?, "
        "imported = imported + ?, errors = errors + ? WHERE id = ?"
    )
    rows.execute(sql, (key, records, size, imported + errors, imported, errors, number))


def add_import_errors(rows: RowWriter, number: int, first: int, mistakes: Iterable[FailedRecord]) -> None:
    rows.connection.executemany(
        "INSERT INTO import_errors(import, number, object, item, message) VALUES(?, ?, ?, ?, ?)",
        [(number, place, *error) for place, error in enumerate(mistakes, first)],
    )


def import_errors(rows: RowReader, number: int) -> list[FailedRecord]:
    sql = "SELECT object, item, message FROM import_errors WHERE import = ? ORDER BY number"
    return rows.select(FailedRecord, sql, number)


# --- a bulk load's progress, and its failed records ---


def add_bulk_progress(rows: RowWriter, operation: BulkOperation, mistakes: Iterable[FailedRecord]) -> None:
    """Store how far the operation has come, and failed records to be reported."""
    number, first = operation.number, len(bulk_errors(rows, operation.number))
    names = ("object", "records", "size", "processed", "errors", "usage")
    rows.set_columns("bulk_operations", number, **{name: getattr(operation, name) for name in names})
    rows.connection.executemany(
        "INSERT INTO bulk_errors(operation, number, object, item, message) VALUES(?, ?, ?, ?, ?)",
        [(number, place, *error) for place, error in enumerate(mistakes, first)],
    )


def cancel(rows: RowWriter, number: int) -> None:
    rows.set_columns("bulk_operations", number, status=CANCELLING)


def bulk_errors(rows: RowReader, number: int) -> list[FailedRecord]:
    sql = "SELECT object, item, message FROM bulk_errors WHERE operation = ? ORDER BY number"
    return rows.select(FailedRecord, sql, number)
