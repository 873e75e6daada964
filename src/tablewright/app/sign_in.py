"""Signing in and out: as a demo user, or to an account with a code by mail.

The server's own page is for staff; a system's people have a page of their own (`Area.door`). That of an area with
`admits` signs in to accounts too, and is made here.
Must hold: demo sign-in works only if the app was started as a demo, which is possible on loopback only; the redirect
afterwards stays on this site; the pages say the same about every address, and never show a password or a code again.
Elsewhere: the pages of a code (pages/code_sign_in.py), what it proves (app/code_login.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.runtime import Runtime
from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.problems import forbidden, unprocessable
from tablewright.kit.system import LOGIN_LASTS, Person
from tablewright.pages.area import SIGN_IN, Area, door_at
from tablewright.pages.code_sign_in import CodeSignIn, Step, add_code_pages
from tablewright.pages.forms import Form, posted
from tablewright.pages.known_devices import caller_of, remember
from tablewright.pages.layout import Console
from tablewright.pages.paths import own_path, path_within


@dataclass(frozen=True, slots=True)
class Group:
    """People of one system, on the page to choose from."""

    title: str
    icon: str
    accent: str
    people: tuple[Person, ...]


def sign_in_router(
    console: Console, titles: Mapping[str, str], runtime: Runtime, open_sign_up: bool = False
) -> APIRouter:
    """`titles` are the systems' titles by name."""
    router = console.router()
    if console.is_demo:
        _add_demo(router, console, titles, runtime)
    else:
        _add_accounts(router, console, runtime, open_sign_up)

    @router.post("/sign-out")
    def sign_out(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        caller, is_all = console.caller(request), form.get("where") == "everywhere"
        runtime.sign_out(caller, everywhere=is_all)
        door = door_at(request.app.state.areas, own_path(form.get("from")))
        to = "/" if door == SIGN_IN else door
        if form.get("next"):  # the door checks it, as it does for every link
            to = f"{door}?{urlencode({'next': form.get('next')})}"
        response = console.go(to, f"You are signed out{' everywhere' if is_all else ''}.", "note")
        console.cookie.drop(response)
        return response

    return router


# --- the demo's people ---


def _add_demo(router: APIRouter, console: Console, titles: Mapping[str, str], runtime: Runtime) -> None:
    @router.get("/sign-in")
    def choose(request: Request, next: str = "") -> Response:
        groups = _groups(console.people, request.app.state.areas, titles)
        doors = [area for area in request.app.state.areas if area.has_door]
        return console.page(
            request, "app/sign_in.html", title="Sign in", groups=groups, next=own_path(next), doors=doors
        )

    @router.post("/sign-in")
    def sign_in(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        person = next((each for each in console.people if each.subject == form.get("person")), None)
        if person is None:
            raise unprocessable("PERSON_UNKNOWN", "There is no such demo user. Choose one from the list.")
        to = destination(person, own_path(form.get("next")), request.app.state.areas)
        response = console.go(to, f"You are now signed in as {person.name} ({person.role.lower()}).", "note")
        console.cookie.keep(response, runtime.token_for(person), LOGIN_LASTS)
        return response


# --- accounts ---


def _add_accounts(router: APIRouter, console: Console, runtime: Runtime, open_sign_up: bool) -> None:
    def no_demo(form: Annotated[Form, Depends(posted)]) -> None:
        if "person" in form.values:
            raise forbidden("DEMO_OFF", "Demo sign-in is turned off on this server.")

    def page(request: Request, form: Form, step: Step, status: int) -> Response:
        return console.page(
            request,
            "app/sign_in_account.html",
            title="Sign in",
            status=status,
            form=form,
            step=step,
            open_sign_up=open_sign_up,
            doors=[area for area in request.app.state.areas if area.has_door],
        )

    door = _account_door(console, runtime, SIGN_IN, own_path, lambda email: open_sign_up, page)
    pace = _pace()
    add_code_pages(router, door, asking=[pace, Depends(no_demo)], typing=[pace])


def account_door_router(console: Console, runtime: Runtime, area: Area, open_sign_up: bool) -> APIRouter:
    """The door of an area whose people have accounts. In the demo any address gets one, without roles."""
    router = console.router()

    def is_open(email: str) -> bool:
        return console.is_demo or open_sign_up or (area.admits is not None and area.admits(email))

    def page(request: Request, form: Form, step: Step, status: int) -> Response:
        title, template = f"Sign in to {area.title}", f"{area.name}/sign_in.html"
        return console.page(request, template, title=title, status=status, form=form, step=step)

    within = partial(path_within, area.path, area.door)
    door = _account_door(console, runtime, area.door, within, is_open, page, area.path)
    pace = _pace()
    add_code_pages(router, door, asking=[pace], typing=[pace])
    return router


def _account_door(
    console: Console,
    runtime: Runtime,
    at: str,
    within: Callable[[str], str],
    is_open: Callable[[str], bool],
    page: Callable[[Request, Form, Step, int], Response],
    home: str = "/",
) -> CodeSignIn:
    """A door that signs in to accounts; an address for which it `is_open` gets one."""

    def start(request: Request, form: Form) -> str:
        email, caller = form.get("email"), caller_of(request, console)
        return runtime.code_login.start(email, caller, password=form.get("password"), is_open=is_open(email))

    def finish(request: Request, form: Form) -> Response:
        email, to = form.get("email"), form.get("next")
        caller = caller_of(request, console, form.get("ticket"))
        signed = runtime.code_login.finish(
            email, form.get("code"), form.get("password"), caller, is_open=is_open(email)
        )
        person = _demo_person(console, signed.account.email, at)
        login = runtime.login_of(signed) if person is None else runtime.token_for(person)
        response = console.go(to if to and not to.startswith(SIGN_IN) else home, "You are signed in.", "note")
        console.cookie.keep(response, login, LOGIN_LASTS)
        remember(request, response, console, runtime.code_login.requesters, signed.account.email)
        return response

    return CodeSignIn(at, within, start, finish, page)


def _demo_person(console: Console, email: str, at: str) -> Person | None:
    """The demo user with this address at this door: its code signs in as that person, not to a second account."""
    people = console.people if console.is_demo else ()
    return next((p for p in people if p.email == email and at.startswith(f"/console/{p.system}/")), None)


def _pace() -> Any:
    return Depends(limit_rate(RateLimiter(), "sign-in", per_minute=10, burst=30))


# --- where to ---


def destination(person: Person, wanted: str, areas: Sequence[Area]) -> str:
    """The page after signing in: the requested one, unless it belongs to another system."""
    own = next((area for area in areas if area.name == person.system), None)
    home = person.home or (own.path if own else "/")
    if not wanted or wanted.startswith(SIGN_IN):
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
