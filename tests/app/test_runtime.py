"""The house: opened once, seeded once, closed whole."""

import os
import stat
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.app.library import LIBRARY, Desk, books_by_state, library, seed

from tablewright import testing
from tablewright.app.people import TwoPeopleOneSubject
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.token_secret import NAME, SecretUnusable
from tablewright.design import Design
from tablewright.engine import StoreInUse
from tablewright.kit.system import Person, Progress, System, SystemsClash

EMPTY = System("empty", "Empty", "Nothing in it.", (), lambda given: None)


def titles(runtime: Runtime) -> int:
    return runtime.running[0].db.count(books_by_state(state="ON_SHELF"))


def test_a_house_without_systems_opens_with_its_own_design_and_the_engineer() -> None:
    with open_app(memory=True, systems=()) as runtime:
        assert list(runtime.designs) == ["house", "house_alarms"]
        assert [person.role for person in runtime.people] == ["Engineer"]


def test_a_first_start_makes_the_tables_and_seeds_and_tells_how_far_it_is() -> None:
    heard: list[tuple[int, int | None, str]] = []
    with open_app(memory=True, systems=(LIBRARY,), progress=lambda *step: heard.append(step)) as runtime:
        assert titles(runtime) == 60
    assert heard[0] == (1, 60, "Lending library, books")
    assert heard[-1] == (60, 60, "Lending library, books")


def test_a_second_start_finds_what_is_there_and_does_not_seed_again(tmp_path: Path) -> None:
    with open_app(tmp_path, systems=(LIBRARY,)):
        pass
    heard: list[Any] = []
    with open_app(tmp_path, systems=(LIBRARY,), progress=lambda *step: heard.append(step)) as runtime:
        assert titles(runtime) == 60
    assert heard == []


def test_seeding_that_crashed_half_way_is_taken_up_again(tmp_path: Path) -> None:
    def crashing(desk: Desk, progress: Progress) -> None:
        seed(desk, progress, count=20)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_app(tmp_path, systems=(replace(LIBRARY, seed=crashing),))
    with open_app(tmp_path, systems=(LIBRARY,)) as runtime:
        assert titles(runtime) == 60
        assert runtime.engine.verify() == []


def test_without_seeding_the_tables_are_there_and_empty() -> None:
    with open_app(memory=True, systems=(LIBRARY,), seed=False) as runtime:
        assert titles(runtime) == 0


def test_closing_closes_the_systems_and_the_store(tmp_path: Path) -> None:
    runtime = open_app(tmp_path, systems=(LIBRARY,), seed=False)
    desk = runtime.running[0].service
    with pytest.raises(StoreInUse):
        open_app(tmp_path, systems=())
    runtime.close()
    assert desk.is_closed
    open_app(tmp_path, systems=()).close()


def test_what_fails_while_opening_leaves_nothing_open(tmp_path: Path) -> None:
    def broken(given: Any) -> Any:
        raise RuntimeError("no service today")

    with pytest.raises(RuntimeError, match="no service"):
        open_app(tmp_path, systems=(replace(LIBRARY, start=broken),))
    open_app(tmp_path, systems=()).close()


def _client(runtime: Runtime, region: str = "us-east-1") -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=runtime.dynamodb_url,
        region_name=region,
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )


def test_the_same_store_answers_an_aws_sdk_beside_it() -> None:
    with open_app(memory=True, systems=(LIBRARY,), dynamodb_port=0) as runtime:
        client = _client(runtime)
        found = client.get_item(TableName="shelves", Key={"PK": {"S": "BOOK#b007"}, "SK": {"S": "BOOK"}})
        client.close()
    assert found["Item"]["title"] == {"S": "Volume 8"}


def test_a_table_of_a_system_may_have_a_replica_in_a_further_region(tmp_path: Path) -> None:
    with open_app(tmp_path, systems=(LIBRARY,), dynamodb_port=0, also_regions=("eu-west-1",)) as runtime:
        home, away = _client(runtime), _client(runtime, "eu-west-1")
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        home.update_table(TableName="shelves", StreamSpecification=stream)
        home.update_table(TableName="shelves", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
        away.get_waiter("table_exists").wait(
            TableName="shelves", WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )
        runtime.regions.settle()
        found = away.get_item(TableName="shelves", Key={"PK": {"S": "BOOK#b007"}, "SK": {"S": "BOOK"}})
        home.close()
        away.close()
    assert found["Item"]["title"] == {"S": "Volume 8"}


def test_expired_items_stay_as_long_as_asked() -> None:
    hour = timedelta(hours=1)
    with open_app(memory=True, systems=(), ttl_lag=hour, jobs=False) as runtime:
        assert runtime.engine.background.ttl_lag == hour


def test_page_tokens_and_logins_outlive_a_restart(tmp_path: Path) -> None:
    with open_app(tmp_path, systems=(LIBRARY,)) as runtime:
        page = runtime.running[0].db.page(books_by_state(state="ON_SHELF"), size=25, reader="x")
        token = runtime.token_for(runtime.people[0])
    with open_app(tmp_path, systems=(LIBRARY,)) as runtime:
        following = runtime.running[0].db.page(
            books_by_state(state="ON_SHELF"), size=25, reader="x", after=page.next
        )
        assert len(following.items) == 25
        assert runtime.verifier.verify(token).subject == "lib_ines"


def test_the_secret_is_its_owners_alone_and_refused_when_others_can_read_it(tmp_path: Path) -> None:
    open_app(tmp_path, systems=()).close()
    secret = tmp_path / NAME
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    os.chmod(secret, 0o644)
    with pytest.raises(SecretUnusable, match=r"can be read by users other than its owner.*chmod 600"):
        open_app(tmp_path, systems=())
    os.chmod(secret, 0o600)
    secret.write_bytes(b"short")
    with pytest.raises(SecretUnusable, match=r"is truncated; put back a copy.*Do not delete it"):
        open_app(tmp_path, systems=())
    assert secret.read_bytes() == b"short", "a new one would make what is sealed unreadable"


def test_two_systems_that_want_the_same_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(SystemsClash, match="name 'library'"):
        open_app(tmp_path, systems=(LIBRARY, LIBRARY))
    other = Design("other")
    other.table("shelves", pk="PK")
    with pytest.raises(SystemsClash, match="table 'shelves'"):
        open_app(tmp_path, systems=(LIBRARY, replace(EMPTY, designs=(other,))))
    assert list(tmp_path.iterdir()) == []


def test_two_people_of_one_subject_are_refused() -> None:
    twin = Person("lib_ines", "Ines again", "Reader", "The same.")
    with pytest.raises(TwoPeopleOneSubject, match="lib_ines"):
        open_app(memory=True, systems=(LIBRARY, replace(EMPTY, people=lambda service: [twin])))


def test_each_system_has_units_of_its_own(clock: testing.Clock) -> None:
    with open_app(memory=True, systems=(LIBRARY,), world=clock.world()) as runtime:
        assert runtime.running[0].db.meter.spent()["books.create"].calls == 60
        assert "books.create" not in runtime.db.meter.spent()
        assert runtime.designs["library"] == (library, runtime.running[0].db)
