"""The review queue: flagged messages, until a zookeeper has looked at them (ZC-X15, ZC-X22).

A flag says where the message is, and never what it says; a reader of the message through it is in the access log.
Must hold: a message that was escalated is in the queue in the transaction that stores it, with a mail to the zoo,
unless an open flag of the last hour leads to the same chat for the same crisis; a user flags a message once.
Elsewhere: messages that are in the tables of the first version (legacy/flagged.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from tablewright.design import Write
from tablewright.edge.errors import Conflict
from tablewright.kit.tables import Actor, digest
from tablewright.mapping import AlreadyExists, Page
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Changed
from tablewright.systems.chat.family.access_log import AccessLog
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.legacy.model import V1Conversation, V1Message
from tablewright.systems.chat.model import Conversation, Message, Thumb
from tablewright.systems.chat.repository import Repository, is_conversation_id
from tablewright.systems.chat.rules import moment, stamp
from tablewright.systems.chat.talk.message_places import said_before
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.moderation import Verdict
from tablewright.systems.chat.zoo_model import FlagKind, FlagState, ReviewFlag, Severity

KEPT = timedelta(days=90)
# Further messages about the same crisis in a chat are not flagged and mailed before so long.
FLAGGED_AGAIN = timedelta(hours=1)
QUEUED = 50  # on a page of the queue
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
_SEVERITY: dict[FlagKind, Severity] = {
    "crisis": "high",
    "guardrail": "medium",
    "output": "medium",
    "reported": "low",
}
_AROUND = 4
# The messages of a chat of the first version up to the flagged one, open; none if it is gone.
OlderMessages: TypeAlias = Callable[[ReviewFlag], Sequence[Message]]


@dataclass(frozen=True, slots=True)
class Flagged:
    """A flag with its message and some before it, open: for the zookeeper."""

    flag: ReviewFlag
    message: Message | None
    before: tuple[Message, ...]


def open_escalations(repository: Repository, user_id: str, conversation_id: str) -> list[ReviewFlag]:
    """The flags on escalated messages of a chat that no zookeeper has dealt with."""
    flags = repository.db.all(d.flags_of_user(user_id=user_id))
    of_chat = (each for each in flags if each.conversation_id == conversation_id)
    return [each for each in of_chat if each.kind in ("crisis", "guardrail") and each.state == "open"]


def no_older_messages(flag: ReviewFlag) -> Sequence[Message]:
    """Where there is no first version."""
    return ()


class Review:
    """The queue of flagged messages."""

    def __init__(
        self,
        repository: Repository,
        messages: Messages,
        log: AccessLog,
        recipient: str,
        older_messages: OlderMessages = no_older_messages,
    ) -> None:
        """`recipient` is the address at the zoo that is told of an escalated message."""
        self._repository, self._messages, self._log = repository, messages, log
        self._recipient, self._older_messages = recipient, older_messages

    # --- flags ---

    def flag(
        self,
        conversation: Conversation,
        message: Message,
        kind: FlagKind,
        guardrails: Sequence[str] = (),
        turn: str = "",
    ) -> Write[ReviewFlag]:
        """The write of a flag, to be made with the message; one for each `turn` that fills the place of a message."""
        return d.review_flags.create(self._made(conversation, message, kind, guardrails, turn=turn))

    def escalation(
        self, conversation: Conversation | V1Conversation, message: Message | V1Message, verdict: Verdict
    ) -> Sequence[Write[Any]]:
        """The flag for a zookeeper, and a mail that says only that there is one; once an hour for a crisis."""
        if not verdict.is_escalated or (
            verdict.is_crisis and self._is_flagged(conversation, verdict.guardrails)
        ):
            return ()
        kind: FlagKind = "crisis" if verdict.is_crisis else "guardrail"
        flag = d.review_flags.create(self._made(conversation, message, kind, verdict.guardrails))
        mail = self._repository.outbox.mail(
            self._recipient, "review flag", {"kind": kind}, conversation.user_id
        )
        return (flag, mail)

    def _is_flagged(self, conversation: Conversation | V1Conversation, guardrails: Sequence[str]) -> bool:
        """Whether an open flag of the last hour says of this chat that it met these guardrails in a crisis."""
        since = self._repository.now() - FLAGGED_AGAIN
        found = open_escalations(self._repository, conversation.user_id, conversation.conversation_id)
        recent = [each for each in found if each.kind == "crisis" and each.created > since]
        return set(guardrails) <= {name for each in recent for name in each.guardrails} and bool(recent)

    def _made(
        self,
        conversation: Conversation | V1Conversation,
        message: Message | V1Message,
        kind: FlagKind,
        guardrails: Sequence[str] = (),
        reporter: str | None = None,
        turn: str = "",
    ) -> ReviewFlag:
        now, message_id = self._repository.now(), message.message_id or ""
        return ReviewFlag(
            flag_id=f"flag_{digest(message_id, kind, reporter or turn)}",
            kind=kind,
            severity=_SEVERITY[kind],
            user_id=conversation.user_id,
            conversation_id=conversation.conversation_id,
            message_id=message_id,
            message_at=stamp(message.timestamp) if isinstance(message, Message) else message.timestamp or "",
            animal_id=conversation.animal_id,
            guardrails=list(guardrails),
            reported_by=reporter,
            created=now,
            expires_at=now + KEPT,
        )

    def report(self, reporter: User, conversation: Conversation, message_id: str) -> ReviewFlag:
        """Someone flags a message; the same flag again if they have done so before."""
        message = self._messages.get(conversation, message_id)
        made = self._made(conversation, message, "reported", (), reporter.user_id)
        try:
            self._repository.db.write(d.review_flags.create(made), self._messages.flag(message, "reported"))
        except AlreadyExists:
            return self.get(made.flag_id)
        return made

    def rate(self, conversation: Conversation, message_id: str, thumb: Thumb | None) -> Message:
        """The user's thumb on a reply; NOT_A_REPLY for their own message."""
        message = self._messages.get(conversation, message_id)
        if message.role != "assistant":
            raise Conflict("NOT_A_REPLY", "You can rate what the animal said.")
        return self._messages.rate(conversation, message, thumb)

    # --- the queue ---

    def queue(
        self, severity: Severity | None, state: FlagState, limit: int | None, after: str | None, reader: str
    ) -> Page[ReviewFlag]:
        """Flags of a severity, or of all, the urgent ones first; of each those that wait longest first."""
        if severity is None:
            return self._every(state, limit, after, reader)
        query = d.review_queue(state=state, severity=severity)
        return self._repository.page(query, limit, after, reader)

    def _every(self, state: FlagState, limit: int | None, after: str | None, reader: str) -> Page[ReviewFlag]:
        """A page over all severities. Its token is the severity where the next one begins, and the token there."""
        begin = next((each for each in SEVERITIES if after and after.startswith(f"{each}.")), None)
        left = SEVERITIES[SEVERITIES.index(begin) :] if begin else SEVERITIES
        token = after if begin is None else after and after.removeprefix(f"{begin}.")
        wanted, units = limit if limit is not None else QUEUED, 0.0
        items: list[ReviewFlag] = []
        for place, severity in enumerate(left):
            found = self.queue(severity, state, wanted - len(items), token or None, reader)
            items, units, token = [*items, *found.items], units + found.read_units, None
            if found.next is not None:
                return Page(tuple(items), f"{severity}.{found.next}", units)
            if len(items) >= wanted and place + 1 < len(left):
                return Page(tuple(items), f"{left[place + 1]}.", units)
        return Page(tuple(items), None, units)

    def get(self, flag_id: str) -> ReviewFlag:
        possible = flag_id.startswith("flag_") and flag_id[5:].isalnum() and len(flag_id) < 64
        self._repository.refuse_impossible(possible, "FLAG")
        found = self._repository.db.one(d.review_flags.get(flag_id), consistent=True)
        return self._repository.found(found, "FLAG")

    def read(self, reader: User, flag_id: str) -> Flagged:
        """A flag with its message and what was said before; logged. The message may have expired."""
        flag = self.get(flag_id)
        self._log.note(flag.user_id, reader, "review of a flag", f"message:{flag.message_id}")
        if not is_conversation_id(flag.conversation_id):
            *before, message = self._older_messages(flag) or (None,)
            return Flagged(flag, message, tuple(each for each in before[-_AROUND:] if each is not None))
        header = self._repository.db.one(
            d.conversations.get(flag.user_id, flag.conversation_id), consistent=True
        )
        if header is None:
            return Flagged(flag, None, ())
        message = self._messages.at(header, moment(flag.message_at), flag.message_id)
        query = said_before(flag.user_id, flag.conversation_id, moment(flag.message_at))
        page = self._repository.page(query, _AROUND + 1, None, "")
        earlier = [each for each in page.items if each.message_id != flag.message_id][:_AROUND]
        return Flagged(flag, message, tuple(self._messages.texts.opened(each) for each in reversed(earlier)))

    def resolve(self, actor: Actor, flag_id: str, resolution: str, version: int | None = None) -> ReviewFlag:
        """A zookeeper has dealt with it; ALREADY_RESOLVED."""

        def attempt() -> ReviewFlag:
            before = self.get(flag_id)
            if version is not None and before.version != version:
                raise Changed
            if before.state == "resolved":
                raise Conflict("ALREADY_RESOLVED", "Someone has dealt with this already.")
            now = self._repository.now()
            update = {
                "state": "resolved",
                "resolved_by": actor.subject or actor.name,
                "resolution": resolution,
                "resolved_at": now,
            }
            after = before.model_copy(update=update)
            entry = self._repository.audit(
                f"child:{before.user_id}", "flag resolved", actor, {"flagId": flag_id}, {"kind": before.kind}
            )
            self._repository.write("FLAG", d.review_flags.move(before, after, by="zookeeper"), entry)
            return after.model_copy(update={"version": before.version + 1})

        return self._repository.retried(version, attempt)
