"""docs/mcp.md is true: its commands are commands, and it names every tool that does not depend on a design."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.notes_design import NOTES
from tests.cli.test_mcp_tools import tools_of

from tablewright.cli.designs import shipped_systems
from tablewright.cli.mcp.design_tools import design_tools, explain_tool
from tablewright.cli.mcp.served_designs import ServedDesign
from tablewright.cli.parser import parse

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text()


@pytest.mark.parametrize("line", re.findall(r"^tablewright .+$", PAGE, re.MULTILINE))
def test_a_command_of_the_page_can_be_given(line: str) -> None:
    assert parse(shlex.split(line)[1:]).run


def test_the_page_names_the_tools_about_designs() -> None:
    names = [tool.name for tool in (*design_tools({"notes": ServedDesign(NOTES)}), explain_tool([]))]
    assert [name for name in names if f"| `{name}` |" not in PAGE] == []


def test_the_page_counts_the_tools_of_a_system() -> None:
    counts = [sum(tool.effect == "none" for tool in tools_of(system)) for system in shipped_systems()]
    assert f"{min(counts)} to {max(counts)} tools that read" in PAGE
