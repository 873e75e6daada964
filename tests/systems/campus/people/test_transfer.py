"""What an admin can do with the files of someone who leaves."""

from itertools import count
from typing import Any

import pytest
from tests.systems.campus.talk import Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus import jobs
from tablewright.systems.campus.model import File, Link, Share, ShareTarget, Task, User
from tablewright.systems.campus.sharing.addressees import RecipientName
from tablewright.systems.campus.sharing.links import LinkTerms
from tablewright.systems.campus.sharing.shares import Terms


def stored(at: Place, user: User, name: str, content: bytes) -> File:
    return at.campus.uploads.store_whole(user, name, [content], len(content))


def test_files_move_to_the_new_owner_with_their_bytes_shares_and_quota(at: Place, api: Api) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    files = [stored(at, lin, f"notes {n}.txt", b"x" * 100) for n in range(3)]
    given(api.post(f"/admin/users/{lin.user_id}:transfer", {"to": omar.user_id}, by=admin), 202)
    jobs.run_tasks(at.campus)
    assert at.again(lin).storage_used == 0
    assert at.again(omar).storage_used == 300
    for file in files:
        assert at.campus.repository.file(file.file_id).user_id == omar.user_id
        with at.campus.library.open(at.campus.repository.file(file.file_id)) as stream:
            assert b"".join(stream) == b"x" * 100
    assert next(iter(at.db.all(at.campus.repository.outbox.in_state("PENDING")))).recipient == omar.email


def test_nobody_gets_more_than_their_quota_by_a_transfer(at: Place, api: Api) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    stored(at, lin, "notes.txt", b"x" * 100)
    at.campus.users.set_quota(omar.user_id, 99, admin)
    answer = api.post(f"/admin/users/{lin.user_id}:transfer", {"to": omar.user_id}, by=admin)
    assert refused(answer) == (413, "QUOTA_EXCEEDED")
    assert (
        refused(api.post(f"/admin/users/{lin.user_id}:transfer", {"to": lin.user_id}, by=admin))[1]
        == "SAME_OWNER"
    )


def test_the_storage_report_adds_up_what_everyone_has(at: Place, api: Api) -> None:
    lin, admin = at.user("lin"), at.user("kaya", "admin")
    stored(at, lin, "notes.txt", b"x" * 100)
    report = given(api.get("/admin/storage", by=admin))
    assert (report["users"], report["files"], report["used"]) == (2, 1, 100)
    assert report["largest"][0]["userId"] == lin.user_id


# --- what goes with the files ---


def with_address(user: User) -> list[RecipientName]:
    return [RecipientName(email=user.email)]


def shared(at: Place, owner: User, kind: ShareTarget, id: str, to: User) -> Share:
    campus = at.campus
    target, found = campus.targets.of(owner, kind, id), campus.addressees.find(owner, with_address(to))
    return campus.shares.share(owner, target, found, Terms())[0].share


def linked(at: Place, owner: User, kind: ShareTarget, id: str) -> Link:
    return at.campus.links.create(owner, at.campus.targets.of(owner, kind, id), LinkTerms())


def opened(at: Place, link: Link, file: File) -> File:
    links = at.campus.links
    return links.file(links.open(links.find(links.secrets.token(link.link_id))), file.file_id)


def run(at: Place) -> None:
    jobs.run_tasks(at.campus)
    at.later(minutes=6)
    jobs.run_tasks(at.campus)


def test_shares_and_links_of_files_and_folders_go_with_them(at: Place, api: Api) -> None:
    lin, omar, noor, admin = at.user("lin"), at.user("omar"), at.user("noor"), at.user("kaya", "admin")
    campus = at.campus
    folder = campus.folders.create(lin, "Thesis")
    inner = campus.folders.create(lin, "Data", folder.folder_id)
    file = stored(at, lin, "notes.txt", b"notes")
    deep = campus.uploads.store_whole(lin, "table.csv", [b"1,2"], 3, folder_id=inner.folder_id)
    shares = [shared(at, lin, "file", file.file_id, noor), shared(at, lin, "folder", folder.folder_id, noor)]
    own = shared(at, lin, "file", file.file_id, omar)
    links = [linked(at, lin, "file", file.file_id), linked(at, lin, "folder", folder.folder_id)]
    jobs.run_tasks(campus)  # scans
    campus.transfer.start(lin.user_id, omar.user_id, admin)
    run(at)
    for share in shares:
        assert campus.repository.share(share.share_id).owner_id == omar.user_id
    with refuses("SHARE_NOT_FOUND"):
        campus.repository.share(own.share_id)
    found = given(api.get("/shared-with-me", by=noor))["items"]
    assert sorted(each["name"] for each in found) == ["Thesis", "notes.txt"]
    assert campus.library.readable(noor, deep.file_id).user_id == omar.user_id
    assert [opened(at, link, what).user_id for link, what in zip(links, (file, deep), strict=True)] == [
        omar.user_id
    ] * 2
    assert {link.link_id for link in campus.links.of(omar)} == {link.link_id for link in links}
    assert campus.links.of(lin) == []
    tree = campus.folders.tree(omar.user_id)
    assert [each.name for each in tree.path(inner.folder_id)] == ["Thesis", "Data"]
    assert campus.folders.tree(lin.user_id).by_id == {}
    campus.shares.revoke(omar, shares[1].share_id)
    with refuses("SHARE_REVOKED"):
        campus.library.readable(noor, deep.file_id)


def test_a_folder_whose_name_the_new_owner_has_gets_a_number(at: Place) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    at.campus.folders.create(lin, "Thesis")
    at.campus.folders.create(omar, "thesis")
    at.campus.transfer.start(lin.user_id, omar.user_id, admin)
    run(at)
    names = [each.name for each in at.campus.folders.tree(omar.user_id).children(None)]
    assert names == ["thesis", "Thesis (2)"]


def test_all_of_a_hundred_versions_and_shares_are_the_new_owners(at: Place) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    file = stored(at, lin, "notes.txt", b"x")
    for _ in range(100):
        at.campus.uploads.store_whole(lin, "notes.txt", [b"x"], 1, file_id=file.file_id)
    target = at.campus.targets.file(lin, file.file_id)
    for first in (0, 60):
        names = [RecipientName(email=f"reader-{n}@campus.example") for n in range(first, first + 60)]
        at.campus.shares.share(lin, target, at.campus.addressees.find(lin, names), Terms())
    at.campus.transfer.start(lin.user_id, omar.user_id, admin)
    run(at)
    versions = list(at.db.all(d.versions_of_file(file_id=file.file_id)))
    assert (len(versions), {each.user_id for each in versions}) == (101, {omar.user_id})
    shares = list(at.db.all(d.shares_of_file(file_id=file.file_id)))
    assert (len(shares), {each.owner_id for each in shares}) == (120, {omar.user_id})
    assert (at.again(lin).storage_used, at.again(omar).storage_used) == (0, 101)


def _is_finished(at: Place, task: Task, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run the task in a process that dies after its first write."""
    write, writes = type(at.db).write, count(1)

    def limited(*args: Any, **options: Any) -> Any:
        if next(writes) > 1:
            raise KeyboardInterrupt
        return write(*args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(type(at.db), "write", limited)
        try:
            return isinstance(at.campus.transfer.run(task), Finished)
        except KeyboardInterrupt:
            return False


def test_a_transfer_that_was_killed_is_continued(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    lin, omar, noor, admin = at.user("lin"), at.user("omar"), at.user("noor"), at.user("kaya", "admin")
    folder = at.campus.folders.create(lin, "Thesis")
    files = [stored(at, lin, f"notes {n}.txt", b"x" * 10) for n in range(2)]
    at.campus.uploads.store_whole(lin, "deep.txt", [b"deep"], 4, folder_id=folder.folder_id)
    shared(at, lin, "folder", folder.folder_id, noor)
    link = linked(at, lin, "file", files[0].file_id)
    jobs.run_tasks(at.campus)
    task = at.campus.transfer.start(lin.user_id, omar.user_id, admin)
    runs = 0
    while not _is_finished(at, task, monkeypatch):
        runs += 1
    assert runs > len(files)
    assert (at.again(lin).storage_used, at.again(omar).storage_used) == (0, 24)
    assert (at.again(lin).statistics.total_files, at.again(omar).statistics.total_files) == (0, 3)
    assert opened(at, link, files[0]).user_id == omar.user_id
    assert not at.campus.recount.user(omar.user_id)
    assert not at.campus.recount.user(lin.user_id)


def test_a_folder_that_is_shared_while_it_moves_is_no_longer_shared_if_its_new_owner_says_so(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    lin, omar, noor, admin = at.user("lin"), at.user("omar"), at.user("noor"), at.user("kaya", "admin")
    folder, campus = at.campus.folders.create(lin, "Thesis"), at.campus
    target, found = campus.targets.folder(lin, folder.folder_id), with_address(noor)
    campus.transfer.start(lin.user_id, omar.user_id, admin)
    remove, made = type(campus.folders).remove_copied, []

    def shared_before(*args: Any) -> bool:
        to = campus.addressees.find(lin, found)
        made.append(
            campus.shares.share(lin, target, to, Terms())[0].share
        )  # it was asked for before the move
        return remove(*args)

    with monkeypatch.context() as patched:
        patched.setattr(type(campus.folders), "remove_copied", shared_before)
        jobs.run_tasks(campus)
    assert [campus.repository.share(each.share_id).owner_id for each in made] == [omar.user_id]
    campus.shares.revoke(omar, made[0].share_id)
    with refuses("SHARE_REVOKED"):
        campus.file_access.check_folder(noor, campus.repository.folder(folder.folder_id))


def test_a_file_that_gets_a_new_version_is_waited_for(at: Place) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    file = stored(at, lin, "notes.txt", b"x")
    upload = at.campus.uploads.begin(
        lin, filename="notes.txt", size=2, content_type="text/plain", file_id=file.file_id
    )
    at.campus.transfer.start(lin.user_id, omar.user_id, admin)
    jobs.run_tasks(at.campus)
    assert at.campus.repository.file(file.file_id).user_id == lin.user_id
    at.campus.uploads.put_part(upload, 1, [b"xy"])
    at.campus.uploads.complete(upload.upload_id)
    run(at)
    assert at.campus.repository.file(file.file_id).user_id == omar.user_id
    assert (at.again(lin).storage_used, at.again(omar).storage_used) == (0, 3)
    assert at.again(lin).storage_reserved == 0


def test_a_quota_that_is_full_meanwhile_stops_a_transfer_until_it_is_raised(at: Place) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    file = stored(at, lin, "notes.txt", b"x" * 100)
    at.campus.transfer.start(lin.user_id, omar.user_id, admin)
    at.campus.users.set_quota(omar.user_id, 99, admin)
    jobs.run_tasks(at.campus)
    assert at.campus.repository.file(file.file_id).user_id == lin.user_id
    assert "raise the quota" in next(each.note or "" for each in at.campus.waiting_tasks() if each.note)
    at.campus.users.set_quota(omar.user_id, 100, admin)
    run(at)
    assert at.campus.repository.file(file.file_id).user_id == omar.user_id


def test_a_version_that_waits_for_its_scan_is_scanned_for_the_new_owner(at: Place) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    file = stored(at, lin, "notes.txt", b"clean")
    task = at.campus.transfer.start(lin.user_id, omar.user_id, admin)
    at.campus.transfer.run(task)
    run(at)
    assert at.campus.repository.file(file.file_id).virus_scan_status == "clean"
