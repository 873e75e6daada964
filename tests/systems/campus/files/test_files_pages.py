"""The pages of files over HTTP in the demo world, as a browser without a script uses them.

Who may see what; what is typed is never lost; names are shown, never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import words_of
from tests.systems.campus.files.helpers import EICAR

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS as SYSTEM
from tablewright.edge import serving_app
from tablewright.kit.tasks import Finished
from tablewright.systems.campus import jobs
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.files.file_lists import TRASH, Wanted
from tablewright.systems.campus.files.scan import Scans, scanner_of
from tablewright.systems.campus.model import File, User
from tablewright.systems.campus.seed import ADMIN

FILES = "/console/campus/files"
NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
LIN, OMAR = "student_lin", "student_omar"
HOSTILE = "<script>alert('x')<b>.txt"


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


@pytest.fixture(scope="module")
def lin(campus: Campus) -> User:
    return campus.users.by_id(LIN)


def _store(campus: Campus, user: User, name: str, content: bytes = b"words", **slot: str) -> File:
    file = campus.uploads.store_whole(user, name, [content], len(content), **slot)
    jobs.run_tasks(campus)
    return campus.repository.file(file.file_id)


def test_files_are_listed_sorted_searched_and_in_their_folders(
    campus: Campus, lin: User, enter: Enter
) -> None:
    folder = campus.folders.create(lin, "Chemistry")
    _store(campus, lin, "Reaction notes.txt", folder_id=folder.folder_id)
    _store(campus, lin, HOSTILE)
    page = enter(LIN)
    top = page.get(FILES)
    assert "Chemistry" in words_of(top)
    assert "Reaction notes.txt" not in words_of(top)
    assert "<script>alert" not in top.text
    assert HOSTILE in words_of(top)
    inside = page.get(FILES, params={"folder": folder.folder_id})
    assert "Reaction notes.txt" in words_of(inside)
    found = page.get(FILES, params={"q": "REACTION"})
    assert "Reaction notes.txt" in words_of(found)
    assert "Chemistry" in words_of(found), "where it was found"
    for sort in ("name", "size", "date"):
        assert page.get(FILES, params={"sort": sort, "order": "asc"}).status_code == 200
    assert page.get(FILES, params={"folder": "no such folder"}).status_code == 404
    assert page.get(FILES, params={"after": "nonsense"}).status_code == 400


def test_a_file_is_renamed_moved_described_deleted_and_restored(
    campus: Campus, lin: User, enter: Enter
) -> None:
    file, folder = _store(campus, lin, "draft.txt"), campus.folders.create(lin, "Papers")
    page, path = enter(LIN), f"{FILES}/{file.file_id}"
    assert "draft.txt" in words_of(page.get(path))
    typed = {
        "filename": "final.txt",
        "folder": folder.folder_id,
        "description": "Ready.",
        "tags": "Thesis, 2026",
    }
    saved = page.post(path, data=typed)
    assert "Your changes are saved." in words_of(saved)
    stored = campus.repository.file(file.file_id)
    assert (stored.filename, stored.folder_id, stored.tags) == (
        "final.txt",
        folder.folder_id,
        ["Thesis", "2026"],
    )
    wrong = page.post(path, data=typed | {"filename": "a/b", "description": "Kept as typed."})
    assert wrong.status_code == 400
    assert "A name cannot contain / or \\." in words_of(wrong)
    assert "Kept as typed." in wrong.text
    stale = page.post(path, data=typed | {"version": str(file.version)})
    assert stale.status_code == 409
    page.post(f"{path}/delete")
    assert campus.repository.file(file.file_id).status == "deleted"
    assert "final.txt" in words_of(page.get("/console/campus/trash"))
    page.post(f"{path}/restore")
    assert campus.repository.file(file.file_id).status == "active"


def test_folders_are_made_renamed_moved_and_deleted_with_their_files_in_the_trash(
    campus: Campus, lin: User, enter: Enter
) -> None:
    page = enter(LIN)
    made = page.post(f"{FILES}/folders", data={"name": "Biology", "parent": ""})
    assert "Biology is created." in words_of(made)
    again = page.post(f"{FILES}/folders", data={"name": "biology", "parent": ""})
    assert again.status_code == 409
    assert "There is a folder of this name here." in words_of(again)
    assert 'value="biology"' in again.text
    folder = next(one for one in campus.folders.tree(LIN).by_id.values() if one.name == "Biology")
    cycle = page.post(
        f"/console/campus/folders/{folder.folder_id}", data={"name": "B", "parent": folder.folder_id}
    )
    assert cycle.status_code == 422
    file = _store(campus, lin, "cells.txt", folder_id=folder.folder_id)
    delete = f"/console/campus/folders/{folder.folder_id}/delete"
    assert "Their files go to the trash." in words_of(page.get(delete))
    page.post(delete)
    assert campus.repository.file(file.file_id).status == "deleted"


def test_the_trash_is_emptied_after_a_question(campus: Campus, lin: User, enter: Enter) -> None:
    file = _store(campus, lin, "old.txt")
    campus.library.trash(lin, file.file_id)
    page = enter(LIN)
    assert "removed for good" in words_of(page.get("/console/campus/trash/empty"))
    assert "old.txt" in words_of(page.get("/console/campus/trash"))
    page.post("/console/campus/trash/empty")
    left = campus.listing.page(lin, Wanted(place=TRASH)).items
    assert all(one.held_by for one in left)


def test_a_stranger_sees_nothing_of_a_file(campus: Campus, lin: User, enter: Enter) -> None:
    file = _store(campus, lin, "private diary.txt", b"dear diary")
    page = enter(OMAR)
    for path in (f"{FILES}/{file.file_id}", f"{FILES}/{file.file_id}/share"):
        answer = page.get(path)
        assert answer.status_code == 403, path
        assert "diary" not in answer.text
    for path in ("", "/delete", "/restore", "/versions/1/restore"):
        assert page.post(f"{FILES}/{file.file_id}{path}", data={"description": "mine"}).status_code == 403
    assert campus.repository.file(file.file_id) == file


def test_a_file_with_a_virus_says_so_and_offers_no_download(campus: Campus, enter: Enter) -> None:
    (file,) = campus.scans.quarantine()
    assert file.user_id == OMAR
    shown = enter(OMAR).get(f"{FILES}/{file.file_id}")
    assert "was found in this file" in words_of(shown)
    assert f"/files/{file.file_id}/content" not in shown.text


def test_without_a_scanner_a_file_says_that_it_was_not_scanned(
    campus: Campus, lin: User, enter: Enter
) -> None:
    file = _store(campus, lin, "unknown.txt")
    assert "not scanned" in words_of(enter(LIN).get(f"{FILES}/{file.file_id}"))


def test_an_admin_decides_about_an_infected_version_on_the_page(
    campus: Campus, lin: User, enter: Enter
) -> None:
    scans = Scans(campus.repository, campus.objects, scanner_of("signatures"), campus.notifier)
    file = campus.uploads.store_whole(lin, "thesis.txt", [b"words"], 5)
    campus.uploads.store_whole(lin, "thesis.txt", [EICAR], len(EICAR), file_id=file.file_id)
    for task in sorted(campus.waiting_tasks(), key=lambda task: task.about):
        if task.kind == "scan" and file.file_id in task.about:
            done = scans.run(task)
            assert isinstance(done, Finished)
            campus.repository.db.write(*done.writes)
    page, path = enter(ADMIN), "/console/campus/admin/quarantine"
    assert "thesis.txt, version 2" in words_of(page.get(path))
    decide = f"{path}/{file.file_id}/versions/2"
    assert page.post(f"{decide}/guess", data={}).status_code == 404
    refused = page.post(f"{decide}/discard", data={"reason": " "})
    assert (refused.status_code, "thesis.txt, version 2" in words_of(refused)) == (422, True)
    page.post(f"{decide}/discard", data={"reason": "a real virus"})
    assert "thesis.txt" not in words_of(page.get(path))
    assert campus.versions.one(file, 2).virus_scan_status == "infected"


def test_an_infected_file_is_freed_or_deleted_only_with_a_reason_that_was_typed(
    campus: Campus, enter: Enter
) -> None:
    page, path = enter(ADMIN), "/console/campus/admin/quarantine"
    (file,) = campus.scans.quarantine()
    shown = page.get(path).text
    for decision in ("release", "discard"):
        assert re.search(
            rf'action="{path}/{file.file_id}/{decision}"[^\n]*name="reason"[^>]* required', shown
        )
        refused = page.post(f"{path}/{file.file_id}/{decision}", data={})
        assert refused.status_code == 422
        assert "Say why: it is kept in the history." in words_of(refused)
        assert campus.repository.file(file.file_id) == file
    freed = page.post(f"{path}/{file.file_id}/release", data={"reason": "a sample of the lecture"})
    assert "The file is available again." in words_of(freed)
    assert campus.scans.quarantine() == []
    assert "a sample of the lecture" in [
        each.reason for each in campus.repository.db.all(campus.repository.history(f"file:{file.file_id}"))
    ]
