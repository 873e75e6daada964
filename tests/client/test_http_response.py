"""HTTP answers from bytes, however they are cut into pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.client.http_response import HttpResponse, Receive, ResponseIncomplete, read_response

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Odd: Yes\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
    b"2\r\nhe\r\n3;name=value\r\nllo\r\n0\r\nTrailer: x\r\n\r\n"
)
ENDLESS = b"HTTP/1.1 200 OK\r\n\r\nhello"
CONTINUED = b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN


def pieces(data: bytes, *cuts: int) -> Receive:
    marks = [0, *sorted(cut for cut in set(cuts) if 0 < cut < len(data)), len(data)]
    waiting = [data[a:b] for a, b in pairwise(marks) if a != b]
    return lambda: waiting.pop(0) if waiting else b""


def read(data: bytes, *cuts: int) -> HttpResponse:
    return read_response(pieces(data, *cuts))


@pytest.mark.parametrize(
    ("data", "keeps_open"), [(PLAIN, True), (CHUNKED, True), (ENDLESS, False), (CONTINUED, True)]
)
@given(cuts=st.lists(st.integers(1, 150), max_size=20))
def test_an_answer_is_the_same_however_it_is_cut(data: bytes, keeps_open: bool, cuts: list[int]) -> None:
    answer = read(data, *cuts)
    assert (answer.status, answer.body, answer.keep_alive) == (200, b"hello", keeps_open)


@pytest.mark.parametrize("data", [PLAIN, CHUNKED, CONTINUED])
def test_an_answer_that_is_cut_short_is_never_taken_for_a_whole_one(data: bytes) -> None:
    for length in range(len(data)):
        with pytest.raises(ResponseIncomplete):
            read(data[:length])


def test_header_names_have_no_case() -> None:
    assert read(PLAIN).headers[b"x-odd"] == b"yes"
    assert read(PLAIN.replace(b"Content-Length", b"CONTENT-length")).body == b"hello"


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.replace(b"5", b"five"),
        PLAIN.replace(b"5", b"-5"),
        PLAIN.replace(b"Length: 5", b"Length: 5, 5"),
        PLAIN.replace(b"X-Odd: Yes", b"Content-Length: 4"),
        CHUNKED.replace(b"2\r\nhe", b"z\r\nhe"),
        CHUNKED.replace(b"2\r\nhe", b"1\r\nhe"),
        CHUNKED.replace(b"Chunked", b"gzip, chunked"),
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 200" + b"x" * 70_000,
    ],
)
def test_an_answer_whose_end_cannot_be_known_is_refused(data: bytes) -> None:
    with pytest.raises(ResponseIncomplete):
        read(data)


@pytest.mark.parametrize(
    ("head", "keeps_open"),
    [
        (b"HTTP/1.1 200 OK\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\n", False),
        (b"HTTP/1.0 200 OK\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n", True),
    ],
)
def test_a_connection_is_kept_as_the_server_says(head: bytes, keeps_open: bool) -> None:
    assert read(head + b"Content-Length: 0\r\n\r\n").keep_alive is keeps_open


@pytest.mark.parametrize("more", [b"HTTP/1.1 200", PLAIN, b"\0garbage"])
def test_a_server_that_says_more_than_it_was_asked_is_not_listened_to_further(more: bytes) -> None:
    answer = read(PLAIN + more)
    assert (answer.body, answer.keep_alive) == (b"hello", False)
