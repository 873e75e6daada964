"""Sharing in Campus Cloud, in a real browser: to a recipient, through a link, and files that are sent in."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open
from tests.browser.looks import looked_at

HOME = "/console/campus"
API = "/campus/v1"
LIN, OMAR, BRANDT = "student_lin", "student_omar", "prof_brandt"


def asked(page: Any, method: str, path: str, data: Any = None) -> Any:
    """A request of the signed-in person, as a script of the page would make it."""
    origin = re.match(r"https?://[^/]+", page.url)
    assert origin is not None
    answer = page.request.fetch(f"{API}{path}", method=method, data=data, headers={"Origin": origin[0]})
    assert answer.ok, answer.text()
    return answer.json() if answer.body() else None


def uploaded(page: Any, name: str, content: bytes) -> str:
    """The id of a new file."""
    slot = asked(page, "POST", "/files", {"filename": name, "fileSize": len(content)})
    asked(page, "PUT", f"/uploads/{slot['uploadId']}/parts/1", content)
    return str(
        asked(page, "POST", f"/files/{slot['fileId']}:complete", {"uploadId": slot["uploadId"]})["fileId"]
    )


def scanned(page: Any, file_id: str) -> None:
    """Wait until the job has come to the file; a recipient gets it from then on. This server has no scanner."""
    for _ in range(120):
        if asked(page, "GET", f"/files/{file_id}")["virusScanStatus"] == "unscanned":
            return
        page.wait_for_timeout(250)
    pytest.fail("the file still waits for its scan after half a minute")


def paper(page: Any) -> bytes:
    """A document of several pages, as the browser prints it."""
    other = page.context.new_page()
    other.set_content("<h1>Report</h1>" + "<p style='break-after: page'>A page.</p>" * 3)
    content: bytes = other.pdf()
    other.close()
    return content


def test_a_file_is_shared_and_opened_by_its_recipient(open_page: Open) -> None:
    lin = open_page(LIN)
    lin.goto(HOME)
    file_id = uploaded(lin, "Überblick.pdf", paper(lin))
    scanned(lin, file_id)
    lin.goto(f"{HOME}/files/{file_id}/share")
    lin.get_by_label("E-mail addresses").fill("omar@campus.example")
    lin.get_by_label("Message").fill("Page 2, please.")
    lin.get_by_role("button", name="Share", exact=True).click()
    expect(lin.get_by_role("status").first).to_have_text("Shared with Omar Haddad.", use_inner_text=True)

    omar = open_page(OMAR)
    omar.goto(f"{HOME}/shared")
    omar.get_by_role("link", name="Überblick.pdf").click()
    omar.locator(".preview-page[data-page='1'] canvas").wait_for()
    expect(omar.get_by_text("Page 2, please.")).to_be_visible()
    expect(omar.locator(".preview-page")).to_have_count(3)
    with omar.expect_download() as download:
        omar.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "Überblick.pdf"

    opened = lin.get_by_role("row", name="Omar Haddad").get_by_text("2 times")
    for _ in range(60):  # a job adds accesses to the share every few seconds
        lin.reload()
        if opened.count():
            break
        lin.wait_for_timeout(500)
    expect(opened).to_be_visible()
    lin.get_by_role("button", name="Stop sharing with Omar Haddad").click()
    omar.goto(f"{HOME}/shared")
    expect(omar.get_by_role("link", name="Überblick.pdf")).to_have_count(0)


def test_a_page_among_the_files_is_shown_as_text_and_never_runs(open_page: Open) -> None:
    lin = open_page(LIN)
    lin.goto(HOME)
    content = b"<!doctype html><title>x</title><script>document.title = 'it ran'</script>\n"
    file_id = uploaded(lin, "page.html", content)
    scanned(lin, file_id)
    made = asked(lin, "POST", f"/files/{file_id}/links", {})
    visitor = open_page()
    visitor.goto(f"{HOME}/open/{made['token']}")
    assert visitor.locator(".preview-lines tr[data-line='1'] code").inner_text() == content.decode().strip()
    assert "it ran" not in visitor.title()
    with visitor.expect_download() as download:
        visitor.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "page.html"


def test_a_link_asks_for_its_password_and_counts_its_downloads(open_page: Open) -> None:
    lin = open_page(LIN)
    lin.goto(HOME)
    file_id = uploaded(lin, "limited.txt", b"only once")
    scanned(lin, file_id)
    lin.goto(f"{HOME}/files/{file_id}/share")
    lin.get_by_label("Number of downloads").fill("1")
    lin.get_by_label("Password").fill("open sesame")
    lin.get_by_role("button", name="Make a link").click()
    address = lin.locator(".link-row code").first.inner_text()
    visitor = open_page()
    visitor.goto(address)
    visitor.get_by_label("Password").fill("open sesame")
    visitor.get_by_role("button", name="Open").click()
    expect(visitor.get_by_text("1 download left.")).to_be_visible()
    with visitor.expect_download():
        visitor.get_by_role("button", name="Download").click()
    visitor.goto(address)
    expect(visitor.get_by_text("This link has no downloads left.")).to_be_visible()
    expect(visitor.get_by_role("button", name="Download")).to_have_count(0)


def test_files_are_sent_in_and_their_sender_sees_them_again(open_page: Open) -> None:
    brandt = open_page(BRANDT)
    brandt.goto(f"{HOME}/links")
    address = brandt.locator(".link-row code").first.inner_text()
    sender = open_page()
    sender.goto(address)
    sender.get_by_label("Your name").fill("Zoë")
    with sender.expect_navigation():  # the script of the page is there once it is loaded
        sender.get_by_role("button", name="Continue").click()
    sender.locator("[data-choose]").set_input_files(
        [{"name": "Foto ü.txt", "mimeType": "text/plain", "buffer": b"not a picture"}]
    )
    sender.get_by_role("cell", name="Foto ü.txt").wait_for()
    other = open_page()
    other.goto(address)
    expect(other.get_by_text("Foto ü.txt")).to_have_count(0)
    expect(other.get_by_label("Your name")).to_be_visible()
    brandt.goto(f"{HOME}/notifications")
    expect(brandt.get_by_text("Zoë sent you “Foto ü.txt”.").first).to_be_visible()


def test_the_pages_of_shares_fit_every_screen_without_a_serious_barrier(open_page: Open, keep: Keep) -> None:
    brandt = open_page(BRANDT)
    brandt.goto(f"{HOME}/links")
    drop = brandt.locator(".link-row code").first.inner_text()
    omar = open_page(OMAR)
    omar.goto(f"{HOME}/shared")
    folder = omar.get_by_role("link", name="Lecture notes").get_attribute("href")
    omar.goto(folder)
    file = omar.get_by_role("link", name="Week 1.txt").get_attribute("href")
    lin = open_page(LIN)
    lin.goto(HOME)
    notes = next(one for one in asked(lin, "GET", "/folders")["items"] if one["name"] == "Lecture notes")
    token = asked(lin, "POST", f"/folders/{notes['folderId']}/links", {"title": "Notes"})["token"]
    secret = asked(lin, "POST", f"/folders/{notes['folderId']}/links", {"password": "open sesame"})["token"]
    visitor = open_page()
    for page, name, path in (
        (brandt, "links", f"{HOME}/links"),
        (omar, "shared", f"{HOME}/shared"),
        (omar, "shared-folder", folder),
        (omar, "shared-file", file),
        (lin, "share", f"{HOME}/folders/{notes['folderId']}/share"),
        (visitor, "link-folder", f"{HOME}/open/{token}"),
        (visitor, "link-password", f"{HOME}/open/{secret}"),
        (visitor, "send", drop),
    ):
        assert page.goto(path).status == 200, path
        looked_at(page, keep, f"campus-{name}")
