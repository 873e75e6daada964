"""DescribeExport: an export's current status, with the counts of its files so far."""

import re
from typing import Any

from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Text
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.history.pitr_window import DAY
from tablewright.engine.limits import TRANSFERS_DAYS
from tablewright.engine.transaction import ReadTransaction
from tablewright.engine.transfer.export import described
from tablewright.engine.transfer.store import EXPORTS

TRANSFER_ARN = Text(37, 1024)
SHAPE = Struct("DescribeExportInput", {"ExportArn": TRANSFER_ARN}, required=("ExportArn",))


def describe_export(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    arn = request["ExportArn"]
    check_arn(txn, arn, "Export")
    found = EXPORTS.named(txn.rows, arn)
    if found is None or found.at < listed_since(txn):
        raise ServiceError("ExportNotFoundException", f"Export not found: Export not found: {arn}")
    return {"ExportDescription": described(found)}


def check_arn(txn: ReadTransaction, arn: str, kind: str) -> None:
    """Refuse an ARN that is not one of an Export or an Import of this account and region."""
    parts = re.fullmatch(
        f"arn:[^:]+:dynamodb:([^:]+):([0-9]+):table/[a-zA-Z0-9_.-]+/{kind.lower()}/[0-9a-f-]+", arn
    )
    if parts is None:
        raise invalid(f"Invalid {kind} ARN")
    if parts[2] != txn.place.account:
        raise ServiceError("AccessDeniedException", "Access is denied")
    if parts[1] != txn.place.region:
        raise ServiceError(f"{kind}NotFoundException", f"{kind} not found: Invalid {kind.lower()} arn")


def listed_since(txn: ReadTransaction) -> int:
    """Exports and imports that began before this moment are not returned any more."""
    return txn.now() - TRANSFERS_DAYS * DAY


OPERATION = ReadOperation("DescribeExport", SHAPE, describe_export)
