"""Where the `type` of an error leads, and what the description of the API says about who may call."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter, Depends
from tests.app.browsing import Enter
from tests.edge.talk import app_of

import tablewright
from tablewright.app.problem_codes import problem_code, problem_codes
from tablewright.edge import principal, require

HOME = Path(tablewright.__file__).parent
# Another way to find codes than the one that is tested: by how they are written, not by what they are.
WRITTEN = re.compile(
    r"(?:Problem\(\s*\d+,|bad_request\(|unauthorized\(|forbidden\(|not_found\(|conflict\(|gone\(|unprocessable\("
    r"|Refused\(|Forbidden\(|Conflict\(|BadRequest\(|code=|    code =)\s*\"([A-Z][A-Z_0-9]{3,})\""
)


def test_every_code_in_the_source_has_a_page() -> None:
    written = {
        code
        for room in ("edge", "kit", "pages", "systems", "app")
        for path in (HOME / room).rglob("*.py")
        for code in WRITTEN.findall(path.read_text())
    }
    assert len(written) > 100
    assert written - problem_codes().keys() == set()


def test_the_type_of_a_refusal_leads_to_what_it_means_for_people_and_for_programs(enter: Enter) -> None:
    client = enter()
    refused = client.get("/nowhere", headers={"Accept": "application/json"}).json()
    page = client.get(refused["type"])
    assert page.status_code == 200
    assert refused["message"].split(".")[0] in page.text
    told = client.get(refused["type"], headers={"Accept": "application/json"}).json()
    assert (told["code"], told["statuses"]) == (refused["code"], [404])
    assert told["advice"].startswith("Check the ID")


def test_a_code_that_no_error_has_is_not_found(enter: Enter) -> None:
    assert enter().get("/problems/NO_SUCH_CODE").status_code == 404


@pytest.mark.parametrize(
    "code", ["LOGIN_REQUIRED", "TENANT_NOT_FOUND", "FAILURE_NOT_FOUND", "TOO_BUSY", "INTERNAL"]
)
def test_codes_are_found_however_they_are_made(code: str) -> None:
    found = problem_code(code)
    assert found is not None
    assert found.sentences
    assert found.statuses


def test_one_refusal_has_one_code() -> None:
    assert "STAFF_ONLY" not in problem_codes()


def test_the_list_of_codes_is_a_page(enter: Enter) -> None:
    assert "METHOD_NOT_ALLOWED" in enter().get("/problems").text


def test_the_description_tells_what_the_guards_of_a_route_ask_for() -> None:
    routes, who = APIRouter(), principal()

    @routes.get("/open")
    def everyone() -> None: ...

    @routes.get("/mine", dependencies=[Depends(require(who))])
    def mine() -> None: ...

    @routes.get("/reports", dependencies=[Depends(require(who, "admin", "support", mfa=True))])
    def reports() -> None: ...

    document = app_of(routes).openapi()
    told = {path: methods["get"] for path, methods in document["paths"].items()}
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert told["/open"]["security"] == []
    assert (told["/mine"]["security"], told["/mine"]["x-roles"]) == ([{"bearer": []}], [])
    assert told["/reports"]["x-roles"] == ["admin", "support"]
    assert told["/reports"]["x-second-factor"] is True


def test_the_docs_say_how_to_get_a_token_and_which_role_a_path_needs(enter: Enter) -> None:
    client: httpx.Client = enter()
    page = client.get("/docs").text
    assert "Get a token" in page
    assert "/sign-in" in page
    operation = re.search(r'href="(/docs/[^"#]+)"', page)
    assert operation is not None
    assert "Needs " in client.get(operation[1]).text
