"""Calls over HTTP when all is well: signatures, connections that are kept, TLS, threads, processes."""

from __future__ import annotations

import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from tests.client.stub import Line, answering, letter, stub
from tests.client.ways import KEY, KEYS, REGION, TEMPORARY, Naps, keyed, put

from tablewright import Engine, testing
from tablewright.client import (
    ONCE,
    CallRefused,
    ConnectionsClosed,
    Credentials,
    CredentialsUnusable,
    EndpointUnusable,
    HttpCall,
    NoAnswer,
    RegionUnusable,
    RequestUnsendable,
)
from tablewright.client.endpoint import endpoint_of
from tablewright.wire import serving
from tablewright.world import real_world


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    """A server that verifies signatures."""
    with serving(engine, credentials=KEYS) as url:
        yield url


def test_a_wrong_secret_is_refused_and_not_tried_again(url: str, naps: Naps) -> None:
    with (
        HttpCall(url, REGION, replace(KEY, secret="guess"), retries=naps.retries()) as call,
        pytest.raises(CallRefused, match="signature we calculated does not match") as caught,
    ):
        call("ListTables", {})
    assert (caught.value.name, naps.taken) == ("InvalidSignatureException", [])


def test_a_session_token_is_sent_and_signed(url: str) -> None:
    with HttpCall(url, REGION, TEMPORARY) as call:
        assert call("ListTables", {}) == {"TableNames": ["pets"]}
    with HttpCall(url, REGION, replace(TEMPORARY, token="old")) as call, pytest.raises(CallRefused) as caught:
        call("ListTables", {})
    assert caught.value.name == "UnrecognizedClientException"


def test_credentials_that_change_are_asked_for_each_time(url: str) -> None:
    held = [KEY, TEMPORARY]
    with HttpCall(url, REGION, lambda: held[0]) as call:
        call("ListTables", {})
        held.pop(0)
        call("ListTables", {})
        held[0] = Credentials("NOBODY", "x")
        with pytest.raises(CallRefused, match="UnrecognizedClient"):
            call("ListTables", {})


def test_the_signing_key_follows_the_day(engine: Engine) -> None:
    clock = testing.Clock(datetime(2026, 3, 1, 23, 59, 58, tzinfo=UTC))
    with (
        serving(engine, credentials=KEYS, world=clock.world()) as url,
        HttpCall(url, REGION, KEY, world=clock.world()) as call,
    ):
        call("ListTables", {})
        clock.move(timedelta(seconds=10))
        call("ListTables", {})
        clock.move(timedelta(days=400))
        call("ListTables", {})


def test_a_clock_in_another_zone_signs_in_utc(engine: Engine) -> None:
    moment = datetime.fromisoformat("2026-03-01T01:30:00+05:00")
    odd = replace(real_world(), now=lambda: moment)
    with (
        serving(engine, credentials=KEYS, world=odd) as url,
        HttpCall(url, REGION, KEY, world=odd) as call,
    ):
        assert call("ListTables", {}) == {"TableNames": ["pets"]}


def test_a_kept_connection_serves_the_next_call() -> None:
    with answering(letter()) as server, HttpCall(server.url, REGION, KEY) as call:
        for _ in range(5):
            call("GetItem", keyed("rex"))
        assert (server.connections, len(server.requests)) == (1, 5)


def test_no_more_connections_are_kept_than_the_pool_holds() -> None:
    together = threading.Barrier(3)

    def script(line: Line) -> None:
        while server.asked(line) is not None:
            together.wait(30)
            line.send(letter())

    with stub(script) as server, HttpCall(server.url, REGION, KEY, pool_size=2) as call:
        with ThreadPoolExecutor(3) as threads:
            for _ in range(2):
                list(threads.map(lambda _: call("ListTables", {}), range(3)))
        assert server.connections == 4


def test_many_threads_share_one_call(url: str) -> None:
    def work(number: int) -> Any:
        call("PutItem", put(str(number), age={"N": str(number)}))
        return call("GetItem", keyed(str(number)))["Item"]["age"]["N"]

    with HttpCall(url, REGION, KEY) as call, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(200))) == [str(number) for number in range(200)]


def test_a_closed_call_takes_no_more() -> None:
    with answering(letter()) as server:
        call = HttpCall(server.url, REGION, KEY)
        call("ListTables", {})
        call.close()
        with pytest.raises(ConnectionsClosed):
            call("ListTables", {})


def test_a_connection_is_not_shared_with_a_child_process() -> None:
    # Parent and child call once before the fork and once each after it.
    program = (
        "import os, sys; from tablewright.client import Credentials, HttpCall\n"
        "call = HttpCall(sys.argv[1], 'us-east-1', Credentials('a', 'b'))\n"
        "call('ListTables', {})\n"
        "child = os.fork()\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
        "call('ListTables', {})\n"
        "call.close()"
    )
    with answering(letter()) as server:
        subprocess.run([sys.executable, "-c", program, server.url], check=True, timeout=30)
        assert (server.connections, len(server.requests)) == (2, 3)


def test_any_mapping_is_a_request(url: str) -> None:
    with HttpCall(url, REGION, KEY) as call:
        assert call("GetItem", MappingProxyType(keyed("rex"))) == {}


def test_a_transaction_gets_a_token_of_its_own_and_keeps_one_it_has() -> None:
    with answering(letter()) as server, HttpCall(server.url, REGION, KEY) as call:
        call("TransactWriteItems", {"TransactItems": []})
        call("TransactWriteItems", {"TransactItems": []})
        call("TransactWriteItems", {"TransactItems": [], "ClientRequestToken": "mine"})
        tokens = [body["ClientRequestToken"] for _, body in server.requests]
    assert len(set(tokens)) == 3
    assert tokens[2] == "mine"
    assert all(1 <= len(token) <= 36 for token in tokens)


@pytest.mark.parametrize("request_", [{"N": b"1"}, {"N": {1}}, {"S": "\ud800"}])
def test_what_has_no_json_is_refused_before_it_is_sent(request_: dict[str, Any]) -> None:
    with answering(letter()) as server, HttpCall(server.url, REGION, KEY) as call:
        with pytest.raises(RequestUnsendable, match="PutItem cannot be sent"):
            call("PutItem", request_)
        assert server.connections == 0


def test_a_verb_cannot_smuggle_a_header() -> None:
    with HttpCall("http://localhost", REGION, KEY) as call, pytest.raises(RequestUnsendable):
        call("GetItem\r\nX-Evil: 1", {})


# --- endpoints and credentials ---


@pytest.mark.parametrize(
    ("text", "authority", "port", "path", "is_tls"),
    [
        ("http://localhost:8000", "localhost:8000", 8000, "/", False),
        ("http://localhost/", "localhost", 80, "/", False),
        ("https://dynamodb.eu-west-1.amazonaws.com", "dynamodb.eu-west-1.amazonaws.com", 443, "/", True),
        ("https://example.org:443/db", "example.org", 443, "/db/", True),
        ("http://[::1]:8000", "[::1]:8000", 8000, "/", False),
    ],
)
def test_an_endpoint_is_read(text: str, authority: str, port: int, path: str, is_tls: bool) -> None:
    found = endpoint_of(text)
    assert (found.authority, found.port, found.path, found.is_tls) == (authority, port, path, is_tls)


@pytest.mark.parametrize(
    "text",
    ["localhost:8000", "ftp://x", "http://", "http://u:p@x", "http://x/?a", "http://x/a b", "http://x:99999",
     "http://x/../y", "http://x#y", "http://a\r\nb/", ""],
)  # fmt: skip
def test_an_endpoint_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(EndpointUnusable):
        HttpCall(text, REGION, KEY)


def test_a_region_cannot_smuggle_a_header() -> None:
    with pytest.raises(RegionUnusable):
        HttpCall("http://localhost", "us-east-1\r\nX-Evil: 1", KEY)


@pytest.mark.parametrize("parts", [("", "s"), ("a b", "s"), ("a", ""), ("a", "s", "t\r\n"), ("a", "s", "")])
def test_credentials_with_stray_characters_are_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(CredentialsUnusable):
        Credentials(*parts)


def test_credentials_do_not_show_their_secret() -> None:
    shown = repr(Credentials("AKID", "hush", "quiet"))
    assert "AKID" in shown
    assert "hush" not in shown
    assert "quiet" not in shown


def test_a_path_before_the_service_is_sent() -> None:
    with answering(letter()) as server, HttpCall(f"{server.url}/db", REGION, KEY) as call:
        assert call("ListTables", {}) == {}


# --- TLS ---


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, signed by itself, and its key."""
    home = tmp_path_factory.mktemp("tls")
    chain, key = home / "chain.pem", home / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key),
         "-out", str(chain)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return chain, key


@pytest.fixture
def server_tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


def test_https_works_and_keeps_its_connection(
    certificate: tuple[Path, Path], server_tls: ssl.SSLContext
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    large = letter({"Item": {"text": {"S": "x" * 300_000}}})
    with (
        answering(letter({"Item": {}}), large, letter(), tls=server_tls) as server,
        HttpCall(server.url, REGION, KEY, tls=trusting) as call,
    ):
        assert call("GetItem", keyed("rex")) == {"Item": {}}
        assert len(call("GetItem", keyed("rex"))["Item"]["text"]["S"]) == 300_000
        assert call("PutItem", put("rex", text={"S": "y" * 300_000})) == {}
        assert server.connections == 1


def test_a_certificate_nobody_vouches_for_is_refused_at_once(server_tls: ssl.SSLContext, naps: Naps) -> None:
    with (
        answering(letter(), tls=server_tls) as server,
        HttpCall(server.url, REGION, KEY, retries=naps.retries()) as call,
    ):
        with pytest.raises(NoAnswer, match="certificate verify failed") as caught:
            call("PutItem", put("rex"))
        assert not caught.value.may_have_been_carried_out
        assert (server.connections, server.requests, naps.taken) == (1, [], [])


def test_https_to_a_server_without_it_is_refused_at_once(naps: Naps) -> None:
    def script(line: Line) -> None:
        line.socket.recv(1)
        line.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with stub(script) as server:
        elsewhere = f"https://127.0.0.1:{server.port}"
        with (
            HttpCall(elsewhere, REGION, KEY, retries=naps.retries()) as call,
            pytest.raises(NoAnswer, match="cannot connect"),
        ):
            call("ListTables", {})
        assert (server.connections, naps.taken) == (1, [])


def test_a_certificate_for_another_host_is_refused(
    certificate: tuple[Path, Path], server_tls: ssl.SSLContext
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    with answering(letter(), tls=server_tls) as server:
        elsewhere = f"https://localhost:{server.port}"
        with (
            HttpCall(elsewhere, REGION, KEY, tls=trusting, retries=ONCE) as call,
            pytest.raises(NoAnswer, match="certificate verify failed"),
        ):
            call("ListTables", {})
