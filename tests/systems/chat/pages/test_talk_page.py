"""The page of a chat without a script: the last turn is taken back or answered again with plain forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CHAT
from tablewright.edge import serving_app
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Conversation
from tablewright.systems.chat.seed import MIA


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


@pytest.fixture
def mia(chat: Chat) -> User:
    found = chat.people.find(MIA)
    assert found is not None
    return found


@pytest.fixture
def talk(chat: Chat, mia: User) -> Conversation:
    return chat.conversations.create(mia, "penguin")


def page_of(talk: Conversation) -> str:
    return f"/console/chat/talk/{talk.conversation_id}"


def fields(page: httpx.Response, action: str) -> dict[str, str]:
    """The hidden fields of the form that posts to an action."""
    found = re.search(rf'<form class="act" action="[^"]*/{action}"[^>]*>(.*?)</form>', page.text, re.DOTALL)
    assert found, f"no form for {action}"
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', found[1]))


def test_a_child_takes_back_the_last_turn_and_only_that_one(
    enter: Enter, chat: Chat, mia: User, talk: Conversation
) -> None:
    for text in ("What do you eat?", "How fast do you swim?"):
        list(chat.turns.stream(mia, talk, text))
    browser, path = enter(MIA), page_of(talk)
    sent = fields(browser.get(path), "take-back")
    for _ in range(2):  # a double click
        browser.post(f"{path}/take-back", data=sent)
    assert [each.text for each in chat.messages.all(talk)][::2] == ["What do you eat?"]
    assert len(list(chat.messages.all(talk))) == 2


def test_a_child_gets_another_answer_in_the_place_of_the_last_one(
    enter: Enter, chat: Chat, mia: User, talk: Conversation
) -> None:
    list(chat.turns.stream(mia, talk, "What do you eat?"))
    browser, path = enter(MIA), page_of(talk)
    chat.messages.rate(talk, chat.messages.newest(talk, 1)[0], "down")
    sent = fields(browser.get(path), "another-answer")
    browser.post(f"{path}/another-answer", data=sent)
    message, reply = chat.messages.all(talk)
    assert (message.text, reply.state, reply.thumb) == ("What do you eat?", "complete", None)
    assert reply.text


def test_a_child_in_need_reads_help_in_a_chat_that_was_finished_in_another_window(
    enter: Enter, chat: Chat, talk: Conversation
) -> None:
    chat.conversations.archive(talk)
    refused = enter(MIA).post(page_of(talk), data={"text": "i want to die", "key": "k1"})
    assert refused.status_code == 409
    assert "988" in refused.text
    assert list(chat.messages.all(talk)) == []


def test_a_referral_has_no_button_that_removes_or_replaces_it(
    enter: Enter, chat: Chat, mia: User, talk: Conversation
) -> None:
    list(chat.turns.stream(mia, talk, "i want to die"))
    browser, path = enter(MIA), page_of(talk)
    page = browser.get(path)
    assert "take-back" not in page.text
    assert "another-answer" not in page.text
    refused = browser.post(f"{path}/another-answer", data={"key": "k1"})
    assert refused.status_code == 409
    assert "There is no reply that can be replaced." in refused.text
    message = chat.messages.newest(talk, 2)[0].message_id
    browser.post(f"{path}/take-back", data={"message": message})
    assert len(list(chat.messages.all(talk))) == 2
