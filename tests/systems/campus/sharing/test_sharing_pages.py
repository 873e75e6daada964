"""The pages of shares, links and file requests over HTTP in the demo world, as a browser without a script uses them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape

import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS as SYSTEM
from tablewright.edge import serving_app
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.jobs import flush_accesses, run_tasks
from tablewright.systems.campus.model import File, User
from tablewright.systems.campus.sharing.links import LinkTerms
from tablewright.systems.campus.sharing.targets import target_of

HOME = "/console/campus"
NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
LIN, OMAR, NOOR, BRANDT = "student_lin", "student_omar", "student_noor", "prof_brandt"
HOSTILE = "<script>alert(1)</script>.txt"


@pytest.fixture(scope="module")
def clock() -> testing.Clock:
    return testing.Clock(NOW)


@pytest.fixture(scope="module")
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    with open_app(memory=True, systems=(SYSTEM,), world=ticking(clock), jobs=False) as opened:
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
    with browsers(url) as entered:
        yield entered


def user_of(campus: Campus, name: str) -> User:
    found = campus.users.by_email(f"{name}@campus.example")
    assert found is not None
    return found


@pytest.fixture
def file(campus: Campus) -> File:
    """A file of Lin's, scanned."""
    lin, name = user_of(campus, "lin"), HOSTILE.replace("/", "∕")
    stored = campus.uploads.store_whole(lin, name, [b"<b>bold</b>\nsecond"], 18)
    run_tasks(campus)
    return stored


def test_a_form_keeps_what_was_typed_and_names_every_mistake(enter: Enter, file: File) -> None:
    lin = enter(LIN)
    at = f"{HOME}/files/{file.file_id}/share"
    page = lin.post(
        at, data={"people": "nonsense, omar@campus.example", "permissions": "read", "message": "Hi"}
    )
    assert page.status_code == 422
    assert "“nonsense”: That isn't a valid e-mail address." in words_of(page)
    assert ">nonsense, omar@campus.example</textarea>" in page.text
    assert "Not shared with anyone yet." in words_of(page)
    past = lin.post(
        at, data={"people": "omar@campus.example", "permissions": "read", "expiresOn": "2020-01-01"}
    )
    assert "must end in the future" in words_of(past)


def test_a_file_is_shared_opened_changed_and_no_longer_shared(
    campus: Campus, enter: Enter, file: File
) -> None:
    lin, omar, noor = enter(LIN), enter(OMAR), enter(NOOR)
    at = f"{HOME}/files/{file.file_id}/share"
    done = lin.post(
        at, data={"people": "omar@campus.example", "permissions": "read", "expiresOn": "2026-12-01"}
    )
    assert "Shared with Omar Haddad." in words_of(done)
    assert 'value="2026-12-01"' in done.text
    listed = omar.get(f"{HOME}/shared")
    assert "<script>" not in listed.text.replace("<script src", "")
    [path] = [one for one in re.findall(rf'href="({HOME}/shared/[^"]+)"', listed.text) if one in listed.text][
        :1
    ]
    seen = omar.get(path)
    assert seen.status_code == 200
    assert "<b>bold</b>" not in seen.text
    assert '<tr id="' in seen.text
    assert 'data-line="2"' in seen.text
    assert noor.get(path).status_code == 404
    share_id = path.rpartition("/")[2]
    assert omar.get(f"{HOME}/files/{file.file_id}").status_code == 200
    flush_accesses(campus)
    assert campus.repository.share(share_id).access_count == 2
    changed = lin.post(f"{HOME}/shares/{share_id}/change", data={"permissions": "write", "expiresOn": ""})
    assert "The share is changed." in words_of(changed)
    assert omar.post(f"{HOME}/shares/{share_id}/revoke").status_code == 403
    assert "No longer shared with Omar Haddad." in words_of(lin.post(f"{HOME}/shares/{share_id}/revoke"))
    assert "ended the share" in words_of(omar.get(path))
    assert omar.get(at).status_code == 403


def test_a_shared_folder_is_browsed_down_and_not_up(campus: Campus, enter: Enter) -> None:
    omar, lin = enter(OMAR), user_of(campus, "lin")
    notes = next(
        one for one in campus.folders.tree(lin.user_id).by_id.values() if one.name == "Lecture notes"
    )
    other = next(one for one in campus.folders.tree(lin.user_id).by_id.values() if one.name == "Photos")
    found = campus.repository.page(campus.shares.with_user(user_of(campus, "omar")), 50, None, "omar").items
    share = next(one for one in found if one.file_id == notes.folder_id)
    at = f"{HOME}/shared/{share.share_id}"
    assert "Week 1.txt" in words_of(omar.get(at))
    assert omar.get(f"{at}?folder={other.folder_id}").status_code == 403
    assert "data-upload" not in omar.get(at).text
    campus.shares.change(lin, share.share_id, {"permissions": "write"})
    assert f'data-folder="{notes.folder_id}"' in omar.get(at).text


def test_a_link_opens_without_a_login_and_its_password_is_remembered_for_it_alone(
    campus: Campus, enter: Enter, file: File
) -> None:
    lin = user_of(campus, "lin")
    tokens = [
        campus.links.secrets.token(
            campus.links.create(
                lin, target_of(file), LinkTerms(password="open sesame", download_limit=1)
            ).link_id
        )
        for _ in range(2)
    ]
    visitor = enter()
    at, other = (f"{HOME}/open/{token}" for token in tokens)
    assert "This link has a password" in words_of(visitor.get(at))
    wrong = visitor.post(at, data={"password": "sesame open"})
    assert (wrong.status_code, "This password is wrong." in words_of(wrong)) == (403, True)
    opened = visitor.post(at, data={"password": "open sesame"})
    assert "1 download left." in words_of(opened)
    assert "data-line" not in opened.text  # a preview would be a download that does not count
    assert "This link has a password" in words_of(visitor.get(other))
    fetched = visitor.post(f"{at}/files/{file.file_id}/download")
    assert fetched.content == b"<b>bold</b>\nsecond"
    assert fetched.headers["Content-Disposition"].startswith("attachment")
    again = visitor.post(f"{at}/files/{file.file_id}/download")
    assert (again.status_code, "no downloads left" in words_of(again)) == (403, True)
    elsewhere = enter().post(f"{at}/files/{file.file_id}/download")
    assert "This link has a password" in words_of(elsewhere)


def test_my_links_are_listed_and_switched_off(campus: Campus, enter: Enter, file: File) -> None:
    browser, lin = enter(LIN), user_of(campus, "lin")
    made = browser.post(f"{HOME}/files/{file.file_id}/links", data={"title": "For the team"})
    assert "The link is ready." in words_of(made)
    link = next(one for one in campus.links.of(lin) if one.title == "For the team")
    assert campus.links.address(link) in unescape(browser.get(f"{HOME}/links").text)
    late = browser.post(
        f"{HOME}/files/{file.file_id}/links", data={"linkExpiresOn": "2030-01-01", "title": "x"}
    )
    assert (late.status_code, "365 days from now" in words_of(late)) == (422, True)
    visitor, at = enter(), campus.links.address(link).partition(HOME)[2]
    assert visitor.get(HOME + at).status_code == 200
    assert enter(OMAR).post(f"{HOME}/links/{link.link_id}/revoke").status_code == 404
    browser.post(f"{HOME}/links/{link.link_id}/revoke", data={"back": "https://elsewhere.example/"})
    assert visitor.get(HOME + at).status_code == 410


def test_a_sender_enters_a_name_and_gets_a_ticket_for_this_browser(campus: Campus, enter: Enter) -> None:
    brandt = user_of(campus, "brandt")
    drop = next(one for one in campus.links.of(brandt) if one.kind == "drop")
    at = f"{HOME}/send/{campus.links.secrets.token(drop.link_id)}"
    sender = enter()
    assert "data-upload" not in sender.get(at).text
    empty = sender.post(at, data={"name": " "})
    assert (empty.status_code, "Enter your name" in words_of(empty)) == (422, True)
    entered = sender.post(at, data={"name": "Zoë <b>"})
    assert "Sent as Zoë <b>" in words_of(entered)
    found = re.search(r'data-headers="([^"]+)"', entered.text)
    assert found is not None
    headers = json.loads(unescape(found[1]))
    uploads = re.search(r'data-uploads="([^"]+)"', entered.text)
    assert uploads is not None
    slot = sender.post(uploads[1], json={"filename": "a.txt", "fileSize": 3}, headers=headers).json()
    assert "Not finished" in words_of(sender.get(at))
    assert "Not finished" not in words_of(enter(BRANDT).get(f"{HOME}/files"))  # it is the sender's
    sender.put(f"{uploads[1]}/{slot['uploadId']}/parts/1", content=b"abc", headers=headers)
    sender.post(f"{uploads[1]}/{slot['uploadId']}:complete", json={}, headers=headers)
    assert "a.txt" in words_of(sender.get(at))
    assert "a.txt" not in words_of(enter().get(at))
    sender.post(f"{at}/leave")
    assert "a.txt" not in words_of(sender.get(at))


def test_the_owner_sees_what_visitors_are_sending_and_cancels_it(campus: Campus, enter: Enter) -> None:
    lin = user_of(campus, "lin")
    folder = campus.folders.create(lin, "For visitors")
    at = f"{HOME}/folders/{folder.folder_id}/links"
    wrong = enter(LIN).post(at, data={"kind": "drop", "largestFile": "99999999"})
    assert (wrong.status_code, "The largest file must be" in words_of(wrong)) == (422, True)
    assert enter(LIN).post(at, data={"kind": "drop", "largestFile": "1.5"}).status_code == 200
    link = next(one for one in campus.links.of(lin) if one.target_id == folder.folder_id)
    assert link.max_file_size == 1_572_864
    sender = campus.file_requests.enter(link, "Ann")
    slot = campus.file_requests.begin(link, sender, filename="big.bin", size=1000, content_type="text/plain")
    assert "big.bin" in words_of(enter(LIN).get(f"{HOME}/links"))
    assert "big.bin" not in words_of(enter(OMAR).get(f"{HOME}/links"))
    cancel = f"{HOME}/links/uploads/{slot.upload_id}/cancel"
    assert enter(OMAR).post(cancel).status_code == 404
    assert "The upload is cancelled." in words_of(enter(LIN).post(cancel))
    assert campus.repository.user(lin.user_id).link_reserved == 0
    assert "big.bin" not in words_of(enter(LIN).get(f"{HOME}/links"))


def test_a_drop_is_no_link_and_a_link_no_drop(campus: Campus, enter: Enter, file: File) -> None:
    lin, brandt = user_of(campus, "lin"), user_of(campus, "brandt")
    drop = next(one for one in campus.links.of(brandt) if one.kind == "drop")
    link = campus.links.create(lin, target_of(file), LinkTerms())
    token = campus.links.secrets.token
    assert enter().get(f"{HOME}/open/{token(drop.link_id)}").status_code == 404
    assert enter().get(f"{HOME}/send/{token(link.link_id)}").status_code == 404
    assert enter().get(f"{HOME}/open/nonsense").status_code == 404
