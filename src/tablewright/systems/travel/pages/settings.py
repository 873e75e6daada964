"""A traveller's settings: name and time zone, privacy, mail, blocked people, and erasing the account.

Must hold: everything is private until it is switched on here; each switch says who sees what. A change goes to all
devices as an operation. Elsewhere: blocks and erasing (systems/travel/account/privacy.py).
"""

from dataclasses import replace
from typing import Annotated
from zoneinfo import available_timezones

from fastapi import APIRouter, Depends, Request, Response
from pydantic import JsonValue

from tablewright.edge.errors import BadRequest, CallerError
from tablewright.english import full_date
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Crumb
from tablewright.systems.travel.account.privacy import BACKUPS
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import NotificationSettings, PrivacySettings, Profile
from tablewright.systems.travel.pages.page import HOME, TravelPages

PATH = f"{HOME}/settings"
BLOCKS = 50
RULES = (
    ("ask", "Ask me each time"),
    ("always", "Mark the country too"),
    ("never", "Don't mark the country"),
)
PRIVACY = (
    (
        "profile_public",
        "Make my name and statistics public",
        "Anyone with your profile's address can open it, without signing in.",
    ),
    (
        "share_visits",
        "Make my places public",
        "They appear on your profile, and you are included in the visitor count of each place.",
    ),
    (
        "show_notes",
        "Make my notes and trips public too",
        "Only while your profile and your places are public.",
    ),
)
MAIL = (
    ("sync_conflicts", "Conflicts between my devices", "We e-mail you when a conflict is open for an hour."),
    ("weekly_stats", "Weekly statistics", "Your numbers, once a week."),
)
# A setting that is not on the page has no tick; saving the page must not switch it off.
_SHOWN = frozenset(name for name, *_ in (*PRIVACY, *MAIL))
_CONTINENTS = (
    "Africa/", "America/", "Antarctica/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/",
)  # fmt: skip


def zones() -> tuple[str, ...]:
    """Time zones people live in, by place."""
    return ("UTC", *sorted(name for name in available_timezones() if name.startswith(_CONTINENTS)))


def add_settings(router: APIRouter, pages: TravelPages) -> None:
    for add in (_add_settings, _add_blocks, _add_account):
        add(router, pages)


def settings_page(
    pages: TravelPages,
    request: Request,
    form: Form | None = None,
    block: Form | None = None,
    status: int = 200,
) -> Response:
    profile = pages.traveller(request)
    return pages.page(
        request,
        "settings",
        title="Settings",
        status=status,
        profile=profile,
        form=form or form_of(profile),
        block=block or Form(),
        blocks=pages.travel.privacy.blocks(profile.user_id, BLOCKS).items,
        zones=zones(),
        rules=RULES,
        privacy=PRIVACY,
        mail=MAIL,
    )


CHANGED_ELSEWHERE = (
    "These settings were changed on another device after you opened the page. "
    "You see the current ones; your changes were not saved."
)


def form_of(profile: Profile) -> Form:
    """The settings as they are, switches as ticks."""
    ticks = {**profile.privacy_settings.in_effect.model_dump(), **profile.notification_settings.model_dump()}
    return Form(
        {
            "display_name": profile.display_name or "",
            "time_zone": profile.time_zone,
            "mark_country": profile.mark_country,
            "version": str(profile.entity_version),
            **{name: "on" for name, is_on in ticks.items() if is_on},
        }
    )


def changed(profile: Profile, form: Form) -> dict[str, JsonValue]:
    """The fields of a form that differ from the profile it was filled from; the others are not edits."""
    fields: dict[str, JsonValue] = {}
    for name in ("display_name", "time_zone", "mark_country"):
        typed = form.get(name).strip()
        if typed != (getattr(profile, name) or ""):
            fields[name] = typed or None
    kept = {
        "privacy_settings": profile.privacy_settings.in_effect,
        "notification_settings": profile.notification_settings,
    }
    for group, model in (
        ("privacy_settings", PrivacySettings),
        ("notification_settings", NotificationSettings),
    ):
        switches: dict[str, JsonValue] = {
            name: form.is_ticked(name)
            for name in model.model_fields
            if name in _SHOWN and form.is_ticked(name) != getattr(kept[group], name)
        }
        if switches:
            fields[group] = switches
    return fields


def _changed_elsewhere(pages: TravelPages, request: Request) -> Response:
    fresh = replace(form_of(pages.traveller(request)), error=CHANGED_ELSEWHERE)
    return settings_page(pages, request, fresh, status=409)


def _add_settings(router: APIRouter, pages: TravelPages) -> None:
    @router.get("/settings")
    def settings(request: Request) -> Response:
        return settings_page(pages, request)

    @router.post("/settings")
    def save(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        if form.get("version") != str(profile.entity_version):
            # An outdated value in the form would be taken for an edit, and would undo another device's change.
            return _changed_elsewhere(pages, request)
        fields = changed(profile, form)
        if not fields:
            return pages.console.go(PATH, "There was nothing to save.", "note")
        try:
            result = pages.travel.sync.change_user(profile.user_id, fields, profile.entity_version)
            if result.status == "failed":
                raise BadRequest(
                    result.error or "FAILED", result.message or "The change was refused.", result.field
                )
        except VersionConflict:
            return _changed_elsewhere(pages, request)
        except CallerError as mistake:
            return settings_page(pages, request, form.refused(mistake), status=mistake.status)
        is_new = not profile.privacy_settings.shows_places
        if is_new and pages.traveller(request).privacy_settings.shows_places and _noted(pages, profile):
            return pages.console.go(f"{PATH}/notes", "Saved. Your places are public now.")
        return pages.console.go(PATH, "Saved. The settings apply on all your devices.")

    @router.get("/settings/notes")
    def ask_notes(request: Request) -> Response:
        profile = pages.traveller(request)
        return pages.console.confirm(
            request,
            title="Make your notes and trips public too?",
            happens="Everyone who opens your profile can read them next to your places, also those you write later.",
            details={"Places with notes or trips": _noted(pages, profile)},
            undo="You can switch this off in settings at any time.",
            button="Make them public",
            back=PATH,
            crumbs=(Crumb("Settings", PATH),),
        )

    @router.post("/settings/notes")
    def show_notes(request: Request) -> Response:
        profile = pages.traveller(request)
        result = pages.travel.sync.change_user(profile.user_id, {"privacy_settings": {"show_notes": True}})
        if result.status == "failed":
            return pages.console.go(PATH, result.message or "Nothing was changed.", "bad")
        return pages.console.go(PATH, "Your notes and trips are public now.")


def _noted(pages: TravelPages, profile: Profile) -> int:
    """How many places of a traveller have notes or trips."""
    return sum(bool(visit.notes or visit.trips) for visit in pages.travel.visits.all(profile.user_id))


def _add_blocks(router: APIRouter, pages: TravelPages) -> None:
    privacy = pages.travel.privacy

    @router.post("/settings/blocks")
    def block(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        try:
            privacy.block(profile.user_id, form.get("user_id").strip())
        except CallerError as mistake:
            return settings_page(pages, request, block=form.refused(mistake), status=mistake.status)
        return pages.console.go(
            f"{PATH}#blocks", "Blocked. While signed in, you can't see each other's profiles."
        )

    @router.post("/settings/blocks/{user_id}/remove")
    def unblock(user_id: str, request: Request) -> Response:
        privacy.unblock(pages.traveller(request).user_id, user_id)
        return pages.console.go(
            f"{PATH}#blocks", "Unblocked. You can see each other's public profiles again."
        )


def _add_account(router: APIRouter, pages: TravelPages) -> None:
    privacy = pages.travel.privacy

    @router.get("/settings/erase")
    def ask(request: Request) -> Response:
        profile = pages.traveller(request)
        places = len(pages.travel.visits.all(profile.user_id))
        return pages.console.confirm(
            request,
            title="Erase your account?",
            happens="In one week we erase everything: your places, notes, trips, devices and settings. "
            + BACKUPS,
            undo="Until then you can change your mind in settings. Export your data first if you want to keep it.",
            details={"Places": places, "Devices": len(pages.travel.devices.of(profile.user_id))},
            button="Erase in one week",
            back=PATH,
            crumbs=(Crumb("Settings", PATH),),
        )

    @router.post("/settings/erase")
    def erase(request: Request) -> Response:
        profile = pages.traveller(request)
        erasure = privacy.ask(profile.user_id, profile.user_id)
        words = f"Your account will be erased on {full_date(erasure.due_at)}. Until then you can change your mind."
        return pages.console.go(PATH, words, "note")

    @router.post("/settings/keep")
    def keep(request: Request) -> Response:
        profile = pages.traveller(request)
        privacy.keep(profile.user_id, profile.user_id)
        return pages.console.go(PATH, "Your account will not be erased.")
