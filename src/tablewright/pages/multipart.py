"""Bodies of forms with files, as browsers send them: `multipart/form-data` (RFC 7578).

Must hold: a body is read as it is or refused as a whole; content is never searched for anything but the boundary.
Not python-multipart (0.0.33): it drops bytes ahead of the first boundary, decodes content, changes backslashes in file
names and leaves to its caller whether a body is whole and how many parts it has, so that using it takes as many lines.
Elsewhere: how large a body may be (edge/request_bodies.py).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

MOST_PARTS = 500
_BOUNDARY = re.compile(r'multipart/form-data;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))', re.I)
_NAME = re.compile(r'[;\s]name="([^"]*)"')
_FILENAME = re.compile(r'[;\s]filename="([^"]*)"')


class NotMultipart(ValueError):
    """The body is not what its header says."""


@dataclass(frozen=True, slots=True)
class FormPart:
    """A field, or a file with the name it had on its computer."""

    name: str
    content: bytes
    filename: str | None = None


def boundary_of(content_type: str) -> bytes | None:
    """The boundary of a form with files; None for any other body."""
    found = _BOUNDARY.match(content_type)
    return (found[1] or found[2]).encode("latin-1") if found else None


def parts_of(body: bytes, boundary: bytes) -> Iterator[FormPart]:
    """The parts in their order; NotMultipart if the body is cut off or cannot be read."""
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary, MOST_PARTS + 2)
    if len(pieces) < 2 or len(pieces) > MOST_PARTS + 2 or pieces[0] or not pieces[-1].startswith(b"--"):
        raise NotMultipart
    for piece in pieces[1:-1]:
        head, blank, content = piece.partition(b"\r\n\r\n")
        if not blank:
            raise NotMultipart
        yield _part(head, content)


def _part(head: bytes, content: bytes) -> FormPart:
    lines = head.decode("utf-8", "replace").split("\r\n")
    disposition = next((line for line in lines if line.lower().startswith("content-disposition:")), "")
    name, filename = _NAME.search(disposition), _FILENAME.search(disposition)
    if name is None:
        raise NotMultipart
    # Quotes and ends of lines in names are percent-encoded by browsers.
    return FormPart(unquote(name[1]), content, unquote(filename[1]) if filename is not None else None)
