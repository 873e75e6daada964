"""ListImports: the imports of the last ninety days, the newest first, a page at a time."""

from typing import Any

from tablewright.engine.limits import TRANSFERS_PAGE
from tablewright.engine.operations.describe_export import kept_since
from tablewright.engine.operations.list_exports import PAGE_SIZE, next_page, place_of
from tablewright.engine.shapes import Request, Struct, Text
from tablewright.engine.storage_transfers import IMPORTS
from tablewright.engine.transfers.imports import described
from tablewright.engine.writing import Reading

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


def list_imports(reading: Reading, request: Request) -> dict[str, Any]:
    most = int(request.get("PageSize") or TRANSFERS_PAGE)
    before = place_of(request.get("NextToken"), "f")
    found = IMPORTS.all(reading.rows, None, request.get("TableArn"), before, most + 1, kept_since(reading))
    shown = [described(job) for job in found[:most]]
    answer: dict[str, Any] = {
        "ImportSummaryList": [{name: one[name] for name in MEMBERS if name in one} for one in shown]
    }
    return answer | next_page(found, most, "f")
