"""Grading in a real browser: marking with a rubric and keys, release, regrade; every page on every screen."""

import re
from typing import Any

from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open
from tests.browser.looks import looked_at

HOME = "/console/campus"
LIN, NOOR, TESSA, BRANDT = "student_lin", "student_noor", "ta_tessa", "prof_brandt"


def course_of(page: Any) -> str:
    page.goto(f"{HOME}/courses")
    found: str = page.get_by_role("link", name="Introduction to Computer Science").get_attribute("href")
    return found


def grading_of(page: Any, title: str) -> str:
    """The page of all submissions of an assignment."""
    page.goto(f"{course_of(page)}/grading")
    found: str = page.locator("main").get_by_role("link", name=re.compile(title)).first.get_attribute("href")
    return found


def test_staff_pages_of_grading_fit_every_screen_without_a_serious_barrier(
    open_page: Open, keep: Keep
) -> None:
    page = open_page(BRANDT)
    course, essay = course_of(page), grading_of(page, "Essay")
    paths = {
        "grading": f"{course}/grading", "assignment-grading": essay, "gradebook": f"{course}/gradebook",
        "scheme": f"{course}/gradebook/scheme", "rubrics": f"{course}/rubrics", "new-rubric": f"{course}/rubrics/new",
        "regrades": f"{course}/regrades",
    }  # fmt: skip
    for name, path in paths.items():
        assert page.goto(path).status == 200, path
        looked_at(page, keep, f"campus-{name}")
    page.goto(essay)
    page.locator('main a[href$="/mark"]').first.click()
    looked_at(page, keep, "campus-mark")


def test_students_pages_of_grades_fit_every_screen_without_a_serious_barrier(
    open_page: Open, keep: Keep
) -> None:
    page = open_page(NOOR)
    page.goto(f"{course_of(page)}/grades")
    looked_at(page, keep, "campus-my-grades")
    page.get_by_role("link", name=re.compile("Essay")).click()
    looked_at(page, keep, "campus-grade")
    page.get_by_role("link", name="Your regrade request").click()
    looked_at(page, keep, "campus-regrade")


def test_a_rubric_is_written_and_a_grade_marked_with_keys_released_and_asked_about(open_page: Open) -> None:
    brandt = open_page(BRANDT)
    course, sorting = course_of(brandt), grading_of(brandt, "Sorting")
    brandt.goto(f"{course}/rubrics/new")
    brandt.get_by_label("Title").fill("Sorting rubric")
    for n, (name, levels) in enumerate(
        (("Correct", "0 No\n10 Yes"), ("Readable", "0 No\n5 Partly\n10 Yes")), 1
    ):
        block = brandt.get_by_role("group", name=f"Criterion {n}")
        block.get_by_label("Name").fill(name)
        block.get_by_label("Levels").fill(levels)
    brandt.get_by_role("button", name="Save rubric").click()
    brandt.goto(sorting)
    brandt.get_by_label("Mark with").select_option("Sorting rubric")
    brandt.get_by_role("button", name="Use this rubric").click()

    tessa = open_page(TESSA)
    tessa.goto(sorting)
    with tessa.expect_navigation():  # the script of the page is there once it is loaded
        tessa.get_by_role("link", name="Lin Zhao").click()
    # The keys go along the queue and back.
    here = tessa.url
    tessa.locator("h1").click()
    with tessa.expect_navigation():
        tessa.keyboard.press("j")
    assert tessa.url != here
    with tessa.expect_navigation():
        tessa.keyboard.press("k")
    assert tessa.url == here
    # A comment on the second line: a click says where.
    tessa.locator('tr[data-line="2"] td').click()
    tessa.get_by_label("Comment", exact=True).fill("Say what is sorted.")
    with tessa.expect_navigation():
        tessa.get_by_role("button", name="Add comment").click()
    expect(tessa.locator(".note-row .note-text")).to_have_text("Say what is sorted.", use_inner_text=True)
    # The levels by keys: the second, then the second of the next criterion.
    tessa.locator("h1").click()
    tessa.keyboard.press("2")
    tessa.keyboard.press("2")
    expect(tessa.locator("[data-sum]")).to_have_text("15", use_inner_text=True)
    tessa.get_by_label("Feedback").fill("Nice and short.")
    tessa.get_by_role("button", name="Save grade").click()
    expect(tessa.locator(".head")).to_contain_text("in review", use_inner_text=True)

    lin = open_page(LIN)
    grade = here.replace("/mark", "/grade")
    lin.goto(grade)
    expect(lin.get_by_text("No grade yet")).to_be_visible()
    brandt.goto(sorting)
    brandt.get_by_text("Release all grades…").click()
    brandt.get_by_role("button", name="Release all grades now").click()
    lin.goto(grade)
    assert lin.locator(".big").inner_text().startswith("15")
    assert lin.locator(".note-row .note-text").inner_text() == "Say what is sorted."
    lin.get_by_text("Ask for a regrade", exact=True).click()
    lin.get_by_label("What should be looked at again").fill("Is it not readable?")
    lin.get_by_role("button", name="Send request").click()

    tessa.goto(f"{course}/regrades")
    tessa.get_by_role("row", name=re.compile("Lin Zhao")).get_by_role("link").click()
    tessa.get_by_label("Answer").fill("It is: the second level was a slip.")
    tessa.get_by_role("button", name="Send").click()
    lin.reload()
    expect(lin.get_by_text("the second level was a slip")).to_be_visible()
    assert "answered" in lin.locator(".head").inner_text()


def test_marking_works_without_a_script(open_page: Open) -> None:
    tessa = open_page(TESSA, script=False)
    tessa.goto(grading_of(tessa, "Sorting"))
    tessa.get_by_role("link", name="Ada Okafor").click()
    # With or without the rubric of the other test.
    tessa.get_by_role("button", name="Save draft").wait_for()
    if tessa.get_by_label(re.compile("^Grade of")).count():
        tessa.get_by_label(re.compile("^Grade of")).fill("12,5")
    else:
        tessa.get_by_role("radio").first.check()
    tessa.get_by_role("button", name="Save draft").click()
    expect(tessa.locator(".head")).to_contain_text("in marking", use_inner_text=True)


def test_a_student_tries_what_if(open_page: Open) -> None:
    noor = open_page(NOOR)
    noor.goto(f"{course_of(noor)}/grades")
    noor.get_by_label(re.compile("Points for Team project")).fill("50")
    noor.get_by_role("button", name="Show total with these points").click()
    expect(noor.get_by_text("With your guesses")).to_be_visible()


def test_a_message_on_a_page_of_grades_stands_beside_its_icon(open_page: Open) -> None:
    page = open_page(TESSA, width=390)
    page.goto(f"{course_of(page)}/gradebook")
    page.locator(".demo-switch summary").click()
    page.locator(".demo-switch").get_by_role("button", name="Brandt").click()
    message = page.locator(".flash.note")
    message.get_by_text("You are now signed in").wait_for()
    icon, text = (message.locator(part).bounding_box() for part in ("svg", "p"))
    assert icon["x"] + icon["width"] <= text["x"]
    assert text["width"] > 200, "the text has the rest of the line"
