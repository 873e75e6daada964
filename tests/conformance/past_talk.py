"""Asking for backups and recovery, and waiting for what takes a while: on the service, minutes.

Must hold: what a test made it removes, tables by their fixture, backups here.
"""

from __future__ import annotations

import time

from tests.conformance.talk import Answered, Json, Line, Send, wait_until_active

PATIENCE = 60.0
UNAVAILABLE = ("ContinuousBackupsUnavailableException", "BackupInUseException")


def recovery(enabled: bool, **more: int) -> Json:
    return {"PointInTimeRecoveryEnabled": enabled, **more}


def enable(send: Send, table: str, **more: int) -> Json:
    """Point-in-time recovery on; a new table may not be ready for it at once."""
    request = {"TableName": table, "PointInTimeRecoverySpecification": recovery(True, **more)}
    described: Json = patiently(send, "UpdateContinuousBackups", request)["ContinuousBackupsDescription"]
    return described["PointInTimeRecoveryDescription"]  # type: ignore[no-any-return]  # JSON from outside


def back_up(send: Send, table: str, name: str = "some") -> Json:
    """A backup that can be used."""
    details: Json = patiently(send, "CreateBackup", {"TableName": table, "BackupName": name})["BackupDetails"]
    give_up = time.monotonic() + PATIENCE
    while True:
        shown = send("DescribeBackup", {"BackupArn": details["BackupArn"]})
        if shown.body["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE":
            return details
        assert time.monotonic() < give_up, "the backup is never AVAILABLE"
        time.sleep(0.02)


def patiently(send: Send, verb: str, request: Json) -> Json:
    give_up = time.monotonic() + PATIENCE
    while True:
        reply = send(verb, request)
        if reply.code not in UNAVAILABLE or time.monotonic() > give_up:
            assert reply.status == 200, f"{verb} answered {reply.status}: {reply.raw[:2000].decode()}"
            return reply.body
        time.sleep(0.05)


def restored(line: Line, answered: Answered, verb: str, request: Json) -> Json:
    """The description of the new table when it can be used."""
    patiently(line.call, verb, request)
    wait_until_active(line, request["TargetTableName"])
    described: Json = answered("DescribeTable", {"TableName": request["TargetTableName"]})["Table"]
    return described


def items(answered: Answered, table: str) -> list[Json]:
    found: list[Json] = answered("Scan", {"TableName": table, "ConsistentRead": True})["Items"]
    return sorted(found, key=str)
