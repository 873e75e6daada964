"""Zoo chat's pages over real HTTP: what staff cannot do for a child, and what is logged."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CHAT
from tablewright.edge import serving_app
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.seed import ADA, KIM, MIA, TAYO

HOME = "/console/chat"


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    clock = testing.Clock(datetime(2026, 11, 16, 18, tzinfo=UTC))
    with open_app(memory=True, systems=(CHAT,), world=ticking(clock), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def chat(runtime: Runtime) -> Chat:
    found: Chat = runtime.running[0].service
    return found


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture
def enter(url: str) -> Iterator[Enter]:
    with browsers(url) as entered:
        yield entered


def is_refused(answer: httpx.Response) -> bool:
    return answer.status_code == 403 and "not a parent in this family" in words_of(answer)


def test_an_administrator_does_nothing_in_the_name_of_a_parent(enter: Enter, chat: Chat) -> None:
    tayo = enter(TAYO)
    talk = next(iter(chat.conversations.all_of(MIA)))
    at = f"{HOME}/children/{MIA}"
    assert is_refused(tayo.get(f"{at}/chats/{talk.conversation_id}/delete"))
    assert is_refused(tayo.post(f"{at}/chats/{talk.conversation_id}/delete"))
    assert chat.conversations.get(talk.conversation_id, MIA) == talk
    assert is_refused(tayo.post(f"{at}/transfer", data={"email": "tayo@zoo.example"}))
    given = {"collect_and_use": "on", "method": "email_plus", "version": chat.notices.version}
    assert is_refused(tayo.post(f"{at}/consent", data=given))
    assert is_refused(tayo.post(f"{at}/consent/confirm", data={"code": "123456"}))


def test_the_page_of_a_crisis_names_the_parents_when_a_zookeeper_asks_for_them(
    enter: Enter, chat: Chat
) -> None:
    kim = enter(KIM)
    talk = next(iter(chat.conversations.all_of(MIA)))
    message = chat.messages.newest(talk, 2)[0]
    crisis, other = chat.review.flag(talk, message, "crisis"), chat.review.flag(talk, message, "output")
    chat.repository.db.write(crisis, other)
    assert crisis.item is not None
    assert other.item is not None
    page = kim.get(f"{HOME}/review/{crisis.item.flag_id}")
    assert "Show contact" in words_of(page)
    assert "ada@zoo.example" not in words_of(page)
    shown = words_of(kim.post(f"{HOME}/review/{crisis.item.flag_id}/contact"))
    assert "Child Mia" in shown
    assert "Ada Okafor, ada@zoo.example" in shown
    assert "Show contact" not in words_of(kim.get(f"{HOME}/review/{other.item.flag_id}"))
    assert kim.post(f"{HOME}/review/{other.item.flag_id}/contact").status_code == 403


def test_the_list_of_children_and_the_minutes_by_day_are_logged(enter: Enter, chat: Chat) -> None:
    ada = enter(ADA)
    ada.get(f"{HOME}/children")
    ada.get(f"{HOME}/children/{MIA}/limits")
    ada.get(f"{HOME}/children/{MIA}/consent")
    entries = chat.repository.db.all(chat.access_log.of(MIA))
    looked = [entry.what for entry in entries if entry.accessed_by == ADA]
    assert looked[:3] == ["consent", "minutes by day", "newest chats and minutes of today"]


def test_a_parent_cannot_make_the_login_of_someone_else_its_child(enter: Enter, chat: Chat) -> None:
    """A login joins a family by an invitation to its own address: a parent reads every chat of a child (ZC-28)."""
    given = {"name": "Tom", "birthDate": "2019-05-04", "login": "zoo_stranger"}
    enter(ADA).post(f"{HOME}/new-child", data=given)
    assert chat.people.find("zoo_stranger") is None
    assert "Tom" in [child.name for child in chat.families.children_of(chat.people.by_id(ADA))]


def test_zc_x7_a_parent_sees_memories_and_has_one_forgotten(enter: Enter, chat: Chat) -> None:
    ada, before = enter(ADA), chat.recall.all_of(MIA)
    page = ada.get(f"{HOME}/children/{MIA}/memory")
    assert all(memory.text in unescape(page.text) for memory in before)
    gone = before[0].memory_id
    assert f"/memories/{gone}" in page.text
    assert "Forgotten" in words_of(ada.post(f"{HOME}/children/{MIA}/memories/{gone}"))
    assert chat.recall.all_of(MIA) == before[1:]


def test_zc_x14_a_parent_chooses_the_language_of_replies(enter: Enter, chat: Chat) -> None:
    ada, at = enter(ADA), f"{HOME}/children/{MIA}"
    for chosen, stored in (("es", "es"), ("tlh", None), ("fr", "fr"), ("", None)):
        assert ada.post(f"{at}/language", data={"language": chosen}).status_code in (200, 303)
        assert chat.people.by_id(MIA).language == stored
    assert "Replies are in" in words_of(ada.get(f"{at}/limits"))
    assert enter(KIM).post(f"{at}/language", data={"language": "es"}).status_code in (403, 404)
    assert chat.people.by_id(MIA).language is None
