"""Who is not meant gets nothing, on every route: strangers, other and removed parents, other children, forged roles.

The routes are those of the API itself, so that a new one is asked too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from tests.systems.chat.family.home import consented, enters, household, second_parent
from tests.systems.chat.place import AUDIENCE, Api, Place

from tablewright.edge import ANYONE
from tablewright.systems.chat.api.router import router
from tablewright.systems.chat.family_model import User


def routes(at: Place) -> Iterator[tuple[str, str]]:
    """Method and path of every route of the API."""
    for route in iter_route_contexts(router(at.chat, lambda request: ANYONE).routes):
        if isinstance(route.original_route, APIRoute):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield method, route.path_format or ""


@pytest.fixture
def crowd(at: Place) -> dict[str, User]:
    """Callers who must not reach anything of Kim, her family and her chat."""
    home = household(at)
    removed = second_parent(at, home)
    at.chat.families.remove(home.family, removed.user_id, home.parent)
    other = household(at, "eve", "lou")
    at.say(at.talk(consented(at, home)), "a secret")
    return {
        "stranger": enters(at, "max"),
        "removed": removed,
        "other parent": other.parent,
        "other child": other.child,
    }


def filled(at: Place, path: str) -> str:
    """The path with what is Kim's in it."""
    (chat,) = at.chat.conversations.all_of("kim")
    known = {"child_id": "kim", "user_id": "kim", "conversation_id": chat.conversation_id,
             "family_id": str(at.chat.people.by_id("kim").family_id)}  # fmt: skip
    return re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], "x"), path).removeprefix("/v1")


def test_without_a_login_every_route_that_is_not_public_is_401(
    at: Place, api: Api, crowd: dict[str, User]
) -> None:
    public = ("/policy/", "/child-logins")
    for method, path in routes(at):
        at_path = filled(at, path)
        if not at_path.startswith(public):
            answer = api.ask(method, at_path)
            assert answer.status_code == 401, (method, path, answer.status_code)


def test_what_is_of_a_child_a_family_or_a_chat_is_404_for_everyone_else(
    at: Place, api: Api, crowd: dict[str, User]
) -> None:
    """ZC-28."""
    asked = [
        (method, path)
        for method, path in routes(at)
        if re.search(r"\{(child|family|conversation)_id\}", path)
    ]
    assert len(asked) >= 30
    for name, caller in crowd.items():
        for method, path in asked:
            answer = api.ask(method, filled(at, path), by=caller)
            assert answer.status_code == 404, (name, method, path, answer.status_code, answer.text)
    entries = list(at.db.all(at.chat.access_log.of("kim")))
    assert entries == []


def test_routes_of_staff_are_403_for_everyone_else_and_a_role_in_the_request_is_nothing(
    at: Place, api: Api, crowd: dict[str, User]
) -> None:
    staff = [(method, path) for method, path in routes(at) if re.match(r"/v1/(admin|review)", path)]
    assert staff
    forged = {"X-Role": "administrator", "X-Roles": "chat.administrator", "Role": "administrator"}
    for caller in crowd.values():
        for method, path in staff:
            answer = api.ask(method, filled(at, path), by=caller, headers=forged)
            assert answer.status_code == 403, (method, path, answer.status_code)


def test_a_child_with_the_role_of_an_administrator_in_its_login_reads_no_other_child(
    at: Place, api: Api, crowd: dict[str, User]
) -> None:
    forged = crowd["other child"].model_copy(update={"role": "administrator"})
    for path in ("/children/kim", "/children/kim/export", "/children/kim/access-log"):
        assert api.ask("GET", path, by=forged).status_code == 404


def test_a_login_of_another_system_is_nobody_here(at: Place, api: Api, crowd: dict[str, User]) -> None:
    token = at.issuer.issue(
        "root",
        audience="portal",
        lifetime=timedelta(hours=1),
        roles=("administrator",),
        email="root@example.org",
    )
    answer = api.ask("GET", "/children/kim", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401
    assert AUDIENCE != "portal"
