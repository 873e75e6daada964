"""The demo world: made once, whatever was cut off, and as the pages promise it."""

from __future__ import annotations

from tests.places import scan
from tests.systems.chat.place import Place, open_flags

from tablewright.systems.chat import seed
from tablewright.systems.chat.design import CHAT


def silent(done: int, total: int | None, what: str) -> None:
    return None


def counted(at: Place) -> dict[str, int]:
    """How many items each table has."""
    return {name: len(scan(at.db, at.call, name)) for name in CHAT.tables}


def test_the_demo_world_is_made_once(at: Place) -> None:
    at.chat.animals.install()
    seed.seed(at.chat, silent)
    before = counted(at)
    seed.seed(at.chat, silent)
    assert counted(at) == before


def test_the_demo_world_has_what_its_people_are_said_to_see(at: Place) -> None:
    at.chat.animals.install()
    seed.seed(at.chat, silent)
    chat = at.chat
    ada = chat.people.by_id(seed.ADA)
    assert [child.name for child in chat.families.children_of(ada)] == ["Finn", "Mia"]
    assert chat.families.children_of(chat.people.by_id(seed.BEN)) == chat.families.children_of(ada)
    mias = list(chat.conversations.all_of(seed.MIA))
    assert [one.animal_name for one in mias] == ["Ruby", "Pip", "Ruby", "Ruby"]
    assert sum(one.summary_count for one in mias) >= 4
    assert chat.contexts.get(seed.MIA, "favorites").data == {"animal": "the red panda"}
    assert chat.recall.search(seed.MIA, "which tail does she like")
    (flag,) = open_flags(chat)
    assert flag.user_id == seed.NOA
    assert chat.people.by_id(seed.SAM).scopes == ["collect_and_use"]
    assert chat.contexts.of(seed.SAM) == []
    (done, *_) = chat.conversations.all_of(seed.FINN)
    assert done.retention_class == "completed_session"
    assert {each.animal_name for each in chat.conversations.all_of(seed.FINN)} == {"Leo", "Ella"}
