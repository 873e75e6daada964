"""The daily copies of a system's tables: made once a day, removed in time, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tablewright import Engine, testing
from tablewright.app.copies.backups import back_up, backup_job, environment_of
from tablewright.client import embedded
from tablewright.design import Backups, Design, Environment
from tablewright.mapping import Db
from tablewright.systems.travel.design import TRAVEL
from tablewright.testing import Clock

KEPT = timedelta(days=2)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with testing.engine(world=clock.world()) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "pets",
                "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        yield engine


def _names(engine: Engine) -> list[str]:
    engine.settle()
    return [one["BackupName"] for one in engine.call("ListBackups", {})["BackupSummaries"]]


def test_a_day_has_one_copy_and_an_old_one_goes(engine: Engine, clock: Clock) -> None:
    engine.call("CreateBackup", {"TableName": "pets", "BackupName": "before-the-move"})
    days = []
    for _ in range(5):
        days.append(f"tablewright-daily-{clock.now():%Y-%m-%d}")
        assert back_up(embedded(engine), ["pets"], clock.now(), KEPT) == 1
        assert back_up(embedded(engine), ["pets"], clock.now(), KEPT) == 0
        engine.settle()
        clock.move(timedelta(days=1))
    assert _names(engine) == ["before-the-move", *days[-3:]]


def test_a_system_has_the_backups_and_the_recovery_that_its_design_says(engine: Engine, clock: Clock) -> None:
    here = environment_of([TRAVEL])
    assert (here.pitr_days, here.physical("skratch-data")) == (35, "skratch-data")
    db = Db(embedded(engine), TRAVEL, world=clock.world(), environment=here)
    db.create_tables()
    (job,) = backup_job(db, embedded(engine))
    assert job.every == timedelta(days=1)
    job.run(None)
    assert _names(engine) == [f"tablewright-daily-{clock.now():%Y-%m-%d}"]


def test_a_design_that_says_nothing_of_backups_has_none(engine: Engine) -> None:
    said = Design("plain")
    assert environment_of([said]).backups is None
    assert backup_job(Db(embedded(engine), environment=environment_of([said])), embedded(engine)) == []
    said.environment(Environment("a", region="r", backups=Backups("cron(0 1 * * ? *)", 7, "v")))
    said.environment(Environment("b", region="r", backups=Backups("cron(0 1 * * ? *)", 30, "v")))
    kept = environment_of([said]).backups
    assert kept is not None
    assert kept.keep_days == 30
