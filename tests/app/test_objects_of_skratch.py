"""What Skratch keeps beside its table: a directory, a bucket of S3 and what dies with the process behave alike (SK-E2).

S3 is moto's server, behind the same boto3 that talks to Amazon.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.systems.travel.images import png

from tablewright import testing
from tablewright.app.systems import TRAVEL
from tablewright.cli.serve import ERRORS
from tablewright.client import embedded
from tablewright.engine.transfer import buckets
from tablewright.kit.bucket_objects import SETTINGS, ObjectsUnusable, objects_of
from tablewright.kit.objects import Directory, InMemory, NameUnusable, Objects
from tablewright.kit.system import Start
from tablewright.mapping import Db
from tablewright.systems.travel.account.accounts import Proved
from tablewright.systems.travel.account.apple import AppleSettingsUnusable
from tablewright.systems.travel.account.privacy import SETTLES, UNDO
from tablewright.systems.travel.travel import Travel

FOLDERS = ("pictures", "erased")


@pytest.fixture(scope="module")
def s3_url() -> Iterator[str]:
    moto_server = pytest.importorskip("moto.server", reason="S3 is tested against moto's server")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of S3, with the bucket `vault` in it and nothing else; boto3 finds the way there."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_url)
    client: Any = boto3.client("s3", endpoint_url=s3_url, region_name="us-east-1")
    client.create_bucket(Bucket="vault")
    yield client
    for found in client.list_objects_v2(Bucket="vault").get("Contents", []):
        client.delete_object(Bucket="vault", Key=found["Key"])
    client.delete_bucket(Bucket="vault")
    client.close()


def in_the_bucket(home: Path, clock: testing.Clock) -> Objects:
    home.mkdir(exist_ok=True)
    (home / SETTINGS).write_text('{"bucket": "s3://vault/skratch/"}')
    return objects_of(home, "objects", FOLDERS, clock.world())


@pytest.fixture(params=["directory", "memory", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path, clock: testing.Clock) -> Objects:
    if request.param == "memory":
        return InMemory()
    if request.param == "directory":
        return objects_of(tmp_path, "objects", FOLDERS, clock.world())
    request.getfixturevalue("s3")
    return in_the_bucket(tmp_path, clock)


# --- every kind ---


def test_what_was_put_is_there_until_it_is_removed(objects: Objects) -> None:
    assert objects.get("pictures/ada/1.png") is None
    objects.put("pictures/ada/1.png", b"first")
    objects.put("pictures/ada/1.png", b"\x00second")
    assert objects.get("pictures/ada/1.png") == b"\x00second"
    for _ in range(2):
        objects.remove("pictures/ada/1.png")
        assert objects.get("pictures/ada/1.png") is None
    assert list(objects.names("pictures/")) == []


def test_a_folder_lists_what_is_in_it_in_order_and_nothing_beside_it(objects: Objects) -> None:
    there = ["pictures/ada-b/1", "pictures/ada/1", "pictures/ada/2", "pictures/adam/1"]
    for name in reversed(there):
        objects.put(name, b"x")
    assert list(objects.names("pictures/")) == there
    assert list(objects.names("pictures/ada/")) == ["pictures/ada/1", "pictures/ada/2"]
    assert list(objects.names("erased/")) == []


def test_a_name_that_could_lie_anywhere_is_refused(objects: Objects) -> None:
    for name in ("", "/etc/passwd", "../out", "a/../b", "a//b", "a/", ".hidden", "a b", "a\\b"):
        with pytest.raises(NameUnusable):
            objects.put(name, b"x")
        with pytest.raises(NameUnusable):
            objects.get(name)
        with pytest.raises(NameUnusable):
            objects.remove(name)


# --- a bucket ---


def test_a_bucket_holds_objects_under_its_prefix_and_lists_more_than_a_page(
    s3: Any, tmp_path: Path, clock: testing.Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "PAGE", 2)
    kept = in_the_bucket(tmp_path, clock)
    s3.put_object(Bucket="vault", Key="pictures/foreign", Body=b"not ours")
    for n in range(5):
        kept.put(f"pictures/{n}", b"x")
    assert list(kept.names("pictures/")) == [f"pictures/{n}" for n in range(5)]
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket="vault")["Contents"]]
    assert keys == ["pictures/foreign", *(f"skratch/pictures/{n}" for n in range(5))]


def test_what_lay_in_the_directory_is_moved_into_the_bucket_and_overwrites_nothing(
    s3: Any, tmp_path: Path, clock: testing.Clock
) -> None:
    in_the_bucket(tmp_path, clock).put("erased/a.json", b"newer")
    before = Directory(tmp_path / "objects", clock.world())
    for name in ("erased/a.json", "erased/b.json", "pictures/ada/1.png"):
        before.put(name, b"from the directory")
    kept = in_the_bucket(tmp_path, clock)
    assert list(kept.names("erased/")) == ["erased/a.json", "erased/b.json"]
    assert (kept.get("erased/a.json"), kept.get("erased/b.json")) == (b"newer", b"from the directory")
    assert [name for folder in FOLDERS for name in before.names(f"{folder}/")] == []


@pytest.mark.parametrize("said", ["", "[]", '{"bucket": 1}', '{"bucket": "vault"}', '{"bucket": "s3://"}'])
def test_settings_that_name_no_bucket_say_what_is_missing(
    tmp_path: Path, clock: testing.Clock, said: str
) -> None:
    (tmp_path / SETTINGS).write_text(said)
    with pytest.raises(ObjectsUnusable, match="must contain"):
        objects_of(tmp_path, "objects", FOLDERS, clock.world())


def test_a_bucket_that_is_not_there_is_said_at_the_start_and_takes_nothing_away(
    s3: Any, tmp_path: Path, clock: testing.Clock
) -> None:
    before = Directory(tmp_path / "objects", clock.world())
    before.put("erased/a.json", b"kept")
    (tmp_path / SETTINGS).write_text('{"bucket": "s3://nowhere"}')
    with pytest.raises(ObjectsUnusable, match="does not exist") as told:
        objects_of(tmp_path, "objects", FOLDERS, clock.world())
    assert isinstance(told.value, ERRORS)  # so that `serve` says it in a sentence
    assert issubclass(AppleSettingsUnusable, ERRORS)
    assert before.get("erased/a.json") == b"kept"


def test_an_erasure_is_on_the_list_in_the_bucket(s3: Any, tmp_path: Path, clock: testing.Clock) -> None:
    in_the_bucket(tmp_path, clock)
    with testing.engine(world=clock.world()) as engine:
        db = Db(embedded(engine), *TRAVEL.designs, world=clock.world(), secret=b"x" * 32)
        db.create_tables()
        given = Start(db, clock.world(), b"x" * 32, lambda *who: "a token", "http://here.example", tmp_path)
        travel: Travel = TRAVEL.start(given)
        ada = travel.accounts.sign_up(Proved("apple", "001.ada")).user_id
        travel.pictures.put(ada, png(8, 8))
        travel.privacy.ask(ada, ada)
        for wait in (UNDO, SETTLES):
            clock.move(wait)
            travel.privacy.erase_due()
        keys = {found["Key"].rpartition("/")[0] for found in s3.list_objects_v2(Bucket="vault")["Contents"]}
        assert keys == {"skratch/erased", "skratch/secret-checks"}
        assert not (tmp_path / "objects").exists()
        assert not TRAVEL.start(given).privacy.is_restored()
