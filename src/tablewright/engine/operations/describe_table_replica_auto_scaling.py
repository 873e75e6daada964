"""DescribeTableReplicaAutoScaling: which provisioned units of a table follow what is used, in every region."""

from typing import Any

from tablewright.engine.members import TABLE_NAME
from tablewright.engine.operations.describe_table import settled_table
from tablewright.engine.scaling_settings import described
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Reading

SHAPE = Struct("DescribeTableReplicaAutoScalingInput", {"TableName": TABLE_NAME}, required=("TableName",))


def describe_table_replica_auto_scaling(reading: Reading, request: Request) -> dict[str, Any]:
    table = settled_table(reading.tables, request)
    return {"TableAutoScalingDescription": described(reading, table)}
