"""DescribeImport: an import as it stands, with what has been read and stored so far."""

from typing import Any

from tablewright.engine.errors import ServiceError
from tablewright.engine.operations.describe_export import TRANSFER_ARN, check_arn, kept_since
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.storage_transfers import IMPORTS
from tablewright.engine.transfers.imports import described
from tablewright.engine.writing import Reading

SHAPE = Struct("DescribeImportInput", {"ImportArn": TRANSFER_ARN}, required=("ImportArn",))


def describe_import(reading: Reading, request: Request) -> dict[str, Any]:
    arn = request["ImportArn"]
    check_arn(reading, arn, "Import")
    found = IMPORTS.named(reading.rows, arn)
    if found is None or found.at < kept_since(reading):
        raise ServiceError("ImportNotFoundException", f"Import not found: Import not found: {arn}")
    return {"ImportTableDescription": described(found)}
