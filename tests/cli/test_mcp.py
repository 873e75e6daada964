"""`tablewright mcp` as a client sees it: the SDK's own client, on stdio and over HTTP, against a real store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.cli.command import COMMAND, here, url_in
from tests.cli.notes_design import MOMENT, NOTES, Note, Person, notes, people

from tablewright.client import embedded
from tablewright.engine import Engine
from tablewright.mapping import Db

DESIGN = f"{Path(__file__).parent / 'notes_design.py'}:NOTES"
Talk = Callable[[Client], Awaitable[None]]


def seeded(path: Path) -> Path:
    """A closed store with a person and three notes of hers."""
    with Engine.open(path, durability="relaxed") as engine:
        db = Db(embedded(engine), NOTES)
        db.create_tables()
        engine.settle()
        db.write(people.create(Person(id="anna", name="Anna Secretive", token="hush")))
        for number in range(3):
            at = MOMENT + timedelta(minutes=number)
            db.write(
                notes.create(
                    Note(person="anna", at=at, text_of_note=f"private {number}", author_name="Anna S")
                )
            )
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seeded(tmp_path_factory.mktemp("mcp") / "data")


@asynccontextmanager
async def on_stdio(*options: str | Path, cwd: Path | None = None) -> AsyncIterator[Client]:
    words = [*COMMAND[1:], "mcp", "--design", DESIGN, *map(str, options)]
    started = StdioServerParameters(command=COMMAND[0], args=words, env=dict(os.environ), cwd=cwd)
    with open(os.devnull, "w") as quiet:
        async with Client(stdio_client(started, errlog=quiet)) as client:
            yield client


@contextmanager
def over_http(*options: str | Path) -> Iterator[str]:
    """The URL of a server of its own process; stopped as an operator stops one, which must end it with 0."""
    words = ["mcp", "--design", DESIGN, "--http", "0", *map(str, options)]
    process = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield url_in(process.stdout.readline())
        process.terminate()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()


def talk(client: Any, *steps: Talk) -> None:
    """Open a client and take the steps with it."""

    async def main() -> None:
        async with client as opened:
            for step in steps:
                await step(opened)

    anyio.run(main)


async def answer(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    text = "".join(part.text for part in result.content if part.type == "text")
    assert not result.is_error, text
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refusal(client: Client, name: str, /, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    return "".join(part.text for part in result.content if part.type == "text")


# --- the same on both transports ---


async def the_tools_are_listed_with_their_types(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"list_designs", "describe_design", "check_design", "cost_of_design", "scale_of_design",
            "heat_of_design", "diff_design", "explain_request",
            "notes_notes_of", "notes_notes_at", "notes_person_get", "notes_note_get",
            "notes_tag_get"} == set(tools)  # fmt: skip
    found = tools["notes_notes_at"]
    assert (found.title, found.description) == (
        "Notes at", "The notes of a moment. A page of note, from table notes."
    )  # fmt: skip
    assert found.annotations is not None
    assert found.annotations.read_only_hint
    schema = found.input_schema
    assert schema["required"] == ["person", "since"]
    assert schema["properties"]["since"] == {"type": "string", "format": "date-time"}
    assert schema["properties"]["page_size"]["maximum"] == 100


async def a_pattern_is_read_page_by_page(client: Client) -> None:
    first = await answer(client, "notes_notes_of", person="anna", page_size=2)
    second = await answer(client, "notes_notes_of", person="anna", page_size=2, page_token=first["next"])
    times = [each["item"]["at"] for page in (first, second) for each in page["items"]]
    assert times == sorted(times, reverse=True)
    assert (len(times), second["next"]) == (3, None)
    assert first["readUnits"] > 0


async def what_is_personal_is_masked(client: Client) -> None:
    person = (await answer(client, "notes_person_get", id="anna"))["items"][0]
    assert person == {
        "entity": "person",
        "item": {"id": "anna", "name": "[masked: personal]", "token": "[masked: secret]"},
    }
    note = (await answer(client, "notes_notes_of", person="anna", page_size=1))["items"][0]["item"]
    assert note["textOfNote"] == "[masked: about a child]"
    assert note["authorName"] == "[masked: personal]"  # a copy of the person's name


async def errors_are_sentences(client: Client) -> None:
    assert await refusal(client, "notes_notes_at", person="anna", since="soon", colour=1) == (
        "colour is not an argument of this tool; it takes person, since, page_size, page_token. "
        "since must be a time such as 2026-01-31T09:30:00Z."
    )
    assert await refusal(client, "notes_notes_of") == "person is required."
    assert "page_size must be 100 or less." in await refusal(
        client, "notes_notes_of", person="anna", page_size=101
    )
    token = await refusal(client, "notes_notes_of", person="anna", page_token="forged")
    assert token.startswith("this page token does not belong here")
    assert (await refusal(client, "notes_nothing")).startswith("There is no tool notes_nothing here")


async def a_request_is_explained_and_not_run(client: Client) -> None:
    arguments = {"person": "anna"}
    found = await answer(client, "explain_request", tool="notes_notes_of", arguments=arguments)
    assert found["calls"][0]["verb"] == "Query"
    assert found["calls"][0]["request"]["TableName"] == "notes"
    assert found["readUnits"] > 0
    assert "is not a tool that reads" in await refusal(client, "explain_request", tool="list_designs")


async def designs_are_described_checked_and_priced(client: Client) -> None:
    listed = await answer(client, "list_designs")
    assert listed["designs"][0]["patterns"] == ["notes_of", "notes_at"]
    text = (await answer(client, "describe_design", design="notes"))["description"]
    assert "- key: PK = PERSON#{person}, SK = NOTE#{at:ms}" in text
    assert "  - textOfNote: text (about a child)" in text
    assert "- notes_of(person: str): note. The notes of a person." in text
    findings = await answer(client, "check_design", design="notes")
    assert {each["rule"] for each in findings["findings"]}
    cost = await answer(client, "cost_of_design", design="notes", times=10)
    assert cost["times"] == "10"
    scale = await answer(client, "scale_of_design", design="notes", times=[5])
    assert [each["times"] for each in scale["loads"]] == [5]
    assert await refusal(client, "describe_design", design="travel") == "design must be 'notes'."


async def designs_are_resources(client: Client) -> None:
    resources = (await client.list_resources()).resources
    assert [str(each.uri) for each in resources] == [
        f"tablewright://designs/notes{part}" for part in ("", "/findings", "/cost", "/scale")
    ]
    for each in resources:
        (content,) = (await client.read_resource(str(each.uri))).contents
        assert "notes" in getattr(content, "text", "")


EVERYTHING = (
    the_tools_are_listed_with_their_types, a_pattern_is_read_page_by_page, what_is_personal_is_masked,
    errors_are_sentences, a_request_is_explained_and_not_run, designs_are_described_checked_and_priced,
    designs_are_resources,
)  # fmt: skip


def test_a_client_on_stdio_reads_designs_and_tables(store: Path) -> None:
    talk(on_stdio("--data", store), *EVERYTHING)


def test_a_client_over_http_reads_the_same_and_no_page_of_another_name_does(store: Path) -> None:
    with over_http("--data", store) as url:
        talk(Client(url), *EVERYTHING)
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accepted = {"accept": "application/json, text/event-stream"}
        for header in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
            answered = httpx.post(url, json=asked, headers=accepted | header)
            assert answered.status_code in (403, 421)


# --- writes ---


def test_with_write_a_client_creates_changes_and_deletes_after_a_confirmation(tmp_path: Path) -> None:
    store = seeded(tmp_path / "data")
    key = {"person": "bob", "at": "2026-02-01T08:00:00Z"}

    async def create(client: Client) -> None:
        item = {**key, "mood": "bad", "textOfNote": "hello"}
        plan = await answer(client, "notes_note_create", item=item)
        assert (plan["written"], plan["calls"], plan["writeUnits"]) == (False, ["PutItem"], 1)
        assert (await answer(client, "notes_note_get", **key))["items"] == []
        written = await answer(client, "notes_note_create", item=item, confirm=True)
        assert (written["written"], written["item"]["textOfNote"]) == (True, "[masked: about a child]")
        taken = await refusal(client, "notes_note_create", item=item, confirm=True)
        assert taken == "note: an item with this key exists already"

    async def update(client: Client) -> None:
        plan = await answer(client, "notes_note_update", **key, changes={"mood": "good"})
        assert "hello" not in json.dumps(plan)
        changed = await answer(client, "notes_note_update", **key, changes={"mood": "good"}, confirm=True)
        assert (changed["item"]["mood"], changed["item"]["version"]) == ("good", 1)
        wrong = await refusal(client, "notes_note_update", **key, changes={"mood": "so so"}, confirm=True)
        assert wrong == "changes.mood must be 'good' or 'bad'."
        masked = {"textOfNote": changed["item"]["textOfNote"]}
        assert "A masked value cannot be written" in await refusal(
            client, "notes_note_update", **key, changes=masked, confirm=True
        )
        assert "has no field colour" in await refusal(
            client, "notes_note_update", **key, changes={"colour": 1}
        )

    async def delete(client: Client) -> None:
        assert not (await answer(client, "notes_note_delete", **key))["written"]
        assert (await answer(client, "notes_note_delete", **key, confirm=True))["written"]
        assert "There is no note with this key" in await refusal(
            client, "notes_note_delete", **key, confirm=True
        )

    async def put(client: Client) -> None:
        names = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "notes_tag_put" in names
        assert "notes_note_put" not in names  # it has a version, which a put would ignore
        hints = names["notes_tag_put"].annotations
        assert hints is not None
        assert hints.destructive_hint
        await answer(client, "notes_tag_put", item={"person": "bob", "label": "kind"}, confirm=True)
        found = await answer(client, "notes_tag_get", person="bob", label="kind")
        assert found["items"][0]["item"]["label"] == "kind"

    talk(on_stdio("--data", store, "--write"), create, update, delete, put)
    with Engine.open(store, durability="relaxed") as engine:
        db = Db(embedded(engine), NOTES)
        note = db.one(notes.get("anna", MOMENT))
        assert note is not None
        assert note.text_of_note == "private 0"


def test_with_personal_the_fields_are_shown(store: Path) -> None:
    async def step(client: Client) -> None:
        found = await answer(client, "notes_person_get", id="anna")
        assert found["items"][0]["item"] == {"id": "anna", "name": "Anna Secretive", "token": "hush"}

    talk(on_stdio("--data", store, "--personal"), step)


# --- misuse, and without tables ---


def test_without_tables_designs_can_still_be_asked_about(tmp_path: Path) -> None:
    async def step(client: Client) -> None:
        assert "notes_notes_of" not in {tool.name for tool in (await client.list_tools()).tools}
        explained = {"tool": "notes_notes_of", "arguments": {"person": "anna"}}
        assert (await answer(client, "explain_request", **explained))["calls"]

    talk(on_stdio(cwd=tmp_path), step)


def test_write_without_tables_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = here("mcp", "--design", DESIGN, "--write")
    assert (ran.code, ran.out) == (2, "")
    assert "--write needs tables" in ran.err


def test_a_missing_extra_is_named(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tablewright.cli.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)  # as if it were not installed
    ran = here("mcp", "--design", DESIGN, "--data", store)
    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'tablewright[mcp]'" in ran.err


def test_a_store_that_is_not_there_is_refused(tmp_path: Path) -> None:
    ran = here("mcp", "--design", DESIGN, "--data", tmp_path / "none")
    assert (ran.code, ran.out) == (2, "")
    assert "no store found" in ran.err
