"""Objects that are imported: pages of bounded size, whatever is in them, from any record on."""

import gzip
import io
import json
from dataclasses import replace

import pytest

from tablewright.engine.transfer import import_formats
from tablewright.engine.transfer.import_formats import (
    CSV,
    JSON_LINES,
    RECORD_BYTES,
    ImportFormat,
    ObjectReader,
    ParsedRecord,
    RecordPage,
)

LINES = ImportFormat("DYNAMODB_JSON", "NONE", ",", None, {})
ROWS = ImportFormat("CSV", "NONE", ",", None, {"pk": "S", "n": "N"})


def pages(
    body: bytes, form: ImportFormat = LINES, skipped: int = 0, items: int = 2, size: int = 10**6
) -> list[RecordPage]:
    source = ObjectReader(io.BytesIO(body), form, skipped)
    found = []
    while True:
        found.append(source.page(items, size))
        if found[-1].is_last:
            source.close()
            return found


def parsed(body: bytes, form: ImportFormat = LINES, skipped: int = 0) -> list[ParsedRecord]:
    return [read for page in pages(body, form, skipped) for read in page.parsed]


def item_lines(count: int) -> bytes:
    return b"".join(json.dumps({"Item": {"pk": {"S": str(n)}}}).encode() + b"\n" for n in range(count))


def test_pages_tell_what_they_took() -> None:
    body = item_lines(5)
    found = pages(body)
    assert [len(page.parsed) for page in found] == [2, 2, 1]
    assert [page.records for page in found] == [2, 2, 1]
    assert sum(page.size for page in found) == len(body)
    assert [read.place for page in found for read in page.parsed] == list(range(5))


def test_a_page_ends_when_it_is_large_enough() -> None:
    body = item_lines(5)
    assert [page.records for page in pages(body, items=100, size=1)] == [1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize("skipped", range(8))
@pytest.mark.parametrize("form", [LINES, ROWS])
def test_reading_on_gives_what_follows(form: ImportFormat, skipped: int) -> None:
    body = b'\n{"Item":{}}\n\n' + item_lines(4) if form is LINES else b'pk,n\na,1\n\n"b\n",2\nc\nd,4\ne,5'
    everything = parsed(body, form)
    source = ObjectReader(io.BytesIO(body), form)
    page = source.page(100, 10**6)
    assert page.records == 7 if form is LINES else 6
    rest = parsed(body, form, min(skipped, page.records))
    assert rest == everything[len(everything) - len(rest) :]
    blank = {0, 2} if form is LINES else {1}
    assert len(rest) == sum(place not in blank for place in range(skipped, page.records))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[]\n", "the line has no item"),
        (b"{}\n", "the line has no item"),
        (b'{"Item": []}\n', "the line has no item"),
        (b'{"NewImage": {}}\n', "the line has no item"),
        (b"garbage\n", "the line is not JSON"),
        (b'{"Item": {"a": {"S": "\\ud800"}}}\n', "the line is not JSON"),
    ],
)
def test_a_line_that_is_no_item_says_why(line: bytes, reason: str) -> None:
    (read, *_) = parsed(line)
    assert read.item is None
    assert read.error is not None
    assert read.error.startswith(reason)


def test_a_line_that_no_item_is_as_long_as_ends_the_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_formats, "RECORD_BYTES", 100)
    found = parsed(item_lines(1) + b"x" * 101 + b"\n" + item_lines(1))
    assert [read.error is None for read in found] == [True, False]
    found = parsed(b'pk\na\n"b\n' + b"x\n" * 60 + b'"\nc\n', ROWS)
    assert [read.error is None for read in found] == [True, False]


def test_a_bomb_is_not_unpacked_into_memory() -> None:
    bomb = gzip.compress(b"x" * (import_formats.RECORD_BYTES + 10))
    form = ImportFormat("DYNAMODB_JSON", "GZIP", ",", None, {})
    (read,) = parsed(bomb, form)
    assert read.error is not None
    assert "longer than" in read.error


def test_an_archive_that_was_cut_off_gives_what_can_be_read_and_a_reason() -> None:
    form = ImportFormat("DYNAMODB_JSON", "GZIP", ",", None, {})
    found = parsed(gzip.compress(item_lines(5), mtime=0)[:-8], form)
    assert [read.item is not None for read in found] == [True] * 5 + [False]


def test_an_object_that_was_changed_behind_our_back_is_a_mistake_not_a_fault() -> None:
    found = parsed(b"\xff", ROWS, skipped=3)
    assert [read.error is None for read in found] == [False]
    assert parsed(item_lines(2), skipped=5) == []


def test_an_empty_object_has_nothing_to_say() -> None:
    for form in (LINES, ROWS, ImportFormat("DYNAMODB_JSON", "GZIP", ",", None, {})):
        assert parsed(b"", form) == []


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("a,b", ["a", "b"]),
        ("", [""]),
        (",", ["", ""]),
        ('"a"', ["a"]),
        ('"a","b"', ["a", "b"]),
        ('"a,b",c', ["a,b", "c"]),
        ('"",x', ["", "x"]),
        ('"a""b"', ['a"b']),
        ('""""', ['"']),
        ('a"b,c"', None),
        ('"a"b,c', None),
        ('"a" ,c', None),
        (' "a",c', None),
    ],
)
def test_quotes_are_read_strictly(text: str, fields: list[str] | None) -> None:
    assert import_formats._fields(text, ",") == fields


@pytest.mark.parametrize("delimiter", [",", ";", ":", "|", "\t", " "])
def test_each_delimiter_can_be_quoted(delimiter: str) -> None:
    assert import_formats._fields(f'"a{delimiter}b"{delimiter}c', delimiter) == [f"a{delimiter}b", "c"]


def test_a_mark_of_byte_order_is_no_part_of_the_first_name() -> None:
    (read,) = parsed(b"\xef\xbb\xbfpk,n\na,1\n", ROWS)
    assert read.item == {"pk": {"S": "a"}, "n": {"N": "1"}}


def test_the_names_of_the_columns_may_be_given() -> None:
    form = ImportFormat("CSV", "NONE", "|", ("n", "pk"), {"n": "N"})
    (read,) = parsed(b"1|a\n", form)
    assert read.item == {"n": {"N": "1"}, "pk": {"S": "a"}}


# --- where a record is in its file ---


@pytest.mark.parametrize(
    ("text", "form", "lines"),
    [
        (b'{"Item": {}}\n\n{"Item": {}}\n{}\ngarbage\n{"Item": {}}\n', JSON_LINES, {0: 1, 1: 3, 2: 4, 3: 5}),
        (b"a,b\n1,2\n3,4\n", CSV, {0: 2, 1: 3}),
        (b'a,b\n1,"x\ny"\n\n3,4\n5\n', CSV, {0: 2, 1: 5, 2: 6}),
        (b'a,b\n1,2\n3,"never\nends\n', CSV, {0: 2, 1: 3}),
    ],
)
def test_the_line_of_a_record_is_where_it_begins(text: bytes, form: str, lines: dict[int, int]) -> None:
    made = ImportFormat(form, "NONE", ",", None, {})
    assert lines_of(text, made) == lines
    assert lines_of(gzip.compress(text), replace(made, compression="GZIP")) == lines


def lines_of(text: bytes, form: ImportFormat) -> dict[int, int]:
    """The line on which each record begins."""
    found: dict[int, int] = {}
    source, is_last = ObjectReader(io.BytesIO(text), form), False
    while not is_last:
        page = source.page(1, RECORD_BYTES)
        found |= {read.place: source.line for read in page.parsed}
        is_last = page.is_last
    return found


def test_after_a_record_that_cannot_be_read_it_is_said_that_nothing_more_was() -> None:
    source = ObjectReader(
        io.BytesIO(b'nonsense\n{"Item": {}}\n'), ImportFormat(JSON_LINES, "NONE", ",", None, {})
    )
    (read,) = source.page(10, 10**6).parsed
    assert read.error is not None
    assert read.error.endswith("; the rest of the object was not read")
