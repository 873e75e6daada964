"""ImportTable, DescribeImport, ListImports: a new table from the objects of a bucket."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.talk import (
    ONE_OF_EACH,
    Answered,
    Json,
    Line,
    NewTable,
    Refused,
    attribute,
    drop,
    index,
    key_schema,
)
from tests.conformance.transfer_talk import (
    enable_recovery,
    everything,
    exported,
    import_request,
    imported,
    json_lines,
    lines,
    put_object,
    zstandard,
)

NOBODY = "arn:aws:dynamodb:us-east-1:000000000000:table/nobody-made-this"
NOT_ALL = (
    "Some of the items failed validation checks and were not imported. "
    "Please check CloudWatch error logs for more details."
)
Put = Callable[[str, bytes], None]


@pytest.fixture
def name(line: Line) -> Iterator[str]:
    """A name for a table that is yet to come; dropped at the end."""
    made = f"conf-{uuid.uuid4().hex}"
    yield made
    drop(line, made)


@pytest.fixture
def bucket(buckets: Path) -> str:
    made = f"bucket-{uuid.uuid4().hex}"
    (buckets / made).mkdir()
    return made


@pytest.fixture
def put(buckets: Path, bucket: str) -> Put:
    """put(key, body): an object in the bucket of this test."""
    return lambda key, body: put_object(buckets, bucket, key, body)


def run(answered: Answered, request: Json) -> Json:
    """Import, to the end."""
    return imported(answered, answered("ImportTable", request)["ImportTableDescription"]["ImportArn"])


def counts(told: Json) -> tuple[int, int, int]:
    return told["ProcessedItemCount"], told["ImportedItemCount"], told["ErrorCount"]


def item(pk: str, **others: Json) -> Json:
    return {"pk": {"S": pk}, **others}


# --- DynamoDB JSON ---


def test_items_of_every_type_come_back_from_an_export(
    new_table: NewTable, name: str, bucket: str, answered: Answered
) -> None:
    source = new_table()
    for number, value in enumerate(ONE_OF_EACH.values()):
        answered("PutItem", {"TableName": source, "Item": item(f"k{number}", a=value)})
    arn = enable_recovery(answered, source)
    begun = answered("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": bucket})["ExportDescription"]
    data = exported(answered, begun["ExportArn"])["ExportManifest"].rpartition("/")[0] + "/data/"
    told = run(answered, import_request(name, bucket, data, InputCompressionType="GZIP"))
    assert told["ImportStatus"] == "COMPLETED"
    assert counts(told) == (len(ONE_OF_EACH), len(ONE_OF_EACH), 0)
    assert everything(answered, name) == everything(answered, source)


def test_every_object_whose_key_begins_so_is_read(
    name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("data/1.json", json_lines(item("a"), item("b")))
    put("data/deep/2.json", json_lines(item("c")))
    put("data2.json", json_lines(item("d")))
    put("other/3.json", json_lines(item("e")))
    told = run(answered, import_request(name, bucket, "data"))
    assert counts(told) == (4, 4, 0)
    assert [one["pk"]["S"] for one in everything(answered, name)] == ["a", "b", "c", "d"]


def test_a_key_is_a_prefix_of_itself(name: str, bucket: str, put: Put, answered: Answered) -> None:
    put("data/1.json", json_lines(item("a")))
    put("data/2.json", json_lines(item("b")))
    assert counts(run(answered, import_request(name, bucket, "data/1.json"))) == (1, 1, 0)


def test_a_prefix_without_objects_makes_an_empty_table(name: str, bucket: str, answered: Answered) -> None:
    told = run(answered, import_request(name, bucket, "nothing/"))
    assert (told["ImportStatus"], counts(told), told["ProcessedSizeBytes"]) == ("COMPLETED", (0, 0, 0), 0)
    assert everything(answered, name) == []


@pytest.mark.parametrize(
    ("compression", "compress"), [("NONE", bytes), ("GZIP", gzip.compress), ("ZSTD", zstandard)]
)
def test_objects_may_be_compressed(
    compression: str,
    compress: Callable[[bytes], bytes],
    name: str,
    bucket: str,
    put: Put,
    answered: Answered,
) -> None:
    body = json_lines(*(item(f"k{n}") for n in range(1000)))
    # Two archives in one object are one text.
    put("many", compress(body[: len(body) // 2]) + compress(body[len(body) // 2 :]))
    told = run(answered, import_request(name, bucket, InputCompressionType=compression))
    assert (told["ImportStatus"], counts(told)) == ("COMPLETED", (1000, 1000, 0))
    assert told["ProcessedSizeBytes"] == len(body)


def test_numbers_and_sets_are_stored_in_their_one_spelling(
    name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("x", json_lines(item("a", n={"N": "007.50"}, s={"SS": ["b", "a"]})))
    run(answered, import_request(name, bucket))
    assert everything(answered, name) == [item("a", n={"N": "7.5"}, s={"SS": ["a", "b"]})]


def test_of_two_items_with_one_key_the_later_stays(
    name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("1", json_lines(item("a", n={"N": "1"}), item("b"), item("a", n={"N": "2"})))
    put("2", json_lines(item("a", n={"N": "3"}, gpk={"S": "x"})))
    parameters = {
        "AttributeDefinitions": [attribute("pk", "S"), attribute("gpk", "S")],
        "GlobalSecondaryIndexes": [index("gsi", ("gpk",), "ALL")],
    }
    told = run(answered, import_request(name, bucket, parameters=parameters))
    assert (told["ImportStatus"], counts(told)) == ("COMPLETED", (4, 4, 0))
    assert everything(answered, name) == [item("a", n={"N": "3"}, gpk={"S": "x"}), item("b")]
    table = answered("DescribeTable", {"TableName": name})["Table"]
    assert (table["ItemCount"], table["GlobalSecondaryIndexes"][0]["ItemCount"]) == (2, 1)


def test_indexes_are_filled_with_the_table(name: str, bucket: str, put: Put, answered: Answered) -> None:
    put("x", json_lines(*(item(f"k{n}", gpk={"S": f"g{n % 2}"}, gsk={"N": str(n)}) for n in range(10))))
    parameters = {
        "AttributeDefinitions": [attribute("pk", "S"), attribute("gpk", "S"), attribute("gsk", "N")],
        "GlobalSecondaryIndexes": [index("gsi", ("gpk", "gsk"), "ALL")],
    }
    run(answered, import_request(name, bucket, parameters=parameters))
    found = answered(
        "Query",
        {
            "TableName": name,
            "IndexName": "gsi",
            "KeyConditionExpression": "gpk = :g",
            "ExpressionAttributeValues": {":g": {"S": "g1"}},
        },
    )["Items"]
    assert [one["gsk"]["N"] for one in found] == ["1", "3", "5", "7", "9"]


def test_the_table_can_be_used_like_any_other_afterwards(
    name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("x", json_lines(item("a")))
    run(answered, import_request(name, bucket))
    answered("PutItem", {"TableName": name, "Item": item("b")})
    answered("DeleteItem", {"TableName": name, "Key": item("a")})
    assert everything(answered, name) == [item("b")]
    arn = enable_recovery(answered, name)
    begun = answered("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": bucket})["ExportDescription"]
    assert exported(answered, begun["ExportArn"])["ItemCount"] == 1


# --- CSV ---


def test_the_first_line_of_a_csv_names_the_columns(
    name: str, bucket: str, put: Put, answered: Answered
) -> None:
    body = b"pk,title,year\nalbum-1,The Dark Side,1973\nalbum-2,,\n"
    put("x.csv", body)
    told = run(answered, import_request(name, bucket, InputFormat="CSV"))
    assert (told["ImportStatus"], counts(told)) == ("COMPLETED", (2, 2, 0))
    assert told["ProcessedSizeBytes"] == len(body)
    assert everything(answered, name) == [
        item("album-1", title={"S": "The Dark Side"}, year={"S": "1973"}),
        item("album-2", title={"S": ""}, year={"S": ""}),
    ]


def test_columns_that_are_keys_have_the_types_of_the_definition(
    name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("x.csv", b"pk,sk,gpk,other\n01.50,YQ==,7,7\n")
    parameters = {
        "AttributeDefinitions": [attribute("pk", "N"), attribute("sk", "B"), attribute("gpk", "N")],
        "KeySchema": key_schema("pk", "sk"),
        "GlobalSecondaryIndexes": [index("gsi", ("gpk",), "ALL")],
    }
    run(answered, import_request(name, bucket, InputFormat="CSV", parameters=parameters))
    assert everything(answered, name) == [
        {"pk": {"N": "1.5"}, "sk": {"B": "YQ=="}, "gpk": {"N": "7"}, "other": {"S": "7"}}
    ]


@pytest.mark.parametrize("delimiter", [",", ";", ":", "|", "\t", " "])
def test_a_csv_may_have_another_delimiter_and_its_columns_named_by_the_request(
    delimiter: str, name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("x.csv", f"a{delimiter}1\nb{delimiter}2\n".encode())
    options = {"Csv": {"Delimiter": delimiter, "HeaderList": ["pk", "n"]}}
    told = run(answered, import_request(name, bucket, InputFormat="CSV", InputFormatOptions=options))
    assert told["InputFormatOptions"] == options
    assert everything(answered, name) == [item("a", n={"S": "1"}), item("b", n={"S": "2"})]


def test_quoted_fields_hold_delimiters_quotes_and_line_ends(
    name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("x.csv", 'pk,text\r\n"a","x,y"\r\nb,"she said ""no"""\r\nc,"two\r\nlines, é"\r\n'.encode())
    told = run(answered, import_request(name, bucket, InputFormat="CSV"))
    assert counts(told) == (3, 3, 0)
    texts = [one["text"]["S"] for one in everything(answered, name)]
    assert texts == ["x,y", 'she said "no"', "two\r\nlines, é"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"pk,v\na,1\nb\nc,3\n", (3, 2, 1)),  # too few fields
        (b"pk,v\na,1\nb,2,3\nc,3\n", (3, 2, 1)),  # too many
        (b'pk,v\na,1\nb,Women"s "Dress\nc,3\n', (3, 2, 1)),  # quotes in a field that is not quoted
        (b'pk,v\na,1\nb,"2\nc,3\n', (2, 1, 1)),  # a quote that never ends takes the rest with it
        (b"pk,v\na,1\n\xff,2\nc,3\n", (2, 1, 1)),  # not UTF-8
        (b"pk,pk\na,1\n", (1, 0, 1)),  # a column named twice
        (b"v,w\na,1\n", (1, 0, 1)),  # no key
    ],
)
def test_records_that_make_no_sense_are_counted_and_left_out(
    body: bytes, expected: tuple[int, int, int], name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("x.csv", body)
    told = run(answered, import_request(name, bucket, InputFormat="CSV"))
    assert (told["ImportStatus"], told["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert counts(told) == expected
    assert len(everything(answered, name)) == expected[1]


# --- what goes wrong ---


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"a": {"S": "x"}}, "One or more parameter values were invalid: Missing the key pk in the item"),
        (
            {"pk": {"N": "1"}},
            "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N",
        ),
        (
            {"pk": {"S": ""}},
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
            "an empty string value. Key: pk",
        ),
        (item("x", a={"N": "many"}), "The parameter cannot be converted to a numeric value: many"),
        (item("x", a={"S": "y" * 410_000}), "Item size has exceeded the maximum allowed size"),
        (item("x", a={"S": 5}), "NUMBER_VALUE cannot be converted to String"),
    ],
)
def test_an_item_that_a_put_would_refuse_is_counted_and_told(
    bad: Json, message: str, name: str, bucket: str, put: Put, answered: Answered, buckets: Path
) -> None:
    put("x/1.json", json_lines(*(item(f"k{n}") for n in range(3)), bad, item("k3")))
    told = run(answered, import_request(name, bucket, "x/"))
    assert (told["ImportStatus"], told["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert told["FailureMessage"].startswith(NOT_ALL)
    assert counts(told) == (5, 4, 1)
    assert len(everything(answered, name)) == 4
    (report,) = lines(buckets / bucket / f"aws-dynamodb/imports/{told['ImportArn'].rpartition('/')[2]}/error")
    assert report == {
        "itemS3Pointer": {"bucket": bucket, "key": "x/1.json", "itemIndex": 3},
        "importArn": told["ImportArn"],
        "errorMessages": [message],
    }


def test_a_line_that_is_not_json_ends_its_object_but_not_the_import(
    name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("1", json_lines(*(item(f"k{n}") for n in range(5))) + b"garbage\n" + json_lines(item("lost")))
    put("2", json_lines(item("found")))
    told = run(answered, import_request(name, bucket))
    assert counts(told) == (7, 6, 1)
    names = [one["pk"]["S"] for one in everything(answered, name)]
    assert "found" in names
    assert "lost" not in names


@pytest.mark.parametrize("compression", ["GZIP", "ZSTD"])
def test_an_object_that_is_not_compressed_so_is_one_mistake(
    compression: str, name: str, bucket: str, put: Put, answered: Answered
) -> None:
    put("plain", json_lines(item("a")))
    put("cut", (gzip.compress if compression == "GZIP" else zstandard)(json_lines(item("b")))[:-6])
    told = run(answered, import_request(name, bucket, InputCompressionType=compression))
    assert (told["FailureCode"], told["ErrorCount"]) == ("ItemValidationError", 2)


def test_reports_of_earlier_imports_are_not_imported(
    name: str, bucket: str, put: Put, answered: Answered, line: Line
) -> None:
    put("x", b"garbage")
    assert run(answered, import_request(name, bucket))["ErrorCount"] == 1
    drop(line, name)
    put("x", json_lines(item("a")))
    told = run(answered, import_request(name, bucket))
    assert (told["ImportStatus"], counts(told)) == ("COMPLETED", (1, 1, 0))


def test_a_bucket_that_is_not_there_fails_the_import_and_leaves_no_table(
    name: str, answered: Answered, refused: Refused, buckets: Path
) -> None:
    told = run(answered, import_request(name, "no-such-bucket"))
    assert (told["ImportStatus"], told["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert told["FailureMessage"].startswith("The specified bucket does not exist")
    assert counts(told) == (0, 0, 0)
    assert told["TableArn"].endswith(name)
    assert refused("DescribeTable", {"TableName": name})[0] == "ResourceNotFoundException"
    assert not (buckets / "no-such-bucket").exists()


# --- what is told ---


def test_the_first_answer_tells_what_was_asked_and_what_was_assumed(
    name: str, bucket: str, answered: Answered
) -> None:
    request = import_request(name, bucket, "some/prefix")
    told = answered("ImportTable", request)["ImportTableDescription"]
    assert told["ImportStatus"] == "IN_PROGRESS"
    assert told["ImportArn"].startswith(f"{told['TableArn']}/import/0")
    assert told["S3BucketSource"] == {
        "S3BucketOwner": "000000000000",
        "S3Bucket": bucket,
        "S3KeyPrefix": "some/prefix",
    }
    assert told["InputCompressionType"] == "NONE"
    assert told["TableCreationParameters"] == request["TableCreationParameters"]
    assert told["CloudWatchLogGroupArn"].endswith(":log-group:/aws-dynamodb/imports:*")
    assert counts(told) == (0, 0, 0)
    ended = imported(answered, told["ImportArn"])
    assert ended["EndTime"] >= ended["StartTime"]
    table = answered("DescribeTable", {"TableName": name})["Table"]
    assert (table["TableId"], table["TableStatus"]) == (told["TableId"], "ACTIVE")


def test_a_client_reads_the_times_as_times(name: str, bucket: str, client: Any, answered: Answered) -> None:
    told = client.import_table(**import_request(name, bucket))["ImportTableDescription"]
    imported(answered, told["ImportArn"])
    told = client.describe_import(ImportArn=told["ImportArn"])["ImportTableDescription"]
    assert told["StartTime"] <= told["EndTime"]


def test_imports_are_listed_the_newest_first_page_by_page(
    bucket: str, answered: Answered, line: Line
) -> None:
    tables = [f"conf-{uuid.uuid4().hex}" for _ in range(4)]
    made = [run(answered, import_request(table, bucket)) for table in tables]
    listed: list[Json] = []
    request: Json = {"PageSize": 3}
    while len(listed) < 4:
        page = answered("ListImports", request)
        assert len(page["ImportSummaryList"]) <= 3
        listed += page["ImportSummaryList"]
        request["NextToken"] = page.get("NextToken")
    assert [one["ImportArn"] for one in listed[:4]] == [one["ImportArn"] for one in reversed(made)]
    members = (
        "ImportArn",
        "ImportStatus",
        "TableArn",
        "S3BucketSource",
        "CloudWatchLogGroupArn",
        "InputFormat",
        "StartTime",
        "EndTime",
    )
    assert listed[0] == {member: made[-1][member] for member in members}
    for table in tables:
        drop(line, table)


def test_imports_outlive_their_table(name: str, bucket: str, answered: Answered, line: Line) -> None:
    told = run(answered, import_request(name, bucket))
    drop(line, name)
    assert answered("DescribeImport", {"ImportArn": told["ImportArn"]})["ImportTableDescription"] == told
    (listed,) = answered("ListImports", {"TableArn": told["TableArn"]})["ImportSummaryList"]
    assert listed["ImportArn"] == told["ImportArn"]
    assert answered("ListImports", {"TableArn": told["TableArn"][:-1]})["ImportSummaryList"] == []


# --- tokens and names ---


def test_a_table_that_is_there_is_refused(new_table: NewTable, bucket: str, refused: Refused) -> None:
    name = new_table()
    assert refused("ImportTable", import_request(name, bucket)) == (
        "ResourceInUseException",
        f"Table already exists: {name}",
    )


def test_the_same_token_is_the_same_import(
    name: str, bucket: str, answered: Answered, refused: Refused, line: Line
) -> None:
    request = import_request(name, bucket, ClientToken=f"token-{name}")
    first = answered("ImportTable", request)["ImportTableDescription"]
    imported(answered, first["ImportArn"])
    # The service looks at the table first, even when it came from this very import.
    assert refused("ImportTable", request)[0] == "ResourceInUseException"
    drop(line, name)
    again = answered("ImportTable", request)["ImportTableDescription"]
    assert (again["ImportArn"], again["ImportStatus"]) == (first["ImportArn"], "COMPLETED")
    assert refused("DescribeTable", {"TableName": name})[0] == "ResourceNotFoundException"


def test_a_token_with_other_parameters_is_refused(
    name: str, bucket: str, answered: Answered, refused: Refused
) -> None:
    token = f"token-{name}"
    run(answered, import_request(name, bucket, ClientToken=token))
    assert refused("ImportTable", import_request(f"{name}-other", bucket, ClientToken=token)) == (
        "ImportConflictException",
        "Import conflict: Duplicate request detected with conflicting parameters",
    )


# --- what is refused ---


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (
            {"InputFormatOptions": {"Csv": {"Delimiter": ";"}}},
            "Invalid Request: Unsupported InputFormatOptions for the given input format: DYNAMODB_JSON.",
        ),
        (
            {"InputCompressionType": "BZIP2"},
            "1 validation error detected: Value 'BZIP2' at 'inputCompressionType' failed to satisfy constraint: "
            "Member must satisfy enum value set: [ZSTD, NONE, GZIP]",
        ),
        (
            {"InputFormat": "CSV", "InputFormatOptions": {"Csv": {"Delimiter": "#"}}},
            "1 validation error detected: Value '#' at 'inputFormatOptions.csv.delimiter' failed to satisfy "
            r"constraint: Member must satisfy regular expression pattern: [,;:|\t ]",
        ),
        (
            {"parameters": {"BillingMode": "PROVISIONED"}},
            "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must both be "
            "specified when BillingMode is PROVISIONED",
        ),
        ({"InputFormat": "ION"}, "InputFormat ION is not supported by this engine: use DYNAMODB_JSON or CSV"),
        (
            {"InputFormat": "CSV", "InputFormatOptions": {"Csv": {"HeaderList": ["a", "a"]}}},
            "Invalid Request: HeaderList names a column twice",
        ),
        (
            {"parameters": {"KeySchema": key_schema("nokey")}},
            "One or more parameter values were invalid: Some index key attributes are not defined in "
            "AttributeDefinitions. Keys: [nokey], AttributeDefinitions: [pk]",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_and_leaves_no_table(
    others: Json, message: str, name: str, bucket: str, refused: Refused
) -> None:
    request = import_request(name, bucket, **json.loads(json.dumps(others)))
    assert refused("ImportTable", request) == ("ValidationException", message)
    assert refused("DescribeTable", {"TableName": name})[0] == "ResourceNotFoundException"


@pytest.mark.parametrize("member", ["S3BucketSource", "InputFormat", "TableCreationParameters"])
def test_source_format_and_table_are_required(member: str, refused: Refused) -> None:
    request = import_request("never-made", "some-bucket")
    del request[member]
    code, message = refused("ImportTable", request)
    assert code == "ValidationException"
    assert "Member must not be null" in message


@pytest.mark.parametrize(
    ("arn", "code", "message"),
    [
        (NOBODY, "ValidationException", "Invalid Import ARN"),
        (f"{NOBODY}/export/01791506414432-3f2e5aa4", "ValidationException", "Invalid Import ARN"),
        (
            f"{NOBODY}/import/01791506414432-3f2e5aa4",
            "ImportNotFoundException",
            f"Import not found: Import not found: {NOBODY}/import/01791506414432-3f2e5aa4",
        ),
    ],
)
def test_an_import_that_is_not_there_cannot_be_described(
    arn: str, code: str, message: str, refused: Refused
) -> None:
    assert refused("DescribeImport", {"ImportArn": arn}) == (code, message)


def test_a_token_of_exports_is_none_of_imports(refused: Refused) -> None:
    token = "e" + "0" * 110 + "9"
    assert refused("ListImports", {"NextToken": token}) == (
        "ValidationException",
        f"Invalid Request: Provided nextToken is invalid: {token}",
    )
