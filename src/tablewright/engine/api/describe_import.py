"""DescribeImport: an import's current status, with the counts of what was read and stored so far."""

from typing import Any

from tablewright.engine.api.describe_export import TRANSFER_ARN, check_arn, listed_since
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.errors import ServiceError
from tablewright.engine.transaction import ReadTransaction
from tablewright.engine.transfer.import_ import described
from tablewright.engine.transfer.store import IMPORTS

SHAPE = Struct("DescribeImportInput", {"ImportArn": TRANSFER_ARN}, required=("ImportArn",))


def describe_import(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    arn = request["ImportArn"]
    check_arn(txn, arn, "Import")
    found = IMPORTS.named(txn.rows, arn)
    if found is None or found.at < listed_since(txn):
        raise ServiceError("ImportNotFoundException", f"Import not found: Import not found: {arn}")
    return {"ImportTableDescription": described(found)}


OPERATION = ReadOperation("DescribeImport", SHAPE, describe_import)
