"""Files whose bytes are in a bucket of S3: the same service, the same checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from tests.places import reached
from tests.s3_server import new_bucket, s3_server, use_server
from tests.systems.campus.files.helpers import begin, content_of, real_use, scan, store, store_clean
from tests.systems.campus.talk import SECRET, Place, refuses, uuid_world
from tests.systems.talk import at_once

from tablewright.edge import Issuer
from tablewright.kit.objects.s3 import S3Objects
from tablewright.kit.objects.store import PART_SIZE
from tablewright.mapping import Db
from tablewright.systems.campus.campus import open_campus
from tablewright.systems.campus.design import CAMPUS
from tablewright.systems.campus.model import File
from tablewright.systems.campus.settings import Settings
from tablewright.testing import Clock
from tablewright.world import machine_time


@pytest.fixture
def clock() -> Clock:
    """The time of S3 is that of the machine."""
    return Clock(machine_time())


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    with s3_server() as url, pytest.MonkeyPatch.context() as patch:
        client = use_server(url, patch)
        yield client
        client.close()


@pytest.fixture
def at(s3: Any, clock: Clock, issuer: Issuer, tmp_path: Path) -> Iterator[Place]:
    home = tmp_path / "campus"
    home.mkdir()
    (home / "objects.json").write_bytes(orjson.dumps({"bucket": "s3://campus-files/bytes"}))
    world = uuid_world(clock.world())
    with new_bucket(s3, "campus-files"), reached("embedded", None, world, CAMPUS) as there:
        db = Db(there.call, CAMPUS, world=world, secret=SECRET)
        db.create_tables()
        campus = open_campus(db, world, SECRET, home=home, settings=Settings(scanner="signatures"))
        yield Place(campus, db, there.call, clock, issuer, there.engine, world)


def test_a_file_goes_up_in_parts_is_scanned_and_purged_in_a_bucket(at: Place) -> None:
    assert isinstance(at.campus.objects, S3Objects)
    lin, content = at.user("lin"), b"0123456789abcdef" * (PART_SIZE // 16) + b"the rest"
    file = store_clean(at, lin, "big.txt", content)
    assert file.virus_scan_status == "clean"
    assert content_of(at, file, PART_SIZE - 4) == b"cdefthe rest"
    store(at, lin, "big.txt", b"second", file_id=file.file_id)
    assert at.again(lin).storage_used == real_use(at, lin) == len(content) + 6
    at.campus.library.trash(lin, file.file_id)
    assert at.campus.purge.empty_trash(lin) == 1
    assert list(at.campus.objects.names("files/")) == []
    assert at.again(lin).storage_used == 0


def test_an_upload_to_a_bucket_is_resumed_and_completed_once(at: Place) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3)
    with refuses("PARTS_MISSING"):
        at.campus.uploads.complete(upload.upload_id)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    assert at.campus.uploads.status(upload).missing == []
    answers = at_once([lambda: at.campus.uploads.complete(upload.upload_id) for _ in range(6)], 6)
    assert [one for one in answers if not isinstance(one, File)] == []
    assert at.again(lin).storage_used == 3


def test_a_wrong_checksum_leaves_nothing_in_a_bucket(at: Place) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3, checksum="0" * 64)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    with refuses("CHECKSUM_MISMATCH"):
        at.campus.uploads.complete(upload.upload_id)
    assert list(at.campus.objects.names("files/")) == []
    assert at.again(lin).storage_reserved == 0


def test_a_link_to_a_bucket_leads_there_with_the_name_of_the_file(at: Place) -> None:
    lin = at.user("lin")
    file = store(at, lin, "Übung.txt", b"in a bucket")
    scan(at)
    link = at.campus.library.download_link(lin, file.file_id)
    answer = httpx.get(link.url, headers=dict(link.headers), trust_env=False)
    assert answer.content == b"in a bucket"
    assert "%C3%9Cbung.txt" in answer.headers["Content-Disposition"]
