"""Calls over HTTP when things go wrong: what is tried again, what is not, and what the caller is told."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.client.stub import Line, Script, Stub, answering, letter, stub
from tests.client.ways import KEY, REGION, Naps, keyed, put, world

from tablewright.client import AnswerNotUnderstood, CallRefused, HttpCall, NoAnswer, Retries, Timeouts

PUT = put("rex")


@contextmanager
def calling(server: Stub, naps: Naps, attempts: int = 10, **timeouts: float) -> Iterator[HttpCall]:
    options: dict[str, Any] = {"timeouts": Timeouts(**timeouts)} if timeouts else {}
    with HttpCall(server.url, REGION, KEY, world=world(), retries=naps.retries(attempts), **options) as call:
        yield call


# --- refusals ---


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("ProvisionedThroughputExceededException", 400),
        ("ThrottlingException", 400),
        ("RequestLimitExceeded", 400),
        ("TransactionInProgressException", 400),
        ("TransactionConflictException", 400),
        ("ReplicatedWriteConflictException", 409),
        ("InternalServerError", 500),
        ("SomethingNew", 503),
    ],
)
def test_what_passes_by_itself_is_tried_again(naps: Naps, name: str, status: int) -> None:
    refusal = letter(name, status)
    with answering(refusal, refusal, letter({"Item": {}})) as server, calling(server, naps) as call:
        assert call("GetItem", keyed("rex")) == {"Item": {}}
        assert server.connections == 1
    assert naps.taken == [0.025, 0.05]


@pytest.mark.parametrize(
    "name",
    ["ValidationException", "ConditionalCheckFailedException", "ResourceNotFoundException", "ResourceInUseException",
     "AccessDeniedException", "IdempotentParameterMismatchException", "ItemCollectionSizeLimitExceededException",
     "LimitExceededException", "UnrecognizedClientException", "TransactionCanceledException"],
)  # fmt: skip
def test_a_mistake_is_never_repeated(naps: Naps, name: str) -> None:
    with answering(letter(name)) as server, calling(server, naps) as call:
        with pytest.raises(CallRefused) as caught:
            call("PutItem", PUT)
        assert len(server.requests) == 1
    assert (caught.value.name, caught.value.message, naps.taken) == (name, "as the test says", [])


def test_patience_ends_and_the_refusal_is_told(naps: Naps) -> None:
    with answering(letter("ThrottlingException")) as server, calling(server, naps, attempts=4) as call:
        with pytest.raises(CallRefused, match="ThrottlingException"):
            call("PutItem", PUT)
        assert len(server.requests) == 4
    assert naps.taken == [0.025, 0.05, 0.1]


def test_pauses_double_up_to_the_cap_and_are_drawn_from_chance() -> None:
    retries = Retries(base=0.025, cap=20.0)
    assert [retries.pause(tried, 1.0) for tried in (1, 2, 3, 10, 11, 5000)] == [
        0.025,
        0.05,
        0.1,
        12.8,
        20.0,
        20.0,
    ]
    assert retries.pause(3, 0.25) == 0.025


def test_a_pause_that_would_outlast_the_call_is_not_begun(naps: Naps) -> None:
    with (
        answering(letter("ThrottlingException")) as server,
        calling(server, naps, total=0.2) as call,
        pytest.raises(CallRefused),
    ):
        call("PutItem", PUT)
    assert max(naps.taken) <= 0.2
    assert len(naps.taken) < 9


def test_each_attempt_is_signed_anew(naps: Naps) -> None:
    with answering(letter("ThrottlingException"), letter()) as server, calling(server, naps) as call:
        call("PutItem", PUT)
        assert all("authorization" in headers for headers, _ in server.requests)
        assert len(server.requests) == 2


def test_a_repeated_transaction_carries_the_same_token(naps: Naps) -> None:
    with answering(letter("InternalServerError", 500), letter()) as server, calling(server, naps) as call:
        call("TransactWriteItems", {"TransactItems": []})
        first, second = (body["ClientRequestToken"] for _, body in server.requests)
    assert first == second


def test_a_refusal_after_a_lost_answer_says_so(naps: Naps) -> None:
    """The condition may have failed because of our own first write."""
    failed = letter("ConditionalCheckFailedException")
    with (
        answering(letter("InternalServerError", 500), failed) as server,
        calling(server, naps) as call,
        pytest.raises(CallRefused) as caught,
    ):
        call("PutItem", PUT)
    assert caught.value.follows_lost_answer
    with (
        answering(letter("ThrottlingException"), failed) as server,
        calling(server, naps) as call,
        pytest.raises(CallRefused) as caught,
    ):
        call("PutItem", PUT)
    assert not caught.value.follows_lost_answer


# --- answers that are not DynamoDB's ---


def test_a_gateway_that_stumbles_is_tried_again(naps: Naps) -> None:
    page = letter(b"<html>bad gateway</html>", 502)
    with answering(page, letter()) as server, calling(server, naps) as call:
        assert call("GetItem", keyed("rex")) == {}
    with (
        answering(page) as server,
        calling(server, naps, attempts=2) as call,
        pytest.raises(CallRefused, match="Http502: <html>bad gateway"),
    ):
        call("GetItem", keyed("rex"))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (letter(b"<html>log in</html>"), "not a JSON object"),
        (letter(b"[]"), "not a JSON object"),
        (letter(b"", 301, "Location: https://example.org/\r\n"), "redirects are not followed"),
    ],
)
def test_an_answer_of_something_else_is_named_as_such(naps: Naps, answer: bytes, words: str) -> None:
    with answering(answer) as server, calling(server, naps) as call:
        with pytest.raises(AnswerNotUnderstood, match=words):
            call("GetItem", keyed("rex"))
        assert len(server.requests) == 1


def test_an_answer_with_a_wrong_checksum_is_asked_for_again(naps: Naps) -> None:
    damaged = letter({"Item": {"pk": {"S": "rix"}}}, headers="x-amz-crc32: 1\r\n")
    with answering(damaged, letter()) as server, calling(server, naps) as call:
        assert call("GetItem", keyed("rex")) == {}
    with (
        answering(damaged) as server,
        calling(server, naps, attempts=2) as call,
        pytest.raises(NoAnswer, match="CRC-32") as caught,
    ):
        call("GetItem", keyed("rex"))
    assert caught.value.may_have_been_carried_out


# --- lines that break ---


def cut(*whole: bytes, then: bytes = b"") -> Script:
    """Answers some requests, reads one more, sends a piece and hangs up."""

    def script(line: Line) -> None:
        for answer in whole:
            line.request()
            line.send(answer)
        line.request()
        line.send(then)

    return script


def test_a_line_that_breaks_in_the_answer_is_tried_again_on_another(naps: Naps) -> None:
    half = letter({"Item": {}})[:-3]
    with stub([cut(then=half), cut(letter({"Item": {}}))]) as server, calling(server, naps) as call:
        assert call("GetItem", keyed("rex")) == {"Item": {}}
        assert server.connections == 2
    assert len(naps.taken) == 1


@pytest.mark.parametrize("piece", [b"", b"HTTP/1.1 200", letter({"Item": {}})[:-1], b"SSH-2.0-x\r\n\r\n"])
def test_a_lost_answer_to_a_write_is_told_as_such_in_the_end(naps: Naps, piece: bytes) -> None:
    with stub(cut(then=piece)) as server, calling(server, naps, attempts=3) as call:
        with pytest.raises(NoAnswer, match="it may have been carried out") as caught:
            call("PutItem", PUT)
        assert server.connections == 3
    assert caught.value.may_have_been_carried_out


def test_an_idle_connection_the_server_closed_costs_no_pause(naps: Naps) -> None:
    """The request goes out, the server, which has just hung up, answers nothing: a fresh line at once."""
    with stub([cut(letter()), cut(letter())]) as server, calling(server, naps) as call:
        call("GetItem", keyed("rex"))
        call("GetItem", keyed("rex"))
        assert server.connections == 2
    assert naps.taken == []


def test_a_server_that_closed_all_idle_connections_is_met_on_new_ones(naps: Naps) -> None:
    gone = threading.Event()

    def once(line: Line) -> None:
        server.asked(line)
        line.send(letter())
        line.socket.shutdown(socket.SHUT_RDWR)
        gone.set()

    with stub(once) as server, calling(server, naps) as call:
        for _ in range(3):
            call("GetItem", keyed("rex"))
            assert gone.wait(30)
            gone.clear()
        assert (server.connections, len(server.requests)) == (3, 3)
    assert naps.taken == []


def test_a_connection_the_server_wants_closed_is_not_used_again(naps: Naps) -> None:
    with answering(letter(headers="Connection: close\r\n")) as server, calling(server, naps) as call:
        call("GetItem", keyed("rex"))
        call("GetItem", keyed("rex"))
        assert server.connections == 2
    assert naps.taken == []


def test_nobody_listening_is_said_and_nothing_was_carried_out(naps: Naps) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with (
        HttpCall(f"http://127.0.0.1:{port}", REGION, KEY, world=world(), retries=naps.retries(3)) as call,
        pytest.raises(NoAnswer, match=f"cannot connect to 127.0.0.1:{port}.*nothing was changed") as caught,
    ):
        call("PutItem", PUT)
    assert not caught.value.may_have_been_carried_out
    assert naps.taken == [0.025, 0.05]


# --- time ---


def silent(line: Line) -> None:
    while line.request() is not None:
        pass


def test_a_silent_server_is_given_up_after_the_time_for_an_answer(naps: Naps) -> None:
    with stub(silent) as server, calling(server, naps, attempts=2, answer=0.1) as call:
        with pytest.raises(NoAnswer, match="too long") as caught:
            call("PutItem", PUT)
        assert server.connections == 2
    assert caught.value.may_have_been_carried_out


def test_a_server_that_drips_does_not_hold_the_call_forever(naps: Naps) -> None:
    over = threading.Event()

    def drip(line: Line) -> None:
        line.request()
        for byte in letter({"Item": {"text": {"S": "x" * 5000}}}):
            line.send(bytes([byte]))
            if over.wait(0.02):
                return

    with stub(drip) as server, calling(server, naps, attempts=1, answer=0.3) as call:
        began = time.monotonic()
        with pytest.raises(NoAnswer, match="too long"):
            call("GetItem", keyed("rex"))
        assert time.monotonic() - began < 60
        over.set()


def test_all_attempts_together_keep_to_the_total_time(naps: Naps) -> None:
    with stub(silent) as server, calling(server, naps, total=0.4, answer=0.15) as call:
        began = time.monotonic()
        with pytest.raises(NoAnswer):
            call("GetItem", keyed("rex"))
        assert time.monotonic() - began < 60
        assert 2 <= server.connections <= 4


def test_time_that_runs_out_between_attempts_is_told_like_any_other() -> None:
    slow = Retries(sleep=lambda _: time.sleep(0.3))
    with (
        answering(letter("ThrottlingException")) as server,
        HttpCall(server.url, REGION, KEY, world=world(0), retries=slow, timeouts=Timeouts(total=0.2)) as call,
        pytest.raises((NoAnswer, CallRefused)),
    ):
        call("PutItem", PUT)


def test_a_connection_that_was_interrupted_is_not_used_again(naps: Naps) -> None:
    """Else the next call would get the answer to the last one."""
    late = letter({"Item": {"pk": {"S": "late"}}})
    asked = threading.Event()

    def slow(line: Line) -> None:
        line.request()
        asked.set()
        line.request()
        line.send(late)

    with stub([slow, cut(letter())]) as server, calling(server, naps, attempts=1, answer=1.5) as call:
        with pytest.raises(NoAnswer):
            call("GetItem", keyed("rex"))
        assert asked.is_set()
        assert call("GetItem", keyed("rex")) == {}
