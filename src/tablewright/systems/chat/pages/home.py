"""The first page, by who opens it: animals for a child, children for a parent, the queue for a zookeeper, figures
for an administrator; for a visitor what this is."""

from fastapi import APIRouter, Request, Response

from tablewright.systems.chat.access import Caller
from tablewright.systems.chat.family.consent import may_chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.pages.page import HOME, ChatPages

_CHATS = 4
_HOMES = {"parent": "children", "zookeeper": "review", "administrator": "admin"}


def add_home(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("")
    def home(request: Request, caller: Caller) -> Response:
        animals = chat.animals.all()
        if not caller.is_known:
            return pages.page(request, "visitor", title="Zoo chat", animals=animals)
        me = chat.people.entered(caller)
        if me.role != "student":
            return pages.console.go(f"{HOME}/{_HOMES[me.role]}")
        return pages.page(
            request,
            "animals",
            title="Zoo chat",
            me=me,
            animals=animals,
            chats=chat.conversations.of_user(me.user_id, _CHATS).items,
            why_not=_why_not(pages, me),
            key=chat.repository.new_ulid(),
        )


def _why_not(pages: ChatPages, me: User) -> str:
    """Why a child cannot chat now, in words for the child; "" if it can."""
    if not may_chat(me, pages.chat.people.today()):
        return "Ask your parents first: they have to say yes before you can talk to the animals."
    return ""
