"""A user's own pages: profile, preferences, quota; notifications."""

from typing import Annotated
from zoneinfo import available_timezones

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, FormWrong, form_of, posted, read
from tablewright.systems.campus.access import Me
from tablewright.systems.campus.api.me import ProfileChange, refuse_unknown_zone
from tablewright.systems.campus.model import NotificationPreferences, User
from tablewright.systems.campus.pages.page import HOME, CampusPages

PATH = f"{HOME}/profile"
PREFERENCES = (
    ("shareNotifications", "Someone shares a file with me"),
    ("assignmentReminders", "Assignments are published or due soon"),
    ("gradeNotifications", "Grades are released, or a regrade request is answered"),
    ("emailNotifications", "Send these by e-mail too"),
)
_ZONES = sorted(
    zone for zone in available_timezones() if "/" in zone and not zone.startswith(("Etc/", "SystemV/"))
)


def add_profile(router: APIRouter, pages: CampusPages) -> None:
    users = pages.campus.users

    def page(request: Request, user: User, form: Form | None = None, status: int = 200) -> Response:
        return pages.page(
            request,
            "profile",
            title="Profile",
            user=user,
            form=form or form_of(user),
            preferences=PREFERENCES,
            wanted=form_of(user.notification_preferences),
            zones=[("UTC", "UTC"), *((zone, zone.replace("_", " ")) for zone in _ZONES)],
            status=status,
        )

    @router.get("/profile")
    def profile(request: Request, user: Me) -> Response:
        return page(request, user)

    @router.post("/profile")
    def save(request: Request, user: Me, form: Annotated[Form, Depends(posted)]) -> Response:
        try:
            wanted = {
                name: text for name, text in form.values.items() if name in ("name", "department", "timeZone")
            }
            change = read(Form(wanted), ProfileChange)
            refuse_unknown_zone(change.time_zone)
            users.change_profile(user, {"department": None, **change.changes()})
        except (FormWrong, CallerError) as mistake:
            return page(request, user, form.refused(mistake), mistake.status)
        return pages.console.go(PATH, "Your profile is saved.")

    @router.post("/profile/preferences")
    def save_preferences(user: Me, form: Annotated[Form, Depends(posted)]) -> Response:
        ticked = {name: form.is_ticked(name) for name, _ in PREFERENCES}
        users.set_preferences(user, NotificationPreferences.model_validate(ticked))
        return pages.console.go(PATH, "Your choices are saved.")

    @router.get("/profile/export")
    def export(user: Me) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="campus-cloud.json"'}
        return JSONResponse(pages.campus.privacy.export(user), headers=headers)

    @router.get("/notifications")
    def notifications(request: Request, user: Me) -> Response:
        listing = pages.list(request, pages.campus.notifier.of(user))
        response = pages.page(request, "notifications", title="Notifications", user=user, listing=listing)
        pages.campus.notifier.mark_read(user)
        return response
