"""A course from its roster to its gradebook, in the browsers of those who are in it."""

import re

from playwright.sync_api import expect
from tests.browser.conftest import Open

HOME = "/console/campus"
LIN, TESSA, BRANDT = "student_lin", "ta_tessa", "prof_brandt"
ROSTER = """email,name,role,section
lin@campus.example,Lin Zhao,student,A
omar@campus.example,Omar Haddad,student,B
tessa@campus.example,Tessa Alvarez,ta,
not an address,Eva,student,
"""


def test_a_course_is_set_up_worked_in_marked_released_and_asked_about(open_page: Open) -> None:
    brandt = open_page(BRANDT)
    brandt.goto(f"{HOME}/new-course")
    brandt.get_by_label(re.compile("^Course ID|^Code|^ID")).fill("HIST-110")
    brandt.get_by_label("Name", exact=True).fill("History of maps")
    brandt.get_by_label("Semester", exact=True).fill("2026 autumn")
    brandt.get_by_label("Last day of the semester").fill("2099-02-28")
    brandt.get_by_role("button", name=re.compile("^Create")).click()
    course = f"{HOME}/courses/HIST-110"
    # The roster: what is wrong is named, the rest is imported.
    brandt.goto(f"{course}/roster")
    brandt.get_by_label("CSV file").set_input_files(
        {"name": "roster.csv", "mimeType": "text/csv", "buffer": ROSTER.encode()}
    )
    brandt.wait_for_function("document.getElementById('f-file').value.includes('Lin')")
    brandt.get_by_role("button", name="Preview").click()
    expect(brandt.locator("main")).to_contain_text("This is not a valid e-mail address.", use_inner_text=True)
    brandt.get_by_role("button", name="Import 3 rows").click()
    # A rubric, and an assignment that has its points.
    brandt.goto(f"{course}/rubrics/new")
    brandt.get_by_label("Title").fill("Maps")
    criterion = brandt.get_by_role("group", name="Criterion 1")
    criterion.get_by_label("Name").fill("Idea")
    criterion.get_by_label("Levels").fill("0 None\n5 Clear")
    brandt.get_by_role("button", name="Save rubric").click()
    brandt.goto(f"{course}/new-assignment")
    brandt.get_by_label("Title").fill("The oldest map")
    brandt.get_by_label("Points optional", exact=True).fill("20")
    brandt.get_by_role("button", name=re.compile("^Save")).first.click()
    brandt.get_by_role("button", name="Publish").click()
    assignment = brandt.url.partition("?")[0]
    brandt.get_by_role("link", name="Mark and release").click()
    expect(brandt.get_by_text("Release all grades"), "nothing to release").to_have_count(0)
    brandt.get_by_label(re.compile("^Mark with")).select_option("Maps")
    brandt.get_by_role("button", name="Use this rubric").click()
    # Five points of twenty: the page says so, and the points are those of the rubric once they are left empty.
    brandt.get_by_role("link", name="Change the points of the assignment").click()
    brandt.get_by_label("Points optional", exact=True).fill("")
    brandt.get_by_role("button", name=re.compile("^Save")).first.click()
    brandt.goto(f"{assignment}/grading")
    expect(brandt.get_by_text("The best levels of this rubric make")).to_have_count(0)

    lin = open_page(LIN)
    lin.goto(f"{assignment}/submit")
    lin.get_by_text("Write a text").click()
    lin.get_by_label("Text").fill("A clay tablet.")
    lin.get_by_role("button", name="Add", exact=True).click()
    lin.get_by_label(re.compile("own work")).check()
    lin.get_by_role("button", name=re.compile("^Submit")).click()
    lin.wait_for_url(re.compile("/receipt$"))
    # Shared among the graders, then marked from the queue by keys.
    brandt.goto(f"{assignment}/grading")
    brandt.get_by_role("button", name="Allocate evenly").click()
    expect(brandt.get_by_text("1 submission allocated.")).to_be_visible()
    tessa = open_page(TESSA)
    tessa.goto(f"{course}/grading?mine=on")
    with tessa.expect_navigation():
        tessa.get_by_role("link", name="Lin Zhao").click()
    tessa.locator("h1").click()
    tessa.keyboard.press("2")
    expect(tessa.locator("[data-sum]")).to_have_text("5", use_inner_text=True)
    tessa.get_by_role("button", name="Save and back to the queue").click()
    idle = tessa.get_by_text("Nothing waits for a grade").or_(
        tessa.get_by_text("Nothing is allocated to you")
    )
    expect(idle.first).to_be_visible()
    # Released, asked about, answered; the gradebook has it.
    brandt.goto(f"{assignment}/grading")
    brandt.get_by_text("Release all grades…").click()
    brandt.get_by_role("button", name="Release all grades now").click()
    lin.goto(f"{course}/grades")
    lin.get_by_role("link", name="The oldest map").click()
    expect(lin.locator(".big")).to_have_text("5 of 5", use_inner_text=True)
    lin.get_by_text("Ask for a regrade", exact=True).click()
    lin.get_by_label("What should be looked at again").fill("Is there more to say?")
    lin.get_by_role("button", name="Send request").click()
    tessa.goto(HOME)
    tessa.get_by_role("row", name=re.compile("History of maps")).get_by_role("link", name="1").click()
    tessa.get_by_role("row", name=re.compile("Lin Zhao")).get_by_role("link").click()
    tessa.get_by_label("Answer").fill("No: full points.")
    tessa.get_by_role("button", name="Send").click()
    lin.reload()
    expect(lin.get_by_text("No: full points.")).to_be_visible()
    brandt.goto(f"{course}/gradebook")
    assert "100 %" in brandt.get_by_role("row", name=re.compile("Lin Zhao")).inner_text()
