"""Administration: `/admin/users` and their quotas, suspension, transfer; courses, storage, tasks, the audit log."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints

from tablewright.edge.routes import Router
from tablewright.kit.erased import Certificate
from tablewright.kit.http import Body, Cursor, Page, listed, page_of, view_of
from tablewright.systems.campus.access import Admin
from tablewright.systems.campus.api.me import PageSize, Short
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Course, SubmissionStatus
from tablewright.systems.campus.model import AuditEntry, StorageReport, Task, User, Value
from tablewright.systems.campus.table_health import TableHealth, table_health


class Progress(Body):
    """A task as admins see it."""

    task_id: str
    kind: str
    state: str
    due_at: datetime
    failures: int
    note: str | None = None


def progress_of(task: Task) -> Progress:
    return view_of(Progress, task)


Month = Annotated[str | None, Query(pattern=r"^2\d{3}-(0[1-9]|1[0-2])$", description="such as 2026-11")]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class SubmissionRow(Value):
    """A submission among those of all courses: without names, since its marking may be anonymous."""

    submission_id: str
    assignment_id: str
    course_id: str
    submission_number: int
    submitted_at: datetime
    status: SubmissionStatus
    is_late: bool


class QuotaChange(Body):
    storage_quota: Annotated[int, Field(ge=0, strict=True)]


class UniversityIdChange(Body):
    """None removes it."""

    university_id: Short | None


class TransferRequest(Body):
    to: str


class Suspension(Body):
    reason: Reason


def admin(campus: Campus) -> APIRouter:
    api = Router(prefix="/admin", tags=["admin"])

    @api.get("/users", response_model_exclude_none=True)
    def find_users(by: Admin, q: str = "", size: PageSize = None) -> Page[User]:
        """Users whose name, address or university id contains `q`."""
        return listed(campus.users.search(q, size or 20))

    @api.get("/users/{user_id}", response_model_exclude_none=True)
    def get_user(by: Admin, user_id: str) -> User:
        return campus.users.by_id(user_id)

    @api.put("/users/{user_id}/quota", response_model_exclude_none=True)
    def set_quota(by: Admin, user_id: str, body: QuotaChange) -> User:
        return campus.users.set_quota(user_id, body.storage_quota, by)

    @api.put("/users/{user_id}/university-id", response_model_exclude_none=True)
    def set_university_id(by: Admin, user_id: str, body: UniversityIdChange) -> User:
        """The id that rosters and imports of grades go by; in the user's courses too."""
        return campus.users.set_university_id(user_id, body.university_id, by)

    @api.post("/users/{user_id}:suspend", response_model_exclude_none=True)
    def suspend(by: Admin, user_id: str, body: Suspension) -> User:
        return campus.users.suspend(user_id, by, body.reason)

    @api.post("/users/{user_id}:reinstate", response_model_exclude_none=True)
    def reinstate(by: Admin, user_id: str) -> User:
        return campus.users.reinstate(user_id, by)

    @api.post("/users/{user_id}:transfer", status_code=202)
    def transfer(by: Admin, user_id: str, body: TransferRequest) -> Progress:
        """Give everything a user owns to another; it is done in the background."""
        return progress_of(campus.transfer.start(user_id, body.to, by))

    @api.get("/users/{user_id}/export")
    def export_user(by: Admin, user_id: str) -> dict[str, Any]:
        """What is kept about a user."""
        return campus.privacy.export(campus.users.by_id(user_id))

    @api.post("/users/{user_id}:erase")
    def erase(by: Admin, user_id: str) -> Certificate:
        """Erase a user's files and name for good; submissions and grades stay without the name."""
        return campus.privacy.erase(user_id, by)

    @api.get("/users/{user_id}/certificate")
    def certificate(by: Admin, user_id: str) -> Certificate:
        """The proof of an erasure."""
        return campus.privacy.certificate(user_id)

    @api.get("/tables")
    def tables(by: Admin) -> list[TableHealth]:
        """The state, size, indexes, recovery and expiry of each table."""
        return table_health(campus.repository.db)

    @api.get("/storage", response_model_exclude_none=True)
    def storage(by: Admin) -> StorageReport:
        """How much is used by everyone together, and by whom most."""
        return campus.users.storage()

    @api.get("/tasks", response_model_exclude_none=True)
    def tasks(by: Admin) -> Page[Progress]:
        """Background work that waits or has failed."""
        return listed(map(progress_of, campus.waiting_tasks()))

    @api.get("/submissions")
    def submissions(
        by: Admin, status: SubmissionStatus = "submitted", size: PageSize = None, after: Cursor = None
    ) -> Page[SubmissionRow]:
        """The submissions of all courses in a status, oldest first; by default what waits for a grade."""
        found = campus.repository.page(campus.submissions.in_status(status), size, after, by.user_id)
        return listed((view_of(SubmissionRow, one) for one in found.items), found.next)

    @api.get("/courses", response_model_exclude_none=True)
    def courses(by: Admin, q: str = "", size: PageSize = None, after: Cursor = None) -> Page[Course]:
        """All courses, the newest semester first; with `q`, those that have it in their id, name or semester."""
        if q:
            return listed(campus.courses.search(q, size or 50))
        return page_of(campus.repository.page(campus.courses.all(), size, after, by.user_id))

    @api.get("/audit", response_model_exclude_none=True)
    def history_of_month(
        by: Admin, month: Month = None, size: PageSize = None, after: Cursor = None
    ) -> Page[AuditEntry]:
        """Who did what in a month of UTC, by default this one; newest first."""
        at = datetime.fromisoformat(f"{month}-01T00:00:00+00:00") if month else campus.repository.now()
        found = campus.repository.history_of_month(at)
        return page_of(campus.repository.page(found, size, after, by.user_id))

    @api.get("/audit/{subject}", response_model_exclude_none=True)
    def history(by: Admin, subject: str, size: PageSize = None, after: Cursor = None) -> Page[AuditEntry]:
        """Who did what to a record, such as `file:{id}`; newest first."""
        return page_of(campus.repository.page(campus.repository.history(subject), size, after, by.user_id))

    return api
