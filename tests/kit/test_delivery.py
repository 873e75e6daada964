"""Letters that wait, and leave: once each, in their own time, none in another's way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tablewright.kit.delivery import (
    BATCH_SIZE,
    PAUSES,
    DeliveryCounts,
    DeliveryDelayed,
    DeliveryRefused,
    OutboxDispatch,
    OutgoingMessage,
    Send,
    State,
)
from tablewright.mapping import Missing
from tablewright.testing import Clock


@dataclass(frozen=True)
class Message:
    id: str
    state: State = "PENDING"
    attempts: int = 0
    tried_at: datetime | None = None
    error: str | None = None


class Shelf:
    """A table of messages."""

    def __init__(self, clock: Clock, *ids: str) -> None:
        self.kept = {id: Message(id) for id in ids}
        self.dispatch = OutboxDispatch(clock.now, self.by_state, self.letter, self.note)
        self.clock = clock

    def by_state(self, state: State) -> Iterator[Message]:
        return iter([each for each in self.kept.values() if each.state == state])

    def letter(self, message: Message) -> OutgoingMessage:
        return OutgoingMessage(
            message.id, f"{message.id}@example.com", "Hello", "A code: 123456", self.clock.now()
        )

    def note(self, message: Message, changed: Mapping[str, Any]) -> None:
        if message.id not in self.kept:
            raise Missing("message", {}, "it is not there")
        self.kept[message.id] = replace(message, **changed)


def refusing(error: Exception, *ids: str, sent: list[str] | None = None) -> Send:
    """Raises for these letters, or for all."""

    def send(letter: OutgoingMessage) -> None:
        if letter.id in ids or not ids:
            raise error
        if sent is not None:
            sent.append(letter.id)

    return send


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_letter_that_was_taken_is_not_sent_again(clock: Clock) -> None:
    shelf, sent = Shelf(clock, "a", "b"), list[str]()
    assert shelf.dispatch.run(lambda letter: sent.append(letter.id)) == DeliveryCounts(sent=2)
    assert shelf.dispatch.run(lambda letter: sent.append(letter.id)) == DeliveryCounts()
    assert sent == ["a", "b"]


def test_a_letter_that_is_refused_for_ever_fails_at_once_and_says_why(clock: Clock) -> None:
    shelf, sent = Shelf(clock, "bad", "good"), list[str]()
    assert shelf.dispatch.run(refusing(DeliveryRefused("550"), "bad", sent=sent)) == DeliveryCounts(
        sent=1, failed=1
    )
    assert sent == ["good"], "the one after it is not held up"
    assert shelf.dispatch.status().failed == {"550": 1}
    clock.move(timedelta(days=9))
    assert shelf.dispatch.run(refusing(DeliveryRefused("550"), "bad")) == DeliveryCounts()


def test_a_letter_that_is_not_taken_yet_is_tried_again_after_a_pause_and_given_up_after_days(
    clock: Clock,
) -> None:
    shelf, busy = Shelf(clock, "a"), refusing(DeliveryDelayed("451"))
    for pause in PAUSES:
        assert shelf.dispatch.run(busy) == DeliveryCounts(delayed=1)
        clock.move(pause - timedelta(seconds=1))
        assert shelf.dispatch.run(busy) == DeliveryCounts(), "its turn has not come"
        clock.move(timedelta(seconds=1))
    assert shelf.dispatch.run(busy) == DeliveryCounts(failed=1)
    assert (shelf.kept["a"].state, shelf.kept["a"].error) == ("FAILED", "451")
    assert sum(PAUSES, timedelta()) >= timedelta(days=1)


def test_while_nothing_can_leave_no_letter_uses_up_an_attempt(clock: Clock) -> None:
    shelf, sent = Shelf(clock, "a", "b"), list[str]()
    for _ in range(50):
        clock.move(timedelta(hours=1))
        assert shelf.dispatch.run(refusing(ConnectionRefusedError())).unavailable == "ConnectionRefusedError"
    assert shelf.dispatch.status().waiting == 2
    assert shelf.dispatch.run(lambda letter: sent.append(letter.id)) == DeliveryCounts(sent=2)


def test_if_we_die_between_sending_and_writing_it_goes_twice_and_is_not_lost(clock: Clock) -> None:
    shelf, sent = Shelf(clock, "a"), list[str]()

    def dies(message: Message, changed: Mapping[str, Any]) -> None:
        raise SystemExit

    dying = replace(shelf.dispatch, record=dies)
    with pytest.raises(SystemExit):
        dying.run(lambda letter: sent.append(letter.id))
    assert shelf.dispatch.run(lambda letter: sent.append(letter.id)).sent == 1
    assert sent == ["a", "a"]


def test_who_is_erased_while_their_letter_goes_out_disturbs_nobody(clock: Clock) -> None:
    shelf, sent = Shelf(clock, "gone", "here"), list[str]()

    def send(letter: OutgoingMessage) -> None:
        shelf.kept.pop("gone", None)
        sent.append(letter.id)

    shelf.dispatch.run(send)
    assert sent == ["gone", "here"]
    assert list(shelf.kept) == ["here"]


def test_letters_that_wait_for_their_turn_do_not_fill_the_round(clock: Clock) -> None:
    late = [f"late{n}" for n in range(BATCH_SIZE)]
    shelf, sent = Shelf(clock, *late), list[str]()
    assert shelf.dispatch.run(refusing(DeliveryDelayed("450"))).delayed == BATCH_SIZE
    shelf.kept["new"] = Message("new")
    assert shelf.dispatch.run(lambda letter: sent.append(letter.id)).sent == 1
    assert sent == ["new"]


def test_a_letter_shows_nothing_of_itself_in_a_log(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    shelf = Shelf(clock, "a")
    assert "example.com" not in repr(shelf.letter(Message("a")))
    assert "123456" not in repr(shelf.letter(Message("a")))
    shelf.dispatch.run(refusing(DeliveryDelayed("451")))
    assert [(record.message, vars(record)["why"]) for record in caplog.records] == [
        ("message delayed", "451")
    ]
    assert "example.com" not in str([vars(record) for record in caplog.records])
