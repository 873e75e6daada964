"""Pictures as far as their headers go: what says how large they are."""


def png(width: int, height: int) -> bytes:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    return head + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x06\0\0\0" + b"\0" * 20


def jpeg(width: int, height: int, frame: int = 0xC0) -> bytes:
    """With a preview of 1 x 1 in a segment in front of it."""
    preview = b"\xff\xd8\xff\xc0\0\x0b\x08\0\x01\0\x01\x01\x11\0"
    before = b"\xff\xe1" + (len(preview) + 2).to_bytes(2) + preview
    size = height.to_bytes(2) + width.to_bytes(2)
    return (
        b"\xff\xd8" + before + b"\xff\xff" + bytes([frame]) + b"\0\x0b\x08" + size + b"\x01\x01\x11\0\xff\xd9"
    )


def _riff(chunk: bytes, data: bytes) -> bytes:
    body = b"WEBP" + chunk + len(data).to_bytes(4, "little") + data
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def webp(width: int, height: int) -> bytes:
    size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return _riff(b"VP8 ", b"\x10\x02\0\x9d\x01\x2a" + size + b"\0" * 8)


def webp_lossless(width: int, height: int) -> bytes:
    return _riff(b"VP8L", b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\0" * 8)


def webp_extended(width: int, height: int) -> bytes:
    return _riff(b"VP8X", b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))
