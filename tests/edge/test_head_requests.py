"""HEAD is GET without the body."""

from __future__ import annotations

import logging

import pytest
from fastapi import APIRouter
from tests.edge.talk import app_of, calling

ROUTES = APIRouter()


@ROUTES.get("/things/{id}")
def thing(id: str) -> dict[str, str]:
    return {"id": id}


@ROUTES.post("/things")
def add() -> None: ...


def test_every_path_that_knows_get_knows_head() -> None:
    with calling(app_of(ROUTES)) as client:
        for path in ("/things/7", "/health", "/openapi.json", "/nowhere"):
            got, head = client.get(path), client.head(path)
            assert head.status_code == got.status_code
            assert head.content == b""
            assert head.headers["Content-Length"] == got.headers["Content-Length"]
            assert head.headers["Content-Type"] == got.headers["Content-Type"]


def test_a_path_that_only_takes_changes_says_what_it_knows() -> None:
    with calling(app_of(ROUTES)) as client:
        assert (client.head("/things").status_code, client.head("/things").headers["Allow"]) == (405, "POST")
        assert client.post("/things/7").headers["Allow"] == "GET, HEAD"


def test_the_log_line_of_a_head_request_has_its_method_and_route(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tablewright.edge"), calling(app_of(ROUTES)) as client:
        client.head("/things/7")
    (line,) = [record for record in caplog.records if record.getMessage() == "request answered"]
    assert (vars(line)["method"], vars(line)["route"]) == ("HEAD", "/things/{id}")
