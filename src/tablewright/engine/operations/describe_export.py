"""DescribeExport: an export as it stands, with the counts of the files it has."""

import re
from typing import Any

from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.limits import TRANSFERS_DAYS
from tablewright.engine.recovery import DAY
from tablewright.engine.shapes import Request, Struct, Text
from tablewright.engine.storage_transfers import EXPORTS
from tablewright.engine.transfers.exports import described
from tablewright.engine.writing import Reading

TRANSFER_ARN = Text(37, 1024)
SHAPE = Struct("DescribeExportInput", {"ExportArn": TRANSFER_ARN}, required=("ExportArn",))


def describe_export(reading: Reading, request: Request) -> dict[str, Any]:
    arn = request["ExportArn"]
    check_arn(reading, arn, "Export")
    found = EXPORTS.named(reading.rows, arn)
    if found is None or found.at < kept_since(reading):
        raise ServiceError("ExportNotFoundException", f"Export not found: Export not found: {arn}")
    return {"ExportDescription": described(found)}


def check_arn(reading: Reading, arn: str, kind: str) -> None:
    """The ARN is one of an Export or an Import, and of this account."""
    parts = re.fullmatch(
        f"arn:[^:]+:dynamodb:([^:]+):([0-9]+):table/[a-zA-Z0-9_.-]+/{kind.lower()}/[0-9a-f-]+", arn
    )
    if parts is None:
        raise invalid(f"Invalid {kind} ARN")
    if parts[2] != reading.place.account:
        raise ServiceError("AccessDeniedException", "Access is denied")
    if parts[1] != reading.place.region:
        raise ServiceError(f"{kind}NotFoundException", f"{kind} not found: Invalid {kind.lower()} arn")


def kept_since(reading: Reading) -> int:
    """Exports and imports are told of for so long."""
    return reading.now() - TRANSFERS_DAYS * DAY
