"""The quota is exact: under concurrency, and after any sequence of uploads and purges."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.places import reached
from tests.systems.campus.files.helpers import begin, real_use, scan, set_quota, store
from tests.systems.campus.talk import SECRET, START, Place, refuses, uuid_world
from tests.systems.talk import at_once

from tablewright.edge.errors import CallerError
from tablewright.mapping import Db
from tablewright.systems.campus import design as d
from tablewright.systems.campus.campus import open_campus
from tablewright.systems.campus.model import Upload, User
from tablewright.testing import Clock


def test_many_uploads_at_once_never_exceed_the_quota_and_use_all_of_it(at: Place) -> None:
    lin = set_quota(at, at.user("lin"), 100)
    answers = at_once([partial(begin, at, lin, 7) for _ in range(30)], 16)
    slots = [one for one in answers if isinstance(one, Upload)]
    codes = {one.code for one in answers if isinstance(one, CallerError)}
    assert (len(slots), codes) == (14, {"QUOTA_EXCEEDED"}), answers
    assert at.again(lin).storage_reserved == 98


def test_uploads_that_complete_while_others_begin_keep_the_sums_right(at: Place) -> None:
    lin = set_quota(at, at.user("lin"), 60)

    def upload(number: int) -> None:
        store(at, lin, f"{number}.txt", bytes(range(number % 7 + 1)))

    at_once([partial(upload, number) for number in range(24)], 8)
    after = at.again(lin)
    assert after.storage_reserved == 0
    assert after.storage_used == real_use(at, lin) <= 60
    assert after.statistics.total_files == len(list(at.db.all(d.files_of_owner(user_id=lin.user_id))))


def test_a_quota_that_is_lowered_stops_uploads_and_keeps_what_is_there(at: Place) -> None:
    lin = set_quota(at, at.user("lin"), 10)
    store(at, lin, content=b"12345678")
    set_quota(at, lin, 5, used=8)
    (answer,) = at_once([partial(begin, at, lin, 0)])
    assert isinstance(answer, CallerError)
    assert answer.code == "QUOTA_EXCEEDED"


def test_the_recount_repairs_what_drifted_and_is_quiet_if_nothing_did(at: Place) -> None:
    lin = at.user("lin")
    file = store(at, lin, content=b"12345")
    store(at, lin, content=b"123", file_id=file.file_id)
    begin(at, lin, 11)
    begin(at, lin, 13, file_id=file.file_id)
    assert not at.campus.recount.user(lin.user_id)
    set_quota(at, lin, 10**9, used=77)
    before = at.again(lin)
    at.db.write(d.users.change(before, before.model_copy(update={"storage_reserved": 1})))
    assert at.campus.recount.user(lin.user_id)
    assert (at.again(lin).storage_used, at.again(lin).storage_reserved) == (8, 24)
    assert at.campus.recount.run() == 1, "the round visits everybody"


def test_files_of_a_folder_that_is_gone_are_at_the_top_after_a_recount(at: Place) -> None:
    lin = at.user("lin")
    folder = at.campus.folders.create(lin, "Maths")
    file = store(at, lin, folder_id=folder.folder_id)
    at.db.write(d.folders.delete(folder))
    at.campus.recount.user(lin.user_id)
    assert at.campus.repository.file(file.file_id).folder_id is None


# --- any sequence ---

STEPS = ("begin", "begin version", "complete", "abandon", "expire", "trash", "restore", "empty", "recount")


@dataclass
class Model:
    """What must be true: the sizes of complete bytes by file, and those of slots."""

    quota: int
    files: dict[str, int] = field(default_factory=dict)
    trashed: set[str] = field(default_factory=set)
    slots: dict[str, Upload] = field(default_factory=dict)

    @property
    def used(self) -> int:
        return sum(self.files.values())

    @property
    def reserved(self) -> int:
        return sum(one.file_size for one in self.slots.values())


steps = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 12), st.integers(0, 5)), max_size=25)


@settings(max_examples=25, deadline=None)
@given(steps)
def test_after_any_steps_used_is_the_sum_of_complete_bytes_and_reserved_that_of_slots(
    walk: list[tuple[str, int, int]],
) -> None:
    clock = Clock(START)
    world = uuid_world(clock.world())
    with reached("embedded", None, world, d.CAMPUS) as there, TemporaryDirectory() as home:
        db = Db(there.call, d.CAMPUS, world=world, secret=SECRET)
        db.create_tables()
        campus = open_campus(db, world, SECRET, home=Path(home))
        at = Place(campus, db, there.call, clock, None, there.engine, world)  # type: ignore[arg-type]  # no logins
        lin = set_quota(at, at.user("lin"), 30)
        model = Model(30)
        for step, size, which in walk:
            _step(at, lin, model, step, size, which)
            after = at.again(lin)
            assert (after.storage_used, after.storage_reserved) == (model.used, model.reserved), step
            assert after.storage_used + after.storage_reserved <= 30
        assert real_use(at, lin) == model.used
        assert not campus.recount.user(lin.user_id)


def _step(at: Place, lin: User, model: Model, step: str, size: int, which: int) -> None:
    slots, files = list(model.slots.values()), [one for one in model.files if one not in model.trashed]
    if step in ("begin", "begin version"):
        if step == "begin version" and not files:
            return
        file_id = files[which % len(files)] if step == "begin version" else None
        fits = model.used + model.reserved + size <= model.quota
        if not fits:
            with refuses("QUOTA_EXCEEDED"):
                begin(at, lin, size, file_id=file_id)
            return
        upload = begin(at, lin, size, file_id=file_id)
        model.slots[upload.upload_id] = upload
    elif step == "complete" and slots:
        _complete(at, model, slots[which % len(slots)])
    elif step == "abandon" and slots:
        upload = slots[which % len(slots)]
        at.campus.uploads.abandon(upload.upload_id)
        del model.slots[upload.upload_id]
    elif step == "expire":
        at.later(hours=25)
        scan(at)
        model.slots.clear()
    elif step == "trash" and files:
        at.campus.library.trash(lin, files[which % len(files)])
        model.trashed.add(files[which % len(files)])
    elif step == "restore" and model.trashed:
        one = sorted(model.trashed)[which % len(model.trashed)]
        at.campus.library.restore(lin, one)
        model.trashed.discard(one)
    elif step == "empty":
        at.campus.purge.empty_trash(lin)
        for one in model.trashed:
            del model.files[one]
        model.trashed.clear()
    elif step == "recount":
        assert not at.campus.recount.user(lin.user_id)


def _complete(at: Place, model: Model, upload: Upload) -> None:
    at.campus.uploads.put_part(upload, 1, [bytes(upload.file_size)])
    is_version = upload.purpose == "version"
    if is_version and (upload.file_id in model.trashed or upload.file_id not in model.files):
        with refuses("DELETED" if upload.file_id in model.trashed else "FILE_NOT_FOUND"):
            at.campus.uploads.complete(upload.upload_id)
        return
    at.campus.uploads.complete(upload.upload_id)
    model.files[upload.file_id] = model.files.get(upload.file_id, 0) + upload.file_size
    del model.slots[upload.upload_id]
