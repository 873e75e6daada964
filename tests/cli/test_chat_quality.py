"""`tablewright chat quality`: what is wrong among conversations (ZC-59)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import here

from tablewright.app.runtime import open_app
from tablewright.systems.chat import design as d
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.service import SYSTEM

QUALITY = ("chat", "quality")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed store with one conversation of a child without a family."""
    home = tmp_path / "store"
    with open_app(home, systems=(SYSTEM,), seed=False, durability="relaxed", jobs=False) as runtime:
        chat: Chat = runtime.running[0].service
        user = User(user_id="u_9", role="student", name="Kim", created_at=runtime.world.now())
        chat.repository.db.write(d.users.create(user))
        chat.conversations.create(user, "red_panda")
    return home


def test_findings_are_listed_and_the_code_says_so(store: Path) -> None:
    done = here(*QUALITY, "--data", str(store), "--json")
    assert done.code == 1
    (finding,) = json.loads(done.out)["findings"]
    assert (finding["type"], finding["severity"], finding["count"]) == ("withoutFamily", "low", 1)
    assert "Conversations of students without a family" in here(*QUALITY, "--data", str(store)).out
