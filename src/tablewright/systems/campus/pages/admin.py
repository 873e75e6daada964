"""Administration: users with their quotas, quarantined files, storage."""

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError, NotFound
from tablewright.pages.forms import Asked, Form, Posted
from tablewright.systems.campus.access import Admin
from tablewright.systems.campus.pages.page import HOME, CampusPages
from tablewright.systems.campus.people.users import LARGEST_QUOTA
from tablewright.systems.campus.table_health import table_health

_GIB = 1024**3
USERS, QUARANTINE = f"{HOME}/admin/users", f"{HOME}/admin/quarantine"
NO_REASON = "Nothing was changed. Say why: it is kept in the history."


def add_admin(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/admin/users")
    def users(request: Request, admin: Admin, form: Asked) -> Response:
        found = campus.users.search(form.get("q"), 50)
        return pages.page(request, "admin_users", title="Users", user=admin, found=found, form=form)

    def detail(
        request: Request, user_id: str, admin: Admin, form: Form | None = None, status: int = 200
    ) -> Response:
        person = campus.users.by_id(user_id)
        quota_now = f"{person.storage_quota / _GIB:g}"
        known = {"quota": quota_now, "universityId": person.university_id or ""}
        shown = form or Form()
        history = campus.repository.page(
            campus.repository.history(f"user:{user_id}"), 20, None, admin.user_id
        ).items
        return pages.page(
            request,
            "admin_user",
            title=person.name,
            user=admin,
            person=person,
            form=replace(shown, values={**known, **shown.values}),
            history=history,
            status=status,
        )

    @router.get("/admin/users/{user_id}")
    def user(request: Request, user_id: str, admin: Admin) -> Response:
        return detail(request, user_id, admin)

    @router.post("/admin/users/{user_id}/quota")
    def quota(request: Request, user_id: str, admin: Admin, form: Posted) -> Response:
        try:
            size = float(form.get("quota"))
            if not 0 <= size <= LARGEST_QUOTA / _GIB:
                raise ValueError
        except ValueError:
            wrong = form.wrong("quota", "Enter a number of GiB, 0 to 1 048 576 (1 PiB).")
            return detail(request, user_id, admin, wrong, 422)
        campus.users.set_quota(user_id, int(size * _GIB), admin)
        return pages.console.go(f"{USERS}/{user_id}", "The quota is changed.")

    @router.post("/admin/users/{user_id}/university-id")
    def university_id(request: Request, user_id: str, admin: Admin, form: Posted) -> Response:
        try:
            campus.users.set_university_id(user_id, form.get("universityId"), admin)
        except CallerError as mistake:
            return detail(request, user_id, admin, form.refused(mistake), mistake.status)
        return pages.console.go(f"{USERS}/{user_id}", "The university ID is changed.")

    @router.post("/admin/users/{user_id}/suspend")
    def suspend(request: Request, user_id: str, admin: Admin, form: Posted) -> Response:
        reason = form.get("reason").strip()
        if not reason:
            return detail(
                request, user_id, admin, form.wrong("reason", "Say why: it is kept in the history."), 422
            )
        try:
            campus.users.suspend(user_id, admin, reason[:500])
        except CallerError as mistake:
            return detail(request, user_id, admin, form.refused(mistake), mistake.status)
        return pages.console.go(f"{USERS}/{user_id}", "The account is suspended from now on.")

    @router.post("/admin/users/{user_id}/reinstate")
    def reinstate(user_id: str, admin: Admin) -> Response:
        campus.users.reinstate(user_id, admin)
        return pages.console.go(f"{USERS}/{user_id}", "The account is active again.")

    @router.post("/admin/users/{user_id}/transfer")
    def transfer(request: Request, user_id: str, admin: Admin, form: Posted) -> Response:
        to = campus.users.by_email(form.get("to"))
        if to is None:
            wrong = form.wrong("to", "No user has this address.")
            return detail(request, user_id, admin, wrong, 422)
        try:
            campus.transfer.start(user_id, to.user_id, admin)
        except CallerError as mistake:
            return detail(request, user_id, admin, form.refused(mistake), mistake.status)
        return pages.console.go(f"{USERS}/{user_id}", f"The files are being moved to {to.name}.")

    @router.get("/admin/users/{user_id}/erase")
    def ask_erase(request: Request, user_id: str, admin: Admin) -> Response:
        person = campus.users.by_id(user_id)
        return pages.page(request, "admin_erase", title=f"Erase {person.name}", user=admin, person=person)

    @router.post("/admin/users/{user_id}/erase")
    def erase(user_id: str, admin: Admin) -> Response:
        campus.privacy.erase(user_id, admin)
        return pages.console.go(f"{USERS}/{user_id}", "The account is erased.")

    def review(request: Request, admin: Admin, error: str = "", status: int = 200) -> Response:
        files = campus.scans.quarantine()
        versions = [(campus.repository.file(one.file_id), one) for one in campus.scans.versions_in_review()]
        all_files = [*files, *(file for file, _ in versions)]
        owners = {file.user_id: campus.users.by_id(file.user_id) for file in all_files}
        return pages.page(
            request,
            "admin_quarantine",
            title="Quarantine",
            user=admin,
            files=files,
            versions=versions,
            owners=owners,
            error=error,
            status=status,
        )

    @router.get("/admin/quarantine")
    def quarantine(request: Request, admin: Admin) -> Response:
        return review(request, admin)

    @router.post("/admin/quarantine/{file_id}/versions/{number}/{decision}")
    def decide_version(
        request: Request, file_id: str, number: int, decision: str, admin: Admin, form: Posted
    ) -> Response:
        reason = form.get("reason").strip()[:500]
        if decision not in ("release", "discard"):
            raise NotFound("page")
        if not reason:
            return review(request, admin, NO_REASON, 422)
        is_clean = decision == "release"
        campus.scans.decide_version(admin, file_id, number, reason, is_clean=is_clean)
        words = "The version is available again." if is_clean else "The version stays locked."
        return pages.console.go(QUARANTINE, words)

    @router.post("/admin/quarantine/{file_id}/{decision}")
    def decide(request: Request, file_id: str, decision: str, admin: Admin, form: Posted) -> Response:
        reason = form.get("reason").strip()[:500]
        if decision not in ("release", "discard"):
            raise NotFound("page")
        if not reason:
            return review(request, admin, NO_REASON, 422)
        if decision == "release":
            campus.scans.release(admin, file_id, reason)
            return pages.console.go(QUARANTINE, "The file is available again.")
        campus.scans.discard(admin, file_id, reason)
        return pages.console.go(QUARANTINE, "The file is deleted.")

    @router.get("/admin/storage")
    def storage(request: Request, admin: Admin) -> Response:
        return pages.page(
            request,
            "admin_storage",
            title="Storage",
            user=admin,
            report=campus.users.storage(),
            tasks=campus.waiting_tasks(20),
            tables=table_health(campus.repository.db),
        )
