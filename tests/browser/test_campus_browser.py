"""Campus Cloud in a real browser: uploads that are paused, interrupted and resumed; every page on every screen."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open, Served
from tests.browser.looks import looked_at

from tablewright.kit.objects.store import PART_SIZE

HOME = "/console/campus"
LIN, OMAR, BRANDT = "student_lin", "student_omar", "prof_brandt"
FILES = {
    "files": "/files",
    "files-by-name": "/files?sort=name",
    "files-found": "/files?q=e",
    "files-none-found": "/files?q=nothing+has+this+name",
    "trash": "/trash",
    "trash-empty": "/trash/empty",
}


def test_pages_of_files_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    page = open_page(LIN)
    for name, path in FILES.items():
        assert page.goto(HOME + path).status == 200, path
        looked_at(page, keep, f"campus-{name}")
    page.goto(f"{HOME}/files")
    page.locator("#listing a[href*='/files/']").first.click()
    page.locator("#versions").wait_for()
    looked_at(page, keep, "campus-file")
    page.goto(f"{HOME}/files")
    page.locator("#listing a[href*='folder=']").first.click()
    page.locator("summary", has_text="Rename").click()
    looked_at(page, keep, "campus-folder")


def _file(tmp_path: Path, name: str, content: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def _sent(page: Any) -> list[str]:
    """The parts that the page sends from now on, as `PUT .../parts/2`."""
    found: list[str] = []
    page.on("request", lambda call: found.append(call.url) if "/parts/" in call.url else None)
    return found


def _choose(page: Any, path: Path) -> None:
    page.locator("[data-upload] input[data-choose][multiple]").set_input_files(path)


def test_a_chosen_file_is_uploaded_and_listed_without_a_reload(open_page: Open, tmp_path: Path) -> None:
    page = open_page(OMAR)
    page.goto(f"{HOME}/files")
    _choose(page, _file(tmp_path, "Ünïcode notes.txt", b"a few words"))
    page.locator(".upload[data-state=done]").wait_for()
    page.locator("#listing a", has_text="Ünïcode notes.txt").wait_for()
    with page.expect_download() as caught:
        page.locator("a[aria-label='Download Ünïcode notes.txt']").click()
    assert caught.value.suggested_filename == "Ünïcode notes.txt"
    assert Path(caught.value.path()).read_bytes() == b"a few words"


def test_an_upload_goes_on_after_a_reload_without_sending_again_what_arrived(
    open_page: Open, tmp_path: Path, keep: Keep
) -> None:
    page = open_page(OMAR)
    content = b"0123456789abcdef" * (PART_SIZE // 16) * 2 + b"the end"
    big = _file(tmp_path, "lecture.txt", content)
    page.goto(f"{HOME}/files")
    # The second part does not arrive: it is held back until the page is left.
    page.route(re.compile(r"/parts/2$"), lambda route: None)
    with page.expect_response(re.compile(r"/parts/1$")), page.expect_response(re.compile(r"/parts/3$")):
        _choose(page, big)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{HOME}/files")
    page.unroute(re.compile(r"/parts/2$"))
    page.locator("[data-unfinished]", has_text="lecture.txt").wait_for()
    keep(page, "campus-unfinished-1280-light")
    sent = _sent(page)
    _choose(page, big)
    page.locator(".upload[data-state=done]").wait_for()
    assert [url.rpartition("/")[2] for url in sent] == ["2"]
    assert page.locator(".upload").get_attribute("data-kept") == "2"
    expect(page.locator("[data-unfinished]")).to_have_count(0)
    with page.expect_download() as caught:
        page.locator("a[aria-label='Download lecture.txt']").click()
    assert Path(caught.value.path()).read_bytes() == content


def test_another_file_of_the_same_name_and_size_never_becomes_a_mixture(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page(OMAR)
    first, second = (letter * (PART_SIZE + 9) for letter in (b"a", b"b"))
    path = _file(tmp_path, "same name.txt", first)
    page.goto(f"{HOME}/files")
    page.route(re.compile(r"/parts/2$"), lambda route: None)
    with page.expect_response(re.compile(r"/parts/1$")):
        _choose(page, path)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{HOME}/files")
    page.unroute(re.compile(r"/parts/2$"))
    path.write_bytes(second)
    _choose(page, path)
    page.locator(".upload[data-state=done]").wait_for()
    with page.expect_download() as caught:
        page.locator("a[aria-label='Download same name.txt']").click()
    assert Path(caught.value.path()).read_bytes() == second


def test_an_upload_can_be_paused_resumed_and_cancelled(open_page: Open, tmp_path: Path) -> None:
    page = open_page(OMAR)
    page.goto(f"{HOME}/files")
    page.route(re.compile(r"/parts/1$"), lambda route: None)
    _choose(page, _file(tmp_path, "paused.txt", b"hello"))
    page.locator(".upload button", has_text="Pause").click()
    page.locator(".upload[data-state=paused]").wait_for()
    page.unroute(re.compile(r"/parts/1$"))
    page.locator(".upload button", has_text="Resume").click()
    page.locator(".upload[data-state=done]").wait_for()
    page.route(re.compile(r"/parts/1$"), lambda route: None)
    _choose(page, _file(tmp_path, "cancelled.txt", b"hello"))
    page.locator(".upload[data-state=running]").wait_for()
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as caught:
        page.locator(".upload[data-state=running] button", has_text="Cancel").click()
    assert caught.value.status == 204
    page.goto(f"{HOME}/files")
    expect(page.locator("text=cancelled.txt")).to_have_count(0)


def test_an_upload_that_is_cancelled_before_it_has_a_place_gives_its_room_back(
    open_page: Open, tmp_path: Path
) -> None:
    page, held = open_page(OMAR), list[Any]()
    page.goto(f"{HOME}/files")
    page.route(re.compile(r"/campus/v1/files$"), lambda route: held.append(route))
    _choose(page, _file(tmp_path, "too soon.txt", b"hello"))
    page.locator(".upload[data-state=running] button", has_text="Cancel").click()
    page.locator(".upload[data-state=cancelled]").wait_for()
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as caught:
        held[0].continue_()
    assert caught.value.status == 204
    page.goto(f"{HOME}/files")
    expect(page.locator("text=too soon.txt")).to_have_count(0)


def test_a_completion_whose_answer_is_lost_makes_no_second_file(
    browser: Any, served: Served, tmp_path: Path
) -> None:
    # Not `open_page`: the browser writes the lost answer into its console.
    context, lost = browser.new_context(base_url=served.url), list[int]()
    page = context.new_page()
    context.request.post("/sign-in", form={"person": OMAR}, max_redirects=0)
    page.goto(f"{HOME}/files")

    def lose(route: Any) -> None:
        """The server completes the upload, and its answer does not arrive; the next one does."""
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().status)
        route.fulfill(status=502, body="a proxy's page")

    page.route(re.compile(r":complete$"), lose)
    _choose(page, _file(tmp_path, "answer lost.txt", b"hello"))
    page.locator(".upload[data-state=failed]").wait_for()
    page.locator(".upload button", has_text="Resume").click()
    page.locator(".upload[data-state=done]").wait_for()
    assert lost == [200]
    page.goto(f"{HOME}/files?q=answer+lost")
    expect(page.locator("#listing a:not([aria-label])", has_text="answer lost.txt")).to_have_count(1)
    context.close()


def test_an_upload_that_is_done_has_no_buttons_and_cannot_be_cancelled(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page(OMAR)
    page.goto(f"{HOME}/files")
    _choose(page, _file(tmp_path, "done.txt", b"hello"))
    page.locator(".upload[data-state=done]").wait_for()
    deleted: list[str] = []
    page.on("request", lambda call: deleted.append(call.url) if call.method == "DELETE" else None)
    # `hidden` wins over the display of .button: [hidden] { display: none !important }.
    shown = page.locator(".upload[data-state=done] button").evaluate_all(
        "buttons => buttons.map(one => [one.hidden, getComputedStyle(one).display])"
    )
    assert shown == [[True, "none"], [True, "none"]]
    page.locator(".upload[data-state=done] button", has_text="Cancel").dispatch_event("click")
    assert page.locator(".upload").get_attribute("data-state") == "done"
    page.reload()
    page.locator("#listing a", has_text="done.txt").wait_for()
    assert deleted == []


def test_dropped_files_are_uploaded_into_the_folder_of_the_page(open_page: Open) -> None:
    page = open_page(OMAR)
    page.goto(f"{HOME}/files")
    page.locator("summary", has_text="New folder").click()
    page.get_by_label("Name of the folder").fill("Dropped")
    with page.expect_navigation():  # the script of the page is there once it is loaded
        page.get_by_role("button", name="Create folder").click()
    page.locator("h1", has_text="Dropped").wait_for()
    page.evaluate(
        """() => {
            const carried = new DataTransfer();
            carried.items.add(new File(["dropped words"], "dropped.txt", { type: "text/plain" }));
            for (const kind of ["dragenter", "dragover", "drop"])
                document.querySelector("[data-drop]").dispatchEvent(
                    new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: carried }));
        }"""
    )
    page.locator("#listing a", has_text="dropped.txt").wait_for()
    page.goto(f"{HOME}/files")
    expect(page.locator("#listing a", has_text="dropped.txt")).to_have_count(0)


def test_a_chosen_folder_is_uploaded_with_the_folders_below_it(open_page: Open, tmp_path: Path) -> None:
    page, below = open_page(OMAR), tmp_path / "Voyage" / "Day 1"
    below.mkdir(parents=True)
    (below / "deep.txt").write_text("deep")
    (below.parent / "empty.txt").write_text("")
    page.goto(f"{HOME}/files")
    page.locator("[data-upload] input[webkitdirectory]").set_input_files(below.parent)
    page.get_by_text("2 files are uploaded.").wait_for()
    expect(page.locator("#listing a", has_text="deep.txt")).to_have_count(0)
    page.locator("#listing a", has_text="Voyage").click()
    page.locator("#listing a", has_text="empty.txt").wait_for()
    page.locator("#listing a", has_text="Day 1").click()
    page.locator("#listing a", has_text="deep.txt").wait_for()


def test_a_new_version_is_uploaded_on_the_page_of_a_file_and_the_old_one_restored(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page(OMAR)
    page.goto(f"{HOME}/files")
    _choose(page, _file(tmp_path, "versions.txt", b"first"))
    with page.expect_navigation():
        page.locator("#listing a", has_text="versions.txt").first.click()
    page.locator("input[data-choose]").set_input_files(_file(tmp_path, "other name.txt", b"second, longer"))
    page.locator("#listing tr", has_text="2 current").wait_for()
    page.locator("button", has_text="Make current").click()
    page.locator("#listing tr", has_text="1 current").wait_for()
    page.locator("button", has_text="Move to trash").click()
    page.goto(f"{HOME}/trash")
    page.locator("tr", has_text="versions.txt").locator("button", has_text="Restore").click()
    expect(page.locator("tr", has_text="versions.txt")).to_have_count(0)
