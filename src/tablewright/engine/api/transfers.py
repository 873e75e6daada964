"""DescribeExport, ListExports, DescribeImport and ListImports, and what requests for exports and imports share.

Both are listed for ninety days, the newest first, a page at a time.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b

import orjson

from tablewright.engine.api.arguments import table_name
from tablewright.engine.api.operation import read_verb
from tablewright.engine.api.shapes import Answer, Request, Text, Whole
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.history.pitr_window import DAY, SECOND
from tablewright.engine.limits import CLIENT_TOKEN_HOURS, TRANSFERS_DAYS, TRANSFERS_PAGE, TRANSFERS_PAGE_MOST
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.engine.transfer import export, import_
from tablewright.engine.transfer.store import EXPORTS, IMPORTS, BulkOperation, Export, Import, Record, Records
from tablewright.values import WrongJson
from tablewright.values.codec import NOT_UTF8

TABLE_ARN = Text(1, 1024)
CLIENT_TOKEN = Text(pattern=r"^[^\$]+$")
BUCKET_OWNER = Text(pattern="[0-9]{12}")
# The pattern is matched by `check_bucket`, after the length was checked: on a long text it would take very long.
BUCKET = Text(most=255)
BUCKET_PATTERN = r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$"
PREFIX = Text(most=1024)
_ARN = Text(37, 1024)
_PAGE_SIZE = Whole(least=1, most=TRANSFERS_PAGE_MOST)
_IMPORT_SUMMARY = (
    "ImportArn ImportStatus TableArn S3BucketSource CloudWatchLogGroupArn InputFormat StartTime EndTime"
)


@read_verb("DescribeExport", {"ExportArn": _ARN}, required=("ExportArn",))
def describe_export(txn: ReadTransaction, request: Request) -> Answer:
    return {"ExportDescription": export.described(_find(txn, EXPORTS, "Export", request["ExportArn"]))}


@read_verb("DescribeImport", {"ImportArn": _ARN}, required=("ImportArn",))
def describe_import(txn: ReadTransaction, request: Request) -> Answer:
    return {"ImportTableDescription": import_.described(_find(txn, IMPORTS, "Import", request["ImportArn"]))}


def _find(txn: ReadTransaction, records: Records[Record], kind: str, arn: str) -> Record:
    parts = re.fullmatch(
        f"arn:[^:]+:dynamodb:([^:]+):([0-9]+):table/[a-zA-Z0-9_.-]+/{kind.lower()}/[0-9a-f-]+", arn
    )
    if parts is None:
        raise invalid(f"Invalid {kind} ARN")
    if parts[2] != txn.place.account:
        raise ServiceError("AccessDeniedException", "Access is denied")
    if parts[1] != txn.place.region:
        raise ServiceError(f"{kind}NotFoundException", f"{kind} not found: Invalid {kind.lower()} arn")
    found = records.named(txn.rows, arn)
    if found is None or found.at < listed_since(txn):
        raise ServiceError(f"{kind}NotFoundException", f"{kind} not found: {kind} not found: {arn}")
    return found


def listed_since(txn: ReadTransaction) -> int:
    return txn.now_us() - TRANSFERS_DAYS * DAY


@read_verb("ListExports", {"TableArn": TABLE_ARN, "MaxResults": _PAGE_SIZE, "NextToken": Text()})
def list_exports(txn: ReadTransaction, request: Request) -> Answer:
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
    members = ("ExportArn", "ExportStatus", "ExportType")
    shown = [{name: one[name] for name in members} for one in map(export.described, found[:most])]
    return {"ExportSummaries": shown, **next_page(found, most, "e")}


@read_verb(
    "ListImports",
    {"TableArn": TABLE_ARN, "PageSize": _PAGE_SIZE, "NextToken": Text(112, 1024, "([0-9a-f]{16})+")},
)
def list_imports(txn: ReadTransaction, request: Request) -> Answer:
    most = int(request.get("PageSize") or TRANSFERS_PAGE)
    before = page_start(request.get("NextToken"), "f")
    found = IMPORTS.all(txn.rows, None, request.get("TableArn"), before, most + 1, listed_since(txn))
    members = _IMPORT_SUMMARY.split()
    shown = [{n: one[n] for n in members if n in one} for one in map(import_.described, found[:most])]
    return {"ImportSummaryList": shown, **next_page(found, most, "f")}


def next_page(found: Sequence[Export | Import | BulkOperation], most: int, kind: str) -> dict[str, str]:
    """The token has as many digits as the service's have at least; `kind`, its first, differs between the verbs."""
    return {"NextToken": f"{kind}{found[most - 1].number:0111x}"} if len(found) > most else {}


def page_start(token: str | None, kind: str) -> int | None:
    """The number below which a page begins."""
    if token is None:
        return None
    if not re.fullmatch(f"{kind}0{{90}}[0-9a-f]{{21}}", token):
        raise invalid(f"Invalid Request: Provided nextToken is invalid: {token}")
    return int(token[1:], 16)


# --- requests for exports and imports ---


def digest(request: Request) -> str:
    """A hash of the whole request, which a client token stands for."""
    try:
        return blake2b(orjson.dumps(request, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()
    except orjson.JSONEncodeError:
        raise WrongJson(NOT_UTF8) from None


def begun_before(
    txn: WriteTransaction, records: Records[Record], kind: str, token: str | None, asked: str
) -> Record | None:
    """What an earlier request with the same client token has begun; `asked` is the digest of this request."""
    if token is None:
        return None
    known = records.with_token(txn.rows, token, txn.position.at - CLIENT_TOKEN_HOURS * 3600 * SECOND)
    if known is not None and orjson.loads(known.body)["asked"] != asked:
        raise ServiceError(
            f"{kind}ConflictException",
            f"{kind} conflict: Duplicate request detected with conflicting parameters",
        )
    return known


def check_bucket(name: str, path: str) -> None:
    if not re.fullmatch(BUCKET_PATTERN, name):
        raise invalid(
            f"1 validation error detected: Value '{name}' at '{path}' failed to satisfy constraint: "
            f"Member must satisfy regular expression pattern: {BUCKET_PATTERN}"
        )


def no_buckets(what: str) -> ServiceError:
    return invalid(
        f"This engine lives in memory and has no buckets to {what}: open it with a directory for them "
        "(Engine.open(buckets=DIR), or --buckets DIR)"
    )
