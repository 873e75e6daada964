"""The pages of admins over HTTP in the demo world: users, all courses, a roster of many courses, the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS as SYSTEM
from tablewright.edge import serving_app
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.seed import ADMIN
from tablewright.systems.campus.table_health import table_health

HOME = "/console/campus"
NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
LIN = "student_lin"


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    world = ticking(testing.Clock(NOW))
    with open_app(memory=True, systems=(SYSTEM,), world=world, jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def campus(runtime: Runtime) -> Campus:
    found: Campus = runtime.running[0].service
    return found


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture
def enter(url: str) -> Iterator[Enter]:
    with browsers(url) as enter:
        yield enter


@pytest.mark.parametrize("path", ["users", "courses", "roster", "quarantine", "storage", "audit"])
def test_the_pages_of_admins_are_for_admins(enter: Enter, path: str) -> None:
    assert enter(ADMIN).get(f"{HOME}/admin/{path}").status_code == 200
    assert enter(LIN).get(f"{HOME}/admin/{path}").status_code == 403


def test_an_admin_sees_all_courses_and_finds_one_by_any_part_of_it(enter: Enter) -> None:
    admin = enter(ADMIN)
    everything = words_of(admin.get(f"{HOME}/admin/courses"))
    assert "CS101-2026-AUTUMN" in everything
    found = words_of(admin.get(f"{HOME}/admin/courses?q=cs101"))
    assert "CS101-2026-AUTUMN" in found
    assert "No course found" in words_of(admin.get(f"{HOME}/admin/courses?q=alchemy"))


def test_a_roster_of_an_admin_creates_courses_and_shows_first_what_it_would_do(
    campus: Campus, enter: Enter
) -> None:
    admin = enter(ADMIN)
    file = (
        "course,course name,semester,semester end,email,name,role\n"
        "BIO7-2026-AUTUMN,Biology,2026-autumn,2027-02-28,ana@campus.example,Ana Ruiz,student\n"
    )
    preview = words_of(admin.post(f"{HOME}/admin/roster", data={"file": file, "do": "preview"}))
    assert "New courses: BIO7-2026-AUTUMN" in preview
    assert campus.courses.search("BIO7") == []
    done = words_of(admin.post(f"{HOME}/admin/roster", data={"file": file, "do": "load"}))
    assert "Imported" in done
    assert [course.name for course in campus.courses.search("bio7")] == ["Biology"]
    wrong = admin.post(f"{HOME}/admin/roster", data={"file": "email\nx", "do": "preview"})
    assert (wrong.status_code, "missing: course" in words_of(wrong)) == (400, True)


def test_the_audit_log_is_shown_by_month_and_by_record(campus: Campus, enter: Enter) -> None:
    admin = enter(ADMIN)
    data = {"universityId": "S<b>99"}
    admin.post(f"{HOME}/admin/users/{LIN}/university-id", data=data)
    assert campus.users.by_id(LIN).university_id == "S<b>99"
    page = admin.get(f"{HOME}/admin/audit")
    assert "university id changed" in words_of(page)
    assert "S<b>99" not in page.text, "names are shown, never run"
    of_one = words_of(admin.get(f"{HOME}/admin/audit?record=user:{LIN}"))
    assert "university id changed" in of_one
    assert "Nothing happened in May 2026" in words_of(admin.get(f"{HOME}/admin/audit?month=2026-05"))
    assert "Nothing is kept about this record" in words_of(
        admin.get(f"{HOME}/admin/audit?record=user:nobody")
    )
    assert admin.get(f"{HOME}/admin/audit?month=2026-13").status_code in (400, 422)


def test_a_wrong_quota_keeps_what_is_beside_it(enter: Enter) -> None:
    admin, path = enter(ADMIN), f"{HOME}/admin/users/student_omar"
    admin.post(f"{path}/university-id", data={"universityId": "S12345"})
    page = admin.post(f"{path}/quota", data={"quota": "much"})
    assert (page.status_code, 'value="S12345"' in page.text) == (422, True)


def test_an_erased_account_is_shown_as_erased_and_not_as_one_that_is_full(
    campus: Campus, enter: Enter
) -> None:
    admin, noor = enter(ADMIN), "student_noor"
    campus.privacy.erase(noor, campus.users.by_id(ADMIN))
    assert campus.users.by_id(noor).storage_used > 0, "a submission holds a file"
    row = next(
        line for line in admin.get(f"{HOME}/admin/users").text.split("<tr>") if f"users/{noor}" in line
    )
    assert ("erased" in row, "suspended" in row) == (True, False)
    page = admin.get(f"{HOME}/admin/users/{noor}").text
    assert ("Reinstate account" in page, "Transfer all files" in page) == (False, False)
    assert "that submissions hold" in words_of(admin.get(f"{HOME}/admin/storage"))
    assert campus.users.storage().over_80_percent == 0


def test_an_admin_sees_the_health_of_every_table(enter: Enter, campus: Campus) -> None:
    admin = enter(ADMIN)
    page = words_of(admin.get(f"{HOME}/admin/storage"))
    found = {each["name"]: each for each in admin.get("/campus/v1/admin/tables").json()}
    assert "campus-cloud-files" in page
    assert found["campus-cloud-files"]["status"] == "ACTIVE"
    assert found["campus-cloud-files"]["items"] > 0
    assert found["campus-cloud-shares"]["expires"] is True
    assert enter(LIN).get("/campus/v1/admin/tables").status_code == 403
    campus.repository.db.call(
        "UpdateTimeToLive",
        {
            "TableName": "campus-cloud-shares",
            "TimeToLiveSpecification": {"Enabled": False, "AttributeName": "ttl"},
        },
    )
    (shares,) = (each for each in table_health(campus.repository.db) if each.name == "campus-cloud-shares")
    assert not shares.is_healthy
