"""DescribeTableReplicaAutoScaling: the autoscaling settings of a table in every region."""

from typing import Any

from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.describe_table import settled_table
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.throughput.autoscaling_settings import described
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct("DescribeTableReplicaAutoScalingInput", {"TableName": TABLE_NAME}, required=("TableName",))


def describe_table_replica_auto_scaling(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    table = settled_table(txn.tables, request)
    return {"TableAutoScalingDescription": described(txn, table)}


OPERATION = ReadOperation("DescribeTableReplicaAutoScaling", SHAPE, describe_table_replica_auto_scaling)
