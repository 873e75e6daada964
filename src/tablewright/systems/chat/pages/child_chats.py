"""A child's chats, for its parent: the list, a transcript, the deletion of a chat."""

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from tablewright.pages.layout import Crumb
from tablewright.pages.lists import here
from tablewright.systems.chat.access import OpenChild, OwnChild, conversation_in
from tablewright.systems.chat.family.consent import may_chat
from tablewright.systems.chat.family.people import actor_of
from tablewright.systems.chat.pages.child import LISTED, PURPOSE, child_page, child_path
from tablewright.systems.chat.pages.page import ChatPages

_MESSAGES = 40


def add_chats(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("/children/{child_id}")
    def child_chats(request: Request, opened: OpenChild) -> Response:
        child = opened.child
        chat.access_log.note(child.user_id, opened.me, PURPOSE, "list of chats")
        listing = pages.list(request, chat.conversations.query_of_user(child.user_id), 20)
        if listing.next is None:  # those that are in the first version alone follow (ZC-D54)
            listing = replace(listing, items=(*listing.items, *chat.legacy.old_chats.of_user(child.user_id)))
        return child_page(
            pages, request, "child", child, "Chats", chats=listing, used=chat.limits.used_today(child),
            is_allowed=may_chat(child, chat.people.today()),
        )  # fmt: skip

    @router.get("/children/{child_id}/chats/{conversation_id}")
    def transcript(request: Request, conversation_id: str, opened: OpenChild) -> Response:
        child, me = opened.child, opened.me
        found, old = conversation_in(chat, conversation_id, child.user_id)
        chat.access_log.note(child.user_id, me, PURPOSE, f"chat with {found.animal_name}")
        after = request.query_params.get("after")
        if old is not None:
            page = old.page(_MESSAGES, after)
        else:
            page = chat.messages.history(found, limit=_MESSAGES, after=after, reader=me.user_id)
        return pages.page(
            request,
            "transcript",
            title=f"{child.name} and {found.animal_name}",
            crumbs=(LISTED, Crumb(child.name, child_path(child))),
            child=child,
            chat=found,
            at=child_path(child),
            summaries=() if after else chat.summaries.of(found),
            messages=list(reversed(page.items)),
            older=here(request, after=page.next) if page.next else None,
            newest=here(request, after=None) if after else None,
        )

    @router.get("/children/{child_id}/chats/{conversation_id}/delete")
    def ask_delete(request: Request, conversation_id: str, opened: OwnChild) -> Response:
        child = opened.child
        found = chat.conversations.get(conversation_id, child.user_id)
        return pages.console.confirm(
            request,
            title=f"Delete the chat with {found.animal_name}?",
            happens=f"{found.message_count} messages and their summaries are deleted for good.",
            button="Delete chat",
            back=f"{child_path(child)}/chats/{conversation_id}",
            crumbs=(LISTED, Crumb(child.name, child_path(child))),
        )

    @router.post("/children/{child_id}/chats/{conversation_id}/delete")
    def delete(request: Request, conversation_id: str, opened: OwnChild) -> Response:
        child = opened.child
        found = chat.conversations.get(conversation_id, child.user_id)
        chat.conversations.delete(found, actor_of(opened.me), "deleted by a parent")
        return pages.console.go(child_path(child), "Chat deleted.")
