"""The outbox: messages that a system writes with the change they are about, and that are sent afterwards.

    messages = outbox(DESIGN, table, Message, key=("message_id",), pk="MESSAGE#{message_id}", ...)   # in the design
    box = Mailbox(messages, tables, MessageTemplates(read_templates(folder), seal))                  # in the repository
    db.write(change, box.mail("ann@example.org", "order paid", {"number": "17"}, tenant.id))
    box.dispatch().run(send)

Must hold: a code or link that signs its reader in is a secret, never a value; a message without a recipient is never
sent or listed: it makes a request for an unknown address take as long as one for a known address.
Elsewhere: templates, secrets and masks (messages.py), attempts and pauses (delivery.py), what sends (app/mail/).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from tablewright.design import (
    Data,
    Design,
    DesignTable,
    Entity,
    Expires,
    Index,
    Keys,
    Load,
    Pattern,
    Query,
    Retention,
    States,
    Write,
)
from tablewright.design.patterns import Sort
from tablewright.kit.declarations import declared
from tablewright.kit.delivery import OutboxDispatch, OutgoingMessage, State
from tablewright.kit.messages import STORED_FIELDS, MessageTemplates, after_attempt
from tablewright.kit.sealed_text import SealBroken
from tablewright.kit.tables import Store

KEPT = timedelta(days=30)
# A message without a recipient is SENT from the start.
MESSAGE_STATES = States(
    "state", start="PENDING", moves={"PENDING": {"SENT": ("delivery",), "FAILED": ("delivery",)}}
)


class Message(BaseModel):
    """A mail or text message. `secrets` is sealed, and removed once it was sent or has failed.

    Only messages from before templates have `subject` and `body`. A system adds the id of the owner.
    """

    model_config = ConfigDict(populate_by_name=True, extra="forbid", frozen=True)

    message_id: str
    recipient: str
    template: str = ""
    values: dict[str, str] = {}
    secrets: str | None = None
    secrets_until: datetime | None = None
    subject: str | None = None
    body: str | None = None
    state: State = "PENDING"
    attempts: int = 0
    tried_at: datetime | None = None
    error: str | None = None
    created_at: datetime
    expires_at: datetime


M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class ByOwner:
    """The pattern that reads the messages of one owner: its name, the field of the model, and where they are."""

    name: str
    field: str
    pk: str
    load: Load
    on: Index | None = None
    sk: Sort | None = None
    roles: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Outbox(Generic[M]):
    """The messages of one table."""

    model: type[M]
    key: tuple[str, ...]
    messages: Entity[M, ...]
    by_state: Pattern[..., M]
    owner: str | None
    by_owner: Pattern[..., M] | None

    def in_state(self, state: State) -> Query[M]:
        """The messages in a state."""
        return self.by_state(state).where(lambda message: message.recipient != "")

    @property
    def owned(self) -> Pattern[..., M]:
        """The pattern that reads the messages of an owner."""
        assert self.by_owner is not None, "these messages have no owner"
        return self.by_owner

    def of(self, owner: str) -> Query[M]:
        return self.owned(owner)

    def discard(self, message: M) -> Write[M]:
        return self.messages.discard(*(getattr(message, name) for name in self.key))


def outbox(
    design: Design,
    table: DesignTable,
    model: type[M],
    *,
    key: tuple[str, ...],
    pk: str,
    sk: str,
    on: Index,
    state: str,
    writes: Load,
    reads: Load,
    by_owner: ByOwner | None = None,
    tag: str = "message",
    name: str = "messages_by_state",
    roles: Sequence[str] = (),
    descending: bool = True,
    kept: timedelta = KEPT,
    data: Mapping[str, Data] | None = None,
) -> Outbox[M]:
    """An outbox in a table. `key` are the fields in `pk` and `sk`; `state` is the key of the index `on`."""
    time_key = "{created_at:ms}#{message_id}"
    places = {on: Keys(state, time_key)}
    if by_owner is not None and by_owner.on is not None:
        places[by_owner.on] = Keys(by_owner.pk, time_key)
    messages = table.entity(
        model,
        declared("message_key", "", **dict.fromkeys(key, str)),
        tag=tag,
        pk=pk,
        sk=sk,
        on=places,
        states=MESSAGE_STATES,
        expires=Expires("expires_at"),
        data={
            "recipient": Data.PERSONAL,
            "values": Data.PERSONAL,
            **(data or {}),
            "secrets": Data.SECRET,
            "subject": Data.SECRET,
            "body": Data.SECRET,
        },
        retention=Retention(kept, "to see what was sent"),
        load={"create": writes, "change": replace(writes, transaction=False, changes=("state",))},
    )
    by_state = design.query(
        messages, on=on, pk=state, descending=descending, page=50, at_most=100, roles=roles, load=reads
    )(declared(name, "The outbox by state: pending, sent, failed.", state=State))
    owned = None
    if by_owner is not None:
        owned = design.query(
            messages, on=by_owner.on, pk=by_owner.pk, sk=by_owner.sk, descending=descending, page=50,
            roles=by_owner.roles, load=by_owner.load,
        )(declared(by_owner.name, "The messages of one owner.", **{by_owner.field: str}))  # fmt: skip
    return Outbox(model, key, messages, by_state, by_owner.field if by_owner else None, owned)


def _same(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Mailbox(Generic[M]):
    """An outbox with its tables and texts. `hide` and `reveal` seal the address of a recipient where it is stored."""

    outbox: Outbox[M]
    tables: Store
    texts: MessageTemplates
    keeps_sent: bool = True
    hide: Callable[[str], str] = _same
    reveal: Callable[[str], str] = _same

    def mail(
        self,
        recipient: str,
        template: str,
        values: Mapping[str, str] | None = None,
        owner: str | None = None,
        *,
        secrets: Mapping[str, str] | None = None,
        until: datetime | None = None,
        kept: timedelta = KEPT,
        id: str | None = None,
        **fields: Any,
    ) -> Write[M]:
        """A message to an address or a number, to be written with the change it is about.

        Codes, and links that open something without a login, are `secrets`; `until` is when they expire.
        """
        now, id = self.tables.now(), id or self.tables.new_id("msg")
        if self.outbox.owner is not None:
            fields[self.outbox.owner] = owner
        return self.outbox.messages.create(
            self.outbox.model(
                message_id=id,
                recipient=self.hide(recipient),
                **self.texts.row(template, id, recipient, values, secrets),
                secrets_until=until,
                state="PENDING" if recipient else "SENT",
                created_at=now,
                expires_at=now + kept if recipient else until or now,
                **fields,
            )
        )

    def in_state(self, state: State) -> Query[M]:
        return self.outbox.in_state(state)

    def of(self, owner: str) -> Query[M]:
        return self.outbox.of(owner)

    def masked(self, message: M) -> M:
        """The message as others than its recipient see it: its text with the secrets masked."""
        return message.model_copy(update=self.texts.masked_fields(message))

    def exported(self, message: M, *without: str) -> dict[str, Any]:
        """The message in an export: its text instead of what it is made from, with the secrets masked."""
        hidden = {*STORED_FIELDS, *without}
        return self.masked(message).model_dump(mode="json", by_alias=True, exclude_none=True, exclude=hidden)

    def dispatch(self) -> OutboxDispatch[M]:
        """Delivery of the messages."""
        return OutboxDispatch(
            self.tables.now,
            lambda state: self.tables.db.all(self.outbox.in_state(state)),
            self._outgoing,
            self._record,
            lambda message: message.secrets_until or message.expires_at,
        )

    def _outgoing(self, message: M) -> OutgoingMessage | None:
        try:
            recipient = self.reveal(message.recipient)
        except SealBroken:  # its secret is gone, so it can never be sent
            self.tables.db.write(self.outbox.discard(message))
            return None
        text = self.texts.text(message, message.message_id, recipient)
        return OutgoingMessage(message.message_id, recipient, text.subject, text.body, message.created_at)

    def _record(self, message: M, changed: Mapping[str, object]) -> None:
        if changed["state"] == "SENT" and not self.keeps_sent:
            self.tables.db.write(self.outbox.discard(message))
            return
        after = message.model_copy(update=after_attempt(message, changed))
        messages = self.outbox.messages
        is_move = after.state != message.state
        write = messages.move(message, after, by="delivery") if is_move else messages.change(message, after)
        self.tables.db.write(write)
