"""The history of enforcement, the family's activity, and the messages to the family.

Must hold: a reader sees only messages to their own address, with codes and links masked. What support viewed is in the
family's activity, with the reason.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import JsonValue

from tablewright.edge.errors import CallerError
from tablewright.english import exact
from tablewright.kit.tables import Actor
from tablewright.pages.forms import Form, FormWrong
from tablewright.pages.lists import Listing
from tablewright.pages.words import label
from tablewright.systems.parental.model import AuditEntry, Child, Family, Window
from tablewright.systems.parental.pages.page import Asked, ParentalPages, listing_of
from tablewright.systems.parental.pages.words import (
    OUTCOMES,
    app_words,
    listed,
    policy_title,
    window_words,
    zone_of,
)
from tablewright.systems.parental.policy.windows import day_bounds

_TAB = "/history"
_SIZE = 40
_MOST_MESSAGES = 60
_MOST_LETTERS = 240
# Fields of a record that are for programs only.
_HIDDEN = frozenset((
    "familyId", "childPhoneNumber", "overrideId", "policyId", "subject", "parentEmail", "heldPhone", "tenure",
    "createdAt",
))  # fmt: skip
_MOMENTS = frozenset(("beginsAt", "until", "pausedUntil", "createdAt", "joinedAt", "deletedAt", "releasedAt"))


def add_records(router: APIRouter, pages: ParentalPages) -> None:
    for part in (_history, _activity, _notices):
        part(router, pages)


# --- enforcement ---


def _history(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/children/{key}/history")
    def history(request: Request, key: str, form: Asked, after: str = "") -> Response:
        look = pages.look(request, key)
        found: Listing[Any] = Listing(())
        form = Form({"from": "", "to": "", **form.values})
        try:
            since, until = _days(form, look.child)
            page = pages.parental.records.history(
                look.child, look.actor, since=since, until=until, size=_SIZE, after=after or None
            )
            found = listing_of(request, page)
        except FormWrong as wrong:
            form = wrong.form
        except CallerError as mistake:
            if mistake.field != "to":
                raise
            form = form.wrong("to", mistake.message)
        return pages.child_page(
            request, look, "history", tab=_TAB, listing=found, form=form, outcomes=OUTCOMES,
            status=422 if form.is_wrong else 200,
        )  # fmt: skip


def _days(form: Form, child: Child) -> tuple[datetime | None, datetime | None]:
    """`from` and `to` of the filter as moments in the child's zone; both days are included."""
    found: list[datetime | None] = []
    for place, name in enumerate(("from", "to")):
        moment = None
        if form.get(name):
            try:
                moment = day_bounds(date.fromisoformat(form.get(name)), zone_of(child))[place]
            except (ValueError, OverflowError):
                raise FormWrong(form.wrong(name, "Enter a date such as 2026-01-31.")) from None
        found.append(moment)
    return found[0], found[1]


# --- activity ---


def _activity(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/activity")
    def activity(request: Request, family: str = "", after: str = "") -> Response:
        actor = pages.actor(request)
        families = pages.parental.families.of(actor)
        chosen = chosen_family(families, family)
        found: Listing[Any] = Listing(())
        zone = _zone(pages, actor)
        names: Mapping[str, str] = {}
        people: Mapping[str, str] = {}
        titles: Mapping[str, str] = {}
        if chosen is not None:
            page = pages.parental.families.audit(chosen.family_id, actor, _SIZE, after or None)
            found = listing_of(request, page)
            names = {
                child.child: child.child_name
                for child in pages.parental.repository.children_of(chosen.family_id, released=True)
            }
            titles = {
                f"{child}/{policy.policy_id}": policy_title(policy)
                for child in {entry.subject.partition("/")[0] for entry in page.items} & names.keys()
                for policy in pages.parental.repository.policies_of(child, deleted=True)
            }
            people = {one.email: one.name for one in pages.parental.guardians.of(chosen.family_id, actor)}
        return pages.page(
            request, "activity", title="Activity", families=families, family=chosen, listing=found,
            subject=lambda entry: subject_words(entry, names, titles), changes_of=partial(changes_of, zone=zone),
            zone=zone, people=people,
        )  # fmt: skip


def chosen_family(families: list[Family], id: str) -> Family | None:
    return next((one for one in families if one.family_id == id), families[0] if families else None)


def subject_words(entry: AuditEntry, names: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """What an entry is about: a child by its name, with the app or the policy; `titles` are those of policies."""
    key, _, _ = entry.subject.partition("/")
    if key in names:
        about = _about(entry, titles)
        return f"{names[key]}: {about}" if about else names[key]
    return "the family" if entry.subject == entry.family_id else entry.subject


def _about(entry: AuditEntry, titles: Mapping[str, str]) -> str:
    said = {**entry.before, **entry.after}
    if "appName" in said:
        return app_words(str(said["appName"]))
    if entry.subject in titles:
        return f"“{titles[entry.subject]}”"
    return readable("blockedApps", said.get("blockedApps"), "UTC") or ""  # a policy that was purged


def changes_of(entry: AuditEntry, zone: str) -> list[tuple[str, str | None, str | None]]:
    """The changes of an entry: label, before, after (None if there was no value)."""
    names = [name for name in {**entry.before, **entry.after} if name not in _HIDDEN]
    return [
        (
            label(name),
            readable(name, entry.before.get(name), zone),
            readable(name, entry.after.get(name), zone),
        )
        for name in names
    ]


def readable(name: str, value: JsonValue, zone: str) -> str | None:
    """A recorded value for people: lists in words, long texts cut."""
    if value is None:
        return None
    text = str(value)
    if isinstance(value, list):
        text = _list_words(name, value)
    elif name == "appName":
        text = app_words(text)
    elif name in _MOMENTS:
        text = exact(datetime.fromisoformat(text), zone)
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS] + "…"


def _list_words(name: str, values: Sequence[JsonValue]) -> str:
    match name:
        case "timeWindows":
            return "; ".join(window_words(Window.model_validate(one)) for one in values) or "always"
        case "blockedApps":
            apps = [str(one["appName"]) for one in values if isinstance(one, dict)]
            return listed(apps, 12) or "nothing"
        case _:
            return ", ".join(map(str, values)) or "none"


# --- messages ---


def _notices(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/notices")
    def notices(request: Request, family: str = "") -> Response:
        actor = pages.actor(request)
        families = pages.parental.families.of(actor)
        chosen = chosen_family(families, family)
        sent = pages.parental.notices.sent_to
        found = sent(chosen, actor, _MOST_MESSAGES) if chosen is not None else []
        return pages.page(
            request, "notices", title="Notices", families=families, family=chosen, messages=found,
            zone=_zone(pages, actor),
        )  # fmt: skip


def _zone(pages: ParentalPages, actor: Actor) -> str:
    children = pages.parental.families.children(actor)
    return children[0].timezone if children else "UTC"
