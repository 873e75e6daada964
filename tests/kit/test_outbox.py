"""The outbox: messages written with a change, read by state and owner, sent, masked for everybody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.kit.shop import Message, Thing, messages, things

from tablewright.kit.delivery import DeliveryCounts, OutgoingMessage
from tablewright.kit.messages import MASK, MessageTemplates, Template
from tablewright.kit.outbox import Mailbox
from tablewright.kit.sealed_text import SealBroken, seal_of
from tablewright.kit.tables import Tables
from tablewright.testing import Clock

TEMPLATES = {"code": Template("Your code", "Hello {name}, type {code}.")}


@pytest.fixture
def box(tables: Tables) -> Mailbox[Message]:
    texts = MessageTemplates(TEMPLATES, seal_of(b"a secret of this process", "test", tables.world))
    return Mailbox(messages, tables, texts)


def write(box: Mailbox[Message], to: str = "ada@example.com", name: str = "Ada") -> None:
    until = box.tables.now() + timedelta(minutes=15)
    box.tables.db.write(box.mail(to, "code", {"name": name}, "1", secrets={"code": "123456"}, until=until))


def test_a_message_is_written_with_its_change_or_not_at_all(tables: Tables, box: Mailbox[Message]) -> None:
    lamp = things.create(Thing(id="1", name="Lamp"))
    tables.db.write(lamp)
    assert not tables.try_write(
        lamp, box.mail("ada@example.com", "code", {"name": "A"}, secrets={"code": "1"})
    )
    assert list(tables.db.all(box.in_state("PENDING"))) == []


def test_a_message_is_sent_once_and_then_has_no_secret(tables: Tables, box: Mailbox[Message]) -> None:
    write(box)
    sent: list[OutgoingMessage] = []
    assert box.dispatch().run(sent.append) == DeliveryCounts(sent=1)
    assert box.dispatch().run(sent.append) == DeliveryCounts()
    assert [(each.recipient, each.body) for each in sent] == [("ada@example.com", "Hello Ada, type 123456.")]
    (kept,) = tables.db.all(box.of("1"))
    assert (kept.state, kept.secrets) == ("SENT", None)


def test_others_than_the_recipient_see_a_mask(tables: Tables, box: Mailbox[Message]) -> None:
    write(box)
    (kept,) = tables.db.all(box.of("1"))
    assert box.masked(kept).body == f"Hello Ada, type {MASK}."
    assert "123456" not in kept.model_dump_json()


def test_a_message_to_nobody_is_never_sent_or_listed(tables: Tables, box: Mailbox[Message]) -> None:
    write(box, to="")
    assert box.dispatch().run(lambda message: None) == DeliveryCounts()
    assert list(tables.db.all(box.in_state("SENT"))) == []


def test_a_message_whose_code_has_expired_fails(clock: Clock, box: Mailbox[Message]) -> None:
    write(box)
    clock.move(timedelta(minutes=16))
    assert box.dispatch().run(lambda message: None) == DeliveryCounts(failed=1)


def test_an_outbox_may_delete_what_was_sent(tables: Tables, box: Mailbox[Message]) -> None:
    write(box)
    assert replace(box, keeps_sent=False).dispatch().run(lambda message: None).sent == 1
    assert list(tables.db.all(box.of("1"))) == []


def test_an_address_may_be_sealed_and_a_message_without_its_key_is_deleted(
    tables: Tables, box: Mailbox[Message]
) -> None:
    def broken(text: str) -> str:
        raise SealBroken

    sealed = replace(box, hide=lambda text: text[::-1], reveal=lambda text: text[::-1])
    write(sealed)
    (kept,) = tables.db.all(box.of("1"))
    assert kept.recipient == "moc.elpmaxe@ada"
    sent: list[OutgoingMessage] = []
    sealed.dispatch().run(sent.append)
    assert sent[0].recipient == "ada@example.com"
    write(sealed)
    assert replace(box, reveal=broken).dispatch().run(sent.append) == DeliveryCounts()
    assert list(tables.db.all(box.in_state("PENDING"))) == []
