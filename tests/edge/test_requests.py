"""The id of a request and the one line that is written about it."""

import logging
from datetime import timedelta
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends
from tests.edge.talk import app_of, calling

from tablewright.edge import Issuer, Principal, principal
from tablewright.edge.request_ids import HEADER


def router() -> APIRouter:
    routes = APIRouter(prefix="/v1")

    @routes.get("/children/{phone}")
    def child(phone: str) -> str:
        return phone

    return routes


def line_of(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    (line,) = [record for record in caplog.records if record.getMessage() == "request answered"]
    return {name: vars(line)[name] for name in ("method", "route", "status", "ms", "request")} | (
        {"subject": vars(line)["subject"]} if hasattr(line, "subject") else {}
    )


def test_a_sane_request_id_is_kept() -> None:
    with calling(app_of()) as client:
        assert client.get("/health", headers={HEADER: "trace-7:a_B.c"}).headers[HEADER] == "trace-7:a_B.c"


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "<script>", 'a"b'])
def test_any_other_request_id_is_replaced(given: str) -> None:
    with calling(app_of()) as client:
        found = client.get("/health", headers={HEADER: given}).headers[HEADER]
    assert found != given
    assert len(found) == 36


def test_two_ids_at_once_are_none() -> None:
    with calling(app_of()) as client:
        found = client.get("/health", headers=[(HEADER, "one"), (HEADER, "two")]).headers.get_list(HEADER)
    assert len(found) == 1
    assert found[0] not in ("one", "two")


def test_a_request_is_logged_once_by_template_and_without_its_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outer = APIRouter(prefix="/parental")
    outer.include_router(router())
    with caplog.at_level(logging.INFO, "tablewright.edge"), calling(app_of(outer)) as client:
        response = client.get("/parental/v1/children/+15551234567", params={"note": "anna"})
    assert response.json() == "+15551234567"
    line = line_of(caplog)
    assert line.pop("ms") >= 0
    assert line == {
        "method": "GET",
        "route": "/parental/v1/children/{phone}",
        "status": 200,
        "request": response.headers[HEADER],
    }


def test_a_path_that_leads_nowhere_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tablewright.edge"), calling(app_of(router())) as client:
        client.get("/v1/kids/+15551234567")
    assert (line_of(caplog)["route"], line_of(caplog)["status"]) == ("-", 404)


def test_a_refusal_and_a_fault_have_their_line_too(caplog: pytest.LogCaptureFixture) -> None:
    routes = APIRouter()

    @routes.get("/fault")
    def fault() -> None:
        raise KeyError

    with caplog.at_level(logging.INFO, "tablewright.edge"), calling(app_of(routes)) as client:
        client.get("/fault", headers={"Host": "evil.example"})
        client.get("/fault")
    told = [vars(line)["status"] for line in caplog.records if line.getMessage() == "request answered"]
    assert told == [421, 500]


def test_the_lines_of_one_caller_can_be_found_without_knowing_who_it_is(
    caplog: pytest.LogCaptureFixture, issuer: Issuer, minute: timedelta
) -> None:
    who, routes = principal(issuer.verifier(["web"])), APIRouter()

    @routes.get("/me")
    def me(caller: Annotated[Principal, Depends(who)]) -> str:
        return caller.subject

    def logged(*subjects: str) -> list[str]:
        caplog.clear()
        with caplog.at_level(logging.INFO, "tablewright.edge"), calling(app_of(routes)) as client:
            for subject in subjects:
                token = issuer.issue(subject, audience="web", lifetime=minute)
                assert client.get("/me", headers={"Authorization": f"Bearer {token}"}).json() == subject
        return [vars(line)["subject"] for line in caplog.records if line.getMessage() == "request answered"]

    sam, anna, sam_again = logged("sam", "anna", "sam")
    (sam_elsewhere,) = logged("sam")
    assert sam == sam_again
    assert len({sam, anna, sam_elsewhere}) == 3
    assert "sam" not in sam
