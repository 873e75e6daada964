"""The functions that programs of the first version call, over whichever version a conversation is in (ZC-54).

    compat.create_conversation_session("u_9", "panda_01", "Pan Pan")          -> the id of the session
    compat.store_conversation_turn(session_id, "Hello", "Hello, child!", {})  -> the id of the user's message

Must hold: a turn is stored once, both messages or none, and the reply is later than the question (ZC-D44); an unknown
id is CONVERSATION_NOT_FOUND: no user is ever guessed from an id (ZC-D15); the family is looked up in both versions
(ZC-D54); a child chats only with a parent's consent; in the second version only people with an account do.
Elsewhere: which version it is (router.py), HTTP (api/compat.py).
"""

import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, NotFound
from tablewright.kit.tables import is_user_id
from tablewright.mapping.migrate import SideChanged
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import (
    BeingMoved,
    Blocked,
    Erased,
    NoAccount,
    NoConsent,
    RaceLost,
    TextTooLong,
)
from tablewright.systems.chat.family.consent import refuse_without_consent
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.legacy.conversion import flags_note, metadata_of, v1_message
from tablewright.systems.chat.legacy.model import V1Message
from tablewright.systems.chat.legacy.router import ConversationLocation, ConversationRouter
from tablewright.systems.chat.legacy.v1 import V1
from tablewright.systems.chat.model import Draft, Message
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import MICROSECOND, stamp
from tablewright.systems.chat.talk.conversations import Conversations
from tablewright.systems.chat.talk.guardrails import Guardrails
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.moderation import Verdict
from tablewright.systems.chat.talk.review import Review

_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation as programs of the first version see it."""

    session_id: str
    user_id: str
    animal_id: str
    animal_name: str
    status: str
    message_count: int
    start_time: str
    thread_id: str | None


class Compat:
    """Sessions and turns, by the signatures of the first version."""

    def __init__(
        self,
        repository: Repository,
        router: ConversationRouter,
        v1: V1,
        conversations: Conversations,
        messages: Messages,
        most_characters: int,
        guardrails: Guardrails,
        review: Review,
    ) -> None:
        self._repository, self._router, self._v1 = repository, router, v1
        self._guardrails, self._review = guardrails, review
        self._conversations, self._messages, self._most = conversations, messages, most_characters

    # --- writes ---

    def create_conversation_session(
        self, user_id: str, animal_id: str, animal_name: str | None = None
    ) -> str:
        """A new session; its id."""
        user = self._user(user_id)
        try:
            if not self._router.is_second:
                name = animal_name or animal_id
                family = user.family_id if user is not None else None
                make = lambda: self._v1.create(user_id, animal_id, name, family)  # noqa: E731
                return self._router.write_v1(make).conversation_id
        except SideChanged:
            raise BeingMoved from None
        if user is None:
            raise NoAccount
        # In one partition: the first version, to which a rollback takes it, reads no other.
        made = self._conversations.create(user, animal_id, partitions=1, consent=user.consent_generation)
        return self._router.adopt(made, animal_name).conversation_id

    def store_conversation_turn(
        self,
        session_id: str,
        user_message: str,
        assistant_reply: str,
        metadata: Mapping[str, JsonValue] | None = None,
        *,
        user_id: str | None = None,
    ) -> str:
        """Store what the user said and what the animal replied; the id of the user's message.

        With a `user_id` only in a session of that user. Guardrails hold as in a chat: a text that one blocks is
        refused, a phrase that one hides is hidden, and words about a crisis are in the review queue.
        """
        if max(len(user_message), len(assistant_reply)) > self._most:
            raise TextTooLong(self._most)
        if any(map(_has_control_characters, (user_message, assistant_reply))):
            raise BadRequest("BAD_TEXT", "The message has characters that cannot be shown.", "text")
        ids = self._repository.world.new_id(), self._repository.world.new_id()
        checked, noted = self._checked(user_message, assistant_reply), dict(metadata or {})
        self._router.wait_for_follower()
        is_tried = False

        def attempt() -> None:
            nonlocal is_tried
            place = self._router.place(session_id, user_id)
            user = self._user(place.user_id)
            if user is None and place.v1 is None:
                raise NoAccount
            # The answer to an earlier attempt may be lost, and the attempt done.
            if is_tried and self._has(place, ids[0]):
                return
            is_tried = True
            try:
                self._append(session_id, place, user, ids, checked, noted)
            except (SideChanged, BeingMoved, NoConsent):
                # What a parent allows may have changed since the user was read: that is read again.
                raise RaceLost from None

        self._repository.retried(None, attempt, on=RaceLost, attempts=_ATTEMPTS, busy=BeingMoved())
        return ids[0]

    def set_thread(self, session_id: str, thread_id: str, user_id: str | None = None) -> None:
        """Note the thread that an outside model keeps of the session."""
        place = self._router.place(session_id, user_id)
        if place.header is not None:
            self._conversations.set_thread(place.header, thread_id)
        else:
            self._router.write_v1(lambda: self._v1.set_thread(session_id, place.user_id, thread_id))

    # --- reads ---

    def session(self, session_id: str, user_id: str | None = None) -> Session:
        return _session(session_id, self._router.place(session_id, user_id))

    def history(self, session_id: str, user_id: str | None = None) -> list[V1Message]:
        """All messages of a session, the oldest first."""
        place = self._router.place(session_id, user_id)
        if place.v1 is not None:
            return place.v1.messages
        assert place.header is not None
        return [v1_message(message) for message in self._messages.all(place.header)]

    def sessions(self, user_id: str) -> list[Session]:
        """The sessions of a user, the newest first."""
        listed = self._repository.db.all(d.v1_sessions_of_user(user_id=user_id))
        found = [self._found(one.conversation_id, user_id) for one in listed]
        known = [session for session in found if session is not None]
        return sorted(known, key=lambda session: session.start_time, reverse=True)

    def _found(self, session_id: str, user_id: str) -> Session | None:
        """None for a session that has expired."""
        with suppress(NotFound):
            return self.session(session_id, user_id)
        return None

    # --- parts ---

    def _user(self, user_id: str) -> User | None:
        """The user, if there is an account: it may chat. ERASED, NO_CONSENT."""
        self._repository.refuse_impossible(is_user_id(user_id), "USER")
        user = self._repository.db.one(d.user_by_id(user_id))
        if user is None:
            return None
        if user.standing != "active":
            raise Erased
        refuse_without_consent(user, self._repository.now().date())
        return user

    def _checked(self, user_message: str, assistant_reply: str) -> tuple[Verdict, Verdict]:
        """What guardrails say of a turn; BLOCKED_BY_GUARDRAIL."""
        moderator = self._guardrails.moderator()
        asked, replied = moderator.check(user_message, "input"), moderator.check(assistant_reply, "output")
        for verdict, refusals in ((asked, ("block",)), (replied, ("block", "escalate"))):
            if verdict.outcome in refusals:
                raise Blocked(verdict.reply)
        return asked, replied

    def _append(
        self,
        session_id: str,
        place: ConversationLocation,
        user: User | None,
        ids: tuple[str, str],
        checked: tuple[Verdict, Verdict],
        noted: dict[str, JsonValue],
    ) -> None:
        asked, replied = checked
        if (header := place.header) is not None:
            drafts = [
                Draft(role="user", text=asked.text, message_id=ids[0], flags=asked.message_flags),
                Draft(
                    role="assistant",
                    text=replied.text,
                    message_id=ids[1],
                    flags=asked.reply_flags,
                    metadata=metadata_of(noted),
                ),
            ]

            def flag(made: Sequence[Message]) -> Sequence[Write[Any]]:
                return self._review.escalation(header, made[0], asked)

            consent = user.consent_generation if user is not None else None
            self._messages.append(header, drafts, consent=consent, also=flag)
            return
        assert place.v1 is not None
        turn = self._v1_turn(ids, checked, noted)
        # Before the turn, so that it is not lost with a crash; written by an earlier attempt, it is there.
        if told := self._review.escalation(place.v1, turn[0], asked):
            self._repository.try_write(*told)
        self._router.write_v1(lambda: self._v1.append(session_id, place.user_id, turn))

    def _v1_turn(
        self, ids: tuple[str, str], checked: tuple[Verdict, Verdict], noted: dict[str, JsonValue]
    ) -> Sequence[V1Message]:
        now, (asked, replied) = self._repository.world.now(), checked
        return (
            V1Message(
                message_id=ids[0],
                role="user",
                text=asked.text,
                timestamp=stamp(now),
                metadata=flags_note(asked.message_flags),
            ),
            V1Message(
                message_id=ids[1],
                role="assistant",
                text=replied.text,
                timestamp=stamp(now + MICROSECOND),
                metadata={**noted, **flags_note(asked.reply_flags)},
            ),
        )

    def _has(self, place: ConversationLocation, message_id: str) -> bool:
        if place.v1 is not None:
            return any(message.message_id == message_id for message in place.v1.messages)
        assert place.header is not None
        return any(message.message_id == message_id for message in self._messages.newest(place.header, 20))


def _has_control_characters(text: str) -> bool:
    return any(unicodedata.category(each) in ("Cc", "Cs") and each not in "\r\n\t" for each in text)


def _session(session_id: str, place: ConversationLocation) -> Session:
    if place.v1 is not None:
        one = place.v1
        name, start = one.animal_name or one.animal_id, one.start_time or ""
        status: str = one.status
        return Session(
            session_id, one.user_id, one.animal_id, name, status, one.message_count, start, one.thread_id
        )
    header = place.header
    assert header is not None
    status = "archived" if header.status == "summarized" else header.status
    return Session(
        session_id,
        header.user_id,
        header.animal_id,
        header.animal_name,
        status,
        header.message_count,
        stamp(header.start_time),
        header.thread_id,
    )
