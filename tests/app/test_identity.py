"""Roles belong to a system: the same word elsewhere means nothing."""

from datetime import timedelta

import httpx
from tests.app.browsing import Enter
from tests.app.library import isbn

from tablewright.app.runtime import Runtime
from tablewright.edge import Principal
from tablewright.kit.system import in_system

BOOK = {"isbn": isbn(999), "title": "New", "price": "9.99"}


def test_a_role_counts_in_its_own_system_only() -> None:
    caller = Principal("anna", frozenset(("library.librarian", "shop.admin", "engineer", "librarian")))
    assert in_system(caller, "library").roles == {"librarian"}
    assert in_system(caller, "shop").roles == {"admin"}
    assert in_system(caller, "lib").roles == set()


def test_the_api_lets_in_who_has_the_role_there(runtime: Runtime, url: str) -> None:
    librarian, reader = (person for person in runtime.people if person.system == "library")
    plain = runtime.issuer.issue(
        "anna", audience="tablewright", lifetime=timedelta(hours=1), roles=["librarian"]
    )
    statuses = []
    for token in (runtime.token_for(librarian), runtime.token_for(reader), plain):
        headers = {"Authorization": f"Bearer {token}"}
        statuses.append(httpx.post(f"{url}/library/v1/books", json=BOOK, headers=headers).status_code)
    assert statuses == [201, 403, 403]


def test_the_session_of_the_console_counts_for_the_api_too(enter: Enter) -> None:
    assert enter("lib_ines").post("/library/v1/books", json=BOOK).status_code == 201
    assert enter("reader_tom").post("/library/v1/books", json=BOOK).status_code == 403
    assert enter().post("/library/v1/books", json=BOOK).status_code == 401
