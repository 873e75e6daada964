"""The messages that a flag on a chat of the first version leads to, in whichever version the chat is now.

A flag of a turn that was stored in the first version has the old id of the chat, and no other.
Elsewhere: flags and their readers (talk/review.py).
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from tablewright.mapping import CallRefused
from tablewright.systems.chat import design as d
from tablewright.systems.chat.legacy.conversion import messages_of
from tablewright.systems.chat.model import Message
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.review import OlderMessages
from tablewright.systems.chat.zoo_model import ReviewFlag


def older_messages(repository: Repository, messages: Messages, periods: RetentionPeriods) -> OlderMessages:
    """Finds the messages of a chat up to the flagged one, open; none if that has gone."""

    def find(flag: ReviewFlag) -> Sequence[Message]:
        return _until(flag, in_second(flag)) or _until(flag, in_first(flag))

    def in_second(flag: ReviewFlag) -> Iterable[Message]:
        alias = repository.db.one(d.aliases.get(flag.conversation_id), consistent=True)
        if alias is None or alias.user_id != flag.user_id:
            return ()
        header = repository.db.one(d.conversations.get(alias.user_id, alias.conversation_id), consistent=True)
        return () if header is None else messages.all(header)

    def in_first(flag: ReviewFlag) -> Iterable[Message]:
        with suppress(CallRefused):  # its table is deleted when the migration is finished
            item = repository.db.one(d.v1_conversations.get(flag.conversation_id), consistent=True)
            if item is not None and item.user_id == flag.user_id:
                now = repository.now()
                return [each for each in messages_of(item, periods) if each.expires_at > now]
        return ()

    return find


def _until(flag: ReviewFlag, messages: Iterable[Message]) -> Sequence[Message]:
    found = list(messages)
    ids = [each.message_id for each in found]
    return found[: ids.index(flag.message_id) + 1] if flag.message_id in ids else ()
