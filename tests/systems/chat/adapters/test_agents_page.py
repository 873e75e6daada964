"""The page about agent libraries is true: its code runs, and the versions it names are those that are installed."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from tests.systems.chat.place import Place

PAGE = (Path(__file__).parents[4] / "docs" / "agents.md").read_text()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_code_of_the_page_runs(at: Place) -> None:
    at.child("child-1")
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 5
    assert max(len(block.splitlines()) for block in blocks) <= 13
    names = {"chat": at.chat}
    for block in blocks:
        exec(compile(block, "docs/agents.md", "exec"), names)


def test_the_page_names_the_versions_that_were_compared() -> None:
    for name in ("langgraph-checkpoint-aws", "langgraph-checkpoint-conformance"):
        assert version(name) in PAGE
    assert ".".join(version("openai-agents").split(".")[:2]) in PAGE
