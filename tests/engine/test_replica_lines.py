"""The line between two regions, and what can be done to it."""

from typing import Any

import pytest

from tablewright.engine.replica_lines import Line, PeerUnreachable


def test_what_is_under_way_when_a_line_is_cut_does_not_arrive() -> None:
    def ask(verb: str, request: dict[str, Any]) -> dict[str, Any]:
        line.is_cut = verb == "while it is cut"
        return {"told": verb}

    line = Line("here", "there", ask)
    assert line("before", {}) == {"told": "before"}
    with pytest.raises(PeerUnreachable, match="the line from here to there is cut"):
        line("while it is cut", {})
    assert line.answers == 1


def test_a_line_that_is_cut_asks_nobody() -> None:
    asked: list[str] = []

    def ask(verb: str, request: dict[str, Any]) -> dict[str, Any]:
        asked.append(verb)
        return {}

    line = Line("here", "there", ask)
    line.is_cut = True
    with pytest.raises(PeerUnreachable):
        line("anything", {})
    assert asked == []
