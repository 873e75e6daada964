"""Who may do what in Zoo chat: the dependencies of its API and its pages (ZC-28, ZC-29).

A login says who someone is; the row of the user says whether the account still exists, read consistently with each
request. A parent reads what a child of the present family has written: membership is read at that moment, never taken
from a conversation (ZC-D42). Must hold: for everyone else a conversation or a child does not exist (404); an access to
the data of another person is in the access log before it is returned.
Elsewhere: families (family/families.py), the log (family/access_log.py).
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request

from tablewright.edge import Principal
from tablewright.edge.errors import Forbidden, NotFound
from tablewright.kit.access import Access
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.errors import NotInFamily
from tablewright.systems.chat.family.people import masked_id, not_a_child
from tablewright.systems.chat.family_model import Family, User
from tablewright.systems.chat.legacy.old_chats import OldChat
from tablewright.systems.chat.model import Conversation

CHAT: Access[Chat] = Access("chat")
STAFF = ("zookeeper", "administrator")
# Why someone reads what is not theirs, for the log; by role where the request does not say it.
Purpose = Annotated[str | None, Header(alias="X-Access-Purpose", max_length=200)]
_PURPOSES = {"parent": "parent view", "zookeeper": "review", "administrator": "administration"}


def _not_erased(chat: Chat, caller: Principal) -> User:
    return chat.people.entered(caller)


me = CHAT.require_record(_not_erased)  # the caller's own record; ERASED if the account is
zookeeper = CHAT.require_record(_not_erased, *STAFF, code="ZOOKEEPER_ONLY")  # or an administrator
administrator = CHAT.require_record(_not_erased, "administrator", code="ADMIN_ONLY")

Caller = Annotated[Principal, Depends(CHAT.caller)]  # anyone: for public routes
Me = Annotated[User, Depends(me)]
Zookeeper = Annotated[User, Depends(zookeeper)]
Administrator = Annotated[User, Depends(administrator)]


# --- conversations ---


@dataclass(frozen=True, slots=True)
class Reading:
    """A conversation, and who reads it."""

    reader: User
    conversation: Conversation
    # Of a chat that is in the first version.
    old: OldChat | None = None

    @property
    def is_own(self) -> bool:
        return self.reader.user_id == self.conversation.user_id

    @property
    def shown_user_id(self) -> str:
        """Whose conversation it is, as the reader may see it: zookeepers see the end of the id alone (ZC-D41)."""
        user_id = self.conversation.user_id
        return masked_id(user_id) if self.reader.role == "zookeeper" and not self.is_own else user_id


def own_conversation(request: Request, conversation_id: str, user: Me) -> Conversation:
    """A dependency: the conversation of the path, if it is the caller's own."""
    return CHAT.service(request).conversations.get(conversation_id, user.user_id)


def readable_conversation(
    request: Request, conversation_id: str, user: Me, purpose: Purpose = None
) -> Reading:
    """A dependency: the conversation of the path for its child, a parent of that child now, and staff; logged."""
    return reading_of(CHAT.service(request), user, conversation_id, purpose)


def reading_of(chat: Chat, user: User, conversation_id: str, purpose: str | None = None) -> Reading:
    """The conversation for a reader; CONVERSATION_NOT_FOUND for strangers. What is another's is logged."""
    with suppress(NotFound):  # their own, without the index, which may be behind
        return Reading(user, chat.conversations.get(conversation_id, user.user_id))
    found, old = conversation_in(chat, conversation_id)
    if found.user_id == user.user_id:
        return Reading(user, found, old)
    if not may_read(chat, user, found.user_id):
        raise NotFound("conversation")
    chat.access_log.note(
        found.user_id, user, purpose or _PURPOSES.get(user.role, "view"), f"conversation:{conversation_id}"
    )
    return Reading(user, found, old)


def conversation_in(
    chat: Chat, conversation_id: str, user_id: str | None = None
) -> tuple[Conversation, OldChat | None]:
    """A conversation of either version by its id, and what the first has of it (ZC-50, ZC-D54)."""
    with suppress(NotFound):
        return chat.conversations.get(conversation_id, user_id), None
    old = chat.legacy.old_chats.find(conversation_id, user_id)
    return old.conversation, old if old.messages is not None else None


def may_read(chat: Chat, user: User, child_id: str) -> bool:
    """Whether a user may read what a child has written: staff, and parents of the child at this moment."""
    if user.role in STAFF:
        return True
    child = chat.people.find(child_id)
    return child is not None and chat.families.is_parent_of(user, child)


async def family_conversation(found: Annotated[Reading, Depends(readable_conversation)]) -> Reading:
    """A dependency: the conversation of the path for its child and a parent; NOT_IN_FAMILY for staff, who only read."""
    if not found.is_own and found.reader.role in STAFF:
        raise NotInFamily()
    return found


OwnConversation = Annotated[Conversation, Depends(own_conversation)]
ReadableConversation = Annotated[Reading, Depends(readable_conversation)]
FamilyConversation = Annotated[Reading, Depends(family_conversation)]


# --- contact in a crisis ---


@dataclass(frozen=True, slots=True)
class Contact:
    """Whom a zookeeper speaks to about a child in danger: its parents, or itself if it has none here."""

    child: User
    parents: tuple[User, ...]


def contact_of(chat: Chat, user: User, flag_id: str) -> Contact:
    """The names and addresses behind a flag; logged. CRISIS_ONLY for a flag about anything else."""
    flag = chat.review.get(flag_id)
    if flag.kind != "crisis":
        raise Forbidden("CRISIS_ONLY", "Names are shown only if a child may be in danger.")
    child = chat.people.by_id(flag.user_id)
    chat.access_log.note(
        child.user_id, user, "review of a flag", "names and addresses of the child and its parents"
    )
    is_adult = child.is_adult_on(chat.people.today())
    return Contact(child, () if is_adult else tuple(chat.families.parents_of(child)))


# --- children and families ---


@dataclass(frozen=True, slots=True)
class ChildOf:
    """A child, and the parent or administrator who manages it."""

    me: User
    child: User


@dataclass(frozen=True, slots=True)
class FamilyOf:
    """A family, and the parent in it who is the caller."""

    me: User
    family: Family


def open_child(request: Request, child_id: str, user: Me, purpose: Purpose = None) -> ChildOf:
    """A dependency: the child of the path for a parent of it now, and for administrators, who are logged."""
    return child_of(CHAT.service(request), user, child_id, purpose)


def child_of(chat: Chat, user: User, child_id: str, purpose: str | None = None) -> ChildOf:
    """The child for someone who manages it; CHILD_NOT_FOUND for everyone else."""
    if user.role != "administrator":
        return ChildOf(user, chat.families.child_of(user, child_id))
    child = chat.people.find(child_id)
    if child is None or child.role != "student" or child.standing != "active":
        raise not_a_child()
    chat.access_log.note(child_id, user, purpose or _PURPOSES["administrator"], "profile")
    return ChildOf(user, child)


def note_view(chat: Chat, opened: ChildOf, what: str) -> None:
    """Log what of a child is returned to the one who manages it."""
    chat.access_log.note(opened.child.user_id, opened.me, _PURPOSES.get(opened.me.role, "view"), what)


async def own_child(opened: Annotated[ChildOf, Depends(open_child)]) -> ChildOf:
    """A dependency: the child of the path, for its parents; NOT_IN_FAMILY for an administrator, who only manages it."""
    if opened.me.role == "administrator":
        raise NotInFamily()
    return opened


def open_family(request: Request, family_id: str, user: Me) -> FamilyOf:
    """A dependency: the family of the path, for a parent in it now; FAMILY_NOT_FOUND for everyone else."""
    return FamilyOf(user, CHAT.service(request).families.own(user, family_id))


OpenChild = Annotated[ChildOf, Depends(open_child)]
OwnChild = Annotated[ChildOf, Depends(own_child)]
OpenFamily = Annotated[FamilyOf, Depends(open_family)]
