"""What a traveller decides: name and time zone, what others see, what mail comes, and the end of the account.

Must hold: everything is private until it is switched on here; each switch says who sees what. A change goes to all
devices as an operation. Elsewhere: blocks and erasing (systems/travel/account/privacy.py).
"""

from dataclasses import replace
from typing import Annotated
from zoneinfo import available_timezones

from fastapi import APIRouter, Depends, Request, Response
from pydantic import JsonValue

from tablewright.edge.routes import gather
from tablewright.pages.forms import Form, posted
from tablewright.pages.layout import Crumb
from tablewright.systems.travel.account.privacy import BACKUPS
from tablewright.systems.travel.errors import BadRequest, TravelMistake, VersionConflict
from tablewright.systems.travel.model import NotificationSettings, PrivacySettings, Profile
from tablewright.systems.travel.pages.page import HOME, TravelPages, refused, status_of

PATH = f"{HOME}/settings"
BLOCKS = 50
RULES = (
    ("ask", "Ask me each time"),
    ("always", "Mark the country too"),
    ("never", "Leave the country alone"),
)
PRIVACY = (
    (
        "profile_public",
        "My name and figures are public",
        "Everyone who has the address of your profile can open it, without signing in.",
    ),
    ("share_visits", "My places are public", "They are on your profile, and you are counted in each place."),
    (
        "show_notes",
        "My notes and trips are public too",
        "Only while your profile and your places are public.",
    ),
)
MAIL = (
    ("sync_conflicts", "When two devices disagree", "A mail when a conflict waits for more than an hour."),
    ("weekly_stats", "My figures, once a week", ""),
)
# What is not shown has no tick, and is not switched off by that.
_SHOWN = frozenset(name for name, *_ in (*PRIVACY, *MAIL))
_CONTINENTS = (
    "Africa/", "America/", "Antarctica/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/",
)  # fmt: skip


def zones() -> tuple[str, ...]:
    """Time zones people live in, by place."""
    return ("UTC", *sorted(name for name in available_timezones() if name.startswith(_CONTINENTS)))


def settings_router(pages: TravelPages) -> APIRouter:
    router = pages.router()
    gather(router, (part(pages) for part in (_settings, _blocks, _account)))
    return router


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


CHANGED_MEANWHILE = (
    "These settings were changed on another device since you opened the page. "
    "They are shown as they are now; nothing of yours was saved."
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
    """What is different in a form from what it was made of: what is the same is nobody's edit."""
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


def _changed_meanwhile(pages: TravelPages, request: Request) -> Response:
    fresh = replace(form_of(pages.traveller(request)), error=CHANGED_MEANWHILE)
    return settings_page(pages, request, fresh, status=409)


def _settings(pages: TravelPages) -> APIRouter:
    router = pages.router()

    @router.get("/settings", dependencies=[Depends(pages.signed_in)])
    def settings(request: Request) -> Response:
        return settings_page(pages, request)

    @router.post("/settings", dependencies=[Depends(pages.signed_in)])
    def save(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        if form.get("version") != str(profile.entity_version):
            # What the form does not show as it is now would be taken for an edit, and undo another device's.
            return _changed_meanwhile(pages, request)
        fields = changed(profile, form)
        if not fields:
            return pages.console.go(PATH, "Nothing was changed.", "note")
        try:
            result = pages.travel.sync.change_user(profile.user_id, fields, profile.entity_version)
            if result.status == "failed":
                raise BadRequest(result.error or "FAILED", result.message or "It was refused.", result.field)
        except VersionConflict:
            return _changed_meanwhile(pages, request)
        except TravelMistake as mistake:
            return settings_page(pages, request, refused(form, mistake), status=status_of(mistake))
        is_new = not profile.privacy_settings.shows_places
        if is_new and pages.traveller(request).privacy_settings.shows_places and _noted(pages, profile):
            return pages.console.go(f"{PATH}/notes", "Saved. Your places are public now.")
        return pages.console.go(PATH, "Saved. It applies on all your devices.")

    @router.get("/settings/notes", dependencies=[Depends(pages.signed_in)])
    def ask_notes(request: Request) -> Response:
        profile = pages.traveller(request)
        return pages.console.confirm(
            request,
            title="Make your notes and trips public too?",
            happens="Everyone who opens your profile reads them beside your places, also those you write later.",
            details={"Places with notes or trips": _noted(pages, profile)},
            undo="You can switch it off in the settings at any time.",
            button="Make them public",
            back=PATH,
            crumbs=(Crumb("Settings", PATH),),
        )

    @router.post("/settings/notes", dependencies=[Depends(pages.signed_in)])
    def show_notes(request: Request) -> Response:
        profile = pages.traveller(request)
        result = pages.travel.sync.change_user(profile.user_id, {"privacy_settings": {"show_notes": True}})
        if result.status == "failed":
            return pages.console.go(PATH, result.message or "Nothing was changed.", "bad")
        return pages.console.go(PATH, "Your notes and trips are public now.")

    return router


def _noted(pages: TravelPages, profile: Profile) -> int:
    """How many places of a traveller say more than where and when."""
    return sum(bool(visit.notes or visit.trips) for visit in pages.travel.visits.all(profile.user_id))


def _blocks(pages: TravelPages) -> APIRouter:
    router = pages.router()
    privacy = pages.travel.privacy

    @router.post("/settings/blocks", dependencies=[Depends(pages.signed_in)])
    def block(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        profile = pages.traveller(request)
        try:
            privacy.block(profile.user_id, form.get("user_id").strip())
        except TravelMistake as mistake:
            return settings_page(pages, request, block=refused(form, mistake), status=status_of(mistake))
        return pages.console.go(f"{PATH}#blocks", "Neither of you sees the other any more.")

    @router.post("/settings/blocks/{user_id}/remove", dependencies=[Depends(pages.signed_in)])
    def unblock(user_id: str, request: Request) -> Response:
        privacy.unblock(pages.traveller(request).user_id, user_id)
        return pages.console.go(f"{PATH}#blocks", "You may see each other again.")

    return router


def _account(pages: TravelPages) -> APIRouter:
    router = pages.router()
    privacy = pages.travel.privacy

    @router.get("/settings/erase", dependencies=[Depends(pages.signed_in)])
    def ask(request: Request) -> Response:
        profile = pages.traveller(request)
        places = len(pages.travel.visits.all(profile.user_id))
        return pages.console.confirm(
            request,
            title="Erase your account?",
            happens="In a week everything of yours is erased: your places, notes, trips, devices and settings. "
            + BACKUPS,
            undo="Until then you can come back here and keep it. Take your data with you first, if you want to.",
            details={"Places": places, "Devices": len(pages.travel.devices.of(profile.user_id))},
            button="Erase it in a week",
            back=PATH,
            crumbs=(Crumb("Settings", PATH),),
        )

    @router.post("/settings/erase", dependencies=[Depends(pages.signed_in)])
    def erase(request: Request) -> Response:
        profile = pages.traveller(request)
        erasure = privacy.ask(profile.user_id, profile.user_id)
        words = f"Your account is erased on {erasure.due_at:%d %B %Y}. Until then you can keep it."
        return pages.console.go(PATH, words, "note")

    @router.post("/settings/keep", dependencies=[Depends(pages.signed_in)])
    def keep(request: Request) -> Response:
        profile = pages.traveller(request)
        privacy.keep(profile.user_id, profile.user_id)
        return pages.console.go(PATH, "Your account stays.")

    return router
