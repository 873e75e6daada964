"""`tablewright mcp shop.yaml`: a design file as the argument, its heat, and changes of it while the server runs."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.cli.command import COMMAND, here
from tests.cli.test_mcp import DESIGN, answer, refusal, talk

EXAMPLE = (Path(__file__).parents[2] / "src/tablewright/design/files/example.yaml").read_text()


@asynccontextmanager
async def asked_about(*words: str | Path, cwd: Path) -> AsyncIterator[Client]:
    started = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "mcp", *map(str, words)], env=dict(os.environ), cwd=cwd
    )
    with open(os.devnull, "w") as quiet:
        async with Client(stdio_client(started, errlog=quiet)) as client:
            yield client


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.yaml"
    file.write_text(EXAMPLE)
    return file


def changed(text: str) -> str:
    """The example with another key of its orders."""
    return text.replace("ORDER#", "O#")


def test_a_design_file_is_served_and_answers_follow_the_file(shop: Path) -> None:
    async def step(client: Client) -> None:
        (listed,) = (await answer(client, "list_designs"))["designs"]
        design = listed["name"]
        assert design == "shop"
        heat = await answer(client, "heat_of_design", design=design, times=10, seconds=60)
        assert (heat["times"], heat["seconds"], bool(heat["keys"])) == (10, 60, True)
        assert (await answer(client, "diff_design", design=design))["changes"] == []

        given = await answer(client, "diff_design", design=design, document=changed(EXAMPLE))
        assert "new table" in {each["needs"] for each in given["changes"]}
        assert (await answer(client, "diff_design", design=design))["changes"] == []  # nothing was written

        shop.write_text(changed(EXAMPLE))
        assert (await answer(client, "diff_design", design=design))["changes"] == given["changes"]
        description = (await answer(client, "describe_design", design=design))["description"]
        assert "O#" in description
        assert "ORDER#" not in description

        shop.write_text(EXAMPLE + "\ncolour: red\n")
        assert "shop.yaml:" in await refusal(client, "check_design", design=design)
        assert "colour" in await refusal(client, "cost_of_design", design=design)

    talk(asked_about("shop.yaml", cwd=shop.parent), step)


def test_what_is_wrong_in_a_file_is_found_with_its_line(shop: Path) -> None:
    async def step(client: Client) -> None:
        shop.write_text(EXAMPLE.replace("#{order_id}\n", "#{nothing}\n"))
        (found,) = (await answer(client, "check_design", design="shop"))["findings"]
        assert (found["rule"], found["severity"]) == ("K001", "error")
        assert "#{nothing}" in shop.read_text().splitlines()[found["line"] - 1]

    talk(asked_about("shop.yaml", cwd=shop.parent), step)


def test_a_design_in_python_is_compared_with_a_document_only(tmp_path: Path) -> None:
    async def step(client: Client) -> None:
        assert (await refusal(client, "diff_design", design="notes")).startswith("document is required")

    talk(asked_about(DESIGN, cwd=tmp_path), step)


def test_two_designs_of_one_name_are_refused(shop: Path) -> None:
    copy = shop.with_name("copy.yaml")
    copy.write_text(EXAMPLE)
    ran = here("mcp", shop, copy)
    assert (ran.code, ran.out) == (2, "")
    assert "is served already" in ran.err


def test_an_argument_and_an_option_do_not_go_together(shop: Path) -> None:
    ran = here("mcp", shop, "--system", "travel")
    assert (ran.code, ran.out) == (2, "")
    assert "not allowed with argument" in ran.err
