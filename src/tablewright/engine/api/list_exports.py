"""ListExports: the exports of the last ninety days, the newest first, a page at a time."""

from collections.abc import Sequence
from typing import Any

from tablewright.engine.api.arguments import table_name
from tablewright.engine.api.describe_export import listed_since
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Text, Whole
from tablewright.engine.errors import invalid
from tablewright.engine.limits import TRANSFERS_PAGE, TRANSFERS_PAGE_MOST
from tablewright.engine.transaction import ReadTransaction
from tablewright.engine.transfer.export import described
from tablewright.engine.transfer.store import EXPORTS, Export, Import

PAGE_SIZE = Whole(least=1, most=TRANSFERS_PAGE_MOST)
# As many digits as the service's tokens have at least, in groups of sixteen.
TOKEN_DIGITS = 112
SHAPE = Struct("ListExportsInput", {"TableArn": Text(1, 1024), "MaxResults": PAGE_SIZE, "NextToken": Text()})


def list_exports(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    arn, most = request.get("TableArn"), int(request.get("MaxResults") or TRANSFERS_PAGE)
    before = page_start(request.get("NextToken"), "e")
    owner = None
    if arn is not None:
        # The exports of a deleted table are found by their own ARN only, as on the service.
        table = txn.tables.get(table_name(arn))
        if table is None or table.arn != arn:
            return {"ExportSummaries": []}
        owner = table.number
    found = EXPORTS.all(txn.rows, owner, None, before, most + 1, listed_since(txn))
    descriptions = [described(export) for export in found[:most]]
    members = ("ExportArn", "ExportStatus", "ExportType")
    answer: dict[str, Any] = {
        "ExportSummaries": [{name: one[name] for name in members} for one in descriptions]
    }
    return answer | next_page(found, most, "e")


def next_page(found: Sequence[Export | Import], most: int, kind: str) -> dict[str, str]:
    return {"NextToken": f"{kind}{found[most - 1].number:0{TOKEN_DIGITS - 1}x}"} if len(found) > most else {}


def page_start(token: str | None, kind: str) -> int | None:
    """The number below which a page begins; `kind` is the first digit of the tokens of a verb."""
    if token is None:
        return None
    digits = token.removeprefix(kind)
    is_ours = token.startswith(kind) and len(token) == TOKEN_DIGITS and digits.startswith("0" * 90)
    try:
        return int(digits, 16) if is_ours else _refuse(token)
    except ValueError:
        return _refuse(token)


def _refuse(token: str) -> int:
    raise invalid(f"Invalid Request: Provided nextToken is invalid: {token}")


OPERATION = ReadOperation("ListExports", SHAPE, list_exports)
