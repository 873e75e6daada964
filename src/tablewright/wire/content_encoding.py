"""Content-Encoding in both directions: gzip and deflate, as the service reads and sends them.

Must hold: a compressed body never becomes more than the limit in memory, however well it was compressed.
Elsewhere: the order of checks (request_checks.py), what a compressed request may take (request_parser.py).
"""

import re
import zlib

# Deflate cannot compress better than this: a body grows to at most so many times its size.
MAX_INFLATION = 1032
# The service does not compress smaller bodies.
MIN_COMPRESSED_BYTES = 4096
# zlib's `wbits` for the format around deflate.
_WBITS = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}
_LEVEL = 1


class Undecodable(Exception):
    """A body is not in the encoding it names, or names one that is unknown."""


class TooLarge(Exception):
    """A body is larger than the limit once it is decompressed."""


def decode(body: bytes | bytearray, encoding: bytes, limit: int) -> bytes | bytearray:
    """The body without its Content-Encoding."""
    name = encoding.strip().lower()
    if name in (b"", b"identity"):
        return body
    if name not in _WBITS:
        raise Undecodable
    inflater = zlib.decompressobj(_WBITS[name])
    try:
        plain = inflater.decompress(body, limit + 1)
    except zlib.error:
        raise Undecodable from None
    if len(plain) > limit:
        raise TooLarge
    if not inflater.eof or inflater.unused_data:
        raise Undecodable
    return plain


def encode(body: bytes, accepted: bytes) -> tuple[bytes, bytes]:
    """The body in the first accepted encoding that we support, and its Content-Encoding line, empty without one."""
    if len(body) >= MIN_COMPRESSED_BYTES:
        for offer in accepted.split(b","):
            name, _, weight = offer.partition(b";")
            name = name.strip().lower()
            # A weight of zero says that it is not accepted.
            if name in (b"gzip", b"deflate") and not re.fullmatch(rb"\s*q=0(\.0*)?\s*", weight):
                return zlib.compress(body, _LEVEL, _WBITS[name]), b"Content-Encoding: %b\r\n" % name
    return body, b""
