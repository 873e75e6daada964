"""Quarantine: what the owner cannot do with it, and what happens to it when folders, owners and versions change."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Literal

import pytest
from tests.systems.campus.files.helpers import EICAR, content_of, names, scan, store, store_clean
from tests.systems.campus.talk import SECRET, Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.kit.settings import SettingsUnusable, settings_in
from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus import jobs
from tablewright.systems.campus.campus import open_campus
from tablewright.systems.campus.files.scan import scanner_of
from tablewright.systems.campus.files.scanner import Clean, Infected, Unscanned, Verdict
from tablewright.systems.campus.model import File, Share, User
from tablewright.systems.campus.settings import FILE, Settings
from tablewright.systems.campus.sharing.access_check import FileAccess


def told(at: Place, user: User) -> list[str]:
    return [one.text for one in at.db.all(at.campus.notifier.of(user)) if one.kind == "virus"]


def share_of(at: Place, file: File, to: User, permissions: Literal["read", "write"]) -> Share:
    return Share(
        file_id=file.file_id,
        shared_with_user_id=to.user_id,
        share_id=at.world.new_id(),
        owner_id=file.user_id,
        shared_with_email=to.email,
        permissions=permissions,
        shared_at=at.clock.now(),
    )


def test_only_an_admin_ends_a_quarantine(at: Place, api: Api) -> None:
    lin = at.user("lin")
    file = store_clean(at, lin, "game.com", EICAR)
    assert refused(api.delete(f"/files/{file.file_id}", by=lin)) == (423, "QUARANTINED")
    assert names(at.campus.scans.quarantine()) == ["game.com"]
    assert at.campus.purge.empty_trash(lin) == 0


def test_a_quarantined_file_survives_its_folder_at_the_top(at: Place) -> None:
    lin = at.user("lin")
    folder = at.campus.folders.create(lin, "Games", None)
    store(at, lin, "notes.txt", b"harmless", folder_id=folder.folder_id)
    virus = store_clean(at, lin, "game.com", EICAR, folder_id=folder.folder_id)
    assert at.campus.library.trash_folder(lin, folder.folder_id) == 1
    kept = at.campus.repository.file(virus.file_id)
    assert (kept.status, kept.folder_id, kept.place) == ("quarantined", None, lin.user_id)
    assert names(at.campus.library.trashed(lin)) == ["notes.txt"]


def test_an_erasure_removes_quarantined_files_too(at: Place) -> None:
    lin, boss = at.user("lin"), at.user("boss", "admin")
    virus = store_clean(at, lin, "game.com", EICAR)
    at.campus.privacy.erase(lin.user_id, boss)
    assert at.campus.scans.quarantine() == []
    assert at.campus.objects.head(virus.object_name) is None


def test_a_quarantined_file_that_is_transferred_stays_in_quarantine(at: Place) -> None:
    lin, mo, boss = at.user("lin"), at.user("mo"), at.user("boss", "admin")
    store_clean(at, lin, "game.com", EICAR)
    at.campus.transfer.start(lin.user_id, mo.user_id, boss)
    jobs.run_tasks(at.campus)
    (moved,) = at.campus.scans.quarantine()
    assert (moved.user_id, moved.status) == (mo.user_id, "quarantined")
    with refuses("QUARANTINED"):
        at.campus.library.readable(mo, moved.file_id)


def test_the_owner_is_told_of_a_virus_in_an_older_version(at: Place) -> None:
    lin = at.user("lin")
    file = store(at, lin, "essay.txt", EICAR)
    store(at, lin, "essay.txt", b"clean", file_id=file.file_id)
    scan(at)
    (words,) = told(at, lin)
    assert "version 1 of essay.txt" in words
    assert content_of(at, at.campus.library.readable(lin, file.file_id)) == b"clean"


def test_a_file_falls_back_to_its_newest_clean_version(at: Place) -> None:
    lin, boss = at.user("lin"), at.user("boss", "admin")
    file = store_clean(at, lin, "essay.txt", b"one")
    store_clean(at, lin, "essay.txt", b"two", file_id=file.file_id)
    store_clean(at, lin, "essay.txt", EICAR, file_id=file.file_id)
    after = at.campus.library.readable(lin, file.file_id)
    assert (after.status, after.virus_scan_status, after.version_number) == ("active", "clean", 2)
    assert content_of(at, after) == b"two"
    assert "The file has version 2 again" in told(at, lin)[0]
    with refuses("QUARANTINED"):
        at.campus.versions.restore(lin, file.file_id, 3)
    assert at.campus.scans.quarantine() == []
    (infected,) = at.campus.scans.versions_in_review()
    assert (infected.version_number, infected.virus_signature) == (3, "Eicar-Test-Signature")
    _, reviewed = at.campus.scans.reviewed_version(boss, file.file_id, 3)
    assert reviewed == infected


def test_a_file_leaves_quarantine_if_an_older_version_turns_out_clean_later(at: Place) -> None:
    lin = at.user("lin")
    file = store(at, lin, "essay.txt", b"one")
    store(at, lin, "essay.txt", EICAR, file_id=file.file_id)
    first, second = sorted(at.campus.waiting_tasks(), key=lambda task: task.about)
    for task in (second, first):
        done = at.campus.scans.run(task)
        assert isinstance(done, Finished)
        at.db.write(*done.writes)
        is_locked = task is second
        assert [one.file_id for one in at.campus.scans.quarantine()] == [file.file_id] * is_locked
    assert content_of(at, at.campus.library.readable(lin, file.file_id)) == b"one"
    assert [one.version_number for one in at.campus.scans.versions_in_review()] == [2]


def test_an_admin_decides_about_infected_versions_over_http(at: Place, api: Api) -> None:
    lin, boss = at.user("lin"), at.user("boss", "admin")
    file = store_clean(at, lin, "essay.txt", b"one")
    for content in (EICAR, EICAR + b" "):
        store_clean(at, lin, "essay.txt", content, file_id=file.file_id)
    path = "/admin/quarantine"
    rows = given(api.get(f"{path}/versions", by=boss))["items"]
    assert {(row["fileId"], row["versionNumber"]) for row in rows} == {(file.file_id, 2), (file.file_id, 3)}
    assert refused(api.get(f"{path}/versions", by=lin))[0] == 403
    assert api.get(f"{path}/{file.file_id}/versions/2/content", by=boss).content == EICAR
    reason = {"reason": "looked at it"}
    given(api.post(f"{path}/{file.file_id}/versions/2:release", reason, by=boss))
    given(api.post(f"{path}/{file.file_id}/versions/3:delete", reason, by=boss))
    assert given(api.get(f"{path}/versions", by=boss))["items"] == []
    again = api.post(f"{path}/{file.file_id}/versions/3:release", reason, by=boss)
    assert refused(again) == (409, "NOT_QUARANTINED")
    assert at.campus.versions.restore(lin, file.file_id, 2).virus_scan_status == "clean"
    with refuses("QUARANTINED"):
        at.campus.versions.restore(lin, file.file_id, 3)


def test_what_a_writer_sends_cannot_take_the_clean_bytes_from_the_owner(at: Place, api: Api) -> None:
    lin, mo = at.user("lin"), at.user("mo")
    file = store_clean(at, lin, "essay.txt", b"mine")
    at.db.write(d.shares.create(share_of(at, file, mo, "write")))
    store_clean(at, mo, "essay.txt", EICAR, file_id=file.file_id, owner_id=lin.user_id)
    for user in (lin, mo):
        assert api.get(f"/files/{file.file_id}/content", by=user).content == b"mine"
    assert api.get(f"/files/{file.file_id}/versions/1/content", by=lin).content == b"mine"
    refusal = refused(api.get(f"/files/{file.file_id}/versions/2/content", by=lin))
    assert refusal == (423, "QUARANTINED")


# --- signed links ---


def test_a_signed_link_ends_with_the_share_it_was_made_through(at: Place, api: Api) -> None:
    lin, mo = at.user("lin"), at.user("mo")
    file = store_clean(at, lin, "essay.txt", b"mine")
    share = share_of(at, file, mo, "read")
    at.db.write(d.shares.create(share))
    url = given(api.post(f"/files/{file.file_id}/content:link", by=mo))["url"]
    assert api.client.get(url).content == b"mine"
    used = at.campus.repository.share(share.share_id)
    at.db.write(d.shares.move(used, used.model_copy(update={"status": "revoked"}), by="owner"))
    assert refused(api.client.get(url)) == (403, "SHARE_REVOKED")


def test_a_signed_link_ends_when_a_virus_is_found_or_the_file_is_deleted(at: Place, api: Api) -> None:
    lin = at.user("lin")
    virus, other = store(at, lin, "game.com", EICAR), store(at, lin, "notes.txt", b"mine")
    urls = [given(api.post(f"/files/{one.file_id}/content:link", by=lin))["url"] for one in (virus, other)]
    assert api.client.get(urls[0]).content == EICAR  # its own author, before the scan
    scan(at)
    assert refused(api.client.get(urls[0])) == (423, "QUARANTINED")
    at.campus.library.trash(lin, other.file_id)
    assert refused(api.client.get(urls[1])) == (410, "DELETED")


# --- without a scanner ---


def test_without_a_scanner_files_are_not_scanned_and_can_be_shared(at: Place, tmp_path: Path) -> None:
    campus = open_campus(at.db, at.world, SECRET, home=tmp_path / "campus")
    lin, mo = at.user("lin"), at.user("mo")
    file = campus.uploads.store_whole(lin, "notes.txt", [b"mine"], 4)
    at.db.write(d.shares.create(share_of(at, file, mo, "read")))
    assert campus.library.readable(mo, file.file_id).virus_scan_status == "pending"
    jobs.run_tasks(campus)
    assert campus.library.readable(mo, file.file_id).virus_scan_status == "unscanned"
    strict = FileAccess(campus.repository, Settings(share_unscanned=False))
    with refuses("NOT_SCANNED"):
        strict.check(mo, campus.repository.file(file.file_id))
    with_scanner = FileAccess(campus.repository, Settings(scanner="signatures"))
    with refuses("NOT_SCANNED"):
        with_scanner.check(mo, campus.repository.file(file.file_id))


def test_a_file_is_scanned_when_the_scanner_is_back_however_long_it_was_away(at: Place) -> None:
    class Away:
        def scan(self, chunks: Iterable[bytes]) -> Verdict:
            return Unscanned("clamd cannot be reached", retry=True)

    lin, scans = at.user("lin"), at.campus.scans
    file, scanner = store(at, lin), scans._scanner
    scans._scanner = Away()
    for _ in range(3 * 24):
        scan(at)
        at.later(hours=1)
    assert at.campus.repository.file(file.file_id).virus_scan_status == "pending"
    assert [task.kind for task in at.campus.waiting_tasks() if task.failures] == ["scan"]
    scans._scanner = scanner
    at.later(hours=1)
    scan(at)
    assert at.campus.repository.file(file.file_id).virus_scan_status == "clean"


def test_the_list_of_checksums_comes_from_the_settings(tmp_path: Path) -> None:
    digest = sha256(b"a known bad file").hexdigest()
    given = {"scanner": "signatures", "signatureChecksums": [f"sha256:{digest.upper()}"]}
    (tmp_path / "campus.json").write_text(json.dumps(given))
    settings = settings_in(tmp_path / FILE, Settings)
    scanner = scanner_of(settings.scanner, settings.signature_checksums)
    assert scanner.scan([b"a known bad file"]) == Infected(f"Listed-{digest[:12]}")
    assert scanner.scan([b"another"]) == Clean()
    (tmp_path / "campus.json").write_text('{"signatureChecksums": ["abc"]}')
    with pytest.raises(SettingsUnusable, match="signatureChecksums"):
        settings_in(tmp_path / FILE, Settings)
