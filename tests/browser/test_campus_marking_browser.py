"""Marking in a real browser: pins on images and PDF pages, own points, grades by hand, and files that bring grades."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open, Served
from tests.browser.looks import looked_at
from tests.browser.test_campus_grading_browser import (
    BRANDT,
    HOME,
    NOOR,
    TESSA,
    course_of,
    grading_of,
)
from tests.browser.test_campus_sharing_browser import asked, paper, scanned, uploaded

OMAR = "student_omar"
# Where on the page a pin is placed, as a share of its width and height.
PLACES = {"picture.png": (0.25, 0.6), "report.pdf": (0.7, 0.3)}


def picture(page: Any) -> bytes:
    """An image of a known size, as the browser draws it."""
    other = page.context.new_page()
    other.set_viewport_size({"width": 600, "height": 400})
    other.set_content("<body style='margin:0;background:linear-gradient(135deg,#fff,#39c)'>A plan")
    content: bytes = other.screenshot()
    other.close()
    return content


def new_assignment(page: Any, course: str, title: str, **more: Any) -> str:
    """The id of a published assignment for files."""
    course_id = course.rpartition("/")[2]
    body = {
        "title": title, "description": "Hand it in.", "dueDate": "2099-01-01T12:00:00Z", "maxFileSize": 10_000_000,
        "allowedFileTypes": ["image/png", "application/pdf", "text/plain"], "points": 10, **more,
    }  # fmt: skip
    made = asked(page, "POST", f"/courses/{course_id}/assignments", body)
    asked(page, "POST", f"/assignments/{made['assignmentId']}:publish")
    return str(made["assignmentId"])


def pin_at(page: Any, part: Any) -> tuple[float, float]:
    """Where the pin of a document is on its page, as shares."""
    part.locator(".pin").wait_for()
    found: list[float] = part.locator(".pin").evaluate(
        """pin => { const a = pin.getBoundingClientRect(), b = pin.closest(".preview-page").getBoundingClientRect();
             return [(a.left + a.width / 2 - b.left) / b.width, (a.top + a.height / 2 - b.top) / b.height]; }"""
    )
    return found[0], found[1]


def document(page: Any, name: str) -> Any:
    return page.locator(".doc").filter(has=page.get_by_role("heading", name=name))


def drawn(part: Any) -> Any:
    """The page of a document on which the pin goes: the second of a PDF. Waits until it is drawn."""
    if part.locator("[data-preview=pdf]").count() == 0:
        part.locator(".preview-page img").wait_for()
        return part.locator(".preview-page")
    second = part.locator('.preview-page[data-page="2"]')
    second.scroll_into_view_if_needed()
    second.locator("canvas").wait_for()
    return second


def test_pins_on_an_image_and_on_a_page_of_a_pdf_stay_in_their_place_and_are_read_after_the_release(
    open_page: Open, keep: Keep
) -> None:
    brandt, omar, tessa = open_page(BRANDT), open_page(OMAR), open_page(TESSA)
    assignment_id = new_assignment(brandt, course_of(brandt), "Plan and report")
    omar.goto(HOME)
    ids = [uploaded(omar, "picture.png", picture(omar)), uploaded(omar, "report.pdf", paper(omar))]
    for file_id in ids:
        scanned(omar, file_id)
    made = asked(
        omar, "POST", f"/assignments/{assignment_id}/submissions", {"parts": [{"fileId": id} for id in ids]}
    )
    mark = f"{HOME}/submissions/{made['submissionId']}/mark"
    tessa.goto(mark)
    for name, (x, y) in PLACES.items():
        page = drawn(document(tessa, name))
        box = page.bounding_box()
        page.click(position={"x": box["width"] * x, "y": box["height"] * y})
        part = document(tessa, name)
        part.get_by_label("Comment", exact=True).fill(f"Look here in {name}.")
        with tessa.expect_navigation():
            part.get_by_role("button", name="Add comment").click()
    tessa.reload()
    for name, place in PLACES.items():
        page = drawn(document(tessa, name))
        assert pin_at(tessa, page) == pytest.approx(place, abs=0.01), name
        assert page.locator(".pin").get_attribute("title") == f"Look here in {name}."
    assert "Page 2" in document(tessa, "report.pdf").locator(".note-head").inner_text()
    keep(tessa, "campus-pins")

    omar.goto(mark.replace("/mark", "/grade"))
    expect(omar.locator(".doc").first).to_be_visible()
    expect(omar.locator(".pin, .note"), "not before the release").to_have_count(0)
    tessa.get_by_label(re.compile("^Grade of")).fill("8")
    tessa.get_by_role("button", name="Save grade").click()
    brandt.goto(f"{HOME}/assignments/{assignment_id}/grading")
    brandt.get_by_text("Release all grades…").click()
    brandt.get_by_role("button", name="Release all grades now").click()
    # On a phone, at other widths, the places are the same.
    for width in (1280, 390):
        reader = omar if width == 1280 else open_page(OMAR, width=width)
        reader.goto(mark.replace("/mark", "/grade"))
        for name, place in PLACES.items():
            page = drawn(document(reader, name))
            assert pin_at(reader, page) == pytest.approx(place, abs=0.02), (name, width)
            assert document(reader, name).locator(".note-text").inner_text() == f"Look here in {name}."
    looked_at(omar, keep, "campus-grade-with-pins")
    # A pin leads to its comment by keyboard, too.
    pin = document(omar, "picture.png").locator(".pin")
    pin.focus()
    omar.keyboard.press("Enter")
    expect(omar.locator(".note:target .note-text")).to_have_text(
        "Look here in picture.png.", use_inner_text=True
    )


def test_own_points_take_the_place_of_a_level_and_a_level_theirs(open_page: Open) -> None:
    tessa = open_page(TESSA)
    tessa.goto(grading_of(tessa, "Essay"))
    with tessa.expect_navigation():  # the script of the page is there once it is loaded
        tessa.locator('main a[href$="/mark"]').first.click()
    criterion = tessa.locator("[data-criterion]").first
    total = tessa.locator("[data-sum]")
    others = float(total.inner_text()) - float(
        criterion.locator("[data-points]:checked").get_attribute("data-points")
    )
    own = criterion.get_by_label(re.compile("^Other points"))
    own.fill("1,5")
    assert float(total.inner_text()) == others + 1.5
    with tessa.expect_navigation():
        tessa.get_by_role("button", name="Save draft").click()
    expect(own).to_have_value("1.5")
    best = criterion.locator("[data-points]").last
    best.check()
    expect(own).to_have_value("")
    assert float(total.inner_text()) == others + float(best.get_attribute("data-points"))


def test_a_student_without_a_submission_gets_a_grade_by_hand(open_page: Open) -> None:
    brandt, tessa, noor = open_page(BRANDT), open_page(TESSA), open_page(NOOR)
    title = "Oral exam"
    assignment_id = new_assignment(brandt, course_of(brandt), title)
    grading = f"{HOME}/assignments/{assignment_id}/grading"
    tessa.goto(grading)
    noors = (
        tessa.get_by_label("Student", exact=True).locator("option", has_text="Noor").get_attribute("value")
    )
    tessa.get_by_label("Student", exact=True).select_option(noors)
    tessa.get_by_role("button", name="Grade without a submission").click()
    expect(tessa.get_by_text("Nothing was handed in")).to_be_visible()
    tessa.get_by_label(re.compile("^Grade of")).fill("9")
    tessa.get_by_label("Feedback").fill("Clear answers.")
    tessa.get_by_role("button", name="Save grade").click()
    noor.goto(f"{HOME}/assignments/{assignment_id}")
    expect(noor.get_by_text("without a submission")).to_have_count(0)
    brandt.goto(grading)
    assert "no submission" in brandt.get_by_role("row", name=re.compile("Noor")).inner_text()
    brandt.get_by_text("Release all grades…").click()
    brandt.get_by_role("button", name="Release all grades now").click()
    noor.goto(f"{course_of(noor)}/grades")
    noor.get_by_role("link", name=title).click()
    expect(noor.locator(".big")).to_have_text(re.compile("^9"), use_inner_text=True)
    expect(noor.get_by_text("Clear answers.")).to_be_visible()


def test_grades_are_imported_from_a_file_of_the_computer(open_page: Open, keep: Keep, tmp_path: Path) -> None:
    brandt = open_page(BRANDT)
    course, title = course_of(brandt), "Quiz from a file"
    new_assignment(brandt, course, title)
    brandt.goto(f"{course}/gradebook")
    brandt.get_by_role("link", name="Import grades").click()
    looked_at(brandt, keep, "campus-gradebook-import")
    file = tmp_path / "grades.csv"

    def chosen(content: str) -> None:
        file.write_text(content)
        brandt.get_by_label("CSV file").set_input_files(file)
        with brandt.expect_navigation():
            brandt.get_by_role("button", name="Preview").click()

    chosen(f"E-mail,{title},Bonus\nlin@campus.example,11,1\nnoor@campus.example,many,1\nx@x.example,1,1\n")
    table = brandt.get_by_role("table", name="Cells that are not imported")
    assert "The grade must be 0 to 10." in table.inner_text()
    assert "“many” is not a number." in table.inner_text()
    expect(brandt.get_by_text("x@x.example")).to_be_visible()
    expect(brandt.get_by_role("button", name=re.compile("^Import"))).to_have_count(0)
    looked_at(brandt, keep, "campus-gradebook-wrong")
    chosen(f"E-mail,{title}\nlin@campus.example,7.5\nnoor@campus.example,6\n")
    assert "7.5" in brandt.get_by_role("table", name="Grades that change").inner_text()
    looked_at(brandt, keep, "campus-gradebook-preview")
    brandt.get_by_role("button", name="Import 2 grades").click()
    brandt.get_by_role("link", name="Show the gradebook").click()
    expect(brandt.get_by_role("row", name=re.compile("Lin Zhao"))).to_contain_text("7.5", use_inner_text=True)


def test_a_worksheet_comes_back_from_the_computer(open_page: Open, tmp_path: Path) -> None:
    tessa = open_page(TESSA)
    grading = grading_of(tessa, "Sorting")
    tessa.goto(grading)
    with tessa.expect_download() as download:
        tessa.get_by_role("link", name="Worksheet only (CSV)").click()
    file = tmp_path / "worksheet.csv"
    download.value.save_as(file)
    tessa.get_by_text("Bring a worksheet back").click()
    tessa.get_by_label(re.compile("^Zip or CSV file")).set_input_files(file)
    with tessa.expect_navigation():
        tessa.get_by_role("button", name="Import", exact=True).click()
    report = tessa.get_by_role("table", name="Report of the import").inner_text()
    assert "Lin Zhao" in report
    assert "refused" not in report


@pytest.fixture
def tessa(browser: Any, served: Served) -> Iterator[Any]:
    """Tessa's browser. It is not held to a quiet console: chromium notes there that a page was refused."""
    with browser.new_context(base_url=served.url) as context:
        page = context.new_page()
        page.goto("/sign-in")
        page.locator(f'.people button[value="{TESSA}"]').click()
        yield page


def test_what_is_typed_and_not_saved_outlives_a_comment_and_a_key_asks_before_it_leaves(
    open_page: Open, tessa: Any
) -> None:
    brandt, omar, noor = (open_page(each) for each in (BRANDT, OMAR, NOOR))
    assignment_id = new_assignment(brandt, course_of(brandt), "Kept work")
    made = []
    for student in (omar, noor):
        student.goto(HOME)
        parts = {"parts": [{"kind": "text", "text": "One line.\nAnother line."}]}
        made.append(
            asked(student, "POST", f"/assignments/{assignment_id}/submissions", parts)["submissionId"]
        )
    mark = f"{HOME}/submissions/{made[0]}/mark"
    score, feedback = tessa.get_by_label(re.compile("^Grade of")), tessa.get_by_label("Feedback")
    note = tessa.locator(".marking-form").get_by_role("alert")
    dialogs: list[str] = []

    def answer(dialog: Any) -> None:
        dialogs.append(dialog.type)
        dialog.dismiss()

    errors: list[str] = []
    tessa.on("pageerror", lambda error: errors.append(str(error)))
    tessa.on("dialog", answer)
    tessa.goto(mark)
    score.fill("7,5")
    feedback.fill("Half of a long feedback")

    # A comment comes back to the page, and asks nothing: what was typed is there.
    tessa.locator(".doc").get_by_text("Add a comment").click()
    tessa.get_by_label("Comment", exact=True).fill("Why?")
    with tessa.expect_navigation():
        tessa.get_by_role("button", name="Add comment").click()
    expect(tessa.locator(".note-text")).to_have_text("Why?", use_inner_text=True)
    assert (score.input_value(), feedback.input_value()) == ("7,5", "Half of a long feedback")
    assert "What you typed here is not saved yet." in note.inner_text()
    assert dialogs == []

    # A key says what is not saved and stays; the browser asks before a link is followed.
    key = "j" if tessa.locator('[data-key="j"]').count() else "k"
    tessa.locator("h1").click()
    tessa.keyboard.press(key)
    expect(note).to_contain_text(f"Press {key} again to leave it", use_inner_text=True)
    assert tessa.url.split("#")[0].endswith(mark)
    with tessa.expect_event("dialog"):
        tessa.locator(f'[data-key="{key}"]').click(no_wait_after=True)
    assert dialogs == ["beforeunload"]
    assert tessa.url.split("#")[0].endswith(mark)
    tessa.locator("h1").click()
    tessa.keyboard.press(key)
    with tessa.expect_navigation():
        tessa.keyboard.press(key)
    assert not tessa.url.split("#")[0].endswith(mark)
    assert feedback.input_value() == "", "of another submission"

    # Back on the page it is there still; a refusal keeps it; once it is saved it is the saved mark that is shown.
    tessa.goto(mark)
    assert feedback.input_value() == "Half of a long feedback"
    score.fill("seven")
    with tessa.expect_navigation():
        tessa.get_by_role("button", name="Save draft").click()
    assert (score.input_value(), feedback.input_value()) == ("seven", "Half of a long feedback")
    score.fill("7,5")
    with tessa.expect_navigation():
        tessa.get_by_role("button", name="Save draft").click()
    expect(tessa.get_by_text("Draft saved.")).to_be_visible()
    assert (score.input_value(), note.count()) == ("7.5", 0)
    assert not [each for each in tessa.evaluate("() => Object.keys(sessionStorage)") if "/mark" in each]

    # What is not wanted is discarded.
    feedback.fill("No.")
    tessa.locator(".doc").get_by_text("Add a comment").click()
    tessa.get_by_label("Comment", exact=True).fill("And why?")
    with tessa.expect_navigation():
        tessa.get_by_role("button", name="Add comment").click()
    with tessa.expect_navigation():
        note.get_by_role("button", name="Discard it").click()
    assert (feedback.input_value(), note.count()) == ("Half of a long feedback", 0)
    assert (dialogs, errors) == (["beforeunload"], [])
