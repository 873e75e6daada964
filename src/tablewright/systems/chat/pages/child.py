"""What the pages about a child share: its path, its tabs, and what a parent says of a child.

Elsewhere: the tabs (child_chats.py, child_limits.py, child_memory.py, child_access.py, child_data.py, consent.py).
"""

from datetime import date
from typing import Any

from fastapi import Request, Response

from tablewright.pages.layout import Crumb
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Value
from tablewright.systems.chat.pages.page import HOME, ChatPages

LIST = f"{HOME}/children"
LISTED = Crumb("Your children", LIST)
PURPOSE = "parent's page"


class Birth(Value):
    """What a parent says of a child."""

    name: str
    birth_date: date


def child_path(child: User) -> str:
    return f"{LIST}/{child.user_id}"


def child_tabs(child: User, here_now: str) -> list[tuple[str, str, bool]]:
    at = child_path(child)
    shown = (
        ("Chats", at),
        ("Consent", f"{at}/consent"),
        ("Limits", f"{at}/limits"),
        ("Memory", f"{at}/memory"),
        ("Who looked", f"{at}/access"),
        ("Data", f"{at}/data"),
    )
    return [(title, href, title == here_now) for title, href in shown]


def child_page(
    pages: ChatPages, request: Request, name: str, child: User, tab: str, **values: Any
) -> Response:
    """A page of a child, with its tabs."""
    at = child_path(child)
    tabs = child_tabs(child, tab)
    return pages.page(
        request, name, title=f"{child.name}: {tab.lower()}", crumbs=(LISTED,), child=child, at=at, tabs=tabs, **values
    )  # fmt: skip
