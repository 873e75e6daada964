"""Formats of imported objects: bytes -> records -> items, or the reason why a record is not an item.

DynamoDB JSON has an `{"Item": ...}` on each line. In CSV a record is a line, or several where a quoted field contains
line ends; the first record names the columns unless the request does. Key attributes have the types of the table's
definition, all other columns are strings.
Must hold: memory is bounded whatever an object contains; a record that cannot be parsed at all is the last one of its
object, as on the service; reading an object again from its n-th record gives the same records.
Elsewhere: which items a table accepts (import_.py), where objects come from (buckets.py).
"""

import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, TypeAlias

import orjson

from tablewright.values import Item

# The JSON of the largest possible item is about half of this: 400 KB of empty strings in a list.
RECORD_BYTES = 8 * 1024 * 1024
PLAIN, GZIPPED, ZSTANDARD = "NONE", "GZIP", "ZSTD"
JSON_LINES, CSV = "DYNAMODB_JSON", "CSV"
ReadLine: TypeAlias = Callable[[int], bytes]
Records: TypeAlias = Generator[bytes, None, None]


class Unreadable(Exception):
    """The rest of an object cannot be read; the message says why."""


class NoZstandard(Exception):
    """The package that reads ZSTD is not installed."""


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """The format of the objects of an import; `types` are those of the table's key attributes."""

    format: str
    compression: str
    delimiter: str
    header: tuple[str, ...] | None
    types: Mapping[str, str]


class ParsedRecord(NamedTuple):
    """A parsed record: an item, or why it is not one. `place` is its number in its object."""

    place: int
    item: Item | None
    error: str | None


class RecordPage(NamedTuple):
    """A page of an object: `records` records, blank ones included, in `size` bytes."""

    parsed: list[ParsedRecord]
    records: int
    size: int
    is_last: bool


class ObjectReader:
    """An open object, read page by page. `skipped` records of it have been imported before.

    `line` is where the record that was read last begins, counted from 1.
    """

    def __init__(self, stream: BinaryIO, form: ImportFormat, skipped: int = 0) -> None:
        self._raw, self._format = stream, form
        self.line = 0
        self._consumed = self._index = 0
        self._names: tuple[str, ...] | None = form.header
        self._ended = False
        self._records = self._lines() if form.format == JSON_LINES else self._rows()
        self._reported = 0
        if skipped:
            self._skip(skipped)

    def _skip(self, records: int) -> None:
        """Skip the records that were imported before."""
        try:
            for _ in range(records):
                record = next(self._records, None)
                self._index += record is not None and bool(record.strip())
        except Unreadable as reason:
            # It could be read before, so the object was changed. The next page reports it.
            self._records = _unreadable(reason)
        self._reported = self._consumed

    def page(self, items: int, size: int) -> RecordPage:
        """The next records, until there are `items` items or `size` bytes."""
        parsed: list[ParsedRecord] = []
        records, before = 0, self._consumed
        while not self._ended and len(parsed) < items and self._consumed - before < size:
            try:
                record = next(self._records, None)
                if record is None:
                    self._ended = True
                    break
                records += 1
                if record.strip():
                    parsed.append(self._read(record))
            except Unreadable as reason:
                parsed.append(self._numbered(None, f"{reason}; the rest of the object was not read"))
                self._ended = True
        reported, self._reported = self._reported, self._consumed
        return RecordPage(parsed, records, self._consumed - reported, self._ended)

    def close(self) -> None:
        self._ended = True
        self._records.close()
        self._raw.close()

    def _read(self, record: bytes) -> ParsedRecord:
        if self._format.format == JSON_LINES:
            return self._numbered(*_item_of(record))
        return self._numbered(*_row_of(_text(record), self._format, self._names or ()))

    def _numbered(self, item: Item | None, error: str | None) -> ParsedRecord:
        self._index += 1
        return ParsedRecord(self._index - 1, item, error)

    # --- records ---

    def _lines(self) -> Records:
        """Each line of the object. Errors of a broken archive become Unreadable."""
        try:
            read_line = _line_reader(self._raw, self._format.compression)
            self.line = 1
            while line := read_line(RECORD_BYTES + 1):
                self._consumed += len(line)
                if len(line) > RECORD_BYTES:
                    raise Unreadable(f"a line is longer than {RECORD_BYTES} bytes, the most an item can have")
                yield line
                self.line += 1
        except (OSError, EOFError, zlib.error) as damage:
            # gzip raises OSError for a file that is not gzip; a broken connection raises it, too.
            raise Unreadable(f"the object cannot be read as {self._format.compression}: {damage}") from None

    def _rows(self) -> Records:
        """Each record of a CSV object, without the one that names the columns."""
        first, held, begin = True, b"", 1
        for line in self._lines():
            if not held:
                begin = self.line
            held = line.removeprefix(b"\xef\xbb\xbf") if first and not held else held + line
            if held.count(b'"') % 2:
                if len(held) > RECORD_BYTES:
                    self.line = begin
                    raise Unreadable('a quoted field does not end: each " in a field is written as ""')
                continue
            if first and self._names is None:
                self._names = _header(_text(held), self._format.delimiter)
            else:
                last, self.line = self.line, begin
                yield held
                self.line = last
            first, held = False, b""
        if held:
            self.line = begin
            raise Unreadable('a quoted field does not end: each " in a field is written as ""')


def _unreadable(reason: Unreadable) -> Records:
    yield from ()
    raise reason


def _line_reader(raw: BinaryIO, compression: str) -> ReadLine:
    if compression == GZIPPED:
        return gzip.GzipFile(fileobj=raw).readline
    return _zstandard_reader(raw) if compression == ZSTANDARD else raw.readline


def check_compression(compression: str) -> None:
    """Raise NoZstandard if objects with this compression cannot be read here."""
    if compression == ZSTANDARD:
        try:
            _zstandard_reader(io.BytesIO())
        except ModuleNotFoundError:
            raise NoZstandard from None


def _zstandard_reader(raw: BinaryIO) -> ReadLine:
    # Loaded only when such objects are imported: before Python 3.14 it is a separate package.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    stream = zstd.ZstdFile(raw)

    def read_line(most: int) -> bytes:
        try:
            return stream.readline(most)
        except zstd.ZstdError as damage:
            raise OSError(str(damage)) from None

    return read_line


# --- DynamoDB JSON ---


def _item_of(line: bytes) -> tuple[Item | None, str | None]:
    try:
        parsed = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"the line is not JSON: {error}") from None
    item = parsed.get("Item") if isinstance(parsed, dict) else None
    if not isinstance(item, dict):
        return None, 'the line has no item: a line of DynamoDB JSON is {"Item": {...}}'
    if "ConditionExpression" in parsed:
        return None, "the line has a condition, which this engine does not evaluate"
    return item, None


# --- CSV ---


def _text(record: bytes) -> str:
    try:
        return record.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise Unreadable(f"the text is not UTF-8: {error.reason}") from None


def _header(text: str, delimiter: str) -> tuple[str, ...]:
    names = _fields(text, delimiter)
    if names is None or not all(names) or len(set(names)) < len(names):
        raise Unreadable("the first line must name the columns, each by a different name")
    return tuple(names)


def _row_of(text: str, form: ImportFormat, names: Sequence[str]) -> tuple[Item | None, str | None]:
    fields = _fields(text, form.delimiter)
    if fields is None:
        return None, 'a " in a field is written as "", and the field in quotes'
    if len(fields) != len(names):
        return None, f"the record has {len(fields)} fields, there are {len(names)} columns"
    return {name: {form.types.get(name, "S"): text} for name, text in zip(names, fields, strict=True)}, None


def _fields(text: str, delimiter: str) -> list[str] | None:
    """The fields of a record; None if its quotes are wrong."""
    if '"' not in text:
        return text.split(delimiter)
    field = re.compile(rf'(?:"((?:[^"]|"")*)"|([^"{re.escape(delimiter)}]*))({re.escape(delimiter)}|\Z)')
    fields: list[str] = []
    place = 0
    while True:
        found = field.match(text, place)
        if found is None:
            return None
        quoted, plain, end = found.groups()
        fields.append(plain if quoted is None else quoted.replace('""', '"'))
        place = found.end()
        if not end:
            return fields
