"""The reply of a turn: window, model, guardrails on what it says, stored once.

Must hold: one reply is stored in the place of a turn, however many requests work on it; a model that leaves the
machine gets words of a user only after the user's row was read at that moment (ZC-S16); when the model is away the
place is `failed`, and the next request with the same id fills it (ZC-S14).
Elsewhere: how a turn begins (turns.py), which model replies (providers.py).
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import CallerError
from tablewright.mapping import ConditionNotMet, Missing, Stale
from tablewright.systems.chat import design as d
from tablewright.systems.chat.animals import Profile
from tablewright.systems.chat.family.consent import refuse_without_consent
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.memory.window import Window
from tablewright.systems.chat.memory.windows import Windows
from tablewright.systems.chat.model import Conversation, Message, MessageMetadata, Turn
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import moment
from tablewright.systems.chat.talk.events import Done, Event, Failed, Replaced
from tablewright.systems.chat.talk.guardrails import Guardrails
from tablewright.systems.chat.talk.message_places import messages_in
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.models import ChatModel, ModelAway
from tablewright.systems.chat.talk.output_guard import OutputGuard
from tablewright.systems.chat.talk.prompts import Prompt, prompt_of
from tablewright.systems.chat.talk.providers import Providers
from tablewright.systems.chat.talk.review import Review
from tablewright.systems.chat.talk.safety_counts import SafetyCounts
from tablewright.systems.chat.talk.usage import Usage

FALLBACK = (
    "I need a short rest and cannot answer right now. Your message is kept: please try again in a moment."
)


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """Where a reply goes: the turn that asked for it, and the message that waits for it."""

    user: User
    conversation: Conversation
    turn: Turn
    reply: Message
    profile: Profile


@dataclass(frozen=True, slots=True)
class _Work:
    """One attempt at a reply."""

    place: ReplyTarget
    model: ChatModel
    guard: OutputGuard
    tokens_in: int
    started: datetime


class Replies:
    """Makes replies."""

    def __init__(
        self,
        repository: Repository,
        messages: Messages,
        windows: Windows,
        providers: Providers,
        guardrails: Guardrails,
        review: Review,
        usage: Usage,
        counts: SafetyCounts,
        token_limit: int,
    ) -> None:
        self._repository, self._messages, self._windows = repository, messages, windows
        self._providers, self._guardrails, self._review = providers, guardrails, review
        self._usage, self._counts, self._token_limit = usage, counts, token_limit

    def run(self, place: ReplyTarget) -> Iterator[Event]:
        """The events of a reply: parts and what replaces them, then Done or Failed."""
        try:
            work, prompt = self._begun(place)
        except CallerError as error:
            yield Failed(error.code, error.message)
        else:
            yield from self._made(work, prompt)

    def window(self, user: User, conversation: Conversation, profile: Profile) -> Window:
        """What a model would read now: for the inspector."""
        return self._windows.of(user, conversation, profile.config, limit=self._token_limit)

    # --- the steps ---

    def _begun(self, place: ReplyTarget) -> tuple[_Work, Prompt]:
        user = self._current(place.user)
        until = moment(place.turn.user_timestamp)
        window = self._windows.of(
            user, place.conversation, place.profile.config, limit=self._token_limit, until=until
        )
        profile = place.profile
        prompt = prompt_of(
            window, profile.animal, profile.config, profile.details, profile.facts,
            nonce=self._repository.world.new_id()[-12:], names=[user.name], language=user.language,
        )  # fmt: skip
        model = self._providers.chat_model(user, profile, budget_left=lambda: not self._usage.is_spent())
        system_tokens = self._providers.count(prompt.system) if model.leaves_machine else 0
        guard = OutputGuard(self._guardrails.moderator())
        return _Work(place, model, guard, window.total_tokens + system_tokens, self._repository.now()), prompt

    def _current(self, user: User) -> User:
        """The user at this moment: NO_CONSENT or ERASED if that was withdrawn since the request began."""
        found = self._repository.db.one(d.users.get(user.user_id), consistent=True)
        current = self._repository.found(found, "USER")
        refuse_without_consent(current, self._repository.now().date())
        return current

    def _made(self, work: _Work, prompt: Prompt) -> Iterator[Event]:
        reply_tokens = work.place.profile.config.reply_tokens
        try:
            for part in work.model.reply(prompt.system, prompt.messages, reply_tokens):
                if shown := work.guard.feed(part):
                    yield shown
                if work.guard.is_blocked:
                    break
            if shown := work.guard.finish():
                yield shown
            if not work.guard.text.strip():
                raise ModelAway("the reply is empty")
        except ModelAway as away:
            yield self._failed(work, away)
            return
        yield from self._stored(work)

    def _stored(self, work: _Work) -> Iterator[Event]:
        if work.guard.is_blocked:
            yield Replaced(work.guard.text)
        try:
            message = self._settled(work)
        except Stale:
            # Another request for the same turn was faster: its reply is the one.
            place = work.place
            found = self._messages.at(place.conversation, place.reply.timestamp, place.reply.message_id)
            if found is None or found.state != "complete":
                yield Failed("TURN_IN_PROGRESS", "This message is being answered in another window.")
                return
            yield Replaced(found.text)
            yield Done(found)
        except CallerError as error:
            yield Failed(error.code, error.message)
        else:
            yield Done(message)

    def _settled(self, work: _Work) -> Message:
        place, guard = work.place, work.guard
        milliseconds = max(0, round((self._repository.now() - work.started) / timedelta(milliseconds=1)))
        tokens_out = self._providers.count(guard.text)
        metadata = MessageMetadata(
            tokens=tokens_out,
            latency=milliseconds,
            annotations=place.reply.metadata.annotations,
            model=work.model.name,
        )
        return self._messages.settle(
            place.conversation,
            place.reply,
            guard.text,
            metadata=metadata,
            flags=guard.verdict.guardrails,
            consent=place.user.consent_generation,
            also=(
                self._turn_write(place.turn, "answered"),
                self._usage.reply(
                    place.conversation.animal_id,
                    work.model.name,
                    paid=work.model.leaves_machine,
                    tokens_in=work.tokens_in,
                    tokens_out=tokens_out,
                    milliseconds=milliseconds,
                ),
                *self._flagged(place, guard),
            ),
        )

    def _flagged(self, place: ReplyTarget, guard: OutputGuard) -> tuple[Write[Any], ...]:
        """What follows from a reply that was blocked or changed."""
        if guard.verdict.outcome == "allow":
            return ()
        counts = self._counts.write(
            {"replies_replaced": int(guard.is_blocked), "redacted": int(not guard.is_blocked)},
            guard.verdict.guardrails,
        )
        if not guard.is_blocked:
            return counts
        flag = self._review.flag(
            place.conversation, place.reply, "output", guard.verdict.guardrails, place.turn.client_message_id
        )
        return (flag, *counts)

    # --- no reply ---

    def _failed(self, work: _Work, away: ModelAway) -> Failed:
        place = work.place
        failure = self._usage.failure(place.conversation.animal_id, work.model.name)
        with suppress(Stale, Missing, CallerError):
            self._messages.settle(
                place.conversation,
                place.reply,
                "",
                state="failed",
                metadata=place.reply.metadata,
                also=(self._turn_write(place.turn, "failed"), failure),
            )
        seconds = None if away.retry_after is None else round(away.retry_after)
        return Failed("MODEL_UNAVAILABLE", FALLBACK, seconds)

    def free(self, turn: Turn) -> None:
        """Give a turn back that this request did not answer, its place `failed`; nothing if another request has it."""
        if turn.state != "waiting" or turn.reply_timestamp is None or turn.reply_message_id is None:
            return
        key = turn.user_id, turn.conversation_id, moment(turn.reply_timestamp), turn.reply_message_id
        place = messages_in(turn.conversation_id).update(*key).move("failed", by="system")
        with suppress(Stale, Missing, ConditionNotMet):
            self._repository.db.write(self._turn_write(turn, "failed"), place)

    def _turn_write(self, turn: Turn, state: Any) -> Write[Turn]:
        update = {"state": state, "leased_until": None, "modified": self._repository.now()}
        after, is_move = turn.model_copy(update=update), turn.state != state
        return d.turns.move(turn, after, by="system") if is_move else d.turns.change(turn, after)
