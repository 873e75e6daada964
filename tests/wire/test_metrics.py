"""GET /metrics: the figures, for whoever may read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from tests.wire.talk import Answer, once, request

from tablewright import testing
from tablewright.engine import Regions
from tablewright.wire import AccessKey, CredentialsUnusable, read_token, serving

HERE, THERE = "us-east-1", "eu-west-1"
PETS = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
ANNA = AccessKey("AKIDANNA", "anna/secret+1")
TOKEN = "a-token-for-prometheus"


def asked(url: str, headers: Mapping[str, str] | None = None, path: str = "/metrics") -> Answer:
    lines = {"Host": "127.0.0.1:8000"} | dict(headers or {})
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return once(url, f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())


@pytest.fixture
def locked_url() -> Iterator[str]:
    """A server that verifies signatures and knows a token."""
    with (
        testing.engine() as engine,
        serving(engine, credentials={ANNA.id: ANNA}, metrics_token=TOKEN) as url,
    ):
        yield url


def test_figures_are_told_in_prometheus_text(url: str) -> None:
    once(url, request("GetItem", {"TableName": "nobody", "Key": {"pk": {"S": "a"}}}))
    answer = asked(url)
    assert answer.status == 200
    assert answer.is_whole()
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b"# TYPE tablewright_user_errors_total counter\n" in answer.body


def test_other_paths_are_still_the_health_line(url: str) -> None:
    assert asked(url, path="/").body.startswith(b"healthy: ")
    assert asked(url, path="/metrics?x=1").body.startswith(b"# HELP")


def test_every_region_of_a_server_is_told() -> None:
    with Regions.open(home=HERE, also=[THERE], period=None) as regions, serving(regions) as url:
        for region in (HERE, THERE):
            regions[region].call("CreateTable", PETS)
        text = asked(url).body.decode()
        for region in (HERE, THERE):
            assert f'tablewright_item_count{{region="{region}",table="pets"}} 0.0\n' in text
        assert text.count("# TYPE tablewright_item_count gauge") == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost:8000", "Origin": "http://localhost:3000"},
        {"Origin": "https://evil.example"},
    ],
)
def test_a_web_page_does_not_get_the_figures_of_an_open_server(url: str, headers: Mapping[str, str]) -> None:
    answer = asked(url, headers)
    assert answer.status == 400
    assert answer.json["__type"].endswith("AccessDeniedException")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:8000"])
def test_names_of_this_machine_are_let_in(url: str, host: str) -> None:
    assert asked(url, {"Host": host}).status == 200


def test_a_server_with_keys_wants_a_signature_or_the_token(locked_url: str) -> None:
    assert asked(locked_url).status == 400
    assert asked(locked_url, {"Authorization": "Bearer something-else-entirely"}).status == 400
    assert asked(locked_url, {"Authorization": f"Bearer {TOKEN}", "Host": "db.example"}).status == 200
    signed = AWSRequest(method="GET", url=f"{locked_url}/metrics")
    SigV4Auth(Credentials(ANNA.id, ANNA.secret), "dynamodb", "us-east-1").add_auth(signed)
    host = locked_url.partition("//")[2]
    assert asked(locked_url, {"Host": host, **dict(signed.headers.items())}).status == 200
    wrong = AWSRequest(method="GET", url=f"{locked_url}/metrics")
    SigV4Auth(Credentials(ANNA.id, "another secret"), "dynamodb", "us-east-1").add_auth(wrong)
    assert asked(locked_url, {"Host": host, **dict(wrong.headers.items())}).status == 400


def test_the_token_opens_nothing_else(locked_url: str) -> None:
    answer = once(locked_url, request("ListTables", headers={"Authorization": f"Bearer {TOKEN}"}))
    assert answer.status == 400
    assert answer.json["__type"].endswith("MissingAuthenticationTokenException")


def test_a_token_is_one_line_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert read_token(file) == TOKEN
    for text in ("", "short", "two words of a sentence", "ü" * 20):
        file.write_text(text)
        with pytest.raises(CredentialsUnusable, match="is not a token"):
            read_token(file)
    with pytest.raises(CredentialsUnusable, match="cannot be read"):
        read_token(tmp_path / "nothing")
