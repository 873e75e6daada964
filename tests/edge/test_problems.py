"""Errors as callers see them, and faults as nobody sees them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import httpx
import pytest
from fastapi import APIRouter, BackgroundTasks, HTTPException
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, field_validator
from tests.edge.talk import app_of, calling, code_of

from tablewright.client import CallRefused, TransactionRefused
from tablewright.edge import problems
from tablewright.edge.problems import Problem, answer


class Address(BaseModel):
    model_config = ConfigDict(extra="forbid")
    lines: list[str] = Field(max_length=2)


class Person(BaseModel):
    name: str = Field(min_length=1, max_length=5)
    age: int = Field(ge=0)
    address: Address | None = None

    @field_validator("name")
    @classmethod
    def is_no_pirate(cls, name: str) -> str:
        if name == "hook":
            raise ValueError("must not be a pirate")
        return name


class TakenError(Exception):
    pass


class Note(BaseModel):
    text: str


def router() -> APIRouter:
    routes = APIRouter()

    @routes.post("/people")
    def add(person: Person) -> str:
        return person.name

    @routes.get("/people/{number}")
    def read(number: int, size: int = 10) -> int:
        return number

    @routes.delete("/people/{number}")
    def remove(number: int) -> int:
        return number

    @routes.post("/numbers")
    def count(numbers: list[int]) -> int:
        return len(numbers)

    @routes.get("/taken")
    def taken() -> None:
        raise TakenError

    @routes.get("/conflict")
    def conflict() -> None:
        raise problems.conflict("EMAIL_EXISTS", "There is one already.", "email", existing="7", status="no")

    @routes.get("/teapot")
    def teapot() -> None:
        raise HTTPException(418, "short and stout")

    @routes.get("/fault")
    def fault() -> None:
        raise ValueError("the secret of anna")

    @routes.get("/wrong-answer")
    def wrong_answer() -> Note:
        return {"text": ["the secret of anna"]}  # type: ignore[return-value]  # the mistake under test

    @routes.get("/half")
    def half() -> StreamingResponse:
        def parts() -> Iterator[bytes]:
            yield b"one half"
            raise ValueError("the secret of anna")

        return StreamingResponse(parts())

    @routes.get("/afterwards")
    def afterwards(tasks: BackgroundTasks) -> str:
        def fail() -> None:
            raise ValueError("the secret of anna")

        tasks.add_task(fail)
        return "answered"

    return routes


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    translations = {TakenError: lambda error: problems.gone("TAKEN", "Somebody was first.")}
    with calling(app_of(router(), translations=translations)) as client:
        yield client


def test_a_problem_has_the_members_of_rfc_9457_and_of_our_envelope(client: httpx.Client) -> None:
    response = client.get("/conflict", headers={"X-Request-Id": "r-1"})
    assert (response.status_code, response.headers["Content-Type"]) == (409, "application/problem+json")
    assert response.json() == {
        "type": "/problems/EMAIL_EXISTS",
        "title": "Email exists",
        "status": 409,
        "detail": "There is one already.",
        "code": "EMAIL_EXISTS",
        "message": "There is one already.",
        "field": "email",
        "requestId": "r-1",
        "existing": "7",
    }


@pytest.mark.parametrize(
    ("made", "status", "header"),
    [
        (problems.bad_request("A", "b"), 400, None),
        (problems.unauthorized("LOGIN_REQUIRED", "b"), 401, ("WWW-Authenticate", "Bearer")),
        (
            problems.unauthorized("TOKEN_EXPIRED", "b"),
            401,
            ("WWW-Authenticate", 'Bearer error="invalid_token", error_description="TOKEN_EXPIRED"'),
        ),
        (problems.forbidden("A", "b"), 403, None),
        (problems.not_found("A", "b"), 404, None),
        (problems.conflict("A", "b"), 409, None),
        (problems.gone("A", "b"), 410, None),
        (problems.stale(), 412, None),
        (problems.unprocessable("A", "b"), 422, None),
        (problems.too_many(7, "b"), 429, ("Retry-After", "7")),
    ],
)
def test_each_constructor_has_its_status_and_headers(
    made: Problem, status: int, header: tuple[str, str] | None
) -> None:
    assert made.status == status
    assert made.headers == (dict([header]) if header else {})


def test_an_error_of_the_domain_becomes_the_problem_it_was_translated_to(client: httpx.Client) -> None:
    assert code_of(client.get("/taken")) == (410, "TAKEN")


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"age": 3}, "name", "name is required."),
        ({"name": "", "age": 3}, "name", "name must have at least 1 character."),
        ({"name": "isabella", "age": 3}, "name", "name must have at most 5 characters."),
        ({"name": "hook", "age": 3}, "name", "name: must not be a pirate."),
        ({"name": 7, "age": 3}, "name", "name must be a text."),
        ({"name": "sam", "age": "x"}, "age", "age must be a whole number."),
        ({"name": "sam", "age": -1}, "age", "age must be 0 or more."),
        (
            {"name": "sam", "age": 1, "address": {"lines": ["a", 2]}},
            "address.lines[1]",
            "address.lines[1] must be a text.",
        ),
        (
            {"name": "sam", "age": 1, "address": {"lines": ["a", "b", "c"]}},
            "address.lines",
            "address.lines must have at most 2 entries.",
        ),
        (
            {"name": "sam", "age": 1, "address": {"lines": [], "zap": 1}},
            "address.zap",
            "address.zap is not a field we know; remove it or check its spelling.",
        ),
        ([], None, "The body must be a JSON object, sent with Content-Type: application/json."),
    ],
)
def test_a_wrong_field_is_named_and_told_what_it_must_be(
    client: httpx.Client, body: object, field: str | None, message: str
) -> None:
    response = client.post("/people", json=body)
    assert code_of(response) == (422, "INVALID_FIELD")
    assert (response.json()["field"], response.json()["message"]) == (field, message)


def test_all_wrong_fields_are_listed(client: httpx.Client) -> None:
    found = client.post("/people", json={"name": "isabella"}).json()
    assert [(error["field"], error["in"]) for error in found["errors"]] == [("name", "body"), ("age", "body")]
    assert found["errorCount"] == 2


def test_a_flood_of_wrong_fields_is_counted_but_not_repeated(client: httpx.Client) -> None:
    found = client.post("/numbers", json=["x"] * 5000).json()
    assert (len(found["errors"]), found["errorCount"]) == (problems.ERRORS_LISTED, 5000)


def test_a_wrong_parameter_says_where_it_stood(client: httpx.Client) -> None:
    found = client.get("/people/one", params={"size": "many"}).json()
    assert [(error["field"], error["in"]) for error in found["errors"]] == [
        ("number", "path"),
        ("size", "query"),
    ]


def test_a_missing_body_is_asked_for(client: httpx.Client) -> None:
    response = client.post("/people", headers={"Content-Type": "application/json"})
    assert response.json()["message"] == "A JSON body is required."


@pytest.mark.parametrize("body", [b"{", b'{"name": }', b"\xff\xfe\x00", b"[" * 100_000])
def test_a_body_that_is_no_json_is_refused_as_such(client: httpx.Client, body: bytes) -> None:
    response = client.post("/people", content=body, headers={"Content-Type": "application/json"})
    assert code_of(response) == (400, "BAD_JSON")


def test_half_a_character_in_a_name_is_answered_like_any_other_mistake(client: httpx.Client) -> None:
    body = b'{"name": "sam", "age": 1, "address": {"lines": [], "\\ud800": 1}}'
    response = client.post("/people", content=body, headers={"Content-Type": "application/json"})
    assert code_of(response) == (422, "INVALID_FIELD")


def test_half_a_character_in_a_problem_can_be_sent() -> None:
    found = answer(Problem(400, "A", "b", extra={"name": "\ud800"}), {"type": "http"})
    assert b'"name":"\\ud800"' in bytes(found.body)


def test_a_path_without_a_route_is_no_such_path(client: httpx.Client) -> None:
    assert code_of(client.get("/nothing/here")) == (404, "NO_SUCH_PATH")
    assert code_of(client.get("/taken/")) == (404, "NO_SUCH_PATH")


def test_a_method_the_path_does_not_know_gets_the_list_of_those_it_knows(client: httpx.Client) -> None:
    response = client.put("/people/7")
    assert code_of(response) == (405, "METHOD_NOT_ALLOWED")
    assert response.headers["Allow"] == "DELETE, GET, HEAD"


def test_the_frameworks_own_refusals_are_problems_too(client: httpx.Client) -> None:
    response = client.get("/teapot")
    assert (*code_of(response), response.json()["message"]) == (418, "IM_A_TEAPOT", "short and stout")


@pytest.mark.parametrize("path", ["/fault", "/wrong-answer"])
def test_a_fault_is_answered_with_its_request_id_and_logged_once_without_its_message(
    client: httpx.Client, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    with caplog.at_level(logging.WARNING):
        response = client.get(path)
    assert code_of(response) == (500, "INTERNAL")
    assert response.json()["requestId"] == response.headers["X-Request-Id"]
    assert "anna" not in response.text
    (line,) = caplog.records
    assert (line.name, line.getMessage()) == ("tablewright.edge", "request failed")
    assert vars(line)["request"] == response.json()["requestId"]
    assert vars(line)["mistake"] in ("ValueError", "ResponseValidationError")
    assert "anna" not in json.dumps(vars(line), default=str)


def test_an_answer_that_fails_halfway_does_not_pass_for_whole(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.get("/half")
    assert [line.getMessage() for line in caplog.records if line.name == "tablewright.edge"][:1] == [
        "request failed"
    ]
    assert "anna" not in caplog.text


def test_what_fails_after_the_answer_is_logged_and_the_answer_stands(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with calling(app_of(router())) as client:
        assert client.get("/afterwards").json() == "answered"
    told = [line.getMessage() for line in caplog.records if line.levelno >= logging.WARNING]
    assert told == ["request failed"]
    assert "anna" not in caplog.text


def test_the_api_description_promises_problems_and_no_other_shape_of_error(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    answers = described["paths"]["/people"]["post"]["responses"]
    assert set(answers) == {"200", "4XX", "5XX"}
    assert set(answers["4XX"]["content"]) == {"application/problem+json"}


@pytest.mark.parametrize(
    ("reasons", "answer"),
    [
        (["None", "TransactionConflict"], (503, "BUSY")),
        (["ConditionalCheckFailed", "TransactionConflict"], (500, "INTERNAL")),
    ],
)
def test_a_transaction_that_others_were_always_faster_than_is_to_be_sent_again(
    reasons: list[str], answer: tuple[int, str]
) -> None:
    routes = APIRouter()

    @routes.get("/contended")
    def contended() -> None:
        told = {"CancellationReasons": [{"Code": reason} for reason in reasons]}
        raise TransactionRefused(CallRefused("TransactionCanceledException", "cancelled", 400, told))

    with calling(app_of(routes)) as client:
        response = client.get("/contended")
    assert code_of(response) == answer
    assert response.headers.get("Retry-After") == ("1" if answer[0] == 503 else None)
