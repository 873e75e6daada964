"""A user's files: lists, searches, changes, folders, the trash, versions, downloads and who may do what."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.systems.campus.files.helpers import content_of, names, real_use, scan, store, store_clean
from tests.systems.campus.talk import Place, refuses
from tests.systems.talk import at_once

from tablewright.edge import Principal
from tablewright.systems.campus import design as d
from tablewright.systems.campus import jobs
from tablewright.systems.campus.files.file_lists import TRASH, Listed, Wanted
from tablewright.systems.campus.files.folders import MAX_DEPTH
from tablewright.systems.campus.model import File, Folder, Share, User


def _share(at: Place, owner: User, to: User, file: File, permissions: Any = "read") -> None:
    at.db.write(
        d.shares.create(
            Share(
                file_id=file.file_id,
                shared_with_user_id=to.user_id,
                share_id=at.world.new_id(),
                owner_id=owner.user_id,
                shared_with_email=to.email,
                permissions=permissions,
                shared_at=at.clock.now(),
            )
        )
    )


def _pages(at: Place, user: User, wanted: Wanted, size: int) -> list[list[str]]:
    """The names on each page of a list."""
    found: list[list[str]] = []
    token: str | None = None
    while True:
        page: Listed = at.campus.listing.page(user, wanted, size, token)
        found.append(names(page.items))
        if page.next is None:
            return found
        token = page.next


# --- lists ---


def test_lists_are_sorted_by_name_size_and_date_with_full_pages(at: Place) -> None:
    lin = at.user("lin")
    for name, content in (("b.txt", b"1"), ("A.txt", b"333"), ("ä.txt", b"22"), ("c.txt", b"1")):
        at.later(seconds=1)
        store(at, lin, name, content)
    assert _pages(at, lin, Wanted(sort="name", descending=False), 3) == [
        ["A.txt", "b.txt", "c.txt"],
        ["ä.txt"],
    ]
    sizes = _pages(at, lin, Wanted(sort="size"), 2)
    assert [len(page) for page in sizes] == [2, 2]
    assert sizes[0] == ["A.txt", "ä.txt"]
    assert set(sizes[1]) == {"b.txt", "c.txt"}
    assert _pages(at, lin, Wanted(descending=False), 3) == [["b.txt", "A.txt", "ä.txt"], ["c.txt"]]


def test_a_search_finds_words_of_the_name_and_tags_in_any_case(at: Place) -> None:
    lin = at.user("lin")
    essay = store(at, lin, "Final Essay.pdf")
    store(at, lin, "notes.txt")
    at.campus.library.edit(lin, essay.file_id, {"tags": ["History ", "history", "Term 2"]})
    assert _pages(at, lin, Wanted(text="essay FINAL"), 20) == [["Final Essay.pdf"]]
    assert _pages(at, lin, Wanted(text="term"), 20) == [["Final Essay.pdf"]]
    assert _pages(at, lin, Wanted(tag="HISTORY"), 20) == [["Final Essay.pdf"]]
    assert _pages(at, lin, Wanted(tag="hist"), 20) == [[]]
    assert _pages(at, at.user("mo"), Wanted(text="essay"), 20) == [[]]


@pytest.mark.parametrize("token", ["nonsense", "WyJhIl0=", "é", ""])
def test_a_token_that_is_none_is_refused(at: Place, token: str) -> None:
    with refuses("BAD_TOKEN"):
        at.campus.listing.page(at.user("lin"), Wanted(sort="name"), 5, token)


# --- folders ---


def _folder(at: Place, user: User, name: str, parent: Folder | None = None) -> Folder:
    return at.campus.folders.create(user, name, parent.folder_id if parent else None)


def test_files_are_listed_in_their_folder_and_move_between_folders(at: Place) -> None:
    lin = at.user("lin")
    maths = _folder(at, lin, "Maths")
    inside, top = store(at, lin, "inside.txt", folder_id=maths.folder_id), store(at, lin, "top.txt")
    assert _pages(at, lin, Wanted(place=maths.folder_id), 20) == [["inside.txt"]]
    assert _pages(at, lin, Wanted(place=None), 20) == [["top.txt"]]
    at.campus.library.edit(lin, top.file_id, {"folder_id": maths.folder_id})
    at.campus.library.edit(lin, inside.file_id, {"folder_id": None})
    assert _pages(at, lin, Wanted(place=maths.folder_id), 20) == [["top.txt"]]
    assert _pages(at, lin, Wanted(place=None), 20) == [["inside.txt"]]
    assert len(at.campus.listing.page(lin, Wanted()).items) == 2


def test_a_file_cannot_be_moved_or_uploaded_into_a_folder_that_is_not_its_owners(at: Place) -> None:
    lin, mo = at.user("lin"), at.user("mo")
    theirs, file = _folder(at, mo, "Mine"), store(at, lin)
    with refuses("FOLDER_NOT_FOUND"):
        at.campus.library.edit(lin, file.file_id, {"folder_id": theirs.folder_id})
    with refuses("FOLDER_NOT_FOUND"):
        store(at, lin, folder_id=theirs.folder_id)
    assert at.again(lin).storage_reserved == 0


def test_a_folder_never_gets_below_itself_nor_deeper_than_ten(at: Place) -> None:
    lin = at.user("lin")
    chain = [_folder(at, lin, "1")]
    for level in range(2, MAX_DEPTH + 1):
        chain.append(_folder(at, lin, str(level), chain[-1]))
    with refuses("FOLDER_TOO_DEEP"):
        _folder(at, lin, "11", chain[-1])
    with refuses("FOLDER_CYCLE"):
        at.campus.folders.change(lin, chain[0].folder_id, parent_id=chain[4].folder_id)
    with refuses("FOLDER_CYCLE"):
        at.campus.folders.change(lin, chain[0].folder_id, parent_id=chain[0].folder_id)
    other = _folder(at, lin, "other")
    with refuses("FOLDER_TOO_DEEP"):
        at.campus.folders.change(lin, chain[0].folder_id, parent_id=other.folder_id)
    moved = at.campus.folders.change(lin, chain[1].folder_id, parent_id=other.folder_id)
    assert at.campus.folders.tree(lin.user_id).path(moved.folder_id)[0].name == "other"


def test_two_moves_at_once_that_would_make_a_cycle_are_not_both_done(at: Place) -> None:
    lin = at.user("lin")
    a, b = _folder(at, lin, "a"), _folder(at, lin, "b")
    move = at.campus.folders.change
    for _ in range(5):
        at_once(
            [
                partial(move, lin, a.folder_id, parent_id=b.folder_id),
                partial(move, lin, b.folder_id, parent_id=a.folder_id),
            ],
            2,
        )
        tree = at.campus.folders.tree(lin.user_id)
        tops = tree.children(None)
        assert len(tops) == 1, "one is in the other"
        at.campus.folders.change(lin, tree.children(tops[0].folder_id)[0].folder_id, parent_id=None)


def test_siblings_have_different_names_also_if_made_at_once(at: Place) -> None:
    lin = at.user("lin")
    answers = at_once([partial(_folder, at, lin, name) for name in ("Maths", "maths", "MATHS", "Maths ")], 4)
    assert sum(isinstance(one, Folder) for one in answers) == 1, answers
    with refuses("FOLDER_EXISTS"):
        at.campus.folders.change(lin, _folder(at, lin, "Physics").folder_id, name="maths")


def test_a_deleted_folder_puts_its_files_and_those_below_into_the_trash(at: Place) -> None:
    lin = at.user("lin")
    upper = _folder(at, lin, "upper")
    lower = _folder(at, lin, "lower", upper)
    for number, folder in enumerate((upper, lower, lower)):
        store(at, lin, f"{number}.txt", folder_id=folder.folder_id)
    assert at.campus.library.trash_folder(lin, upper.folder_id) == 3
    assert at.campus.folders.tree(lin.user_id).by_id == {}
    trashed = at.campus.listing.page(lin, Wanted(place=TRASH)).items
    assert sorted(names(trashed)) == ["0.txt", "1.txt", "2.txt"]
    assert at.campus.library.restore(lin, trashed[0].file_id).folder_id is None


def test_the_top_is_not_a_folder_that_can_be_read_filled_or_shared(at: Place) -> None:
    subject = at.world.new_id()
    login = Principal(subject, frozenset(("student",)), email="uuid@campus.example")
    user = at.campus.users.entered(login)
    assert user.user_id == subject
    _folder(at, user, "Maths")
    with refuses("FOLDER_NOT_FOUND"):
        at.campus.repository.folder(user.user_id)
    with refuses("FOLDER_NOT_FOUND"):
        at.campus.targets.folder(user, user.user_id)
    with refuses("FOLDER_NOT_FOUND"):
        at.campus.folders.change(user, user.user_id, name="Everything")
    assert user.user_id not in at.campus.folders.tree(user.user_id).by_id


def test_someone_elses_folder_does_not_exist(at: Place) -> None:
    folder = _folder(at, at.user("lin"), "Mine")
    with refuses("FOLDER_NOT_FOUND"):
        at.campus.folders.of(at.user("mo"), folder.folder_id)
    with refuses("FOLDER_NOT_FOUND"):
        at.campus.folders.change(at.user("mo"), folder.folder_id, name="Yours")


# --- the trash ---


def test_the_trash_can_be_restored_or_emptied_and_only_that_frees_the_quota(at: Place) -> None:
    lin = at.user("lin")
    first, second = store_clean(at, lin, "1.txt", b"one"), store_clean(at, lin, "2.txt", b"second")
    for file in (first, second):
        at.campus.library.trash(lin, file.file_id)
        at.campus.library.trash(lin, file.file_id)
    assert at.again(lin).storage_used == 9
    with refuses("DELETED"):
        at.campus.library.readable(lin, first.file_id)
    assert at.campus.library.shown(lin, first.file_id).status == "deleted"
    at.campus.library.restore(lin, first.file_id)
    assert at.campus.purge.empty_trash(lin) == 1
    assert at.again(lin).storage_used == real_use(at, lin) == 3
    assert content_of(at, at.campus.library.readable(lin, first.file_id)) == b"one"
    with refuses("FILE_NOT_FOUND"):
        at.campus.library.restore(lin, second.file_id)


def test_of_a_restore_and_an_emptying_at_once_one_wins_whole(at: Place) -> None:
    lin = at.user("lin")
    for _ in range(6):
        file = store_clean(at, lin, content=b"bytes")
        at.campus.library.trash(lin, file.file_id)
        both: list[Callable[[], object]] = [
            partial(at.campus.library.restore, lin, file.file_id),
            partial(at.campus.purge.empty_trash, lin),
        ]
        at_once(both, 2)
        left = at.db.one(d.files.get(lin.user_id, file.file_id), consistent=True)
        if left is not None:
            assert (left.status, content_of(at, left)) == ("active", b"bytes")
    assert at.again(lin).storage_used == real_use(at, lin)


# --- who may do what ---


def test_a_reader_reads_a_writer_describes_and_only_the_owner_renames_moves_and_deletes(at: Place) -> None:
    lin, mo, stranger = at.user("lin"), at.user("mo"), at.user("eve")
    file = store_clean(at, lin)
    with refuses("NOT_SHARED"):
        at.campus.library.readable(stranger, file.file_id)
    _share(at, lin, mo, file, "read")
    assert at.campus.library.readable(mo, file.file_id) == file
    with refuses("READ_ONLY"):
        at.campus.library.edit(mo, file.file_id, {"description": "mine now"})
    _share(at, lin, stranger, file, "write")
    assert at.campus.library.edit(stranger, file.file_id, {"description": "better"}).description == "better"
    for change in ({"filename": "x.txt"}, {"folder_id": None}):
        with refuses("OWNER_ONLY"):
            at.campus.library.edit(stranger, file.file_id, change)
    with refuses("OWNER_ONLY"):
        at.campus.library.trash(stranger, file.file_id)
    with refuses("OWNER_ONLY"):
        at.campus.library.restore(stranger, file.file_id)


def test_others_wait_for_the_scan_and_the_owner_does_not(at: Place) -> None:
    lin, mo = at.user("lin"), at.user("mo")
    file = store(at, lin)
    _share(at, lin, mo, file)
    with refuses("SCAN_PENDING"):
        at.campus.library.readable(mo, file.file_id)
    assert at.campus.library.readable(lin, file.file_id).file_id == file.file_id
    scan(at)
    assert at.campus.library.readable(mo, file.file_id).virus_scan_status == "clean"


def test_a_change_that_is_based_on_an_older_version_is_refused(at: Place) -> None:
    lin = at.user("lin")
    file = store_clean(at, lin)
    at.campus.library.edit(lin, file.file_id, {"description": "first"}, file.version)
    with refuses("VERSION_CONFLICT"):
        at.campus.library.edit(lin, file.file_id, {"description": "second"}, file.version)


# --- versions ---


def test_a_previous_version_can_be_restored_without_bytes_or_quota(at: Place) -> None:
    lin = at.user("lin")
    first = store_clean(at, lin, "a.txt", b"one")
    store_clean(at, lin, "a.txt", b"two!", file_id=first.file_id)
    used = at.again(lin).storage_used
    restored = at.campus.versions.restore(lin, first.file_id, 1)
    assert (content_of(at, restored), restored.file_size, restored.version_number) == (b"one", 3, 1)
    assert at.again(lin).storage_used == used == real_use(at, lin)
    third = store_clean(at, lin, "a.txt", b"third", file_id=first.file_id)
    assert [one.version_number for one in at.campus.versions.of(third)] == [3, 2, 1]
    with refuses("VERSION_NOT_FOUND"):
        at.campus.versions.restore(lin, first.file_id, 7)


def test_an_infected_version_is_never_restored(at: Place) -> None:
    from tests.systems.campus.files.helpers import EICAR

    lin = at.user("lin")
    first = store(at, lin, "a.txt", EICAR)
    store(at, lin, "a.txt", b"clean", file_id=first.file_id)
    scan(at)
    assert at.campus.repository.file(first.file_id).status == "active"
    with refuses("QUARANTINED"):
        at.campus.versions.restore(lin, first.file_id, 1)


# --- downloads ---


def test_downloads_are_counted_in_batches_without_a_new_version_of_the_file(at: Place) -> None:
    lin = at.user("lin")
    file = store_clean(at, lin)
    at_once([partial(at.campus.library.downloaded, file, None) for _ in range(200)], 8)
    assert at.campus.repository.file(file.file_id).download_count == 0
    assert jobs.flush_downloads(at.campus) == 200
    after = at.campus.repository.file(file.file_id)
    assert (after.download_count, after.version) == (200, file.version)
    assert at.again(lin).statistics.total_downloads == 200
    at.campus.library.edit(lin, file.file_id, {"description": "still mine to edit"}, file.version)
    assert at.campus.repository.file(file.file_id).download_count == 200


def test_counts_wait_for_a_store_that_does_not_answer_and_none_is_lost(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    lin, mo = at.user("lin"), at.user("mo")
    files = [store_clean(at, lin, name) for name in ("a.txt", "b.txt", "c.txt")]
    for file in files:
        _share(at, lin, mo, file)
        at.campus.library.download_link(mo, file.file_id)
    with monkeypatch.context() as patched:
        patched.setattr(type(at.db), "transact", _no_answer)
        for flush in (jobs.flush_downloads, jobs.flush_accesses):
            with pytest.raises(ConnectionError):
                flush(at.campus)
    assert (jobs.flush_downloads(at.campus), jobs.flush_accesses(at.campus)) == (3, 3)
    assert [at.campus.repository.file(file.file_id).download_count for file in files] == [1, 1, 1]


def _no_answer(*_: object) -> None:
    raise ConnectionError("the store does not answer")


def test_a_download_is_recorded_with_who_it_was(at: Place) -> None:
    lin, mo = at.user("lin"), at.user("mo")
    file = store_clean(at, lin)
    _share(at, lin, mo, file)
    at.campus.library.download_link(mo, file.file_id)
    entries = [
        (one.action, one.actor) for one in at.db.all(at.campus.repository.history(f"file:{file.file_id}"))
    ]
    assert ("downloaded", mo.name) in entries
    assert jobs.flush_accesses(at.campus) == 1
    share = at.db.one(d.shares.get(file.file_id, mo.user_id), consistent=True)
    assert share is not None
    assert share.access_count == 1


# --- quarantine ---


def test_a_file_that_was_transferred_before_its_scan_is_scanned_for_its_new_owner(at: Place) -> None:
    lin, mo, boss = at.user("lin"), at.user("mo"), at.user("boss", "admin")
    folder = _folder(at, lin, "Thesis")
    file = store(at, lin, folder_id=folder.folder_id)
    at.campus.transfer.run(at.campus.transfer.start(lin.user_id, mo.user_id, boss))
    scan(at)
    moved = at.campus.repository.file(file.file_id)
    assert (moved.user_id, moved.virus_scan_status) == (mo.user_id, "clean")
    assert names(at.campus.listing.page(mo, Wanted(place=folder.folder_id)).items) == ["notes.txt"]
    assert at.campus.folders.of(mo, folder.folder_id).name == "Thesis"
    assert (at.again(lin).storage_used, at.again(mo).storage_used) == (0, real_use(at, mo))


def test_an_admin_releases_a_false_alarm_or_deletes_what_was_found(at: Place) -> None:
    from tests.systems.campus.files.helpers import EICAR

    lin, boss = at.user("lin"), at.user("boss", "admin")
    one, two = store(at, lin, "1.txt", EICAR), store(at, lin, "2.txt", EICAR + b" ")
    scan(at)
    released = at.campus.scans.release(boss, one.file_id, "our own test file")
    assert (released.status, released.virus_scan_status) == ("active", "clean")
    assert content_of(at, at.campus.library.readable(lin, one.file_id)) == EICAR
    assert at.campus.scans.discard(boss, two.file_id, "a virus").status == "deleted"
    assert at.campus.scans.quarantine() == []
    with refuses("NOT_QUARANTINED"):
        at.campus.scans.release(boss, two.file_id, "again")
