"""Who looked at the data of a child, for its parent."""

from collections.abc import Callable
from functools import cache

from fastapi import APIRouter, Request, Response

from tablewright.systems.chat.access import OpenChild
from tablewright.systems.chat.family_model import AccessEntry, User
from tablewright.systems.chat.pages.child import child_page
from tablewright.systems.chat.pages.page import ChatPages


def add_access(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("/children/{child_id}/access")
    def access(request: Request, opened: OpenChild) -> Response:
        child = opened.child
        listing = pages.list(request, chat.access_log.of(child.user_id), 25)
        return child_page(
            pages, request, "child_access", child, "Who looked", listing=listing, names=_names(pages, opened.me),
            what=_what,
        )  # fmt: skip


def _names(pages: ChatPages, me: User) -> Callable[[AccessEntry], str]:
    """Parents of the family by name, staff by name and role; someone who is gone by role."""
    relatives = {
        each.user.user_id: each.user.name
        for family in pages.chat.families.of(me)
        for each in pages.chat.families.relatives(family)
    }

    @cache
    def other(user_id: str, role: str) -> str:
        found = pages.chat.people.find(user_id)
        return f"{found.name} ({role})" if found is not None and found.name else role.capitalize()

    def name(entry: AccessEntry) -> str:
        if entry.accessed_by == me.user_id:
            return "You"
        return relatives.get(entry.accessed_by) or other(entry.accessed_by, entry.role)

    return name


# What an entry is about, where the log has the kind and an id.
_THINGS = {"conversation": "a chat", "message": "a message"}


def _what(entry: AccessEntry) -> str:
    """What was looked at, without ids: "a chat, messages" for "conversation:ID, messages"."""
    kind, _, rest = entry.what.partition(":")
    if kind not in _THINGS:
        return entry.what
    _, comma, more = rest.partition(",")
    return f"{_THINGS[kind]}{comma}{more}"
