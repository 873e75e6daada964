"""Forms with files, as browsers send them."""

import httpx
import pytest

from tablewright.pages.multipart import MOST_PARTS, FormPart, NotMultipart, boundary_of, parts_of


def sent(**form: object) -> tuple[bytes, bytes]:
    """A body as a client makes it, and its boundary."""
    request = httpx.Request("POST", "http://localhost/", **form)  # type: ignore[arg-type]
    boundary = boundary_of(request.headers["Content-Type"])
    assert boundary is not None
    return request.read(), boundary


def test_fields_and_files_are_read_in_their_order() -> None:
    zipped = bytes(range(256)) * 40 + b"\r\n--\r\n\r\n"
    body, boundary = sent(
        data={"publish": "on", "note": "zwölf\r\nlines"}, files={"sheet": ("Größe.zip", zipped)}
    )
    assert list(parts_of(body, boundary)) == [
        FormPart("publish", b"on"),
        FormPart("note", "zwölf\r\nlines".encode()),
        FormPart("sheet", zipped, "Größe.zip"),
    ]


def test_a_file_field_that_was_left_empty_has_an_empty_name() -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="a"; filename=""\r\nContent-Type: text/csv\r\n\r\n'
    assert list(parts_of(head + b"\r\n--x--\r\n", b"x")) == [FormPart("a", b"", "")]


def test_a_quote_in_a_name_arrives_as_it_was() -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="a"; filename="say %22hi%22.csv"\r\n\r\n1'
    assert next(parts_of(head + b"\r\n--x--\r\n", b"x")).filename == 'say "hi".csv'


def test_backslashes_in_a_name_and_content_that_looks_encoded_arrive_as_they_were() -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="a"; filename="C:\\\\b\\c.csv"\r\n'
    body = head + b"Content-Transfer-Encoding: base64\r\n\r\naGk=\r\n--x--\r\n"
    assert list(parts_of(body, b"x")) == [FormPart("a", b"aGk=", "C:\\\\b\\c.csv")]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no form",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x',  # cut off
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n1\r\n--x--\r\n',  # no end of the head
        b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n",  # no name
        b'ahead\r\n--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
        b'\r\nahead --x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' * (MOST_PARTS + 1) + b"--x--\r\n",
    ],
)
def test_a_body_that_is_not_whole_or_has_too_many_parts_is_refused(body: bytes) -> None:
    with pytest.raises(NotMultipart):
        list(parts_of(body, b"x"))


@pytest.mark.parametrize(
    ("header", "boundary"),
    [
        ("multipart/form-data; boundary=abc", b"abc"),
        ('Multipart/Form-Data; charset=utf-8; boundary="a b"', b"a b"),
        ("multipart/form-data", None),
        ("application/x-www-form-urlencoded", None),
    ],
)
def test_the_boundary_is_in_the_header(header: str, boundary: bytes | None) -> None:
    assert boundary_of(header) == boundary
