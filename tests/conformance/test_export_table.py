"""ExportTableToPointInTime, DescribeExport, ListExports: what is asked, refused, told, and left in the bucket."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.talk import ONE_OF_EACH, Answered, Json, NewTable, Refused
from tests.conformance.transfer_talk import enable_recovery, exported, lines

NOBODY = "arn:aws:dynamodb:us-east-1:000000000000:table/nobody-made-this"


@pytest.fixture
def table(new_table: NewTable) -> str:
    return new_table()


@pytest.fixture
def arn(table: str, answered: Answered) -> str:
    """A table with recovery."""
    return enable_recovery(answered, table)


def export(answered: Answered, arn: str, bucket: str, **others: Any) -> Json:
    request = {"TableArn": arn, "S3Bucket": bucket, **others}
    return dict(answered("ExportTableToPointInTime", request)["ExportDescription"])


# --- what is left in the bucket ---


def test_a_full_export_leaves_the_items_and_their_manifests(
    table: str, arn: str, answered: Answered, buckets: Path
) -> None:
    items = [{"pk": {"S": f"k{n}"}, "a": value} for n, value in enumerate(ONE_OF_EACH.values())]
    for item in items:
        answered("PutItem", {"TableName": table, "Item": item})
    begun = export(answered, arn, "full-export", S3Prefix="some/where")
    told = exported(answered, begun["ExportArn"])
    identity = begun["ExportArn"].rpartition("/")[2]
    home = buckets / "full-export" / "some" / "where" / "AWSDynamoDB" / identity
    assert {path.name for path in home.iterdir()} == {
        "_started",
        "data",
        "manifest-files.json",
        "manifest-files.md5",
        "manifest-summary.json",
        "manifest-summary.md5",
    }
    assert (home / "_started").read_bytes() == b""
    files = lines(home / "manifest-files.json")
    found = []
    for file in files:
        path = buckets / "full-export" / file["dataFileS3Key"]
        body = path.read_bytes()
        assert file["md5Checksum"] == b64encode(hashlib.md5(body).digest()).decode()
        assert file["etag"]
        assert file["itemCount"] == len(lines(path))
        found += [line["Item"] for line in lines(path)]
    assert sorted(found, key=json.dumps) == sorted(items, key=json.dumps)
    summary = json.loads((home / "manifest-summary.json").read_bytes())
    assert summary["version"] == "2020-06-30"
    assert summary["exportArn"] == begun["ExportArn"]
    assert summary["tableArn"] == arn
    assert summary["tableId"] == told["TableId"]
    assert summary["s3Bucket"] == "full-export"
    assert summary["s3Prefix"] == "some/where"
    assert summary["s3SseAlgorithm"] == "AES256"
    assert summary["s3SseKmsKeyId"] is None
    assert summary["manifestFilesS3Key"] == f"some/where/AWSDynamoDB/{identity}/manifest-files.json"
    assert summary["itemCount"] == len(items)
    assert summary["billedSizeBytes"] == told["BilledSizeBytes"] > 0
    assert summary["outputFormat"] == "DYNAMODB_JSON"
    assert summary["startTime"].endswith("Z")
    assert summary["exportTime"].endswith("Z")
    for name in ("manifest-files", "manifest-summary"):
        digest = hashlib.md5((home / f"{name}.json").read_bytes()).digest()
        assert (home / f"{name}.md5").read_text() == b64encode(digest).decode()


def test_an_empty_table_leaves_one_empty_data_file(arn: str, answered: Answered, buckets: Path) -> None:
    told = exported(answered, export(answered, arn, "empty-export")["ExportArn"])
    assert (told["ItemCount"], told["BilledSizeBytes"]) == (0, 0)
    (data,) = (buckets / "empty-export").rglob("*.json.gz")
    assert gzip.decompress(data.read_bytes()) == b""


def test_two_exports_to_one_place_do_not_touch_each_other(
    arn: str, answered: Answered, buckets: Path
) -> None:
    for _ in range(2):
        exported(answered, export(answered, arn, "twice-export")["ExportArn"])
    assert len(list((buckets / "twice-export" / "AWSDynamoDB").iterdir())) == 2


@pytest.mark.parametrize("prefix", ["foo", "foo/"])
def test_a_prefix_ends_with_one_slash_however_it_is_given(
    prefix: str, arn: str, answered: Answered, buckets: Path
) -> None:
    told = exported(answered, export(answered, arn, "slash-export", S3Prefix=prefix)["ExportArn"])
    assert told["ExportManifest"].startswith("foo/AWSDynamoDB/")
    assert (buckets / "slash-export" / told["ExportManifest"]).is_file()


@pytest.mark.parametrize("prefix", ["../../stolen", "/stolen", "a/../../stolen", ".", "a//b", "é/ü"])
def test_no_prefix_reaches_out_of_its_bucket(
    prefix: str, arn: str, answered: Answered, buckets: Path
) -> None:
    told = exported(answered, export(answered, arn, "safe-export", S3Prefix=prefix)["ExportArn"])
    assert told["ExportStatus"] == "COMPLETED"
    assert not list(buckets.parent.glob("stolen*"))
    assert not (buckets / "stolen").exists()


def test_an_export_shows_the_table_as_it_was(table: str, arn: str, answered: Answered, buckets: Path) -> None:
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "old"}}})
    then = time.time()
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "new"}}})
    answered("DeleteItem", {"TableName": table, "Key": {"pk": {"S": "old"}}})
    told = exported(answered, export(answered, arn, "past-export", ExportTime=then)["ExportArn"])
    assert told["ItemCount"] == 1
    (data,) = (buckets / "past-export").rglob("*.json.gz")
    assert lines(data) == [{"Item": {"pk": {"S": "old"}}}]


# --- what is told ---


def test_the_first_answer_tells_what_was_asked_and_what_was_assumed(
    table: str, arn: str, answered: Answered, buckets: Path
) -> None:
    told = export(answered, arn, "told-export", ClientToken="told-token")
    assert told["ExportStatus"] == "IN_PROGRESS"
    assert told["TableArn"] == arn
    assert told["ClientToken"] == "told-token"
    assert told["S3Bucket"] == "told-export"
    assert told["ExportFormat"] == "DYNAMODB_JSON"
    assert told["ExportType"] == "FULL_EXPORT"
    assert told["S3SseAlgorithm"] == "AES256"
    assert told["ExportTime"] == told["StartTime"]
    assert told["ExportArn"].startswith(f"{arn}/export/0")
    assert not {"S3Prefix", "S3BucketOwner", "EndTime", "ExportManifest"} & told.keys()
    ended = exported(answered, told["ExportArn"])
    assert ended["ExportStatus"] == "COMPLETED"
    assert ended["EndTime"] >= ended["StartTime"]
    assert ended["ExportManifest"].endswith("/manifest-summary.json")


def test_a_client_reads_the_times_as_times(arn: str, client: Any, answered: Answered, buckets: Path) -> None:
    told = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="boto-export")["ExportDescription"]
    exported(answered, told["ExportArn"])
    told = client.describe_export(ExportArn=told["ExportArn"])["ExportDescription"]
    assert told["StartTime"] <= told["EndTime"]


def test_the_same_token_is_the_same_export(arn: str, answered: Answered, buckets: Path) -> None:
    first = export(answered, arn, "token-export", ClientToken="once")
    again = export(answered, arn, "token-export", ClientToken="once")
    assert again["ExportArn"] == first["ExportArn"]
    exported(answered, first["ExportArn"])
    after = export(answered, arn, "token-export", ClientToken="once")
    assert (after["ExportArn"], after["ExportStatus"]) == (first["ExportArn"], "COMPLETED")


def test_a_token_with_other_parameters_is_refused(
    arn: str, answered: Answered, refused: Refused, buckets: Path
) -> None:
    exported(answered, export(answered, arn, "conflict-export", ClientToken="conflict")["ExportArn"])
    request = {"TableArn": arn, "S3Bucket": "conflict-export", "S3Prefix": "x", "ClientToken": "conflict"}
    assert refused("ExportTableToPointInTime", request) == (
        "ExportConflictException",
        "Export conflict: Duplicate request detected with conflicting parameters",
    )


def test_without_a_token_each_call_is_an_export(arn: str, answered: Answered, buckets: Path) -> None:
    arns = {export(answered, arn, "many-export")["ExportArn"] for _ in range(3)}
    assert len(arns) == 3
    for one in arns:
        exported(answered, one)


def test_exports_are_listed_the_newest_first_page_by_page(
    arn: str, answered: Answered, buckets: Path
) -> None:
    made = [export(answered, arn, "list-export")["ExportArn"] for _ in range(5)]
    for one in made:
        exported(answered, one)
    listed: list[str] = []
    request: Json = {"TableArn": arn, "MaxResults": 2}
    while True:
        page = answered("ListExports", request)
        assert len(page["ExportSummaries"]) <= 2
        listed += [one["ExportArn"] for one in page["ExportSummaries"]]
        if "NextToken" not in page:
            break
        request["NextToken"] = page["NextToken"]
    assert listed == made[::-1]
    (summary, *_) = answered("ListExports", {"TableArn": arn})["ExportSummaries"]
    assert summary == {"ExportArn": made[-1], "ExportStatus": "COMPLETED", "ExportType": "FULL_EXPORT"}
    assert made[-1] in [one["ExportArn"] for one in answered("ListExports", {})["ExportSummaries"]]


def test_exports_outlive_their_table_but_are_not_listed_under_it(
    table: str, arn: str, answered: Answered, new_table: NewTable, buckets: Path
) -> None:
    made = export(answered, arn, "gone-export")["ExportArn"]
    exported(answered, made)
    answered("DeleteTable", {"TableName": table})
    assert answered("DescribeExport", {"ExportArn": made})["ExportDescription"]["TableArn"] == arn
    assert answered("ListExports", {"TableArn": arn}) == {"ExportSummaries": []}
    new_table(TableName=table)
    assert answered("ListExports", {"TableArn": arn}) == {"ExportSummaries": []}


def test_an_export_goes_on_when_its_table_is_deleted(
    table: str, arn: str, answered: Answered, buckets: Path
) -> None:
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "rex"}}})
    made = export(answered, arn, "deleted-export")["ExportArn"]
    answered("DeleteTable", {"TableName": table})
    assert exported(answered, made)["ItemCount"] == 1


# --- what is refused ---


def test_recovery_must_be_enabled(table: str, answered: Answered, refused: Refused, buckets: Path) -> None:
    arn = answered("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    assert refused("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "no-recovery"}) == (
        "PointInTimeRecoveryUnavailableException",
        f"Point in time recovery is not enabled for table '{table}'",
    )


@pytest.mark.parametrize("shift", [3600, -7 * 86400])
def test_only_moments_of_the_window_can_be_exported(shift: int, arn: str, refused: Refused) -> None:
    request = {"TableArn": arn, "S3Bucket": "some-bucket", "ExportTime": int(time.time()) + shift}
    assert refused("ExportTableToPointInTime", request) == (
        "InvalidExportTimeException",
        "Export Time is invalid",
    )


def test_a_table_must_be_there(refused: Refused) -> None:
    assert refused("ExportTableToPointInTime", {"TableArn": NOBODY, "S3Bucket": "some-bucket"}) == (
        "TableNotFoundException",
        f"Table not found: {NOBODY}",
    )


def test_a_table_of_another_account_is_none_of_ours(refused: Refused) -> None:
    arn = NOBODY.replace("000000000000", "111111111111")
    assert refused("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "some-bucket"}) == (
        "AccessDeniedException",
        "Access is denied",
    )


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("pets", "One or more parameter values were invalid: tableArn is not a valid ARN"),
        (f"{NOBODY}/index/x", "Invalid Request: Table ARN is invalid."),
    ],
)
def test_a_table_is_named_by_its_arn(arn: str, message: str, refused: Refused) -> None:
    request = {"TableArn": arn, "S3Bucket": "some-bucket"}
    assert refused("ExportTableToPointInTime", request) == ("ValidationException", message)


PERIOD = "IncrementalExportSpecification"


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (
            {"ExportType": "INCREMENTAL_EXPORT"},
            "Invalid Request: Incremental Export Specification expected when export type is set as "
            "Incremental Export",
        ),
        (
            {"ExportType": "INCREMENTAL_EXPORT", PERIOD: {}},
            "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification",
        ),
        (
            {PERIOD: {"ExportFromTime": 5}},
            "Invalid Request: Export Type expected to be Incremental Export when incremental export "
            "specification is provided",
        ),
        (
            {"ExportType": "FULL_EXPORT", PERIOD: {"ExportFromTime": 5}},
            "Invalid Request: When Export Type is Full Export , Incremental Export Specification should not be "
            "provided",
        ),
        (
            {"S3SseKmsKeyId": "alias/mine"},
            "Invalid Request: KMS Key Id is not supported for this encryption type",
        ),
        (
            {"S3Bucket": "a b"},
            "1 validation error detected: Value 'a b' at 's3Bucket' failed to satisfy constraint: "
            r"Member must satisfy regular expression pattern: ^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$",
        ),
        (
            {"ExportFormat": "CSV"},
            "1 validation error detected: Value 'CSV' at 'exportFormat' failed to satisfy constraint: "
            "Member must satisfy enum value set: [ION, DYNAMODB_JSON]",
        ),
        (
            {"S3BucketOwner": "me"},
            "1 validation error detected: Value 'me' at 's3BucketOwner' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [0-9]{12}",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(others: Json, message: str, refused: Refused) -> None:
    request = {"TableArn": NOBODY, "S3Bucket": "some-bucket", **others}
    assert refused("ExportTableToPointInTime", request) == ("ValidationException", message)


@pytest.mark.parametrize("member", ["TableArn", "S3Bucket"])
def test_table_and_bucket_are_required(member: str, refused: Refused) -> None:
    request = {"TableArn": NOBODY, "S3Bucket": "some-bucket"}
    del request[member]
    code, message = refused("ExportTableToPointInTime", request)
    assert code == "ValidationException"
    assert f"at '{member[0].lower()}{member[1:]}'" in message


def test_a_bucket_of_another_account_fails_the_export(arn: str, answered: Answered, buckets: Path) -> None:
    told = exported(answered, export(answered, arn, "alien", S3BucketOwner="111111111111")["ExportArn"])
    assert (told["ExportStatus"], told["FailureCode"]) == ("FAILED", "S3AccessDenied")
    assert not (buckets / "alien").exists()


def test_what_this_engine_cannot_do_it_says(arn: str, refused: Refused, buckets: Path) -> None:
    request = {"TableArn": arn, "S3Bucket": "some-bucket"}
    code, message = refused("ExportTableToPointInTime", request | {"ExportFormat": "ION"})
    assert (code, "ION is not supported" in message) == ("ValidationException", True)
    code, message = refused("ExportTableToPointInTime", request | {"S3SseAlgorithm": "KMS"})
    assert (code, "KMS is not supported" in message) == ("ValidationException", True)


@pytest.mark.parametrize(
    ("arn", "code", "message"),
    [
        (NOBODY, "ValidationException", "Invalid Export ARN"),
        ("x" * 40, "ValidationException", "Invalid Export ARN"),
        (f"{NOBODY}/import/01791506414432-3f2e5aa4", "ValidationException", "Invalid Export ARN"),
        (
            f"{NOBODY}/export/01791506414432-3f2e5aa4",
            "ExportNotFoundException",
            f"Export not found: Export not found: {NOBODY}/export/01791506414432-3f2e5aa4",
        ),
        (
            f"{NOBODY}/export/01791506414432-3f2e5aa4".replace("us-east-1", "eu-west-1"),
            "ExportNotFoundException",
            "Export not found: Invalid export arn",
        ),
        (
            f"{NOBODY}/export/01791506414432-3f2e5aa4".replace("000000000000", "111111111111"),
            "AccessDeniedException",
            "Access is denied",
        ),
    ],
)
def test_an_export_that_is_not_there_cannot_be_described(
    arn: str, code: str, message: str, refused: Refused
) -> None:
    assert refused("DescribeExport", {"ExportArn": arn}) == (code, message)


@pytest.mark.parametrize("token", ["nonsense", "f" * 112, "0" * 112])
def test_a_token_nobody_gave_is_refused(token: str, refused: Refused) -> None:
    assert refused("ListExports", {"NextToken": token}) == (
        "ValidationException",
        f"Invalid Request: Provided nextToken is invalid: {token}",
    )


@pytest.mark.parametrize("size", [0, 26])
def test_a_page_has_one_to_twenty_five_exports(size: int, refused: Refused) -> None:
    code, message = refused("ListExports", {"MaxResults": size})
    assert code == "ValidationException"
    assert f"Value '{size}' at 'maxResults' failed to satisfy constraint" in message
