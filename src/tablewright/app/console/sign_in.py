"""Signing in and out: as one of the demo's people, or to an account with a code by mail.

Must hold: being a person of the demo works only where the app was told that this is a demo, which it is on loopback
alone; where to go afterwards is a path of ours, never somebody else's address; the pages say the same about every
address, and never show a password or a code again.
Elsewhere: the pages of a code (code_pages.py), what it proves (app/code_login.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.area import Area
from tablewright.app.console.code_pages import Door, add_code_pages
from tablewright.app.console.console import Console
from tablewright.app.console.forms import Form, posted
from tablewright.app.console.paths import own_path
from tablewright.app.house import House
from tablewright.app.logins import LOGIN_LASTS
from tablewright.app.people import Person
from tablewright.edge import Buckets, limited
from tablewright.edge.problems import forbidden, unprocessable


@dataclass(frozen=True, slots=True)
class Group:
    """People of one system, on the page to choose from."""

    title: str
    icon: str
    accent: str
    people: tuple[Person, ...]


def sign_in_router(
    console: Console, titles: Mapping[str, str], house: House, open_sign_up: bool = False
) -> APIRouter:
    """`titles` are the systems' titles by name."""
    router = console.router()
    if console.is_demo:
        _add_demo(router, console, titles, house)
    else:
        _add_accounts(router, console, house, open_sign_up)

    @router.post("/sign-out")
    def sign_out(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        caller, is_all = console.caller(request), form.get("where") == "everywhere"
        house.sign_out(caller, everywhere=is_all)
        response = console.go("/", f"You are signed out{' everywhere' if is_all else ''}.", "note")
        console.cookie.drop(response)
        return response

    return router


# --- the demo's people ---


def _add_demo(router: APIRouter, console: Console, titles: Mapping[str, str], house: House) -> None:
    @router.get("/sign-in")
    def choose(request: Request, next: str = "") -> Response:
        groups = _groups(console.people, request.app.state.areas, titles)
        return console.page(request, "sign_in.html", title="Sign in", groups=groups, next=own_path(next))

    @router.post("/sign-in")
    def sign_in(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        person = next((each for each in console.people if each.subject == form.get("person")), None)
        if person is None:
            raise unprocessable(
                "PERSON_UNKNOWN", "There is no such person in the demo. Choose one of the list."
            )
        to = destination(person, own_path(form.get("next")), request.app.state.areas)
        response = console.go(to, f"You are {person.name} now: {person.role.lower()}.", "note")
        console.cookie.keep(response, house.token_for(person), LOGIN_LASTS)
        return response


# --- accounts ---


def _add_accounts(router: APIRouter, console: Console, house: House, open_sign_up: bool) -> None:
    pace = Depends(limited(Buckets(), "sign-in", per_minute=10, burst=30))

    def no_demo(form: Annotated[Form, Depends(posted)]) -> None:
        if "person" in form.values:
            raise forbidden("DEMO_OFF", "Signing in as a person of the demo is turned off on this server.")

    def page(request: Request, form: Form, asks_code: bool, status: int) -> Response:
        return console.page(
            request,
            "sign_in_account.html",
            title="Sign in",
            status=status,
            form=form,
            asks_code=asks_code,
            open_sign_up=open_sign_up,
        )

    def finish(form: Form) -> Response:
        signed = house.code_login.finish(
            form.get("email"), form.get("code"), form.get("password"), is_open=open_sign_up
        )
        to = form.get("next")
        response = console.go(
            to if to and not to.startswith("/sign-in") else "/", "You are signed in.", "note"
        )
        console.cookie.keep(response, house.login_of(signed), LOGIN_LASTS)
        return response

    door = Door(
        "/sign-in", own_path, lambda email: house.code_login.start(email, is_open=open_sign_up), finish, page
    )
    add_code_pages(router, door, asking=[pace, Depends(no_demo)], typing=[pace])


# --- where to ---


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
