"""`tablewright mcp --http` against pages of other sites, and wrong and huge values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from mcp import Client
from tests.cli.test_mcp import answer, over_http, refusal, seeded, talk

from tablewright.cli.mcp.design_tools import MOST_DOCUMENT

ACCEPT = {"accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
KEY = {"person": "bob", "at": "2026-02-01T08:00:00Z"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with over_http("--data", seeded(tmp_path_factory.mktemp("mcp") / "data")) as url:
        yield url


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with over_http("--data", seeded(tmp_path_factory.mktemp("mcp") / "data"), "--write") as url:
        yield url


def status(url: str, **headers: str) -> int:
    return httpx.post(url, json=LIST, headers=ACCEPT | headers).status_code


# --- pages of other sites ---


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "evil:@127.0.0.1"]
)
def test_a_name_that_only_resolves_to_this_machine_is_refused(url: str, host: str) -> None:
    assert status(url, host=host) == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:1.evil.example", "http://127.0.0.1:1@evil.example",
     "http://localhost:1"],
)  # fmt: skip
def test_a_page_of_another_origin_is_refused(url: str, origin: str) -> None:
    assert status(url, origin=origin) == 403
    assert status(url, origin=origin, **{"sec-fetch-site": "cross-site"}) == 403


def test_this_machines_names_and_its_own_origin_are_taken(url: str) -> None:
    own = url.removesuffix("/mcp")
    local = own.replace("127.0.0.1", "localhost")
    assert status(url) == status(url, origin=own) == 200
    assert status(url, host=local.removeprefix("http://"), origin=local) == 200


def test_a_form_of_a_page_cannot_send_a_call(url: str) -> None:
    """What a browser sends to another origin without asking first has one of three content types."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        sent = httpx.post(url, content=json.dumps(LIST), headers=ACCEPT | {"content-type": kind})
        assert sent.status_code in (400, 415)


def test_only_post_is_taken_so_that_no_stream_stays_open(url: str) -> None:
    for method in ("GET", "DELETE", "OPTIONS", "PUT"):
        answered = httpx.request(method, url, headers=ACCEPT)
        assert (answered.status_code, answered.headers["allow"]) == (405, "POST")
    assert httpx.post(f"{url}/", json=LIST, headers=ACCEPT).status_code == 404


# --- values ---


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000])
def test_a_body_that_is_not_a_call_is_refused(url: str, body: bytes) -> None:
    sent = httpx.post(url, content=body, headers=ACCEPT | {"content-type": "application/json"})
    assert sent.status_code == 400


def test_a_body_over_one_mebibyte_is_refused_and_the_server_goes_on(url: str) -> None:
    call = LIST | {
        "method": "tools/call",
        "params": {"name": "notes_person_get", "arguments": {"id": "x" * 2**20}},
    }
    assert httpx.post(url, json=call, headers=ACCEPT).status_code == 413
    assert status(url) == 200


def test_what_is_sent_is_not_sent_back_in_full(url: str) -> None:
    huge = "x" * 1_000_000

    async def step(client: Client) -> None:
        said = [
            await refusal(client, huge[:5_000]),  # the name is also in a header, and headers have a limit
            await refusal(client, "notes_notes_of", **{huge: 1}),
            await refusal(client, "explain_request", tool=huge),
            await refusal(client, "describe_design", design=huge),
            await refusal(client, "cost_of_design", design="notes", environment=huge),
            await refusal(client, "notes_person_get", id=huge),
            await refusal(client, "notes_notes_of", person="anna", page_token=huge),
            await refusal(client, "diff_design", design="notes", document=huge),
        ]
        assert max(map(len, said)) < 3_000
        assert f"document must have at most {MOST_DOCUMENT} characters." == said[-1]

    talk(Client(url), step)


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("notes_notes_of", {"person": ["anna"]}, "person must be a text."),
        ("notes_notes_of", {"person": "anna", "page_size": "many"}, "page_size must be a whole number."),
        ("notes_notes_of", {"person": "anna", "colour": 1}, "colour is not an argument of this tool"),
        ("notes_notes_at", {"person": "anna", "since": "9999-12-31T23:59:59-14:00"}, "outside of the years 1 to 9999"),
        ("cost_of_design", {"design": "notes", "times": "NaN"}, "times must be a finite number."),
        ("scale_of_design", {"design": "notes", "times": [1] * 9}, "times must have at most 8 entries."),
        ("heat_of_design", {"design": "notes", "times": 10**6}, "times must be 10000 or less."),
        ("heat_of_design", {"design": "notes", "seconds": 10**6}, "seconds must be 900 or less."),
        ("diff_design", {"design": "notes", "document": "a: *b"}, "document:1: the file: the alias *b is not read"),
        ("diff_design", {"design": "notes", "document": "{}"}, "format: is missing"),
        ("explain_request", {"tool": "notes_notes_of", "arguments": "x"}, "arguments must be an object."),
        ("notes_note_create", {"item": KEY, "confirm": True}, "There is no tool notes_note_create here"),
        ("notes_note_delete", {**KEY, "confirm": True}, "There is no tool notes_note_delete here"),
    ],
)  # fmt: skip
def test_a_mistaken_call_is_answered_with_a_sentence(
    url: str, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    async def step(client: Client) -> None:
        assert sentence in await refusal(client, tool, **arguments)

    talk(Client(url), step)


# --- writes ---


def test_over_http_a_write_needs_a_confirmation_that_is_true_and_nothing_else(writer: str) -> None:
    async def step(client: Client) -> None:
        for almost in ("yes", "true", 1, [True]):
            said = await refusal(client, "notes_note_create", item=KEY, confirm=almost)
            assert said == "confirm must be true or false."
        assert not (await answer(client, "notes_note_create", item=KEY, confirm=False))["written"]
        assert (await answer(client, "notes_note_get", **KEY))["items"] == []
        assert (await answer(client, "notes_note_create", item=KEY, confirm=True))["written"]
        assert (await answer(client, "notes_note_delete", **KEY, confirm=True))["written"]

    talk(Client(writer), step)


def test_a_field_that_an_item_does_not_have_is_refused_and_not_dropped(writer: str) -> None:
    async def step(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        schema = tools["notes_tag_put"].input_schema
        assert schema["$defs"]["Tag"]["additionalProperties"] is False
        tag = {"person": "bob", "label": "kind"}
        for strange in ("PK", "labels"):
            said = await refusal(client, "notes_tag_put", item=tag | {strange: "PERSON#anna"}, confirm=True)
            assert said == f"item.{strange} is not a field we know; remove it or check its spelling."
        assert (await answer(client, "notes_tag_get", **tag))["items"] == []

    talk(Client(writer), step)


def test_what_cannot_be_stored_is_refused_and_leaves_the_item_as_it_was(writer: str) -> None:
    key = {"person": "anna", "at": "2026-01-31T09:30:00Z"}
    refused = [
        ({"textOfNote": "x" * 500_000}, "exceeded the maximum allowed size"),
        ({"price": "1e500"}, "Number overflow"),
        ({"person": "eve"}, "'person' never changes"),
        ({"mood": 5}, "changes.mood must be 'good' or 'bad'."),
        ({}, "changes is empty"),
    ]

    async def step(client: Client) -> None:
        before = await answer(client, "notes_note_get", **key)
        for changes, sentence in refused:
            assert sentence in await refusal(
                client, "notes_note_update", **key, changes=changes, confirm=True
            )
        assert await answer(client, "notes_note_get", **key) == before

    talk(Client(writer), step)
