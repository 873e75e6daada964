"""Asking for backups, recovery and restores, in the shortest way."""

from typing import Any

from tests.engine.tables import Json

from tablewright import Engine
from tablewright.engine.history import store as history_store
from tablewright.engine.history.store import Snapshot


def recover(engine: Engine, table: str = "pets", enabled: bool = True, **more: Any) -> Json:
    asked = {"PointInTimeRecoveryEnabled": enabled} | more
    request = {"TableName": table, "PointInTimeRecoverySpecification": asked}
    described: Json = engine.call("UpdateContinuousBackups", request)["ContinuousBackupsDescription"]
    return described


def back_up(engine: Engine, table: str = "pets", name: str = "some") -> str:
    arn: str = engine.call("CreateBackup", {"TableName": table, "BackupName": name})["BackupDetails"][
        "BackupArn"
    ]
    return arn


def restore(engine: Engine, source: str, target: str, **more: Any) -> Json:
    """From a backup or, with a RestoreDateTime or none, to a moment of a table."""
    if source.startswith("arn:") and "/backup/" in source:
        verb, request = "RestoreTableFromBackup", {"BackupArn": source, "TargetTableName": target}
    else:
        verb, request = "RestoreTableToPointInTime", {"SourceTableName": source, "TargetTableName": target}
        if "RestoreDateTime" not in more:
            request["UseLatestRestorableTime"] = True  # type: ignore[assignment]  # a request holds anything
    described: Json = engine.call(verb, request | more)["TableDescription"]
    return described


def snapshots(engine: Engine) -> list[Snapshot]:
    with engine._storage.write_lock:
        return history_store.snapshots(engine._storage.writes)


def chunk_count(engine: Engine) -> int:
    with engine._storage.write_lock:
        return len(list(history_store.all_chunks(engine._storage.writes)))
