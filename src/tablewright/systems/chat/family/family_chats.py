"""The chats of a family for its parents: those of the children who are in it now (ZC-15, ZC-D42, ZC-S7).

The index is by the family that a conversation was begun in, so it may be behind a change of the family. Must hold: only
conversations of children whose home the family is at this moment are returned, none of adults; every child whose chats
are listed has an entry in the access log before the list is returned.
Elsewhere: one conversation and its messages (access.py), re-keying (talk/conversations.py).
"""

from collections.abc import Sequence
from dataclasses import replace

from tablewright.design import one_of
from tablewright.mapping import Page
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family.access_log import AccessLog
from tablewright.systems.chat.family.families import Families
from tablewright.systems.chat.family_model import Family, User
from tablewright.systems.chat.legacy.old_chats import OldChats
from tablewright.systems.chat.model import FamilyConversation
from tablewright.systems.chat.repository import Repository


class FamilyChats:
    """Lists the chats of families."""

    def __init__(
        self, repository: Repository, families: Families, access_log: AccessLog, old_chats: OldChats
    ) -> None:
        self._repository, self._families, self._access_log = repository, families, access_log
        self._old_chats = old_chats

    def of(
        self, family: Family, by: User, limit: int | None = None, after: str | None = None
    ) -> Page[FamilyConversation]:
        """The chats of the children of a family, the newest first; the caller is one of its parents.

        Those that are in the first version alone follow on the last page, beyond its size.
        """
        children = [one.user_id for one in self._families.children_in(family)]
        if not children:
            return Page((), None, 0)
        query = d.conversations_of_family(family_id=family.family_id)
        query = query.where(lambda it: one_of(it.user_id, children))
        page = self._repository.page(query, limit, after, by.user_id)
        if page.next is None:
            page = replace(page, items=(*page.items, *self._old(family, children)))
        seen = dict.fromkeys(one.user_id for one in page.items)
        if seen:
            entries = (self._access_log.entry(one, by, "parent view", "list of chats") for one in seen)
            self._repository.db.write(*entries)
        return page

    def _old(self, family: Family, children: Sequence[str]) -> list[FamilyConversation]:
        found = [one for child in children for one in self._old_chats.of_user(child)]
        return [
            FamilyConversation(
                family_id=family.family_id,
                created=one.created,
                conversation_id=one.conversation_id,
                animal_id=one.animal_id,
                user_id=one.user_id,
                message_count=one.message_count,
                last_activity=one.last_activity,
            )
            for one in sorted(found, key=lambda one: one.created, reverse=True)
        ]
