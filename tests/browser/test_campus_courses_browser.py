"""Courses of Campus Cloud in a real browser: a team submits from two browsers; every page on every screen."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open, Served
from tests.browser.looks import looked_at

HOME = "/console/campus"
LIN, OMAR, BRANDT = "student_lin", "student_omar", "prof_brandt"


def course_of(page: Any, name: str) -> str:
    page.goto(f"{HOME}/courses")
    found: str = page.get_by_role("link", name=name).get_attribute("href")
    return found


def assignment_of(page: Any, name: str) -> str:
    page.goto(course_of(page, "Introduction to Computer Science"))
    found: str = page.get_by_role("link", name=re.compile(name)).get_attribute("href")
    return found


def test_students_pages_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page(LIN)
    team, essay = assignment_of(page, "Team project"), assignment_of(page, "Essay")
    course = course_of(page, "Introduction to Computer Science")
    found = {"courses": f"{HOME}/courses", "course": course, "teams": f"{course}/teams", "assignment": team}
    for name, path in {**found, "submit": f"{team}/submit", "submitted": essay}.items():
        assert page.goto(path).status == 200, path
        looked_at(page, keep, f"campus-student-{name}")
    page.get_by_role("link", name="Receipt").first.click()
    looked_at(page, keep, "campus-student-receipt")


def test_staff_pages_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page(BRANDT)
    assignment = assignment_of(page, "Team project")
    course = course_of(page, "Introduction to Computer Science")
    paths = {
        "course": course, "people": f"{course}/people", "roster": f"{course}/roster", "teams": f"{course}/teams",
        "settings": f"{course}/settings", "new-course": f"{HOME}/new-course", "assignment": assignment,
        "new-assignment": f"{course}/new-assignment", "edit": f"{assignment}/edit", "dates": f"{assignment}/extensions",
        "for": f"{assignment}/submit-for",
    }  # fmt: skip
    for name, path in paths.items():
        assert page.goto(path).status == 200, path
        looked_at(page, keep, f"campus-staff-{name}")
    page.goto(f"{course}/teams")
    page.locator("tbody a").first.click()
    looked_at(page, keep, "campus-staff-group-set")


def test_a_roster_is_read_from_a_file_previewed_and_imported(open_page: Open) -> None:
    page = open_page(BRANDT)
    page.goto(course_of(page, "Experimental Physics") + "/roster")
    rows = "E-Mail;Name;Role\nzoe@campus.example;Zoë Ångström;student\n"
    page.get_by_label("CSV file").set_input_files(
        {"name": "roster.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )
    page.wait_for_function("document.getElementById('f-file').value.includes('Zoë')")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import 1 row").click()
    page.get_by_role("link", name="Show people").click()
    expect(page.get_by_role("cell", name="Zoë Ångström", exact=True)).to_be_visible()


@pytest.fixture
def omar(browser: Any, served: Served) -> Iterator[Any]:
    """Omar's browser. It is not held to a quiet console: chromium notes there that a page was refused."""
    with browser.new_context(base_url=served.url) as context:
        page = context.new_page()
        page.goto("/sign-in")
        page.locator(f'.people button[value="{OMAR}"]').click()
        yield page


def test_cc_s16_a_team_submits_from_two_browsers_and_both_parts_are_in_one_attempt(
    open_page: Open, omar: Any
) -> None:
    lin = open_page(LIN)
    path = assignment_of(lin, "Team project")
    for page in (lin, omar):
        page.goto(f"{path}/submit")
    # Lin uploads a file; Omar, who does not see it yet, writes a text: he is shown hers before his is added.
    lin.locator("input[data-choose]").set_input_files(
        {"name": "report.txt", "mimeType": "text/plain", "buffer": b"Two pages.\n"}
    )
    lin.locator(".part-list").get_by_text("report.txt").wait_for()
    omar.get_by_text("Write a text").click()
    omar.get_by_label("Text").fill("See README for how to run it.")
    with omar.expect_response(re.compile("/submit/parts")) as answered:
        omar.get_by_role("button", name="Add", exact=True).click()
    assert answered.value.status == 409
    expect(omar.get_by_role("alert").get_by_text("A part was added or removed")).to_be_visible()
    expect(omar.locator(".part-list").get_by_text("report.txt")).to_be_visible()
    expect(omar.get_by_label("Text")).to_have_value("See README for how to run it.")
    omar.get_by_role("button", name="Add", exact=True).click()
    omar.locator(".part-list").get_by_text("See README").wait_for()
    # Both press Submit on what they see.
    lin.goto(f"{path}/submit")
    for page in (lin, omar):
        page.get_by_label(re.compile("own work")).check()
    for page in (lin, omar):
        page.get_by_role("button", name=re.compile("^Submit")).click()
        page.wait_for_url(re.compile("/receipt$"))
    assert lin.url == omar.url
    for page in (lin, omar):
        expect(page.get_by_role("heading", name=re.compile("Attempt 1"))).to_be_visible()
        expect(page.get_by_text("report.txt")).to_be_visible()
        expect(page.get_by_text("See README for how to run it.")).to_be_visible()
        page.goto(path)
        expect(page.get_by_text("1 of 3").first).to_be_visible()
