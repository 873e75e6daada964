"""For admins: all courses, a roster for many courses, and the audit log by month or by record (CC-X11, CC-X13).

Elsewhere: users, quarantine and storage (admin.py), one course (courses.py).
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import JsonValue

from tablewright.edge.errors import CallerError
from tablewright.english import month_and_year
from tablewright.pages.forms import Asked, Form, Posted
from tablewright.pages.layout import Crumb
from tablewright.systems.campus.access import Admin
from tablewright.systems.campus.model import AuditEntry
from tablewright.systems.campus.pages.courses import ROLES, course_path
from tablewright.systems.campus.pages.page import HOME, CampusPages

COURSES, ROSTER, AUDIT = f"{HOME}/admin/courses", f"{HOME}/admin/roster", f"{HOME}/admin/audit"
# Records that have a page; the others are named by their id.
_PAGES = {"user": f"{HOME}/admin/users/{{}}", "course": course_path("{}")}
_LONGEST, MOST_FOUND = 200, 50
Month = Annotated[str, Query(pattern=r"^(2\d{3}-(0[1-9]|1[0-2]))?$")]


def add_admin_records(router: APIRouter, pages: CampusPages) -> None:
    _add_courses(router, pages)
    _add_roster(router, pages)
    _add_audit(router, pages)


def _add_courses(router: APIRouter, pages: CampusPages) -> None:
    service = pages.campus.courses

    @router.get("/admin/courses")
    def courses(request: Request, admin: Admin, form: Asked) -> Response:
        text = form.get("q").strip()
        listing = None if text else pages.list(request, service.all())
        return pages.page(
            request,
            "admin_courses",
            title="All courses",
            user=admin,
            found=listing.items if listing is not None else service.search(text, MOST_FOUND),
            most=MOST_FOUND,
            listing=listing,
            form=form,
            now=pages.campus.repository.now(),
        )


def _add_roster(router: APIRouter, pages: CampusPages) -> None:
    def page(request: Request, admin: Admin, form: Form, status: int = 200, **values: Any) -> Response:
        return pages.page(
            request, "roster", title="Import courses and people", user=admin, form=form, at=ROSTER, back=COURSES,
            crumbs=(Crumb("All courses", COURSES),), roles=ROLES, has_courses=True, status=status, **values,
        )  # fmt: skip

    @router.get("/admin/roster")
    def roster(request: Request, admin: Admin) -> Response:
        return page(request, admin, Form())

    @router.post("/admin/roster")
    def preview_or_load(request: Request, admin: Admin, form: Posted) -> Response:
        is_load = form.get("do") == "load"
        act = pages.campus.roster.load if is_load else pages.campus.roster.preview
        try:
            report = act(admin, form.get("file").encode())
        except CallerError as mistake:
            return page(request, admin, form.refused(mistake), mistake.status)
        return page(request, admin, form, report=report, is_loaded=is_load)


def _add_audit(router: APIRouter, pages: CampusPages) -> None:
    repository = pages.campus.repository

    @router.get("/admin/audit")
    def audit(request: Request, admin: Admin, form: Asked, month: Month = "") -> Response:
        """A month in UTC, as the index has it; or all that is kept about one record."""
        now, record = repository.now(), form.get("record").strip()
        chosen = datetime.fromisoformat(f"{month}-01T00:00:00+00:00") if month else now
        query = repository.history(record) if record else repository.history_of_month(chosen)
        return pages.page(
            request,
            "admin_audit",
            title="Audit log",
            user=admin,
            form=form,
            record=record,
            month_words=month_and_year(chosen),
            before=_month_from(chosen, -1),
            after=_month_from(chosen, 1) if (chosen.year, chosen.month) < (now.year, now.month) else None,
            listing=pages.list(request, query),
            changes_of=changes_of,
            page_of=page_of,
        )


def page_of(subject: str) -> str | None:
    """The page of a record that an entry is about."""
    kind, _, id = subject.partition(":")
    return _PAGES[kind].format(id) if kind in _PAGES else None


def changes_of(entry: AuditEntry) -> Iterator[tuple[str, str, str]]:
    """The fields of an entry with what they were and what they became, as texts."""
    for name in {**entry.before, **entry.after}:
        yield name, _words(entry.before.get(name)), _words(entry.after.get(name))


def _words(value: JsonValue) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _month_from(month: datetime, by: int) -> str:
    index = month.year * 12 + month.month - 1 + by
    return f"{datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC):%Y-%m}"
