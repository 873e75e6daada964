"""The first version: a conversation with its messages in one item, as programs that use it expect it (ZC-2 to ZC-4).

Kept: the format of ids, list_append with an atomic count, history, the sessions of a user, the thread. Not kept: an id
that exists is never overwritten, and no conversation is read or written for another user than its own (ZC-D15, ZC-D24).
Elsewhere: which version a conversation is in at the moment (router.py); nothing else may write to these tables.
"""

from collections.abc import Sequence

from tablewright.edge.errors import NotFound
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Archived
from tablewright.systems.chat.legacy.model import V1Conversation, V1Message, V1Session
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods, stamp

_ATTEMPTS = 5


class V1:
    """Conversations of the first version."""

    def __init__(self, repository: Repository, periods: RetentionPeriods) -> None:
        self._repository, self._periods = repository, periods

    # --- reads ---

    def find(self, conversation_id: str) -> V1Conversation | None:
        return self._repository.db.one(d.v1_conversations.get(conversation_id), consistent=True)

    def get(self, conversation_id: str, user_id: str) -> V1Conversation:
        """A conversation of this user; CONVERSATION_NOT_FOUND if it is another's, or does not exist."""
        found = self.find(conversation_id)
        if found is None or found.user_id != user_id:
            raise self._repository.not_found("CONVERSATION")
        return found

    def history(self, conversation_id: str, user_id: str) -> list[V1Message]:
        """All messages, the oldest first."""
        return self.get(conversation_id, user_id).messages

    def sessions(self, user_id: str) -> list[V1Session]:
        """The conversations of a user."""
        return list(self._repository.db.all(d.v1_sessions_of_user(user_id=user_id)))

    # --- writes ---

    def create(self, user_id: str, animal_id: str, name: str, family_id: str | None) -> V1Conversation:
        """A new conversation, with the id that programs of the first version expect."""
        for _ in range(_ATTEMPTS):
            made = self._new(user_id, animal_id, name, family_id)
            try:
                self._repository.db.write(
                    d.v1_conversations.create(made), d.v1_sessions.create(session_of(made))
                )
                return made
            except AlreadyExists:
                continue  # eight digits can meet
        raise self._repository.not_found("CONVERSATION")

    def _new(self, user_id: str, animal_id: str, name: str, family_id: str | None) -> V1Conversation:
        digits = self._repository.world.new_id().replace("-", "")[:8]
        return V1Conversation(
            conversation_id=f"conv_{animal_id}_{user_id}_{digits}",
            user_id=user_id,
            animal_id=animal_id,
            animal_name=name,
            start_time=stamp(self._repository.world.now()),
            entity_type="conversation",
            family_id=family_id,
            summary_count=0,
            ttl=self._ttl(),
        )

    def append(self, conversation_id: str, user_id: str, messages: Sequence[V1Message]) -> None:
        """Append messages and count them, in one update; ARCHIVED if it takes none."""
        write = (
            d.v1_conversations.update(conversation_id)
            .at(lambda c: c.messages).append(*messages)
            .at(lambda c: c.message_count).add(len(messages))
            .at(lambda c: c.ttl).set(self._ttl())
            .when(lambda c: c.user_id == user_id)
            .when(lambda c: c.status == "active")
        )  # fmt: skip
        try:
            self._repository.db.write(write)
        except Missing:
            raise NotFound("CONVERSATION") from None
        except ConditionNotMet as refused:
            current = refused.current
            if isinstance(current, V1Conversation) and current.user_id == user_id:
                raise Archived from None
            raise self._repository.not_found("CONVERSATION") from None

    def _ttl(self) -> int:
        """When a conversation with a message of now is over; the table deletes nothing by it until the cut-over."""
        until = self._periods.until("active_conversation", self._repository.now())
        return int(until.timestamp())

    def set_thread(self, conversation_id: str, user_id: str, thread_id: str) -> None:
        """The thread that an outside model keeps of the conversation."""
        write = d.v1_conversations.update(conversation_id).when(lambda c: c.user_id == user_id)
        try:
            self._repository.db.write(write.at(lambda c: c.thread_id).set(thread_id))
        except (Missing, ConditionNotMet):
            raise self._repository.not_found("CONVERSATION") from None


def session_of(conversation: V1Conversation) -> V1Session:
    return V1Session(
        user_id=conversation.user_id,
        conversation_id=conversation.conversation_id,
        animal_id=conversation.animal_id,
        start_time=conversation.start_time or "",
    )
