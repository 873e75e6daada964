"""Copies of the first version, which no key seals: gone with an erasure, or named with their end (ZC-27, ZC-D31)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.systems.chat.legacy.zoo import ADMIN, Zoo, v1_item, zoo_of
from tests.systems.chat.place import Place

from tablewright.client import pages
from tablewright.systems.chat.family.retention import BACKUPS
from tablewright.systems.chat.jobs import run_tasks

SECRET_WORD = "wobbegong"


@pytest.fixture
def zoo(at: Place) -> Zoo:
    """Two children who wrote in the first version."""
    zoo = zoo_of(at)
    for name in ("u_9", "u_8"):
        at.child(name)
        item = v1_item(f"conv_panda_01_{name}_0a1b2c3d", name, 2, start=at.clock.now())
        item["messages"]["L"][0]["M"]["text"] = {"S": f"{SECRET_WORD} of {name}"}
        zoo.put(item)
    return zoo


def backups(zoo: Zoo) -> list[dict[str, Any]]:
    request = {"TableName": zoo.table, "BackupType": "ALL"}
    return [one for page in pages(zoo.at.call, "ListBackups", request) for one in page["BackupSummaries"]]


def settle(zoo: Zoo) -> None:
    """Backups and restores are done."""
    assert zoo.at.engine is not None
    zoo.at.engine.settle()


def restored(zoo: Zoo, arn: str, name: str) -> str:
    """What can be read in a backup."""
    settle(zoo)
    zoo.at.call("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": name})
    settle(zoo)
    return str(zoo.at.call("Scan", {"TableName": name})["Items"])


def test_an_erasure_replaces_the_backup_of_the_migration_by_one_without_the_erased(zoo: Zoo) -> None:
    at = zoo.at
    zoo.legacy.operator.prepare(ADMIN)
    settle(zoo)
    (before,) = backups(zoo)
    child = at.chat.people.by_id("u_9")
    at.later(minutes=1)
    at.chat.erasure.erase(child, at.person("ada", "administrator"))
    settle(zoo)
    at.later(minutes=3)
    run_tasks(at.chat)
    (after,) = backups(zoo)
    assert after["BackupArn"] != before["BackupArn"]
    found = restored(zoo, after["BackupArn"], "looked-at")
    assert f"{SECRET_WORD} of u_8" in found
    assert "u_9" not in found


def test_the_certificate_and_the_policy_name_the_copies_that_are_left_with_their_end(zoo: Zoo) -> None:
    at = zoo.at
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 35}
    at.call("UpdateContinuousBackups", {"TableName": zoo.table, "PointInTimeRecoverySpecification": recovery})
    daily = "tablewright-daily-2030-02-04"
    at.call("CreateBackup", {"TableName": zoo.table, "BackupName": daily})
    at.later(days=1)
    done = at.chat.erasure.erase(at.chat.people.by_id("u_9"), at.person("ada", "administrator"))
    kept = done.kept["first_version_in_copies"]
    now, published = at.clock.now(), at.chat.notices.retention().backups
    for copy in (
        f"backup {daily}, until {now + timedelta(days=34):%Y-%m-%d}",
        f"recovery of the table to a moment, until {now + timedelta(days=35):%Y-%m-%d}",
        f"the stream of changes of the table, until {now + timedelta(days=1):%Y-%m-%d}",
    ):
        assert copy in kept
        assert copy in published


def test_when_the_first_version_is_finished_and_its_copies_have_ended_no_text_can_be_read(zoo: Zoo) -> None:
    at = zoo.at
    zoo.cut_over()
    zoo.legacy.operator.finish(ADMIN, early=True)
    at.later(minutes=2)
    for one in backups(zoo):
        assert one["BackupName"] in at.chat.notices.retention().backups
    at.later(days=36)
    assert at.chat.notices.retention().backups == BACKUPS
    done = at.chat.erasure.erase(at.chat.people.by_id("u_9"), at.person("ada", "administrator"))
    assert "first_version_in_copies" not in done.kept
