"""Signing in as one of the demo's people, switching between them, signing out.

Must hold: it works only where the app was told that this is a demo, which it is on loopback alone; where to go
afterwards is a path of ours, never somebody else's address.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.area import Area
from tablewright.app.console.console import Console
from tablewright.app.console.forms import Form, posted
from tablewright.app.house import LOGIN_LASTS
from tablewright.app.people import Person
from tablewright.edge.problems import forbidden, unprocessable


@dataclass(frozen=True, slots=True)
class Group:
    """People of one system, on the page to choose from."""

    title: str
    icon: str
    accent: str
    people: tuple[Person, ...]


def sign_in_router(
    console: Console, titles: Mapping[str, str], token_for: Callable[[Person], str]
) -> APIRouter:
    """`titles` are the systems' titles by name."""
    router = console.router()

    @router.get("/sign-in")
    def choose(request: Request, next: str = "") -> Response:
        groups = _groups(console.people, request.app.state.areas, titles)
        return console.page(request, "sign_in.html", title="Sign in", groups=groups, next=own_path(next))

    @router.post("/sign-in")
    def sign_in(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        if not console.is_demo:
            raise forbidden("DEMO_OFF", "Signing in as a person of the demo is turned off on this server.")
        person = next((each for each in console.people if each.subject == form.get("person")), None)
        if person is None:
            raise unprocessable(
                "PERSON_UNKNOWN", "There is no such person in the demo. Choose one of the list."
            )
        to = destination(person, own_path(form.get("next")), request.app.state.areas)
        response = console.go(to, f"You are {person.name} now: {person.role.lower()}.", "note")
        console.cookie.keep(response, token_for(person), LOGIN_LASTS)
        return response

    @router.post("/sign-out")
    def sign_out() -> Response:
        response = console.go("/", "You are signed out.", "note")
        console.cookie.drop(response)
        return response

    return router


def own_path(given: str) -> str:
    """A path of this site, or nothing: `//evil.example` and its like are no paths of ours."""
    parts = urlsplit(given.replace("\\", "/"))
    is_own = (
        given.startswith("/")
        and not given.startswith(("//", "/\\"))
        and not parts.scheme
        and not parts.netloc
    )
    return given if is_own and given.isprintable() else ""


def destination(person: Person, wanted: str, areas: Sequence[Area]) -> str:
    """Where somebody lands: where they wanted to go, unless that is another system's area."""
    own = next((area for area in areas if area.name == person.system), None)
    home = person.home or (own.path if own else "/")
    if not wanted or wanted.startswith("/sign-in"):
        return home
    other = next((area for area in areas if wanted.startswith(area.path)), None)
    return (
        home
        if other is not None and person.system and other.name not in (person.system, "designs")
        else wanted
    )


def _groups(people: Sequence[Person], areas: Sequence[Area], titles: Mapping[str, str]) -> list[Group]:
    groups = []
    for system in dict.fromkeys(person.system for person in people):
        area = next((area for area in areas if area.name == (system or "designs")), None)
        title = titles.get(system, "") or (area.title if area else system)
        found = tuple(person for person in people if person.system == system)
        groups.append(Group(title, area.icon if area else "people", area.accent if area else "slate", found))
    return groups
