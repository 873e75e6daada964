"""What a parent allows a child: minutes, quiet hours, messages in a minute."""

from datetime import date

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.charts import Bar, bars
from tablewright.pages.forms import Form, FormWrong, Posted, read
from tablewright.systems.chat.access import OpenChild
from tablewright.systems.chat.family_model import Limits, User
from tablewright.systems.chat.model import Value
from tablewright.systems.chat.pages.child import PURPOSE, child_page, child_path
from tablewright.systems.chat.pages.page import ChatPages, typed_fields
from tablewright.systems.chat.talk.prompts import LANGUAGES


def add_limits(router: APIRouter, pages: ChatPages) -> None:
    chat = pages.chat

    def shown(request: Request, child: User, form: Form, status: int = 200) -> Response:
        days = chat.limits.days_of(child)
        rows = [Bar(f"{date.fromisoformat(each.day):%a %d %b}", each.seconds / 60) for each in days]
        chart = (
            bars(rows, about="Minutes of chat by day", shown=lambda minutes: f"{minutes:.0f} min")
            if rows
            else None
        )
        return child_page(
            pages, request, "child_limits", child, "Limits", form=form, chart=chart, status=status,
            languages=[("", "As the child writes"), *LANGUAGES.items()],
            spoken=Form({"language": child.language or ""}),
        )  # fmt: skip

    @router.get("/children/{child_id}/limits")
    def limits(request: Request, opened: OpenChild) -> Response:
        chat.access_log.note(opened.child.user_id, opened.me, PURPOSE, "minutes by day")
        return shown(request, opened.child, _limits_form(opened.child))

    @router.post("/children/{child_id}/limits")
    def set_limits(request: Request, opened: OpenChild, form: Posted) -> Response:
        child = opened.child
        try:
            given = read(typed_fields(form, _Typed), _Typed)
            wanted = Limits(**given.model_dump())
            chat.children.set_limits(child, wanted, opened.me, int(form.get("version") or child.version))
        except (FormWrong, CallerError) as mistake:
            return shown(request, child, form.refused(mistake), mistake.status)
        return pages.console.go(
            f"{child_path(child)}/limits", "Limits saved. They apply to the next message."
        )

    @router.post("/children/{child_id}/language")
    def set_language(request: Request, opened: OpenChild, form: Posted) -> Response:
        child, wanted = opened.child, form.get("language")
        chosen = next((code for code in LANGUAGES if code == wanted), None)
        chat.people.change(child, {"language": chosen}, opened.me)
        return pages.console.go(
            f"{child_path(child)}/limits", "Language saved. It applies to the next reply."
        )


class _Typed(Value):
    """The limits as typed: an empty field means no limit."""

    daily_minutes: int | None = None
    messages_per_minute: int = 10
    quiet_from: str | None = None
    quiet_until: str | None = None


def _limits_form(child: User) -> Form:
    limits = child.limits
    return Form(
        {
            "dailyMinutes": "" if limits.daily_minutes is None else str(limits.daily_minutes),
            "messagesPerMinute": str(limits.messages_per_minute),
            "quietFrom": limits.quiet_from or "",
            "quietUntil": limits.quiet_until or "",
            "version": str(child.version),
        }
    )
