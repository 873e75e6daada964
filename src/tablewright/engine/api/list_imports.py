"""ListImports: the imports of the last ninety days, the newest first, a page at a time."""

from typing import Any

from tablewright.engine.api.describe_export import listed_since
from tablewright.engine.api.list_exports import PAGE_SIZE, next_page, page_start
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Text
from tablewright.engine.limits import TRANSFERS_PAGE
from tablewright.engine.transaction import ReadTransaction
from tablewright.engine.transfer.import_ import described
from tablewright.engine.transfer.store import IMPORTS

SHAPE = Struct(
    "ListImportsInput",
    {
        "TableArn": Text(1, 1024),
        "PageSize": PAGE_SIZE,
        "NextToken": Text(112, 1024, "([0-9a-f]{16})+"),
    },
)
MEMBERS = (
    "ImportArn",
    "ImportStatus",
    "TableArn",
    "S3BucketSource",
    "CloudWatchLogGroupArn",
    "InputFormat",
    "StartTime",
    "EndTime",
)


def list_imports(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    most = int(request.get("PageSize") or TRANSFERS_PAGE)
    before = page_start(request.get("NextToken"), "f")
    found = IMPORTS.all(txn.rows, None, request.get("TableArn"), before, most + 1, listed_since(txn))
    descriptions = [described(job) for job in found[:most]]
    answer: dict[str, Any] = {
        "ImportSummaryList": [{name: one[name] for name in MEMBERS if name in one} for one in descriptions]
    }
    return answer | next_page(found, most, "f")


OPERATION = ReadOperation("ListImports", SHAPE, list_imports)
