"""Media types by content."""

from __future__ import annotations

import io
import zipfile

import pytest

from tablewright.systems.campus.files.sniff import HTML, SVG, TEXT, UNKNOWN, is_allowed, sniff

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def _zip(**entries: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/"), content)
    return made.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "media_type"),
    [
        (b"%PDF-1.4\n", "essay.txt", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n....", "picture.pdf", "image/png"),
        (b"\xff\xd8\xff\xe0", "x", "image/jpeg"),
        (b"MZ\x90\x00", "essay.pdf", "application/vnd.microsoft.portable-executable"),
        (b"#!/bin/sh\nls", "run.pdf", TEXT),
        (b"print('hi')\n", "a.py", "text/x-python"),
        ("größe;1\n".encode(), "a.csv", "text/csv"),
        ("größe".encode("latin-1"), "a.txt", TEXT),
        (b"<!DOCTYPE html><script>alert(1)</script>", "notes.txt", HTML),
        (b"\xef\xbb\xbf  <HTML>", "notes.csv", HTML),
        (b"<?xml version='1.0'?><svg onload='x'/>", "a.txt", SVG),
        (b"<svg/>", "a.png", SVG),
        (b"plain", "page.html", HTML),
        (b"\x00\x01\x02", "a.txt", UNKNOWN),
        (b"", "a.txt", TEXT),
        (b"a" * 100 + "é".encode()[:1], "cut.txt", TEXT),
        (_zip(a=b"1"), "a.docx", "application/zip"),
        (_zip(**{"[Content_Types].xml": b"", "word__document.xml": b""}), "a.zip", DOCX),
        (_zip(mimetype=b"application/epub+zip"), "a.zip", "application/epub+zip"),
        (
            _zip(mimetype=b"application/vnd.oasis.opendocument.text"),
            "a.zip",
            "application/vnd.oasis.opendocument.text",
        ),
        (_zip(mimetype=b"application/pdf"), "a.pdf", "application/zip"),
        (_zip(mimetype=b"application/epub+zip\r\nSet-Cookie: a=b"), "a.epub", "application/zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old.doc", "application/msword"),
    ],
)
def test_the_bytes_decide_what_a_file_is(content: bytes, name: str, media_type: str) -> None:
    assert sniff(content, name) == media_type


@pytest.mark.parametrize(
    ("media_type", "allowed", "answer"),
    [
        ("application/pdf", ["application/pdf"], True),
        ("application/pdf", ["text/plain", "application/zip"], False),
        ("text/x-python", ["text/plain"], True),
        ("text/html", ["text/plain"], False),
        ("text/html", ["text/html"], True),
        ("image/png", ["image/*"], True),
        ("application/zip", ["image/*"], False),
        (DOCX, ["application/zip"], False),
    ],
)
def test_an_assignment_allows_types_and_families_of_them(
    media_type: str, allowed: list[str], answer: bool
) -> None:
    assert is_allowed(media_type, allowed) is answer
