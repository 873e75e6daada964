"""Whatever bytes arrive, in whatever pieces: the server ends the conversation, and goes on serving others."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.wire.talk import GET_HEALTH, Line, once, request

from tablewright.engine import ServiceError
from tablewright.wire import AccessKey
from tablewright.wire.signature import any_signature, verified_by

WHOLE = request("ListTables", {"Limit": 5})
CHUNKED = (
    request("ListTables", b"", headers={"Content-Length": None, "Transfer-Encoding": "chunked"})
    + b"2\r\n{}\r\n0\r\n\r\n"
)
# Pieces that mean something to an HTTP parser, so that chance finds the corners.
PIECES = [
    b"POST / HTTP/1.1\r\n",
    b"GET / HTTP/1.0\r\n",
    b"\r\n",
    b"\n",
    b"\r\n\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Connection: close\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Connection: upgrade\r\nUpgrade: websocket\r\n",
    b"Expect: 100-continue\r\n",
    b"0\r\n\r\n",
    b"ffffffffffffffffff\r\n",
    b"X-Amz-Target: DynamoDB_20120810.ListTables\r\n",
    b"Content-Type: application/json\r\n",
    b"Authorization: AWS4-\xff\xfe\r\n",
    b"{}",
    b"\0",
    WHOLE,
    CHUNKED,
    GET_HEALTH,
]
often = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def converse(url: str, pieces: Sequence[bytes]) -> None:
    """Send the pieces, end our side, and wait until the server ends its own."""
    with Line(url) as line:
        line.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for piece in pieces:
                line.send(piece)
            line.socket.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError, OSError):
            pass  # the server had heard enough
        assert line.is_closed(), "the server neither answered nor closed"
    assert once(url, GET_HEALTH).status == 200


@often
@given(pieces=st.lists(st.binary(min_size=1, max_size=200), max_size=5))
def test_random_bytes_neither_hang_nor_kill_the_server(url: str, pieces: list[bytes]) -> None:
    converse(url, pieces)


@often
@given(pieces=st.lists(st.sampled_from(PIECES) | st.binary(min_size=1, max_size=8), max_size=8))
def test_http_shuffled_neither_hangs_nor_kills_the_server(url: str, pieces: list[bytes]) -> None:
    converse(url, pieces)


@often
@given(whole=st.sampled_from([WHOLE, CHUNKED, WHOLE + CHUNKED + GET_HEALTH]), data=st.data())
def test_a_request_cut_anywhere_neither_hangs_nor_kills_the_server(
    url: str, whole: bytes, data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, len(whole)))
    cut = data.draw(st.integers(0, end))
    converse(url, [whole[:cut], whole[cut:end]])


@often
@given(data=st.data())
def test_a_request_with_bytes_changed_neither_hangs_nor_kills_the_server(
    url: str, data: st.DataObject
) -> None:
    changed = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 6))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    converse(url, [bytes(changed)])


@often
@given(data=st.data())
def test_a_pipeline_cut_into_any_pieces_gives_the_same_answers(url: str, data: st.DataObject) -> None:
    whole = WHOLE + GET_HEALTH + CHUNKED + request("NoSuchVerb") + WHOLE
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    with Line(url) as line:
        line.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            line.send(whole[start:end])
        answers = [line.answer() for _ in range(5)]
    assert [answer.status for answer in answers] == [200, 200, 200, 400, 200]
    assert [answer.body[:8] for answer in answers[:3]] == [b'{"TableN', b"healthy:", b'{"TableN']
    assert all(answer.is_whole() for answer in answers)


@often
@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
        max_leaves=10,
    )
)
@pytest.mark.parametrize("verb", ["PutItem", "GetItem", "CreateTable", "Query", "TransactWriteItems"])
def test_any_json_at_all_gets_the_services_kind_of_error(url: str, verb: str, body: object) -> None:
    answer = once(url, request(verb, body))
    assert answer.status == 400
    assert "#" in answer.json["__type"]
    assert answer.is_whole()


junk = st.binary(max_size=60)
parts = st.sampled_from(
    [
        b"AWS4-HMAC-SHA256 ",
        b"Credential=AKID/20260101/us-east-1/dynamodb/aws4_request",
        b"Credential=////",
        b", ",
        b"SignedHeaders=host;x-amz-date",
        b"SignedHeaders=host;\xff",
        b"Signature=",
        b"=",
        b"0" * 64,
    ]
)
queries = st.sampled_from(
    [
        b"/?",
        b"&",
        b"X-Amz-Algorithm=AWS4-HMAC-SHA256",
        b"X-Amz-Credential=AKID/20260101/us-east-1/dynamodb/aws4_request",
        b"X-Amz-Signature=%zz%ff",
        b"X-Amz-SignedHeaders=host",
        b"X-Amz-Date=20260101T000000Z",
        b"X-Amz-Expires=9",
    ]
)
dates = st.sampled_from(
    [b"20260101T000000Z", b"20261399T999999Z", b"Thu, 01 Jan 2026 00:00:00 GMT", b"", b"\xff"]
)


@often
@given(
    authorization=st.lists(parts | junk, max_size=8).map(b"".join),
    url_bytes=st.lists(queries | junk, max_size=8).map(b"".join),
    date=dates,
)
def test_no_signature_however_odd_breaks_the_check(
    authorization: bytes, url_bytes: bytes, date: bytes
) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    verify = verified_by({"AKID": AccessKey("AKID", "secret")}, "us-east-1", lambda: moment)
    for headers in ({b"authorization": authorization, b"x-amz-date": date}, {b"x-amz-date": date}):
        assert isinstance(verify(b"POST", url_bytes, headers, b"{}"), ServiceError)
        any_signature(b"POST", url_bytes, headers, b"{}")
