"""Keys from elsewhere: fetched seldom, kept while they are good, never taken from just anyone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tablewright.edge import Issuer, Verifier
from tablewright.edge.identity import KeyAddressUnsafe
from tablewright.edge.problems import Problem
from tablewright.testing import Clock
from tablewright.world import World


class Provider:
    """An identity provider whose answers the test decides: path -> (status, body, headers)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, bytes, dict[str, str]]] = {}

    def publish(self, jwks: object, *, issuer: str | None = None, jwks_uri: object = None) -> None:
        found = {"issuer": issuer or self.url, "jwks_uri": jwks_uri or f"{self.url}/keys"}
        self.say("/.well-known/openid-configuration", found)
        self.say("/keys", jwks)

    def say(self, path: str, body: object, status: int = 200, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers[path] = (status, content, headers)


@contextmanager
def providing() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            status, body, headers = made.answers.get(self.path, (404, b"", {}))
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Provider(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def provider() -> Iterator[Provider]:
    with providing() as provider:
        yield provider


@pytest.fixture
def signer(provider: Provider, tmp_path: Path, world: World) -> Issuer:
    return Issuer(tmp_path, provider.url, world, longest=timedelta(days=7))


def token_of(signer: Issuer) -> str:
    return signer.issue("sam", audience="web", lifetime=timedelta(days=7))


def refusal(verifier: Verifier, token: str) -> tuple[int, str]:
    with pytest.raises(Problem) as caught:
        verifier.verify(token)
    return caught.value.status, caught.value.code


def test_keys_are_fetched_once_for_many_tokens(provider: Provider, signer: Issuer, world: World) -> None:
    provider.publish(signer.jwks())
    verifier = Verifier.of_oidc(provider.url, ["web"], world)
    assert {verifier.verify(token_of(signer)).subject for _ in range(5)} == {"sam"}
    assert provider.asked == ["/.well-known/openid-configuration", "/keys"]


def test_tokens_with_unknown_keys_do_not_make_us_ask_again_and_again(
    provider: Provider, signer: Issuer, tmp_path: Path, clock: Clock
) -> None:
    provider.publish(signer.jwks())
    verifier = Verifier.of_oidc(provider.url, ["web"], clock.world(), jwks_url=f"{provider.url}/keys")
    verifier.verify(token_of(signer))
    stranger = token_of(Issuer(tmp_path / "strange", provider.url, clock.world(), longest=timedelta(days=7)))
    for _ in range(20):
        assert refusal(verifier, stranger) == (401, "TOKEN_INVALID")
    assert len(provider.asked) == 1
    clock.move(timedelta(seconds=10))
    for _ in range(20):
        assert refusal(verifier, stranger) == (401, "TOKEN_INVALID")
    assert len(provider.asked) == 2


def test_a_key_its_owner_took_back_stops_working_within_the_hour(
    provider: Provider, signer: Issuer, clock: Clock
) -> None:
    provider.publish(signer.jwks())
    verifier, token = Verifier.of_oidc(provider.url, ["web"], clock.world()), token_of(signer)
    verifier.verify(token)
    provider.publish({"keys": []})
    assert verifier.verify(token).subject == "sam"
    clock.move(timedelta(minutes=61))
    assert refusal(verifier, token) == (401, "TOKEN_INVALID")


def test_while_the_provider_is_away_its_last_keys_are_good_for_a_day(
    provider: Provider, signer: Issuer, clock: Clock
) -> None:
    provider.publish(signer.jwks())
    verifier, token = Verifier.of_oidc(provider.url, ["web"], clock.world()), token_of(signer)
    verifier.verify(token)
    provider.answers.clear()
    clock.move(timedelta(hours=23))
    assert verifier.verify(token).subject == "sam"
    clock.move(timedelta(hours=2))
    assert refusal(verifier, token) == (503, "IDENTITY_UNAVAILABLE")
    provider.publish(signer.jwks())
    clock.move(timedelta(seconds=5))
    assert verifier.verify(token).subject == "sam"


def test_a_provider_that_never_answered_is_our_trouble_and_not_the_callers(
    provider: Provider, signer: Issuer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    verifier, token = Verifier.of_oidc(provider.url, ["web"], clock.world()), token_of(signer)
    for _ in range(10):
        assert refusal(verifier, token) == (503, "IDENTITY_UNAVAILABLE")
    assert len(provider.asked) == 1
    assert [line.getMessage() for line in caplog.records] == ["signing keys not fetched"]


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>", b"[]", b'{"keys": 7}', b"{}", b"[" * 50_000, b'{"keys": [' + b" " * 2_000_000 + b"]}"],
)
def test_an_answer_that_is_no_jwks_is_no_answer(
    provider: Provider, signer: Issuer, world: World, answer: bytes
) -> None:
    provider.publish(answer)
    assert refusal(Verifier.of_oidc(provider.url, ["web"], world), token_of(signer)) == (
        503,
        "IDENTITY_UNAVAILABLE",
    )


def test_a_discovery_document_of_another_issuer_is_not_followed(
    provider: Provider, signer: Issuer, world: World
) -> None:
    provider.publish(signer.jwks(), issuer="https://evil.example")
    assert refusal(Verifier.of_oidc(provider.url, ["web"], world), token_of(signer))[0] == 503
    assert "/keys" not in provider.asked


@pytest.mark.parametrize(
    "address", ["http://keys.example/jwks", "file:///etc/passwd", "ftp://127.0.0.1/x", 7]
)
def test_keys_are_not_fetched_from_an_address_that_somebody_on_the_way_could_answer_for(
    provider: Provider, signer: Issuer, world: World, address: object
) -> None:
    provider.publish(signer.jwks(), jwks_uri=address)
    assert refusal(Verifier.of_oidc(provider.url, ["web"], world), token_of(signer))[0] == 503


def test_a_redirect_is_not_followed(provider: Provider, signer: Issuer, world: World) -> None:
    provider.publish(signer.jwks(), jwks_uri=f"{provider.url}/moved")
    provider.say("/moved", b"", 302, Location=f"{provider.url}/keys")
    assert refusal(Verifier.of_oidc(provider.url, ["web"], world), token_of(signer))[0] == 503
    assert "/keys" not in provider.asked


def test_an_unsafe_address_is_refused_when_the_verifier_is_made(world: World) -> None:
    with pytest.raises(KeyAddressUnsafe, match="over https"):
        Verifier.of_oidc("http://id.example", ["web"], world)
    with pytest.raises(KeyAddressUnsafe):
        Verifier.of_oidc("https://id.example", ["web"], world, jwks_url="http://id.example/keys")
    with pytest.raises(KeyAddressUnsafe):
        Verifier.of_oidc("http://localhost.evil.example", ["web"], world)


def test_threads_that_come_together_ask_once(provider: Provider, signer: Issuer, world: World) -> None:
    provider.publish(signer.jwks())
    verifier, token, found = Verifier.of_oidc(provider.url, ["web"], world), token_of(signer), list[str]()
    threads = [
        threading.Thread(target=lambda: found.append(verifier.verify(token).subject)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found, len(provider.asked)) == (["sam"] * 8, 2)
