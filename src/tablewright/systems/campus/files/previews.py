"""Previews of files: text and code with line numbers, images, PDF; never as a page of ours.

What is shown is decided by the type that the bytes have (sniff.py), not by their name. Text is escaped and bounded, and
HTML and SVG are shown as text. Images and PDF come from a signed path that expires, with a policy that lets nothing in
them run (api/content.py), and that names its reader: each read checks the right again (api/signed_reads.py). PDF is
drawn by pdf.js, from our own server.
Must hold: a preview costs a bounded amount of memory, whatever the size of the file.
"""

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Literal, Protocol

from tablewright.kit.objects.signed_paths import SignatureUnusable, SignedPath, SignedPaths
from tablewright.kit.objects.store import ObjectMissing, ObjectStore
from tablewright.systems.campus.errors import Gone
from tablewright.systems.campus.files.readers import Reader
from tablewright.world import World

PreviewKind = Literal["text", "image", "pdf"]
PATH = "/campus/v1/previews/"
LINK_LASTS = timedelta(minutes=5)
MAX_TEXT, MAX_LINES, MAX_LINE = 512 * 1024, 5_000, 2_000
MAX_IMAGE, MAX_PDF = 30 * 1024 * 1024, 100 * 1024 * 1024
IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"))
PDF = "application/pdf"
_TEXTS = frozenset(("application/json", "application/x-ipynb+json", "application/xml", "image/svg+xml"))


class Previewed(Protocol):
    """What can be shown: a File, or a Part of a submission."""

    @property
    def object_name(self) -> str | None: ...
    @property
    def filename(self) -> str | None: ...
    @property
    def file_size(self) -> int | None: ...
    @property
    def content_type(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Preview:
    """What a page shows: `lines` of a text, or the `url` of an image or PDF. `is_cut`: there is more of the text."""

    kind: PreviewKind
    url: str = ""
    lines: tuple[str, ...] = ()
    is_cut: bool = False


def kind_of(content_type: str | None, size: int) -> PreviewKind | None:
    """How a type is shown; None if it can only be downloaded."""
    if content_type in IMAGES:
        return "image" if size <= MAX_IMAGE else None
    if content_type == PDF:
        return "pdf" if size <= MAX_PDF else None
    if content_type is not None and (content_type.startswith("text/") or content_type in _TEXTS):
        return "text"
    return None


class Previews:
    """Makes previews. Their paths are signed with a secret of their own."""

    def __init__(self, objects: ObjectStore, secret: bytes, world: World) -> None:
        self._objects = objects
        self._paths = SignedPaths(PATH, sha256(b"campus previews" + secret).digest(), world)

    def of(self, item: Previewed, reader: Reader) -> Preview | None:
        """The preview of a file or a part for a reader who was checked; None if it can only be downloaded."""
        size, content_type, name = item.file_size or 0, item.content_type, item.object_name
        kind = kind_of(content_type, size)
        if kind is None or name is None or content_type is None:
            return None
        if kind == "text":
            return self._text(name, size)
        return Preview(kind, self._url(name, item.filename or "file", content_type, reader))

    def verify(self, signed: str) -> SignedPath:
        """What a path of a preview leads to; LINK_EXPIRED."""
        try:
            return self._paths.verify(signed)
        except SignatureUnusable:
            raise Gone("LINK_EXPIRED", "This preview has expired. Open its page again.") from None

    def _url(self, name: str, filename: str, content_type: str, reader: Reader) -> str:
        path = SignedPath(name, filename, content_type, inline=True, subject=reader.subject)
        return self._paths.sign(path, LINK_LASTS)

    def _text(self, name: str, size: int) -> Preview:
        try:
            with self._objects.read(name, 0, min(size, MAX_TEXT)) as stream:
                head = b"".join(stream)
        except ObjectMissing:
            raise Gone("DELETED", "The bytes of this file are gone.") from None
        return text_preview(head, is_cut=size > MAX_TEXT)


def text_preview(head: bytes, is_cut: bool = False) -> Preview:
    """The first lines of a text."""
    text = _decoded(head)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and not lines[-1] and len(lines) > 1:
        lines.pop()  # the end of the last line is not another one
    cut = is_cut or len(lines) > MAX_LINES or any(len(line) > MAX_LINE for line in lines)
    return Preview("text", lines=tuple(_printable(line[:MAX_LINE]) for line in lines[:MAX_LINES]), is_cut=cut)


def _decoded(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", errors="replace")
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as mistake:
        if mistake.reason == "unexpected end of data":  # the last letter is cut
            return head[: mistake.start].decode("utf-8-sig")
        return head.decode("latin-1")


def _printable(line: str) -> str:
    """Control characters as their pictures, and direction overrides made visible: code must read as it runs."""
    return "".join(_shown(letter) for letter in line)


def _shown(letter: str) -> str:
    number = ord(letter)
    if number < 32 and letter != "\t":
        return chr(0x2400 + number)
    return (
        f"⟨U+{number:04X}⟩" if letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" else letter
    )
