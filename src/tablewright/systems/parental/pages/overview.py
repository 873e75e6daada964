"""One child now: what is blocked, the next change, whether the network confirmed it, the day, and exceptions.

Must hold: a state is what the reconciler knows, not what was asked for; after a button is pressed, the page refreshes
(with a script) until the change is confirmed. The end of an exception is computed when the button is pressed.
Elsewhere: policies (policies.py), what a state means (systems/parental/enforcement/plan.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, FormWrong
from tablewright.systems.parental.enforcement.plan import AppStatus
from tablewright.systems.parental.model import EVERYTHING, Device, OverrideKind, Session
from tablewright.systems.parental.pages.charts import day_timeline
from tablewright.systems.parental.pages.confirmation import confirmation
from tablewright.systems.parental.pages.page import Look, ParentalPages, Posted, later, refused
from tablewright.systems.parental.pages.words import (
    IN_PART,
    STATES,
    allowed_words,
    app_words,
    change_words,
    day_words,
    policy_title,
    status_words,
    typed_moment,
    until_words,
    why_words,
    zone_of,
)
from tablewright.systems.parental.policy.effective import Effective, in_their_time
from tablewright.systems.parental.policy.windows import day_bounds

_DAYS_AHEAD = 7
SOON, LATER = 2, 10  # seconds until a page refreshes: while a change is on its way, and otherwise
ALLOW_MINUTES, BLOCK_MINUTES = 30, 60


@dataclass(frozen=True, slots=True)
class Row:
    """An app that is blocked, or should not be but still is: its state, the reason, and the cause."""

    app: str
    name: str
    state: str
    tone: str
    sentence: str
    by: str
    wanted: bool
    unmet: tuple[str, ...]


def add_overview(router: APIRouter, pages: ParentalPages) -> None:
    for part in (_pages, _exceptions, _pauses):
        part(router, pages)


def rows_of(pages: ParentalPages, look: Look, statuses: Sequence[AppStatus]) -> list[Row]:
    child, now = look.child, pages.now()
    policies = {policy.policy_id: policy for policy in pages.parental.policies.of_child(child)}
    overrides = {one.override_id: one for one in pages.overrides_of(child)}
    return [
        Row(
            status.app,
            app_words(status.app),
            *(IN_PART if status.state == "enforced" and status.unmet else STATES[status.state]),
            status_words(status, child, now),
            why_words(status.policy_ids, status.override_id, policies, overrides),
            status.wanted,
            status.unmet,
        )
        for status in sorted(statuses, key=lambda one: (one.app != EVERYTHING, one.app.casefold()))
    ]


def now_of(pages: ParentalPages, look: Look) -> dict[str, Any]:
    """The current state, for the part of the page that refreshes."""
    child, now = look.child, pages.now()
    holding = pages.parental.blocked_now(child)
    statuses = pages.parental.reconciler.status(child.child)
    is_busy = any(one.state == "pending" for one in statuses)
    found = confirmation(holding.now, statuses)
    is_paused = child.paused_until is not None and child.paused_until > now
    return {
        "confirmed": found,
        "allowed": "" if is_paused or holding.now.everything else _allowed(pages, look, holding.now),
        "change": change_words(holding.now, holding.then, child.timezone, now),
        "holding": holding,
        "rows": rows_of(pages, look, statuses),
        # Each view by support is recorded: a page that refreshes would fill the family's activity.
        "again": 0 if look.reason else SOON if is_busy else LATER,
        "is_paused": is_paused,
    }


def _allowed(pages: ParentalPages, look: Look, now: Effective) -> str:
    """What an exception allows, and which policies would block it."""
    policies = pages.parental.policies.of_child(look.child)
    in_time = in_their_time(look.child, policies, now.at)
    found = [
        policy_title(one)
        for one in policies
        if one.policy_id in in_time and any(entry.app_name in now.allowed for entry in one.blocked_apps)
    ]
    return allowed_words(now.allowed, found)


def page_of_child(
    pages: ParentalPages, request: Request, look: Look, form: Form | None = None, pause: Form | None = None,
    status: int = 200,
) -> Response:  # fmt: skip
    child, now = look.child, pages.now()
    overrides = pages.overrides_of(child)
    return pages.child_page(
        request,
        look,
        "child",
        tab="",
        status=status,
        overrides=overrides,
        sessions=_sessions(pages, pages.parental.sessions.open_of(child.child)),
        form=form or Form({"kind": "allow", "minutes": str(ALLOW_MINUTES)}),
        pause=pause or Form(),
        options=_options(pages, look),
        soonest=typed_moment(now, child.timezone),
        has_policies=bool(pages.parental.policies.of_child(child)),
        allow_minutes=ALLOW_MINUTES,
        block_minutes=BLOCK_MINUTES,
        **now_of(pages, look),
        **_day_of(pages, request, look),
    )


def _day_of(pages: ParentalPages, request: Request, look: Look) -> dict[str, Any]:
    """The picture of a day: today, or one of the next."""
    zone, now = zone_of(look.child), pages.now()
    today = now.astimezone(zone).date()
    ahead = [today + timedelta(days=n) for n in range(_DAYS_AHEAD)]
    asked = request.query_params.get("day")
    day = next((one for one in ahead if one.isoformat() == asked), today)
    start, end = day_bounds(day, zone)
    past = pages.parental.blocked_until_now(look.child, start) if day == today else []
    planned = pages.parental.timeline(look.child, max(start, now) if day == today else start, end)
    spans = [*past, *planned]
    policies = {one.policy_id: one for one in pages.parental.policies.of_child(look.child)}
    overrides = {one.override_id: one for one in pages.overrides_of(look.child)}
    return {
        "day": "" if day == today else day.isoformat(),
        "day_title": day_words(day, today).removeprefix("on ").capitalize(),
        "days": [
            (_day_name(each, today), look.at(day="" if each == today else each.isoformat()), each == day)
            for each in ahead
        ],
        "picture": day_timeline(spans, start, end, now, zone) if spans else "",
        "spans": [
            (
                app_words(span.app),
                f"{span.start.astimezone(zone):%H:%M}",
                "midnight" if span.end >= end else f"{span.end.astimezone(zone):%H:%M}",
                why_words(span.why.policy_ids, span.why.override_id, policies, overrides),
                "confirmed" if place < len(past) else "planned",
            )
            for place, span in enumerate(spans)
        ],
        "is_today": day == today,
        "is_short": end - start != timedelta(days=1),
        "hours": round((end - start) / timedelta(hours=1)),
    }


def _day_name(day: date, today: date) -> str:
    return {0: "Today", 1: "Tomorrow"}.get((day - today).days, f"{day:%a}")


def _options(pages: ParentalPages, look: Look) -> list[tuple[str, str]]:
    """Apps to choose from in an exception: those of the child's policies first."""
    own = [
        entry.app_name
        for policy in pages.parental.policies.of_child(look.child)
        for entry in policy.blocked_apps
    ]
    first = [name for name in dict.fromkeys(own) if name != EVERYTHING]
    rest = sorted((app.app_name for app in pages.parental.registry.offered()), key=str.casefold)
    known = {name.casefold() for name in first}
    return [
        (EVERYTHING, "Everything"),
        *((name, name) for name in first),
        *((name, name) for name in rest if name.casefold() not in known),
    ]


def _sessions(pages: ParentalPages, sessions: Sequence[Session]) -> list[tuple[Session, str]]:
    names: dict[str, Device] = {device.device_id: device for device in pages.parental.devices.all()}
    return [(one, names[one.device_id].name if one.device_id in names else one.device_id) for one in sessions]


def _pages(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/children/{key}")
    def child(request: Request, key: str) -> Response:
        return page_of_child(pages, request, pages.look(request, key))

    @router.get("/children/{key}/now")
    def now(request: Request, key: str) -> Response:
        """Only the current state, for the page to replace."""
        look = pages.look(request, key)
        return pages.child_page(
            request, look, "_live", tab="", allow_minutes=ALLOW_MINUTES, block_minutes=BLOCK_MINUTES,
            **now_of(pages, look), **_day_of(pages, request, look),
        )  # fmt: skip


# --- exceptions ---


def _exceptions(router: APIRouter, pages: ParentalPages) -> None:
    @router.post("/children/{key}/exceptions")
    def add(request: Request, key: str, form: Posted) -> Response:
        look = pages.open(request, key)
        kind: OverrideKind = "block" if form.get("kind") == "block" else "allow"
        try:
            until = later(form, look.child, pages.now())
            made = pages.parental.overrides.add(
                look.child, kind, form.get("app"), until, look.actor, reason=form.get("reason") or None
            )
        except (FormWrong, CallerError) as mistake:
            again = refused(Form({"until": "", **form.values}), mistake, {"appName": "app"})
            return page_of_child(pages, request, look, again, status=mistake.status)
        when = _until(made.until, look, pages)
        said = f"Exception saved: {kind} {_lower(app_words(made.app_name))} until {when}."
        return pages.console.go(look.at(), said)

    @router.post("/children/{key}/exceptions/{id}/end")
    def end(request: Request, key: str, id: str) -> Response:
        look = pages.open(request, key)
        try:
            pages.parental.overrides.end(look.child, id, look.actor)
        except CallerError as mistake:
            return pages.console.go(look.at(), mistake.message, "note")
        return pages.console.go(look.at(), "Exception ended. The rules apply again.")


def _lower(name: str) -> str:
    return name if name != "Everything" else "everything"


def _until(until: datetime, look: Look, pages: ParentalPages) -> str:
    return until_words(until, look.child.timezone, pages.now())


# --- pause of all rules ---


def _pauses(router: APIRouter, pages: ParentalPages) -> None:
    @router.post("/children/{key}/pause")
    def pause(request: Request, key: str, form: Posted) -> Response:
        look = pages.open(request, key)
        try:
            until = later(form, look.child, pages.now())
            pages.parental.children.change(look.child, {"paused_until": until}, look.actor)
        except (FormWrong, CallerError) as mistake:
            again = refused(Form({"until": "", **form.values}), mistake, {"pausedUntil": "until"})
            return page_of_child(pages, request, look, pause=again, status=mistake.status)
        said = f"{look.child.child_name}'s rules are paused until {_until(until, look, pages)}."
        return pages.console.go(look.at(), said)

    @router.post("/children/{key}/resume")
    def resume(request: Request, key: str) -> Response:
        look = pages.open(request, key)
        pages.parental.children.change(look.child, {"paused_until": None}, look.actor)
        return pages.console.go(look.at(), "Pause ended. The rules apply again.")
