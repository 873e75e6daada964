"""What Skratch keeps beside its table: in a directory, or in the bucket that its settings name (SK-E2).

S3 is moto's server. Elsewhere: what every store of objects does (tests/kit/test_objects.py).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.s3_server import new_bucket, s3_server, use_server
from tests.systems.travel.images import png

from tablewright import testing
from tablewright.app.systems import TRAVEL
from tablewright.cli.serve import ERRORS
from tablewright.client import embedded
from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.settings import SETTINGS, ObjectsUnusable, objects_of
from tablewright.kit.objects.store import Objects
from tablewright.kit.system import Start
from tablewright.mapping import Db
from tablewright.systems.travel.account.accounts import Proved
from tablewright.systems.travel.account.apple import AppleSettingsUnusable
from tablewright.systems.travel.account.privacy import SETTLES, UNDO
from tablewright.systems.travel.travel import Travel

FOLDERS = ("pictures", "erased")


@pytest.fixture(scope="module")
def s3_url() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture
def s3(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    client = use_server(s3_url, monkeypatch)
    with new_bucket(client, "vault"):
        yield client
    client.close()


def in_the_bucket(home: Path, clock: testing.Clock) -> Objects:
    home.mkdir(exist_ok=True)
    (home / SETTINGS).write_text('{"bucket": "s3://vault/skratch/"}')
    return objects_of(home, "objects", FOLDERS, clock.world())


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
