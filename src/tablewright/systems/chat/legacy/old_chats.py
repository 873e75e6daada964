"""Chats of the first version as the readers of the second see them: lists, parents, transcripts (ZC-D54, ZC-50).

Before the copy and after a rollback a chat is in the first version alone. It is shown under its old id, as being moved:
so it can be read and not changed here. A chat that is copied is listed with those of the second version.
Must hold: what has expired is not shown. Elsewhere: who may read (access.py), in which version a chat is (router.py).
"""

from contextlib import suppress
from dataclasses import dataclass

from tablewright.edge.errors import BadRequest, NotFound
from tablewright.mapping import Page
from tablewright.systems.chat.legacy.conversion import header_of, messages_of
from tablewright.systems.chat.legacy.model import V1Conversation
from tablewright.systems.chat.legacy.router import ConversationRouter
from tablewright.systems.chat.legacy.v1 import V1
from tablewright.systems.chat.model import Conversation, Message
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods

_PAGE = 20


@dataclass(frozen=True, slots=True)
class OldChat:
    """A chat as the second version shows it; `messages`, the newest first, if it is in the first."""

    conversation: Conversation
    messages: tuple[Message, ...] | None = None

    def page(self, limit: int | None, after: str | None) -> Page[Message]:
        """Some messages, the newest first. All are in one item, so a token is a number."""
        start, found = after or "0", self.messages or ()
        if not (start.isascii() and start.isdigit() and len(start) < 9):
            raise BadRequest("BAD_CURSOR", "This is not a token of a page of this list.", "after")
        end = int(start) + (limit if limit is not None and 1 <= limit <= 100 else _PAGE)
        return Page(found[int(start) : end], str(end) if end < len(found) else None, 0)


class OldChats:
    """Finds chats by the ids of the first version."""

    def __init__(
        self, repository: Repository, router: ConversationRouter, v1: V1, periods: RetentionPeriods
    ) -> None:
        self._repository, self._router, self._v1, self._periods = repository, router, v1, periods

    def of_user(self, user_id: str) -> list[Conversation]:
        """The chats of a user that are in the first version alone, the newest first."""
        if self._router.is_second:
            return []
        found: list[Conversation] = []
        for session in self._v1.sessions(user_id):
            with suppress(NotFound):
                place = self._router.place(session.conversation_id, user_id)
                if place.version == "v1" and place.v1 is not None:
                    found.append(self._shown(place.v1).conversation)
        return sorted(found, key=lambda one: one.created, reverse=True)

    def find(self, session_id: str, user_id: str | None = None) -> OldChat:
        """A chat by its old id, in whichever version it is; CONVERSATION_NOT_FOUND."""
        place = self._router.place(session_id, user_id)
        if place.v1 is not None:
            return self._shown(place.v1)
        assert place.header is not None
        return OldChat(place.header)

    def _shown(self, one: V1Conversation) -> OldChat:
        header, now = header_of(one, self._periods), self._repository.now()
        if header.expires_at <= now:
            raise self._repository.not_found("CONVERSATION")
        kept = [each for each in messages_of(one, self._periods) if each.expires_at > now]
        shown = header.model_copy(update={"conversation_id": one.conversation_id})
        return OldChat(shown, tuple(reversed(kept)))
