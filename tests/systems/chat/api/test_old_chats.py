"""Parents read chats of the first version too, before the copy and after a rollback (ZC-50, ZC-D54)."""

from __future__ import annotations

from tests.systems.chat.family.home import consented, enters, household
from tests.systems.chat.legacy.zoo import ADMIN
from tests.systems.chat.place import Api, Place
from tests.systems.talk import given, refused

from tablewright.mapping.migrate import is_up_to_date


def test_zc_d54_a_parent_lists_and_reads_chats_of_the_first_version_in_every_state(
    at: Place, api: Api
) -> None:
    home = household(at)
    child, stranger = consented(at, home, "collect_and_use"), enters(at, "eve")
    compat, operator = at.chat.legacy.compat, at.chat.legacy.operator
    session = compat.create_conversation_session(child.user_id, "red_panda", "Rosie")
    compat.store_conversation_turn(session, "Hello", "Hello, child!", {})

    def listed() -> list[str]:
        path = f"/families/{home.family.family_id}/conversations"
        return [one["conversationId"] for one in given(api.get(path, by=home.parent))["items"]]

    def read(id: str) -> list[str]:
        assert given(api.get(f"/conversations/{id}", by=home.parent))["messageCount"] == 2
        return [
            one["text"] for one in given(api.get(f"/conversations/{id}/messages", by=home.parent))["items"]
        ]

    def hidden_from_strangers() -> None:
        assert refused(api.get(f"/conversations/{session}", by=stranger))[0] == 404
        assert refused(api.get(f"/conversations/{session}/messages", by=stranger))[0] == 404

    assert listed() == [session]
    assert read(session) == ["Hello, child!", "Hello"]
    hidden_from_strangers()
    looked = [(one.accessed_by, one.what) for one in at.db.all(at.chat.access_log.of(child.user_id))]
    assert (home.parent.user_id, f"conversation:{session}") in looked
    assert (home.parent.user_id, "list of chats") in looked
    assert refused(api.delete(f"/conversations/{session}", by=home.parent))[1] == "BEING_MOVED"
    operator.prepare(ADMIN)
    operator.start(ADMIN)
    while not operator.advance("me").is_idle or not is_up_to_date(operator.context, operator.context.state()):
        pass
    (copied,) = listed()
    assert read(copied) == read(session) == ["Hello, child!", "Hello"]
    operator.verify(ADMIN)
    operator.cut_over(ADMIN)
    assert listed() == [copied]
    assert read(copied) == ["Hello, child!", "Hello"]
    operator.roll_back(ADMIN)
    assert listed() == [session]
    assert read(session) == ["Hello, child!", "Hello"]
    hidden_from_strangers()
