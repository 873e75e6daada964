"""Media types by content: what the bytes are, whatever their sender says (CC-D6, CC-E6). Pure.

The first bytes decide; the ending of the name only chooses among types with the same first bytes, such as the kinds of
text. Must hold: text/html and image/svg+xml are never returned for something else, nor something else for them.
Elsewhere: what is done with a type that is not allowed (uploads.py).
"""

import codecs
import re
from collections.abc import Iterable

HEAD_BYTES = 64 * 1024
UNKNOWN = "application/octet-stream"
HTML, SVG, TEXT = "text/html", "image/svg+xml", "text/plain"
_OFFICE = "application/vnd.openxmlformats-officedocument."

# (offset, bytes, type), the longer ones first.
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"%!PS", "application/postscript"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\x00asm", "application/wasm"),
    (0, b"\xca\xfe\xba\xbe", "application/java-vm"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_TYPES = {
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "msg": "application/vnd.ms-outlook",
}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# What a zip file may say of itself in its first entry. Anything else there is the word of its sender.
_OWN_TYPE = re.compile(rb"application/(?:epub\+zip|vnd\.oasis\.opendocument\.[a-z-]{1,60})")
# The folder that only such an archive has.
_ZIP_FOLDERS = (
    (b"word/", f"{_OFFICE}wordprocessingml.document"),
    (b"xl/", f"{_OFFICE}spreadsheetml.sheet"),
    (b"ppt/", f"{_OFFICE}presentationml.presentation"),
    (b"META-INF/MANIFEST.MF", "application/java-archive"),
)
_TEXT_TYPES = {
    "csv": "text/csv",
    "md": "text/markdown",
    "json": "application/json",
    "ipynb": "application/x-ipynb+json",
    "xml": "application/xml",
    "py": "text/x-python",
    "java": "text/x-java",
    "c": "text/x-c",
    "h": "text/x-c",
    "cpp": "text/x-c++",
    "rs": "text/x-rust",
    "go": "text/x-go",
    "js": "text/javascript",
    "ts": "text/x-typescript",
    "css": "text/css",
    "sql": "text/x-sql",
    "r": "text/x-r",
    "tex": "text/x-tex",
    "sh": "text/x-shellscript",
    "html": HTML,
    "htm": HTML,
    "xhtml": HTML,
    "svg": SVG,
}
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<script", b"<iframe", b"<?php")


def sniff(head: bytes, name: str) -> str:
    """The media type of a file by its first HEAD_BYTES; its name decides between kinds of text."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    for offset, magic, media_type in _MAGIC:
        if head.startswith(magic, offset):
            return media_type
    if head.startswith(_OLE):
        return _OLE_TYPES.get(ending, "application/x-ole-storage")
    if head.startswith(_ZIP):
        return _zip_type(head)
    return _text_type(head, ending) if _is_text(head) else UNKNOWN


def is_allowed(media_type: str, allowed: Iterable[str]) -> bool:
    """True if a type is in a list of types. `image/*` allows all images, `text/plain` every text but a web page."""
    plain = media_type.startswith("text/") or media_type in ("application/json", "application/xml")
    for one in allowed:
        if one in (media_type, "*/*") or (one.endswith("/*") and media_type.startswith(one[:-1])):
            return True
        if one == TEXT and plain and media_type != HTML:
            return True
    return False


def _zip_type(head: bytes) -> str:
    # OpenDocument and EPUB have their type as the first entry, which is stored as it is.
    if head[30:38] == b"mimetype":
        length = int.from_bytes(head[18:22], "little")
        stored = head[38 : 38 + min(length, 100)]
        if _OWN_TYPE.fullmatch(stored):
            return stored.decode()
    return next((kind for folder, kind in _ZIP_FOLDERS if folder in head), "application/zip")


def _text_type(head: bytes, ending: str) -> str:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:2048].lower()
    if start.startswith(_HTML_STARTS):
        return HTML
    if b"<svg" in start:
        return SVG
    if start.startswith(b"<?xml"):
        return HTML if b"<html" in start else "application/xml"
    return _TEXT_TYPES.get(ending, TEXT)


def _is_text(head: bytes) -> bool:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    if any(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last letter may be cut
    except UnicodeDecodeError:
        # Old texts are in Latin 1: mostly letters, and no control characters there either.
        return not any(0x80 <= byte < 0xA0 for byte in head)
    return True
