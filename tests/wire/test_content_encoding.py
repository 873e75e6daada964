"""Content-Encoding of requests: what a small body may become in memory."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest

from tablewright.engine.limits import REQUEST_BYTES
from tablewright.wire.content_encoding import TooLarge, Undecodable, decode

MEGABYTE = 1024 * 1024
PACKED: dict[bytes, Callable[[bytes], bytes]] = {b"gzip": gzip.compress, b"deflate": zlib.compress}


@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_that_would_be_too_large_is_refused_without_unpacking_it_whole(encoding: bytes) -> None:
    packed = PACKED[encoding](bytes(200 * MEGABYTE))
    assert len(packed) < MEGABYTE
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            decode(packed, encoding, REQUEST_BYTES)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * REQUEST_BYTES


@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_of_exactly_the_limit_is_read(encoding: bytes) -> None:
    body = b"x" * 1000
    assert decode(PACKED[encoding](body), encoding, 1000) == body
    with pytest.raises(TooLarge):
        decode(PACKED[encoding](body), encoding, 999)


@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_that_is_cut_off_is_undecodable(encoding: bytes) -> None:
    with pytest.raises(Undecodable):
        decode(PACKED[encoding](b"x" * 1000)[:-3], encoding, REQUEST_BYTES)
