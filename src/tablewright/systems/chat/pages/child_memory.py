"""What is remembered of a child, each with a button that forgets it."""

from typing import Any

from fastapi import APIRouter, Request, Response

from tablewright.pages.forms import Posted
from tablewright.systems.chat.access import OpenChild
from tablewright.systems.chat.family.consent import may_profile
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Category
from tablewright.systems.chat.pages.child import PURPOSE, child_page, child_path
from tablewright.systems.chat.pages.page import ChatPages


def add_memory(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("/children/{child_id}/memory")
    def memory(request: Request, opened: OpenChild) -> Response:
        child = opened.child
        chat.access_log.note(child.user_id, opened.me, PURPOSE, "what is remembered")
        return child_page(
            pages, request, "child_memory", child, "Memory", known=_known(pages, child), profiling=may_profile(child),
            memories=chat.recall.all_of(child.user_id),
        )  # fmt: skip

    @router.post("/children/{child_id}/memory/{category}")
    def forget(request: Request, category: Category, opened: OpenChild, form: Posted) -> Response:
        child = opened.child
        chat.contexts.remove(child.user_id, category, form.get("key"))
        return pages.console.go(f"{child_path(child)}/memory", "Forgotten.")

    @router.post("/children/{child_id}/memories/{memory_id}")
    def forget_memory(request: Request, memory_id: str, opened: OpenChild) -> Response:
        child = opened.child
        chat.recall.forget(child.user_id, memory_id)
        return pages.console.go(f"{child_path(child)}/memory", "Forgotten.")


def _known(pages: ChatPages, child: User) -> list[dict[str, Any]]:
    return [
        {
            "category": context.category,
            "key": entry.name,
            "text": entry.words,
            "percent": round(float(entry.confidence) * 100),
            "updated": entry.updated,
        }
        for context in pages.chat.contexts.of(child.user_id)
        for entry in context.entries
    ]
