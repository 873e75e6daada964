"""One turn: a message of a user, and the reply of the animal, whatever is sent again (ZC-X3, ZC-X11).

consent -> guardrails on input -> limits -> the message and the place of its reply stored -> the reply (replies.py).
The client's id of a message is the key of the turn: the same request again gets the same reply, or waits for it, or
goes on where it ended.
Must hold: a message is stored once for its id, as long as it is kept; nothing is stored of a message that is refused;
only a user's own words are taken from a client, never those of the animal, the system or a tool (ZC-S20); a message
about self-harm or abuse is answered with help at once, by no model, whatever the limits say (ZC-X25).
"""

import re
import unicodedata
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, CallerError, Conflict
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Stale
from tablewright.systems.chat import design as d
from tablewright.systems.chat.animals import Animals
from tablewright.systems.chat.errors import Blocked, Erased, NoConsent, TextTooLong, TurnInProgress
from tablewright.systems.chat.family.consent import refuse_without_consent
from tablewright.systems.chat.family.limits import ChatLimits
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.memory.tokens import Count
from tablewright.systems.chat.model import Conversation, Draft, Message, MessageMetadata, Turn, TurnState
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import moment, stamp
from tablewright.systems.chat.settings import Settings
from tablewright.systems.chat.talk.disclosures import AI_NOTICE, BREAK_NOTICE, Disclosures, Due, Notice
from tablewright.systems.chat.talk.events import Accepted, Done, Event, Noticed, Part
from tablewright.systems.chat.talk.guardrails import Guardrails
from tablewright.systems.chat.talk.message_writes import is_covered, message_update, user_check
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.moderation import Verdict
from tablewright.systems.chat.talk.replies import Replies, ReplyTarget
from tablewright.systems.chat.talk.review import Review
from tablewright.systems.chat.talk.safety_counts import SafetyCounts
from tablewright.systems.chat.talk.safety_phrases import SOMEONE_READS, is_escalated

MOST_BYTES = 16 * 1024
# How often a request looks whether another one has answered its turn: about ten seconds.
_LOOKS = 100
_CLIENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")
_DIRECTIONS = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_NOTICES = {"ai": Notice("ai", AI_NOTICE), "break": Notice("break", BREAK_NOTICE)}


@dataclass(frozen=True, slots=True)
class _Begun:
    """A turn that is stored, with its two messages."""

    turn: Turn
    message: Message
    reply: Message
    is_repeated: bool = False


class Turns:
    """Takes messages of users, and has them answered."""

    def __init__(
        self,
        repository: Repository,
        settings: Settings,
        animals: Animals,
        messages: Messages,
        limits: ChatLimits,
        guardrails: Guardrails,
        disclosures: Disclosures,
        review: Review,
        counts: SafetyCounts,
        replies: Replies,
        count: Count,
    ) -> None:
        self._repository, self._settings, self._animals = repository, settings, animals
        self._messages, self._limits, self._guardrails = messages, limits, guardrails
        self._disclosures, self._review, self._counts = disclosures, review, counts
        self._replies, self._count = replies, count
        # Longer than a reply may take, so that a process that died is known to have died.
        self._lease = timedelta(seconds=settings.model_seconds + 30)

    def stream(
        self, user: User, conversation: Conversation, text: str, client_message_id: str | None = None
    ) -> Generator[Event, None, None]:
        """The events of a turn. What refuses the message is raised here, before the first event.

        A message about a crisis that cannot be taken is refused with the words of help, and not stored.
        """
        try:
            return self._accepted(user, conversation, text, client_message_id)
        except CallerError as refused:
            verdict = self._guardrails.moderator().check(text[:MOST_BYTES], "input")
            if verdict.is_crisis:
                refused.message = verdict.reply.removesuffix(SOMEONE_READS)
                refused.args = (refused.message,)
            raise

    def _accepted(
        self, user: User, conversation: Conversation, text: str, client_message_id: str | None
    ) -> Generator[Event, None, None]:
        clean = self.usable(text)
        client_id = client_message_id or self._repository.world.new_id()
        refuse_bad_client_id(client_id)
        refuse_without_consent(user, self._repository.now().date())
        earlier = self._find(conversation, client_id)
        if earlier is None:
            begun = self._begin(user, conversation, clean, client_id)
        else:
            begun = self._again(conversation, client_id, clean)
        return self._events(user, conversation, begun)

    def regenerate(
        self, user: User, conversation: Conversation, client_message_id: str | None = None
    ) -> Generator[Event, None, None]:
        """Another reply to the last message, in place of the one before (ZC-X18); NOTHING_TO_REGENERATE."""
        client_id = client_message_id or self._repository.world.new_id()
        refuse_bad_client_id(client_id)
        refuse_without_consent(user, self._repository.now().date())
        earlier = self._find(conversation, client_id)
        if earlier is not None:
            return self._events(user, conversation, self._again(conversation, client_id, None))
        self._limits.spend(user)
        return self._events(user, conversation, self._reopened(user, conversation, client_id))

    def usable(self, text: str) -> str:
        """The text as it is stored; EMPTY_TEXT, TEXT_TOO_LONG, or BAD_TEXT if it has control characters."""
        clean = "".join(each for each in text.replace("\r\n", "\n") if ord(each) not in _DIRECTIONS).strip()
        if any(unicodedata.category(each) in ("Cc", "Cs") and each not in "\n\t" for each in clean):
            raise BadRequest("BAD_TEXT", "The message has characters that cannot be shown.", "text")
        if all(each.isspace() or unicodedata.category(each) == "Cf" for each in clean):
            raise BadRequest("EMPTY_TEXT", "Write something first.", "text")
        if len(clean) > self._settings.most_characters or len(clean.encode()) > MOST_BYTES:
            raise TextTooLong(self._settings.most_characters)
        return clean

    # --- events ---

    def _events(self, user: User, conversation: Conversation, begun: _Begun) -> Generator[Event, None, None]:
        is_done = False
        try:
            with closing(self._answered(user, conversation, begun)) as events:
                for event in events:
                    is_done = isinstance(event, Done)
                    yield event
        finally:
            # No reply, or the client went away: the next request need not wait for the lease.
            if not is_done:
                self._replies.free(begun.turn)

    def _answered(
        self, user: User, conversation: Conversation, begun: _Begun
    ) -> Generator[Event, None, None]:
        yield Accepted(begun.message, begun.is_repeated)
        for each in begun.reply.metadata.annotations:
            if each.startswith("notice:"):
                yield Noticed(_NOTICES[each.removeprefix("notice:")])
        if begun.reply.state == "complete":
            yield Part(begun.reply.text)
            yield Done(begun.reply)
            return
        profile = self._animals.profile(conversation.animal_id)
        yield from self._replies.run(ReplyTarget(user, conversation, begun.turn, begun.reply, profile))

    # --- a new turn ---

    def _begin(self, user: User, conversation: Conversation, text: str, client_id: str) -> _Begun:
        self._animals.enabled(conversation.animal_id)
        verdict = self._guardrails.moderator().check(text, "input")
        # A child in need is answered in quiet hours too.
        if not verdict.is_crisis:
            self._limits.spend(user)
        if verdict.outcome == "block":
            self._repository.db.write(*self._counts.write({"blocked": 1}, verdict.guardrails))
            raise Blocked(verdict.reply)
        return self._stored(user, conversation, verdict, text, client_id)

    def _stored(
        self, user: User, conversation: Conversation, verdict: Verdict, text: str, client_id: str
    ) -> _Begun:
        """Store the message and the place of its reply; again if another message of the user came in between."""

        def attempt() -> _Begun:
            known = self._disclosures.known(user.user_id)
            header = self._repository.conversation(conversation.conversation_id, conversation.user_id)
            due = self._disclosures.due(user.user_id, known, first_message=header.message_count == 0)
            try:
                return self._append(user, header, due, verdict, text, client_id)
            except AlreadyExists as refused:
                if refused.entity != "turn":
                    raise
            return self._again(conversation, client_id, text)

        return self._repository.retried(None, attempt, on=(AlreadyExists, Stale))

    def _append(
        self, user: User, header: Conversation, due: Due, verdict: Verdict, text: str, client_id: str
    ) -> _Begun:
        turns: list[Turn] = []

        def also(made: Sequence[Message]) -> Sequence[Write[Any]]:
            turns[:] = [self._turn(made, client_id, text, "answered" if is_answered else "waiting")]
            return (
                d.turns.create(turns[0]),
                due.write,
                *self._counted(verdict, due.notice),
                *self._review.escalation(header, made[0], verdict),
            )

        is_answered = verdict.is_escalated
        drafts = self._drafts(verdict, due.notice, client_id)
        message, reply = self._messages.append(header, drafts, consent=user.consent_generation, also=also)
        return _Begun(turns[0], message, reply)

    def _drafts(self, verdict: Verdict, notice: Notice | None, client_id: str) -> list[Draft]:
        message_id = self._repository.world.new_id()
        annotations = [f"notice:{notice.kind}"] if notice else []
        is_answered = verdict.is_escalated
        return [
            Draft(
                role="user",
                text=verdict.text,
                message_id=message_id,
                client_message_id=client_id,
                flags=verdict.message_flags,
                metadata=MessageMetadata(tokens=self._count(verdict.text)),
            ),
            Draft(
                role="assistant",
                text=verdict.reply if is_answered else "",
                state="complete" if is_answered else "pending",
                reply_to=message_id,
                client_message_id=client_id,
                flags=verdict.reply_flags,
                metadata=MessageMetadata(
                    annotations=annotations, tokens=self._count(verdict.reply) if is_answered else 0
                ),
            ),
        ]

    def _turn(self, made: Sequence[Message], client_id: str, text: str | None, state: TurnState) -> Turn:
        message, reply = made
        now = self._repository.now()
        return Turn(
            user_id=message.user_id,
            conversation_id=message.conversation_id,
            client_message_id=client_id,
            asked=self._asked(message.user_id, text),
            user_message_id=message.message_id,
            reply_message_id=reply.message_id,
            user_timestamp=stamp(message.timestamp),
            reply_timestamp=stamp(reply.timestamp),
            state=state,
            leased_until=now + self._lease if state == "waiting" else None,
            created=now,
            modified=now,
            # As long as its messages: an id is never taken for a new message while the first one is there.
            expires_at=max(message.expires_at, reply.expires_at),
        )

    def _asked(self, user_id: str, text: str | None) -> str:
        """What tells one text from another without revealing it; of a regenerated reply, none."""
        return "" if text is None else self._repository.keys.beacon(user_id, "turn", text)

    def _counted(self, verdict: Verdict, notice: Notice | None) -> Sequence[Write[Any]]:
        return self._counts.write(
            {
                "referrals": int(verdict.is_crisis),
                "escalated": int(verdict.is_escalated),
                "redacted": int(verdict.outcome == "redact"),
                "disclosures": int(notice is not None),
                "breaks": int(notice is not None and notice.kind == "break"),
            },
            verdict.guardrails,
        )

    # --- a turn that was begun before ---

    def _find(self, conversation: Conversation, client_id: str) -> Turn | None:
        key = conversation.user_id, conversation.conversation_id, client_id
        return self._repository.db.one(d.turns.get(*key), consistent=True)

    def _again(self, conversation: Conversation, client_id: str, text: str | None) -> _Begun:
        """The turn for a request that came before: answered, or to be answered by this request."""

        def attempt() -> _Begun:
            turn = self._repository.found(self._find(conversation, client_id), "TURN")
            if turn.asked != self._asked(turn.user_id, text):
                words = "This id was used for another message. Use a new one."
                raise Conflict("CLIENT_ID_REUSED", words, "clientMessageId")
            if turn.state == "answered":
                return self._loaded(conversation, turn)
            taken = None if self._is_leased(turn) else self._taken(turn)
            if taken is None:
                raise TurnInProgress
            return self._loaded(conversation, taken)

        return self._repository.retried(
            None, attempt, on=TurnInProgress, attempts=_LOOKS, busy=TurnInProgress()
        )

    def _is_leased(self, turn: Turn) -> bool:
        """Whether another request works on it. A lease that ends too late is of a clock that was wrong."""
        now = self._repository.now()
        until = turn.leased_until
        return turn.state == "waiting" and until is not None and now < until <= now + self._lease

    def _taken(self, turn: Turn) -> Turn | None:
        """The turn with a lease of ours; None if another request was faster."""
        now = self._repository.now()
        update = {
            "state": "waiting", "leased_until": now + self._lease, "attempts": turn.attempts + 1, "modified": now,
        }  # fmt: skip
        after = turn.model_copy(update=update)
        is_move = turn.state != after.state
        write = d.turns.move(turn, after, by="user") if is_move else d.turns.change(turn, after)
        if not self._repository.try_write(write):
            return None
        return after.model_copy(update={"version": turn.version + 1})

    def _loaded(self, conversation: Conversation, turn: Turn) -> _Begun:
        message = self._messages.at(conversation, moment(turn.user_timestamp), turn.user_message_id)
        reply = None
        if turn.reply_timestamp is not None and turn.reply_message_id is not None:
            reply = self._messages.at(conversation, moment(turn.reply_timestamp), turn.reply_message_id)
        return _Begun(
            turn,
            self._repository.found(message, "MESSAGE"),
            self._repository.found(reply, "MESSAGE"),
            is_repeated=True,
        )

    # --- another reply ---

    def _reopened(self, user: User, conversation: Conversation, client_id: str) -> _Begun:
        """The last reply as a place for another one. Its text is gone from then on."""
        header = self._repository.conversation(conversation.conversation_id, conversation.user_id)
        newest = self._messages.newest(header, 2)
        if not is_replaceable(header, newest):
            raise Conflict("NOTHING_TO_REGENERATE", "There is no reply that can be replaced.")
        message, reply = newest
        turn = self._turn(newest, client_id, None, "waiting")
        sealed = self._messages.texts.sealed(reply.model_copy(update={"text": ""}))
        opened = (
            message_update(reply)
            .at(lambda m: m.text).set(sealed.text)
            .at(lambda m: m.thumb).set(None)
            .move("pending", by="user")
        )  # fmt: skip
        is_last = (
            d.conversations.check(header.user_id, header.conversation_id)
            .when(lambda c: (c.status == "active") & (c.last_sequence == header.last_sequence))
            .when(lambda c: c.summarized_through == header.summarized_through)
        )
        gate = user_check(user.user_id, user.consent_generation)
        try:
            self._repository.db.write(opened, d.turns.create(turn), is_last, gate)
        except (ConditionNotMet, Missing) as refused:
            raise _not_now(refused) from None
        waiting = reply.model_copy(update={"text": "", "state": "pending", "thumb": None})
        return _Begun(turn, message, waiting)


def is_replaceable(header: Conversation, newest: Sequence[Message]) -> bool:
    """Whether another reply can be made in place of the last one; `newest` are the last two messages."""
    if [each.role for each in newest] != ["user", "assistant"] or newest[1].state == "pending":
        return False
    # What was escalated was answered by no model, and stays so.
    is_fixed = any(map(is_escalated, newest)) or bool(newest[0].flags)
    is_open = header.status == "active" and not any(is_covered(header, each) for each in newest)
    return is_open and not is_fixed


def refuse_bad_client_id(client_id: str) -> None:
    """BAD_CLIENT_ID for what cannot be a client's id of a message."""
    if not _CLIENT_ID.fullmatch(client_id):
        words = "A client message id has 1 to 64 letters, digits, and the characters _ . : and -."
        raise BadRequest("BAD_CLIENT_ID", words, "clientMessageId")


def _not_now(refused: ConditionNotMet | Missing) -> Exception:
    if refused.entity == "user":
        is_active = isinstance(refused.current, User) and refused.current.standing == "active"
        return NoConsent() if is_active else Erased()
    return TurnInProgress("This chat is being changed at this moment. Try again soon.")
