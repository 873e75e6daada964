"""Limits of what one user does in a minute: folders (CC-X14)."""

from __future__ import annotations

from tests.systems.campus.talk import Api, Place


def test_folders_are_limited_for_each_user(at: Place, api: Api) -> None:
    lin, omar = at.user("lin"), at.user("omar")
    answers = [api.post("/folders", {"name": "x/y"}, by=lin).status_code for _ in range(601)]
    assert (answers[0], answers[-1]) == (400, 429)
    assert api.post("/folders", {"name": "Mine"}, by=omar).status_code == 201
