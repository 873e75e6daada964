"""What the service says, and in which order, to a request that never reaches the database.

Bodies and checksums are those recorded on the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from tests.wire.talk import AMZ_JSON, Answer, once, request

from tablewright.engine import Engine
from tablewright.wire import serving
from tablewright.wire.credentials import AccessKey

LOCAL = "http://localhost:3000"
NOT_FOUND_CRC, SERIALIZATION_CRC, UNKNOWN_CRC, MISSING_CRC = 3552371480, 3948637019, 1368724161, 2088342776


def bare(
    verb: str | None = None,
    body: bytes = b"{}",
    content_type: str | None = AMZ_JSON,
    more: Mapping[str, str | None] | None = None,
) -> bytes:
    """Unsigned, with no target unless one is named."""
    unsigned = {"Authorization": None, "X-Amz-Date": None, "Content-Type": content_type}
    return request(verb, body, headers={**unsigned, **(more or {})})


def is_not_found(answer: Answer) -> bool:
    return (
        answer.status == 404
        and answer.body == b"<UnknownOperationException/>\n"
        and answer.headers["x-amz-crc32"] == str(NOT_FOUND_CRC)
        and answer.is_whole()
    )


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_a_method_other_than_post_and_get_is_not_found(url: str, method: str) -> None:
    assert is_not_found(once(url, request(method=method)))


def test_a_get_asks_for_health_and_gets_the_services_line_with_its_space(url: str) -> None:
    answer = once(url, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (answer.status, answer.body) == (200, b"healthy: dynamodb.us-east-1.amazonaws.com ")
    assert answer.headers["x-amz-crc32"] == "3128867991"
    assert answer.is_whole()


def test_a_head_is_answered_without_a_body(url: str) -> None:
    answer = once(url, b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (answer.status, answer.headers["content-length"]) == (404, "0")


@pytest.mark.parametrize(
    "content_type", [None, "", "whatever", "application/x-amz-json-1.1", "application/jsonasdf", "text/json"]
)
def test_a_body_of_another_content_type_is_not_found(url: str, content_type: str | None) -> None:
    assert is_not_found(once(url, bare(body=b"hi", content_type=content_type)))


@pytest.mark.parametrize(
    ("given", "echoed"),
    [
        ("application/json", "application/json"),
        (AMZ_JSON, AMZ_JSON),
        ("application/json;charset=utf-8", "application/json"),
        ("  application/json  ;   asfd", "application/json"),
        (f"{AMZ_JSON};blah", AMZ_JSON),
    ],
)
def test_both_json_content_types_are_taken_and_echoed_without_parameters(
    url: str, given: str, echoed: str
) -> None:
    answer = once(url, bare("ListTables", b"hi", given))
    assert answer.status == 400
    assert answer.json == {"__type": "com.amazon.coral.service#SerializationException"}
    assert answer.headers["content-type"] == echoed
    assert answer.headers["x-amz-crc32"] == str(SERIALIZATION_CRC)
    assert answer.is_whole()


@pytest.mark.parametrize(
    "body",
    [b"hi", b"{", b'{"a": NaN}', b'{"a": 1,}', b'\xff\xfe{"a": 1}', b'{"a": "\x80"}', b"[" * 5000, b"{} x"],
)
def test_a_body_that_is_not_json_is_a_serialization_error_before_all_else(url: str, body: bytes) -> None:
    answer = once(url, bare("NoSuchVerb", body))
    assert answer.json == {"__type": "com.amazon.coral.service#SerializationException"}


@pytest.mark.parametrize(
    "target",
    [
        None,
        "whatever",
        "DynamoDB_20120810.ListTable",
        "DynamoDB_20111205.ListTables",
        "DynamoDB_20120810.ListStreams",
        "DynamoDBStreams_20120810.ListTables",
        "DynamoDB_20120810.",
        "DynamoDB_20120810.ListTables.x",
    ],
)
def test_an_unknown_target_is_an_unknown_operation_before_the_signature_matters(
    url: str, target: str | None
) -> None:
    answer = once(url, bare(more={"X-Amz-Target": target}))
    assert answer.status == 400
    assert answer.json == {"__type": "com.amazon.coral.service#UnknownOperationException"}
    assert answer.headers["x-amz-crc32"] == str(UNKNOWN_CRC)


def test_an_unknown_target_without_any_body_is_an_unknown_operation(url: str) -> None:
    answer = once(url, bare(None, b"", None))
    assert answer.json == {"__type": "com.amazon.coral.service#UnknownOperationException"}
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("authorization", [None, "AWS4", "Basic YTpi", "X"])
def test_a_request_without_a_signature_is_missing_its_token(url: str, authorization: str | None) -> None:
    answer = once(url, bare("ListTables", more={"Authorization": authorization}))
    assert answer.status == 400
    assert answer.json == {
        "__type": "com.amazon.coral.service#MissingAuthenticationTokenException",
        "message": "Request is missing Authentication Token",
    }
    assert answer.headers["x-amz-crc32"] == str(MISSING_CRC)


def test_a_request_without_a_signature_but_with_all_query_parts_except_the_algorithm_is_missing_its_token(
    url: str,
) -> None:
    path = "/?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d"
    answer = once(url, request(path=path, headers={"Authorization": None}))
    assert answer.json["__type"] == "com.amazon.coral.service#MissingAuthenticationTokenException"


@pytest.mark.parametrize(
    ("authorization", "date", "crc"),
    [
        ("AWS4-", None, 1828866742),
        ("AWS4- Signature=b Credential=a", "a", 15336762),
        ("AWS4- Signature=b,Credential=a", "a", 1159703774),
        ("AWS4- Signature=b, Credential=a", "a", 164353342),
    ],
)
def test_an_incomplete_signature_is_told_every_part_it_lacks(
    url: str, authorization: str, date: str | None, crc: int
) -> None:
    answer = once(url, bare("ListTables", more={"Authorization": authorization, "Date": date}))
    lacks = "".join(
        f"Authorization header requires '{part}' parameter. "
        for part in ("Credential", "Signature", "SignedHeaders")
        if part + "=" not in authorization
    )
    if date is None:
        lacks += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
    assert answer.json == {
        "__type": "com.amazon.coral.service#IncompleteSignatureException",
        "message": f"{lacks}Authorization={authorization}",
    }
    assert answer.headers["x-amz-crc32"] == str(crc)


def test_a_part_without_an_equal_sign_is_quoted_back(url: str) -> None:
    answer = once(url, bare("ListTables", more={"Authorization": "AWS4-HMAC-SHA256 Signature=b, Credential"}))
    assert answer.json["message"] == (
        "'Credential' not a valid key=value pair (missing equal-sign) in Authorization header: "
        "'AWS4-HMAC-SHA256 Signature=b, Credential'."
    )


@pytest.mark.parametrize(
    ("path", "lacks", "crc"),
    [
        (
            "/?X-Amz-Algorithm",
            ("X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"),
            2900502663,
        ),
        (
            "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d",
            ("X-Amz-SignedHeaders",),
            3712057481,
        ),
    ],
)
def test_an_incomplete_signature_in_the_query_is_told_every_part_it_lacks(
    url: str, path: str, lacks: tuple[str, ...], crc: int
) -> None:
    answer = once(url, request(path=path, headers={"Authorization": None}))
    sentences = "".join(f"AWS query-string parameters must include '{part}'. " for part in lacks)
    assert answer.json == {
        "__type": "com.amazon.coral.service#IncompleteSignatureException",
        "message": f"{sentences}Re-examine the query-string parameters.",
    }
    assert answer.headers["x-amz-crc32"] == str(crc)


def test_a_signature_in_both_places_is_invalid(url: str) -> None:
    answer = once(url, request(path="/?X-Amz-Algorithm", headers={"Authorization": "X"}))
    assert answer.json == {
        "__type": "com.amazon.coral.service#InvalidSignatureException",
        "message": "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    }


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'"text"', b"1"])
def test_a_signed_call_whose_body_is_no_object_is_a_serialization_error(url: str, body: bytes) -> None:
    answer = once(url, request("ListTables", body))
    assert (answer.status, answer.json) == (
        400,
        {"__type": "com.amazon.coral.service#SerializationException"},
    )


def test_a_complete_signature_lets_a_known_call_through(url: str) -> None:
    answer = once(url, request("ListTables"))
    assert (answer.status, answer.json) == (200, {"TableNames": []})
    assert answer.is_whole()


def test_the_path_and_the_case_of_header_names_do_not_matter(url: str) -> None:
    answer = once(
        url, request("ListTables", path="/somewhere/else").replace(b"X-Amz-Target", b"x-aMZ-tARGET")
    )
    assert answer.status == 200


def test_a_complete_signature_in_the_query_lets_a_known_call_through(url: str) -> None:
    path = "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d&X-Amz-SignedHeaders=host"
    assert once(url, request(path=path, headers={"Authorization": None})).status == 200


def test_an_answer_to_a_page_of_this_machine_lets_it_read(url: str) -> None:
    answer = once(url, bare(more={"Origin": LOCAL}))
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json == {"__type": "com.amazon.coral.service#UnknownOperationException"}


@pytest.mark.parametrize(
    "origin",
    ["http://example.com", "http://localhost.example.com", "null", "http://127.0.0.1.example.com:80"],
)
def test_a_page_from_elsewhere_gets_no_leave_where_any_signature_is_accepted(url: str, origin: str) -> None:
    assert "access-control-allow-origin" not in once(url, request(headers={"Origin": origin})).headers
    assert once(url, request(method="OPTIONS", headers={"Origin": origin})).status == 404


def test_any_page_may_call_where_signatures_are_verified() -> None:
    keys = {"key": AccessKey("key", "secret")}
    with Engine.open() as engine, serving(engine, credentials=keys) as url:
        answer = once(url, bare(more={"Origin": "http://example.com"}))
        assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("going_on", ["keep-alive", "close"])
def test_a_signed_header_no_request_can_have_is_refused_not_stumbled_over(going_on: str) -> None:
    day = datetime.now(UTC)
    path = (
        f"/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=key/{day:%Y%m%d}/us-east-1/dynamodb/aws4_request"
        f"&X-Amz-Date={day:%Y%m%dT%H%M%SZ}&X-Amz-Expires=60&X-Amz-SignedHeaders=host;%E2%82%AC&X-Amz-Signature=00"
    )
    keys = {"key": AccessKey("key", "secret")}
    with Engine.open() as engine, serving(engine, credentials=keys) as url:
        headers = {"Authorization": None, "Connection": going_on}
        assert once(url, request("ListTables", path=path, headers=headers)).status == 400


def test_an_answer_to_no_page_says_nothing_of_origins(url: str) -> None:
    assert "access-control-allow-origin" not in once(url, request()).headers


def test_a_page_that_asks_first_may_call_with_the_headers_and_method_it_named(url: str) -> None:
    asked = {
        "Origin": LOCAL,
        "Access-Control-Request-Headers": "a, b, c",
        "Access-Control-Request-Method": "d",
    }
    answer = once(url, request(method="OPTIONS", headers=asked))
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-headers"] == "a, b, c"
    assert answer.headers["access-control-allow-methods"] == "d"
    assert answer.headers["access-control-max-age"] == "172800"
    assert answer.is_whole()


def test_a_page_that_names_nothing_is_granted_nothing_more(url: str) -> None:
    answer = once(url, request(method="OPTIONS", headers={"Origin": LOCAL}))
    assert answer.status == 200
    assert not {"access-control-allow-headers", "access-control-allow-methods"} & set(answer.headers)
