"""A parent's children: the list, a new child, and the router of all pages about a child.

Elsewhere: what these pages share (child.py), what a parent allows (consent.py), the family itself (family.py).
"""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, FormWrong, Posted, read
from tablewright.systems.chat.access import Me
from tablewright.systems.chat.family.consent import may_chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Conversation
from tablewright.systems.chat.pages.child import LISTED, PURPOSE, Birth, child_path
from tablewright.systems.chat.pages.child_access import add_access
from tablewright.systems.chat.pages.child_chats import add_chats
from tablewright.systems.chat.pages.child_data import add_data, add_erasure
from tablewright.systems.chat.pages.child_limits import add_limits
from tablewright.systems.chat.pages.child_memory import add_memory
from tablewright.systems.chat.pages.page import ChatPages, typed_fields

_NEWEST = 3


def add_children(router: APIRouter, pages: ChatPages) -> None:
    _add_list(router, pages)
    add_chats(router, pages)
    add_limits(router, pages)
    add_memory(router, pages)
    add_access(router, pages)
    add_data(router, pages)
    add_erasure(router, pages)


def _add_list(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    @router.get("/children")
    def children(request: Request, me: Me) -> Response:
        today, shown = chat.people.today(), chat.families.children_of(me)
        for child in shown:
            chat.access_log.note(child.user_id, me, PURPOSE, "newest chats and minutes of today")
        rows = [(child, chat.limits.used_today(child), _newest(child)) for child in shown]
        return pages.page(
            request, "children", title="Your children", rows=rows, families=chat.families.of(me), today=today,
            allowed=lambda child: may_chat(child, today),
        )  # fmt: skip

    def _newest(child: User) -> tuple[Conversation, ...]:
        return chat.conversations.of_user(child.user_id, _NEWEST).items

    def new_page(request: Request, me: User, form: Form, status: int = 200) -> Response:
        families = [(one.family_id, one.name) for one in chat.families.of(me)]
        return pages.page(
            request, "child_form", title="Add a child", crumbs=(LISTED,), form=form, families=families, status=status
        )  # fmt: skip

    # Not below /children/{child_id}: a child's id may be anything.
    @router.get("/new-child")
    def new(request: Request, me: Me) -> Response:
        return new_page(request, me, Form())

    @router.post("/new-child")
    def add(request: Request, me: Me, form: Posted) -> Response:
        try:
            given = read(typed_fields(form, Birth), Birth)
            families = chat.families.of(me)
            wanted = form.get("family") or (families[0].family_id if families else "")
            family = chat.families.own(me, wanted)
            child = chat.children.add(family, given.name, given.birth_date, me)
        except (FormWrong, CallerError) as mistake:
            return new_page(request, me, form.refused(mistake), mistake.status)
        return pages.console.go(
            f"{child_path(child)}/consent", f"{child.name} is added. Now decide what you allow."
        )
