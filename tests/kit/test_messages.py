"""Messages as they are stored: what stands in a row, who can read it, and what is left once it was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tablewright.kit.delivery import (
    DeliveryCounts,
    DeliveryDelayed,
    DeliveryRefused,
    OutboxDispatch,
    OutgoingMessage,
    State,
)
from tablewright.kit.messages import MASK, MessageTemplates, Template, after_attempt, read_templates
from tablewright.kit.sealed_text import seal_of
from tablewright.testing import Clock

NOW = datetime(2030, 6, 14, 14, tzinfo=UTC)
WORLD = Clock(NOW).world()
TEMPLATES = {"code": Template("Your code: {code}", "Hello {name}, open {link} or type {code}.")}
SECRETS = {"code": "479048", "link": "https://x.example/verify?secret=0f0f"}
TEXTS = MessageTemplates(TEMPLATES, seal_of(b"a secret of this process", "test", WORLD))


@dataclass(frozen=True)
class Row:
    id: str = "msg_1"
    recipient: str = "ada@example.com"
    template: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    secrets: str | None = None
    subject: str | None = None
    body: str | None = None
    state: State = "PENDING"
    attempts: int = 0
    tried_at: datetime | None = None
    error: str | None = None
    until: datetime = NOW + timedelta(minutes=15)


def row() -> Row:
    made = Row()
    return replace(made, **TEXTS.row("code", made.id, made.recipient, {"name": "Ada"}, SECRETS))


def test_a_row_holds_no_secret_and_its_reader_gets_all_of_it() -> None:
    kept = row()
    assert not [secret for secret in ("479048", "0f0f") if secret in repr(kept)]
    text = TEXTS.text(kept, kept.id, kept.recipient)
    assert text.subject == "Your code: 479048"
    assert text.body == "Hello Ada, open https://x.example/verify?secret=0f0f or type 479048."
    assert "479048" not in repr(text)


def test_others_read_it_covered_before_it_was_sent_and_after() -> None:
    kept = row()
    for one in (kept, replace(kept, secrets=None)):
        assert TEXTS.masked_fields(one)["subject"] == f"Your code: {MASK}"
        assert TEXTS.masked_fields(one)["body"] == f"Hello Ada, open {MASK} or type {MASK}."


@pytest.mark.parametrize(
    "texts", [TEXTS, MessageTemplates(TEMPLATES, seal_of(b"another secret", "test", WORLD))]
)
def test_a_sealed_part_is_of_no_use_elsewhere(texts: MessageTemplates) -> None:
    kept = row()
    others = {"msg_2": kept.recipient, kept.id: "mallory@example.com"}
    if texts is not TEXTS:
        others[kept.id] = kept.recipient
    for id, recipient in others.items():
        with pytest.raises(DeliveryRefused):
            texts.text(kept, id, recipient)


def test_a_value_that_is_missing_is_noticed_when_the_message_is_written() -> None:
    with pytest.raises(KeyError):
        TEXTS.row("code", "msg_1", "ada@example.com", {"name": "Ada"}, {"code": "1"})


def test_a_message_from_before_there_were_templates_is_sent_as_it_is_and_shown_covered() -> None:
    old = Row(subject="Your code: 479048", body="Or open https://x.example/verify?secret=0f0f now.")
    assert TEXTS.text(old, old.id, old.recipient).subject == "Your code: 479048"
    assert TEXTS.masked_fields(old)["subject"] == f"Your code: {MASK}"
    assert "0f0f" not in TEXTS.masked_fields(old)["body"]
    after = after_attempt(old, {"state": "SENT"})
    assert "479048" not in repr(after)
    assert "0f0f" not in repr(after)


@pytest.mark.parametrize(
    ("mistake", "later", "is_kept"),
    [
        (None, timedelta(0), False),
        (DeliveryRefused("550"), timedelta(0), False),
        (DeliveryDelayed("450"), timedelta(0), True),
        (None, timedelta(minutes=15), False),
    ],
)
def test_the_sealed_part_goes_in_the_write_that_says_what_became_of_the_message(
    mistake: Exception | None, later: timedelta, is_kept: bool
) -> None:
    clock, kept, sent = Clock(NOW), row(), list[OutgoingMessage]()
    clock.move(later)
    written: list[dict[str, object]] = []

    def send(letter: OutgoingMessage) -> None:
        if mistake is not None:
            raise mistake
        sent.append(letter)

    def letter(one: Row) -> OutgoingMessage:
        text = TEXTS.text(one, one.id, one.recipient)
        return OutgoingMessage(one.id, one.recipient, text.subject, text.body, NOW)

    dispatch = OutboxDispatch(
        clock.now,
        lambda state: [kept] if state == "PENDING" else [],
        letter,
        lambda one, changed: written.append(after_attempt(one, changed)),
        lambda one: one.until,
    )
    done = dispatch.run(send)
    (change,) = written
    assert ("secrets" not in change) == is_kept
    assert bool(sent) == (mistake is None and not later), "what is over is not sent"
    assert done == DeliveryCounts(sent=len(sent), delayed=int(is_kept), failed=int(not sent and not is_kept))


# --- templates in files ---


def test_a_text_file_is_a_template_named_after_the_file(tmp_path: Path) -> None:
    (tmp_path / "order_to_pay.txt").write_text("Subject: Order {number}\n\nPay here:\n{link}\n\nThank you.\n")
    expected = Template("Order {number}", "Pay here:\n{link}\n\nThank you.")
    assert read_templates(tmp_path) == {"order to pay": expected}


@pytest.mark.parametrize(
    "text", ["Pay here.\n", "Subject: Order\n", "Subject: Order\nPay here.\n\nThank you.\n"]
)
def test_a_file_without_a_subject_or_a_body_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "order.txt").write_text(text)
    with pytest.raises(ValueError, match=r"order\.txt must have 'Subject: \.\.\.'"):
        read_templates(tmp_path)
