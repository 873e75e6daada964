"""DescribeContinuousBackups: whether point-in-time recovery is enabled, and its window."""

from typing import Any

from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.history.backups import find_source
from tablewright.engine.history.pitr_window import described
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct("DescribeContinuousBackupsInput", {"TableName": TABLE_NAME}, required=("TableName",))


def describe_continuous_backups(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    table = find_source(txn.tables, request["TableName"])
    return {"ContinuousBackupsDescription": described(table, txn.now())}


OPERATION = ReadOperation("DescribeContinuousBackups", SHAPE, describe_continuous_backups)
