"""Exports and imports in the store: their records, an export's files, an import's mistakes.

`body` is what the request said, as DescribeExport and DescribeImport show it (JSON); the columns are what changes.
Elsewhere: what they mean (transfers/).
"""

from collections.abc import Iterable
from typing import NamedTuple

from tablewright.engine.storage import Rows, Writes
from tablewright.engine.transfers.layout import DataFile

IN_PROGRESS, COMPLETED, FAILED = "IN_PROGRESS", "COMPLETED", "FAILED"


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


class ImportMistake(NamedTuple):
    """Why an item of an object was not imported."""

    object: str
    place: int
    message: str


# --- exports ---


def add_export(
    rows: Writes, arn: str, owner: int, token: str | None, at: int, first: int, last: int, body: bytes
) -> None:
    rows.connection.execute(
        "INSERT INTO exports(arn, owner, status, token, at, first, last, done, items, size, body) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, x'', 0, 0, ?)",
        (arn, owner, IN_PROGRESS, token, at, first, last, body),
    )


def export_of(rows: Rows, arn: str) -> Export | None:
    return _one_export(rows, "arn = ?", arn)


def export_with_token(rows: Rows, token: str, since: int) -> Export | None:
    """The export a token was used for; `since` is when those that matter ended at the earliest."""
    return _one_export(rows, "token = ? AND coalesce(closed, ?) >= ?", token, since, since)


def next_export(rows: Rows) -> Export | None:
    """The oldest export that is under way."""
    return _one_export(rows, "status = ?", IN_PROGRESS, order="id")


def exports(
    rows: Rows, owner: int | None = None, before: int | None = None, limit: int = -1, since: int = 0
) -> list[Export]:
    """Exports begun `since`, the newest first, of all tables or one, those numbered below `before`."""
    found = rows.connection.execute(
        "SELECT * FROM exports WHERE at >= ? AND (?2 IS NULL OR owner = ?2) AND (?3 IS NULL OR id < ?3) "
        "ORDER BY id DESC LIMIT ?4",
        (since, owner, before, limit),
    )
    return [Export(*row) for row in found]


def exports_under_way(rows: Rows) -> int:
    ((count,),) = rows.connection.execute("SELECT count(*) FROM exports WHERE status = ?", (IN_PROGRESS,))
    return int(count)


def export_files(rows: Rows, export: int) -> list[DataFile]:
    found = rows.connection.execute(
        "SELECT key, items, md5, etag FROM export_files WHERE export = ? ORDER BY number", (export,)
    )
    return [DataFile(*row) for row in found]


def export_file_count(rows: Rows, export: int) -> int:
    ((count,),) = rows.connection.execute("SELECT count(*) FROM export_files WHERE export = ?", (export,))
    return int(count)


def note_file(rows: Writes, export: int, number: int, file: DataFile, size: int, done: bytes) -> None:
    """A file of the export is in its bucket; keys up to `done` are written."""
    rows.connection.execute(
        "INSERT INTO export_files(export, number, key, items, md5, etag) VALUES(?, ?, ?, ?, ?, ?)",
        (export, number, file.key, file.items, file.md5, file.etag),
    )
    rows.connection.execute(
        "UPDATE exports SET items = items + ?, size = size + ?, done = ? WHERE id = ?",
        (file.items, size, done, export),
    )


def note_done(rows: Writes, export: int, done: bytes) -> None:
    rows.connection.execute("UPDATE exports SET done = ? WHERE id = ?", (done, export))


def close_export(rows: Writes, export: int, status: str, at: int, body: bytes) -> None:
    rows.connection.execute(
        "UPDATE exports SET status = ?, closed = ?, body = ? WHERE id = ?", (status, at, body, export)
    )


def _one_export(rows: Rows, where: str, *values: str | int, order: str = "id DESC") -> Export | None:
    sql = f"SELECT * FROM exports WHERE {where} ORDER BY {order} LIMIT 1"
    return next((Export(*row) for row in list(rows.connection.execute(sql, values))), None)


# --- imports ---


def add_import(rows: Writes, arn: str, owner: int, token: str | None, at: int, body: bytes) -> None:
    rows.connection.execute(
        "INSERT INTO imports(arn, owner, status, token, at, object, records, size, processed, imported, errors, body) "
        "VALUES(?, ?, ?, ?, ?, '', 0, 0, 0, 0, 0, ?)",
        (arn, owner, IN_PROGRESS, token, at, body),
    )


def import_of(rows: Rows, arn: str) -> Import | None:
    return _one_import(rows, "arn = ?", arn)


def import_with_token(rows: Rows, token: str, since: int) -> Import | None:
    return _one_import(rows, "token = ? AND coalesce(closed, ?) >= ?", token, since, since)


def next_import(rows: Rows) -> Import | None:
    return _one_import(rows, "status = ?", IN_PROGRESS, order="id")


def imports(
    rows: Rows, table_arn: str | None = None, before: int | None = None, limit: int = -1, since: int = 0
) -> list[Import]:
    """Imports begun `since`, the newest first, into any table or one, those numbered below `before`."""
    found = rows.connection.execute(
        "SELECT * FROM imports WHERE at >= ? AND (?2 IS NULL OR arn LIKE ?2 || '/import/%') "
        "AND (?3 IS NULL OR id < ?3) ORDER BY id DESC LIMIT ?4",
        (since, table_arn, before, limit),
    )
    return [Import(*row) for row in found]


def imports_under_way(rows: Rows) -> int:
    ((count,),) = rows.connection.execute("SELECT count(*) FROM imports WHERE status = ?", (IN_PROGRESS,))
    return int(count)


def note_progress(
    rows: Writes, number: int, key: str, records: int, size: int, processed: int, imported: int, errors: int
) -> None:
    """The import has read `records` records of the object `key`; the other figures are added."""
    rows.connection.execute(
        "UPDATE imports SET object = ?, records = ?, size = size + ?, processed = processed + ?, "
        "imported = imported + ?, errors = errors + ? WHERE id = ?",
        (key, records, size, processed, imported, errors, number),
    )


def add_mistakes(rows: Writes, number: int, first: int, mistakes: Iterable[ImportMistake]) -> None:
    rows.connection.executemany(
        "INSERT INTO import_errors(import, number, object, item, message) VALUES(?, ?, ?, ?, ?)",
        [(number, place, *mistake) for place, mistake in enumerate(mistakes, first)],
    )


def import_mistakes(rows: Rows, number: int) -> list[ImportMistake]:
    found = rows.connection.execute(
        "SELECT object, item, message FROM import_errors WHERE import = ? ORDER BY number", (number,)
    )
    return [ImportMistake(*row) for row in found]


def close_import(rows: Writes, number: int, status: str, at: int, body: bytes) -> None:
    rows.connection.execute(
        "UPDATE imports SET status = ?, closed = ?, body = ? WHERE id = ?", (status, at, body, number)
    )


def _one_import(rows: Rows, where: str, *values: str | int, order: str = "id DESC") -> Import | None:
    sql = f"SELECT * FROM imports WHERE {where} ORDER BY {order} LIMIT 1"
    return next((Import(*row) for row in list(rows.connection.execute(sql, values))), None)


# --- both ---


def old_transfers(rows: Rows, before: int) -> bool:
    """Whether an export or an import ended before that moment."""
    ((found,),) = rows.connection.execute(
        "SELECT EXISTS(SELECT 1 FROM exports WHERE closed < ?1) OR EXISTS(SELECT 1 FROM imports WHERE closed < ?1)",
        (before,),
    )
    return bool(found)


def forget_transfers(rows: Writes, before: int) -> None:
    for owners, parts, of in (("exports", "export_files", "export"), ("imports", "import_errors", "import")):
        rows.connection.execute(
            f"DELETE FROM {parts} WHERE {of} IN (SELECT id FROM {owners} WHERE closed < ?)", (before,)
        )
        rows.connection.execute(f"DELETE FROM {owners} WHERE closed < ?", (before,))


# --- what only verify asks ---


def orphans(rows: Rows) -> list[str]:
    """Files and mistakes that belong to nobody, as sentences."""
    files = rows.connection.execute(
        "SELECT DISTINCT export FROM export_files WHERE export NOT IN (SELECT id FROM exports)"
    )
    told = [f"exports: there are files of export {number}, which is not there" for (number,) in files]
    mistakes = rows.connection.execute(
        "SELECT DISTINCT import FROM import_errors WHERE import NOT IN (SELECT id FROM imports)"
    )
    return told + [
        f"imports: there are mistakes of import {number}, which is not there" for (number,) in mistakes
    ]
