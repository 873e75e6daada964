"""Children: `/children`, limits, memories, who looked, export, erasure, certificate (ZC-X4, ZC-X7, ZC-X8, ZC-X10)."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import StringConstraints

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.rate_limit import rate_limit_key
from tablewright.edge.routes import Router
from tablewright.kit.erased import Certificate
from tablewright.kit.http import Body, Cursor, Page, VersionRead, listed, marked, page_of, view_of
from tablewright.systems.chat.access import ChildOf, Me, OpenChild, OpenFamily, OwnChild, note_view
from tablewright.systems.chat.api.context import ContextView, MemoryView, context_view, memory_view
from tablewright.systems.chat.api.conversations import PageSize
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family.consent import may_chat
from tablewright.systems.chat.family.readable import readable_export
from tablewright.systems.chat.family_model import (
    AccessEntry,
    AccessKind,
    DayUse,
    Language,
    Limits,
    ReaderRole,
    Scope,
    User,
    UserRole,
)
from tablewright.systems.chat.model import Category, Value

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Address = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class NewChild(Body):
    name: Name
    birth_date: date


class ChildChange(Body):
    """What a parent changes; `stays_local` keeps the child's words on this machine, `language` is that of replies."""

    name: Name | None = None
    language: Language | None = None
    birth_date: date | None = None
    stays_local: bool | None = None


class TransferRequest(Body):
    """The address of a parent in another family."""

    email: Address


class LoginCode(Body):
    code: Annotated[str, StringConstraints(strip_whitespace=True, min_length=12, max_length=30)]


class ErasureRequest(Body):
    # Without one it says who asked.
    reason: Reason | None = None


class ProfileView(Value):
    """A person as the person and the parents see it."""

    user_id: str
    role: UserRole
    name: str
    birth_date: date | None = None
    family_id: str | None = None
    time_zone: str
    language: Language | None = None
    scopes: list[Scope]
    stays_local: bool
    may_chat: bool
    # The child sees a sign while a parent can read along (ZC-X26).
    parents_can_read: bool
    limits: Limits
    version: int


class DayView(Value):
    day: str
    seconds: int
    messages: int


class AccessView(Value):
    """Someone looked: who, when, at what and why."""

    user_id: str
    timestamp: datetime
    accessed_by: str
    role: ReaderRole
    purpose: str
    what: str
    kind: AccessKind


def profile_view(user: User, today: date) -> ProfileView:
    reads_along = user.family_id is not None and not user.is_adult_on(today)
    return view_of(ProfileView, user, may_chat=may_chat(user, today), parents_can_read=reads_along)


def access_view(entry: AccessEntry) -> AccessView:
    return view_of(AccessView, entry)


def day_view(day: DayUse) -> DayView:
    return view_of(DayView, day)


def children(chat: Chat, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["children"])
    pace = [Depends(limit_rate(buckets, "child logins", per_minute=20, burst=10, key=rate_limit_key))]

    def shown(user: User) -> ProfileView:
        return profile_view(user, chat.people.today())

    @api.post("/families/{family_id}/children", status_code=201, response_model_exclude_none=True)
    def add_child(opened: OpenFamily, body: NewChild, response: Response) -> ProfileView:
        """A child's profile; nothing is stored of what it writes before a parent consents."""
        return marked(
            response, shown(chat.children.add(opened.family, body.name, body.birth_date, opened.me))
        )

    @api.get("/children", response_model_exclude_none=True)
    def list_children(me: Me) -> Page[ProfileView]:
        """The caller's children."""
        found = chat.families.children_of(me)
        for child in found:
            note_view(chat, ChildOf(me, child), "profile")
        return listed(map(shown, found))

    @api.get("/children/{child_id}", response_model_exclude_none=True)
    def get_child(opened: OpenChild, response: Response) -> ProfileView:
        if opened.me.role != "administrator":  # who is logged with the opening
            note_view(chat, opened, "profile")
        return marked(response, shown(opened.child))

    @api.patch("/children/{child_id}", response_model_exclude_none=True)
    def change_child(
        opened: OpenChild, body: ChildChange, response: Response, version: VersionRead = None
    ) -> ProfileView:
        changes = {name: value for name, value in body.changes().items() if value is not None}
        return marked(response, shown(chat.people.change(opened.child, changes, opened.me, version)))

    @api.put("/children/{child_id}/limits", response_model_exclude_none=True)
    def set_limits(
        opened: OpenChild, body: Limits, response: Response, version: VersionRead = None
    ) -> ProfileView:
        """Minutes in a day, messages in a minute, quiet hours."""
        return marked(response, shown(chat.children.set_limits(opened.child, body, opened.me, version)))

    @api.post("/children/{child_id}/login-code", status_code=201)
    def make_login_code(opened: OwnChild) -> dict[str, str]:
        """A code that signs the child in on its own device, once, for 15 minutes."""
        return {"code": chat.child_logins.offer(opened.child, opened.me)}

    @api.post("/child-logins", status_code=201, dependencies=pace)
    def sign_child_in(body: LoginCode, response: Response) -> dict[str, str]:
        """A login as the child that a parent made the code for. Public: the code is the key."""
        response.headers["Cache-Control"] = "no-store"
        return {"token": chat.child_logins.redeem(body.code)}

    @api.get("/children/{child_id}/time")
    def time_used(opened: OpenChild) -> Page[DayView]:
        """How long the child has chatted, by day, the newest first."""
        note_view(chat, opened, "minutes by day")
        return listed(map(day_view, chat.limits.days_of(opened.child)))

    @api.post("/children/{child_id}:transfer", status_code=202)
    def transfer(opened: OwnChild, body: TransferRequest) -> dict[str, str]:
        """Offer the child to a parent of another family, by mail."""
        offered = chat.children.offer_transfer(opened.child, body.email, opened.me)
        return {"invitationId": offered.invitation_id}

    _add_memory(api, chat)

    @api.get("/children/{child_id}/access-log", response_model_exclude_none=True)
    def access_log(opened: OpenChild, size: PageSize = None, after: Cursor = None) -> Page[AccessView]:
        """Who looked at the child's data, when and why; the newest first."""
        query = chat.access_log.of(opened.child.user_id)
        return page_of(chat.repository.page(query, size, after, opened.me.user_id), access_view)

    @api.get("/children/{child_id}/export")
    def export(
        opened: OpenChild, form: Annotated[Literal["json", "html"], Query(alias="format")] = "json"
    ) -> Response:
        """Everything that is kept about the child, as JSON or as a page to read."""
        chat.access_log.note(opened.child.user_id, opened.me, "export", "everything")
        found: dict[str, Any] = chat.privacy.export(opened.child)
        headers = {
            "Content-Disposition": f'attachment; filename="zoo-chat.{form}"',
            "Cache-Control": "no-store",
        }
        if form == "json":
            return JSONResponse(found, headers=headers)
        return HTMLResponse(readable_export(f"Zoo chat: {opened.child.name}", found), headers=headers)

    @api.post("/children/{child_id}/erase")
    def erase(opened: OpenChild, body: ErasureRequest | None = None) -> Certificate:
        """Opt out: everything about the child is erased now; the certificate lists what."""
        reason = (body or ErasureRequest()).reason
        return chat.erasure.erase(opened.child, opened.me, reason)

    @api.get("/children/{child_id}/certificate")
    def certificate(child_id: str, me: Me) -> Certificate:
        """The proof of an erasure, for the parent who asked for it."""
        return chat.erasure.certificate_for(me, child_id)

    return api


def _add_memory(api: APIRouter, chat: Chat) -> None:
    """What is remembered of a child, for its parents (ZC-X7)."""

    @api.get("/children/{child_id}/context")
    def list_context(opened: OpenChild) -> Page[ContextView]:
        """What is known of the child, by category."""
        note_view(chat, opened, "what is remembered")
        return listed(map(context_view, chat.contexts.of(opened.child.user_id)))

    @api.delete("/children/{child_id}/context/{category}/{name}")
    def remove_entry(opened: OpenChild, category: Category, name: str) -> ContextView:
        """Forget one entry."""
        return context_view(chat.contexts.remove(opened.child.user_id, category, name))

    @api.get("/children/{child_id}/memories", response_model_exclude_none=True)
    def list_memories(opened: OpenChild) -> Page[MemoryView]:
        """Every memory of the child."""
        note_view(chat, opened, "what is remembered")
        return listed(map(memory_view, chat.recall.all_of(opened.child.user_id)))

    @api.delete("/children/{child_id}/memories/{memory_id}", status_code=204)
    def forget_memory(opened: OpenChild, memory_id: str) -> None:
        chat.recall.forget(opened.child.user_id, memory_id)
