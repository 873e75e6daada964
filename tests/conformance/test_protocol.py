"""HTTP and JSON: what any request gets before its verb is reached, and what every reply carries.

The service checks in this order: method and content type, JSON, target, signature, types of the members,
constraints. Each test breaks one thing and leaves the later ones broken too where the order is at stake.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from typing import Any

import pytest
from tests.conformance.talk import CONTENT_TYPE, Answered, Json, Line, NewKey, Reply, Send

SERVICE = "com.amazon.coral.service#"
VALIDATE = "com.amazon.coral.validate#"
DYNAMODB = "com.amazonaws.dynamodb.v20120810#"
LIST_TABLES = "DynamoDB_20120810.ListTables"
UNKNOWN_OPERATION = b"<UnknownOperationException/>\n"


def posted(
    line: Line, body: bytes, target: str | None = LIST_TABLES, sign: bool = True, **more: str
) -> Reply:
    headers = {"Content-Type": CONTENT_TYPE, **({"X-Amz-Target": target} if target else {})}
    headers |= {name.replace("_", "-"): text for name, text in more.items()}
    return line.post(body, line.signed(body, headers) if sign else headers)


def is_proper(reply: Reply) -> None:
    """What every reply carries, answer or error."""
    assert re.fullmatch("[0-9A-Z]{52}", reply.headers["x-amzn-requestid"])
    assert int(reply.headers["x-amz-crc32"]) == zlib.crc32(reply.raw)
    assert int(reply.headers["content-length"]) == len(reply.raw)


# Replies


def test_every_answer_carries_its_checksum_length_and_a_request_id(send: Send) -> None:
    replies = [send("ListTables", {}) for _ in range(2)]
    for reply in replies:
        is_proper(reply)
        assert reply.headers["content-type"] == CONTENT_TYPE
        assert reply.headers["server"]
    assert replies[0].headers["x-amzn-requestid"] != replies[1].headers["x-amzn-requestid"]


def test_every_error_carries_them_too(send: Send, key: NewKey) -> None:
    reply = send("DescribeTable", {"TableName": key()})
    is_proper(reply)
    assert (reply.status, reply.headers["content-type"]) == (400, CONTENT_TYPE)


def test_the_content_type_asked_with_is_answered_with(line: Line) -> None:
    for kind in ("application/json", CONTENT_TYPE):
        reply = posted(line, b"{}", Content_Type=kind)
        assert (reply.status, reply.headers["content-type"]) == (200, kind)


def test_parameters_of_the_content_type_do_not_matter(line: Line) -> None:
    reply = posted(line, b"{}", Content_Type="application/x-amz-json-1.0; charset=utf-8")
    assert (reply.status, reply.headers["content-type"]) == (200, CONTENT_TYPE)


def test_the_checksum_is_of_the_bytes_as_sent(
    line: Line, answered: Answered, hash_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}}
    answered("PutItem", {"TableName": hash_table, "Item": {**where, "x": {"S": "x" * 20_000}}})
    body = json.dumps({"TableName": hash_table, "Key": where}).encode()
    reply = posted(line, body, "DynamoDB_20120810.GetItem", Accept_Encoding="gzip")
    is_proper(reply)
    packed = reply.headers.get("content-encoding") == "gzip"
    plain = gzip.decompress(reply.raw) if packed else reply.raw
    assert json.loads(plain)["Item"]["x"] == {"S": "x" * 20_000}


def test_a_page_may_read_the_headers_that_identify_an_answer(line: Line) -> None:
    reply = posted(line, b"{}", Origin="http://localhost:3000")
    assert reply.headers["access-control-allow-origin"] == "*"
    exposed = reply.headers["access-control-expose-headers"].lower()
    assert "x-amzn-requestid" in exposed
    assert "access-control-expose-headers" not in posted(line, b"{}").headers


def test_the_sdk_gets_its_metadata(client: Any) -> None:
    metadata = client.list_tables(Limit=1)["ResponseMetadata"]
    assert metadata["HTTPStatusCode"] == 200
    assert metadata["RequestId"]


# The shape of errors


@pytest.mark.parametrize(
    ("verb", "request_body", "kind", "member"),
    [
        ("DescribeTable", {"TableName": "k-nowhere"}, DYNAMODB + "ResourceNotFoundException", "message"),
        ("PutItem", {}, VALIDATE + "ValidationException", "message"),
        ("PutItem", {"TableName": 1}, SERVICE + "SerializationException", "Message"),
    ],
)
def test_an_error_names_its_kind_in_full(
    send: Send, verb: str, request_body: Json, kind: str, member: str
) -> None:
    reply = send(verb, request_body)
    assert reply.status == 400
    assert reply.body["__type"] == kind
    assert isinstance(reply.body[member], str)


def test_a_failed_condition_is_an_error_of_the_database(send: Send, hash_table: str, key: NewKey) -> None:
    request = {
        "TableName": hash_table,
        "Item": {"pk": {"S": key()}},
        "ConditionExpression": "attribute_exists(pk)",
    }
    assert send("PutItem", request).body == {
        "__type": DYNAMODB + "ConditionalCheckFailedException",
        "message": "The conditional request failed",
    }


# Method and content type


def test_a_get_is_a_health_check(line: Line) -> None:
    reply = line.post(b"", {}, method="GET")
    assert reply.status == 200
    assert reply.raw.startswith(b"healthy: dynamodb.")


@pytest.mark.parametrize("path", ["/other", "/healthy", "/index.html", "//"])
def test_another_path_is_not_healthy(line: Line, path: str) -> None:
    reply = line.post(b"", {}, method="GET", path=path)
    assert reply.status == 404
    assert b"healthy:" not in reply.raw


def test_a_query_does_not_make_another_path(line: Line) -> None:
    assert line.post(b"", {}, method="GET", path="/?now").status == 200


def test_headers_of_more_than_16_kb_are_refused(line: Line) -> None:
    assert posted(line, b"{}", X_Long="x" * 12_000).status == 200
    reply = posted(line, b"{}", X_Long="x" * 17_000)
    assert (reply.status, reply.code) == (400, "")
    many = {f"X-Long-{number}": "x" * 1000 for number in range(20)}
    assert line.post(b"{}", line.signed(b"{}", many)).status == 400
    assert posted(line, b"{}").status == 200


def test_a_request_line_of_more_than_16_kb_is_refused(line: Line) -> None:
    assert line.post(b"", {}, method="GET", path="/?" + "x" * 17_000).status == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_other_methods_are_not_found(line: Line, method: str) -> None:
    reply = line.post(b"", {}, method=method)
    assert (reply.status, reply.raw) == (404, UNKNOWN_OPERATION)


@pytest.mark.parametrize(
    "kind", ["application/x-amz-json-1.1", "application/jsonasdf", "text/plain", "application/x-amz-cbor-1.1"]
)
def test_other_content_types_are_not_found(line: Line, kind: str) -> None:
    reply = posted(line, b"hi", Content_Type=kind)
    assert (reply.status, reply.raw) == (404, UNKNOWN_OPERATION)


def test_more_than_16_megabytes_are_too_much(line: Line) -> None:
    body = b'{"TableName":"' + b"a" * (16 * 1024 * 1024) + b'"}'
    try:
        reply = posted(line, body, "DynamoDB_20120810.PutItem")
    except ConnectionError:
        return  # refused while we were still sending: as good
    assert reply.status == 413


# JSON


@pytest.mark.parametrize("body", [b"hi", b"{", b'{"a":}', b"{} {}", b"{'a': 1}"])
@pytest.mark.parametrize("sign", [True, False], ids=["signed", "unsigned"])
def test_what_is_no_json_is_a_serialization_exception(line: Line, body: bytes, sign: bool) -> None:
    reply = posted(line, body, sign=sign)
    assert (reply.status, reply.body["__type"]) == (400, SERVICE + "SerializationException")
    is_proper(reply)


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"true"])
def test_a_request_is_a_json_object(line: Line, body: bytes) -> None:
    assert posted(line, body).code == "SerializationException"


def test_escaped_and_plain_characters_are_the_same(
    line: Line, answered: Answered, hash_table: str, key: NewKey
) -> None:
    where = key()
    escaped = r'{"TableName":"%s","Item":{"pk":{"S":"%s"},"x":{"S":"\u00e9\ud83d\ude00\/\n"}}}'
    body = (escaped % (hash_table, where)).encode()
    assert posted(line, body, "DynamoDB_20120810.PutItem").status == 200
    item = answered("GetItem", {"TableName": hash_table, "Key": {"pk": {"S": where}}})["Item"]
    assert item["x"] == {"S": "é😀/\n"}


# Target


@pytest.mark.parametrize(
    "target",
    [None, "whatever", "DynamoDB_20120810", "DynamoDB_20120810.ListTable", "DynamoDB_20111205.ListTables"],
)
@pytest.mark.parametrize("sign", [True, False], ids=["signed", "unsigned"])
def test_an_unknown_target_is_an_unknown_operation(line: Line, target: str | None, sign: bool) -> None:
    reply = posted(line, b"{}", target, sign=sign)
    assert (reply.status, reply.body["__type"]) == (400, SERVICE + "UnknownOperationException")
    is_proper(reply)


def test_json_is_read_before_the_target(line: Line) -> None:
    assert posted(line, b"hi", "whatever").code == "SerializationException"


# Signature


@pytest.mark.parametrize("header", [None, "AWS4", "Basic abc"])
def test_a_request_without_a_signature_is_refused(line: Line, header: str | None) -> None:
    more = {"Authorization": header} if header else {}
    reply = posted(line, b"{}", sign=False, **more)
    assert (reply.status, reply.body) == (
        400,
        {
            "__type": SERVICE + "MissingAuthenticationTokenException",
            "message": "Request is missing Authentication Token",
        },
    )


def test_an_incomplete_signature_is_told_what_it_lacks(line: Line) -> None:
    reply = posted(line, b"{}", sign=False, Authorization="AWS4-")
    assert (reply.status, reply.body["__type"]) == (400, SERVICE + "IncompleteSignatureException")
    assert reply.message == (
        "Authorization header requires 'Credential' parameter. "
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-"
    )


def test_the_signature_comes_before_the_types_of_members(line: Line) -> None:
    reply = posted(line, b'{"TableName":1}', "DynamoDB_20120810.PutItem", sign=False)
    assert reply.code == "MissingAuthenticationTokenException"


# Types of members


STRING = [
    (True, "TRUE_VALUE cannot be converted to String"),
    (False, "FALSE_VALUE cannot be converted to String"),
    (23, "NUMBER_VALUE cannot be converted to String"),
    (34.56, "DECIMAL_VALUE cannot be converted to String"),
    ([], "Unrecognized collection type class java.lang.String"),
    ({}, "Start of structure or map found where not expected"),
]
BOOLEAN = [
    ("23", "Unexpected token received from parser"),
    (23, "NUMBER_VALUE cannot be converted to Boolean"),
    (34.56, "DECIMAL_VALUE cannot be converted to Boolean"),
    ([], "Unrecognized collection type class java.lang.Boolean"),
    ({}, "Start of structure or map found where not expected"),
]
INTEGER = [
    ("23", "STRING_VALUE cannot be converted to Integer"),
    (True, "TRUE_VALUE cannot be converted to Integer"),
    ([], "Unrecognized collection type class java.lang.Integer"),
    ({}, "Start of structure or map found where not expected"),
]
LIST = [
    ("23", "Unexpected field type"),
    (True, "Unexpected field type"),
    (23, "Unexpected field type"),
    ({}, "Start of structure or map found where not expected"),
]
MAP = [("23", "Unexpected field type"), (True, "Unexpected field type"), (34.56, "Unexpected field type")]
VALUE = [
    ("23", "Unexpected value type in payload"),
    (True, "Unexpected value type in payload"),
    (23, "Unexpected value type in payload"),
    ([], "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"),
]
BLOB = [
    (True, "only base-64-encoded strings are convertible to bytes"),
    (23, "only base-64-encoded strings are convertible to bytes"),
    ([], "Unrecognized collection type class java.nio.ByteBuffer"),
    ({}, "Start of structure or map found where not expected"),
]
MEMBERS: list[tuple[str, tuple[str, ...], list[tuple[Any, str]]]] = [
    ("GetItem", ("TableName",), STRING),
    ("GetItem", ("ConsistentRead",), BOOLEAN),
    ("GetItem", ("AttributesToGet",), LIST),
    ("GetItem", ("Key",), MAP),
    ("GetItem", ("Key", "pk"), VALUE),
    ("PutItem", ("Item", "x", "S"), STRING),
    ("PutItem", ("Item", "x", "N"), STRING),
    ("PutItem", ("Item", "x", "B"), BLOB),
    ("PutItem", ("Item", "x", "BOOL"), BOOLEAN),
    ("PutItem", ("Item", "x", "SS"), LIST),
    ("PutItem", ("Item", "x", "L"), LIST),
    ("PutItem", ("Item", "x", "M"), MAP),
    ("PutItem", ("Item", "x", "M", "y"), VALUE),
    ("PutItem", ("ConditionExpression",), STRING),
    ("UpdateItem", ("UpdateExpression",), STRING),
    ("UpdateItem", ("ExpressionAttributeNames", "#a"), STRING),
    ("UpdateItem", ("ExpressionAttributeValues", ":a"), VALUE),
    ("Query", ("Limit",), INTEGER),
    ("Scan", ("Segment",), INTEGER),
]


REQUIRED: dict[str, Json] = {
    "GetItem": {"TableName": "k-nowhere", "Key": {"pk": {"S": "a"}}},
    "PutItem": {"TableName": "k-nowhere", "Item": {"pk": {"S": "a"}}},
    "UpdateItem": {"TableName": "k-nowhere", "Key": {"pk": {"S": "a"}}},
    "Query": {"TableName": "k-nowhere"},
    "Scan": {"TableName": "k-nowhere"},
}


def holding(verb: str, path: tuple[str, ...], wrong: Any) -> Json:
    """A request with what it needs, and the wrong member in its place."""
    member: Any = wrong
    for name in reversed(path):
        member = {name: member}
    made: Json = {**REQUIRED[verb], **member}
    return made


@pytest.mark.parametrize(
    ("verb", "path", "wrong", "message"),
    [(verb, path, wrong, message) for verb, path, cases in MEMBERS for wrong, message in cases],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else None,
)
def test_a_member_of_the_wrong_json_type_is_a_serialization_exception(
    send: Send, verb: str, path: tuple[str, ...], wrong: Any, message: str
) -> None:
    reply = send(verb, holding(verb, path, wrong))
    assert (reply.status, reply.body) == (
        400,
        {"__type": SERVICE + "SerializationException", "Message": message},
    )


@pytest.mark.parametrize("text", ["23456", "=+/=", "a", "****", "é==="])
def test_bad_base64_is_a_serialization_exception(send: Send, hash_table: str, key: NewKey, text: str) -> None:
    item = {"pk": {"S": key()}, "x": {"L": [{"BS": [text]}]}}
    reply = send("PutItem", {"TableName": hash_table, "Item": item})
    assert (reply.status, reply.code) == (400, "SerializationException")


def test_types_are_judged_before_constraints(send: Send) -> None:
    assert send("PutItem", {"ReturnValues": "hi", "ConditionExpression": 1}).code == "SerializationException"
    assert send("PutItem", {"ReturnValues": "hi", "Item": {"x": {"S": 1}}}).code == "SerializationException"


# The connection


def test_a_connection_serves_many_requests_and_survives_errors(
    line: Line, hash_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}}
    for _ in range(3):
        assert line.call("PutItem", {"TableName": hash_table, "Item": where}).status == 200
        assert line.call("PutItem", {"TableName": 1}).status == 400
        assert posted(line, b"hi").status == 400
        assert line.call("GetItem", {"TableName": hash_table, "Key": where}).body == {"Item": where}
