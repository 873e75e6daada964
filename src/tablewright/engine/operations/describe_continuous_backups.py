"""DescribeContinuousBackups: whether a table can be restored to moments of the past, and to which."""

from typing import Any

from tablewright.engine.backups import find_source
from tablewright.engine.members import TABLE_NAME
from tablewright.engine.recovery import described
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Reading

SHAPE = Struct("DescribeContinuousBackupsInput", {"TableName": TABLE_NAME}, required=("TableName",))


def describe_continuous_backups(reading: Reading, request: Request) -> dict[str, Any]:
    table = find_source(reading.tables, request["TableName"])
    return {"ContinuousBackupsDescription": described(table, reading.now())}
