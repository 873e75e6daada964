"""Signing in and out: as a demo user, or to an account with a code by mail.

The workbench has a page of its own, and so has each system (`Area.door`): its router's, or one made here that signs in
to accounts. Where the router's signs in customers, its staff signs in at another one (`Area.staff_door`).
Must hold: demo sign-in works only if the app was started as a demo, which is possible on loopback only; the redirect
afterwards stays on this site; the pages say the same about every address, and never show a password or a code again.
Elsewhere: the pages of a code (pages/code_sign_in.py), what it proves (app/code_login.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.runtime import Runtime
from tablewright.edge import Principal, RateLimiter, limit_rate
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
        _add_demo_people(router, console, runtime)
    if not console.workbench:

        @router.get(SIGN_IN)
        def choose_door(request: Request, next: str = "") -> Response:
            door = door_at(request.app.state.areas, SIGN_IN)
            return console.go(f"{door}?{urlencode({'next': next})}" if next else door)

    elif console.is_demo:
        _add_demo_page(router, console, titles)
    else:
        _add_workbench_door(router, console, runtime, open_sign_up)

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


def _add_demo_page(router: APIRouter, console: Console, titles: Mapping[str, str]) -> None:
    @router.get("/sign-in")
    def choose(request: Request, next: str = "") -> Response:
        groups = _groups(console.people, request.app.state.areas, titles)
        return console.page(
            request,
            "app/sign_in.html",
            title="Sign in",
            groups=groups,
            next=own_path(next),
            doors=_doors_of_systems(request),
        )


def _add_demo_people(router: APIRouter, console: Console, runtime: Runtime) -> None:
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


def _add_workbench_door(router: APIRouter, console: Console, runtime: Runtime, open_sign_up: bool) -> None:
    def no_demo(form: Annotated[Form, Depends(posted)]) -> None:
        if "person" in form.values:
            raise forbidden("DEMO_OFF", "Demo sign-in is turned off on this server.")

    def page(request: Request, form: Form, step: Step, status: int) -> Response:
        return _account_page(
            console, request, form, step, status, title="Sign in", at=SIGN_IN, open_sign_up=open_sign_up
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
        title = f"Sign in to {area.title}"
        if area.admits is not None:
            template = f"{area.name}/sign_in.html"
            return console.page(request, template, title=title, status=status, form=form, step=step)
        return _account_page(
            console, request, form, step, status, title=title, at=area.door, open_sign_up=open_sign_up
        )

    within = partial(path_within, area.path, area.door)
    door = _account_door(console, runtime, area.door, within, is_open, page, area)
    pace = _pace()
    add_code_pages(router, door, asking=[pace], typing=[pace])
    return router


def staff_door_router(console: Console, runtime: Runtime, area: Area) -> APIRouter:
    """The staff's door of an area whose people sign in without accounts: to those there are."""
    router = console.router()

    def page(request: Request, form: Form, step: Step, status: int) -> Response:
        return _account_page(
            console,
            request,
            form,
            step,
            status,
            title="Staff sign-in",
            at=area.staff_door,
            open_sign_up=False,
        )

    within = partial(path_within, area.path, area.staff_door)
    door = _account_door(console, runtime, area.staff_door, within, lambda email: False, page, area)
    pace = _pace()
    add_code_pages(router, door, asking=[pace], typing=[pace])
    return router


def _account_page(
    console: Console, request: Request, form: Form, step: Step, status: int, *, title: str, at: str, open_sign_up: bool
) -> Response:  # fmt: skip
    return console.page(
        request,
        "app/sign_in_account.html",
        title=title,
        status=status,
        form=form,
        step=step,
        at=at,
        open_sign_up=open_sign_up,
        doors=_doors_of_systems(request) if at == SIGN_IN else [],
    )


def _doors_of_systems(request: Request) -> list[Area]:
    return [area for area in request.app.state.areas if not area.is_workbench]


def _account_door(
    console: Console,
    runtime: Runtime,
    at: str,
    within: Callable[[str], str],
    is_open: Callable[[str], bool],
    page: Callable[[Request, Form, Step, int], Response],
    area: Area | None = None,
) -> CodeSignIn:
    """A door that signs in to accounts; an address for which it `is_open` gets one."""

    def home(roles: Iterable[str]) -> str:
        if area is None:
            return "/"
        return area.home_of(area.pages_for(area.local(Principal("-", frozenset(roles)))))

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
        roles = signed.account.roles if person is None else person.qualified_roles
        to = to if to and not to.startswith(SIGN_IN) else home(roles)
        response = console.go(to, "You are signed in.", "note")
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
    """The page after signing in: the requested one, unless it belongs to another system or to other roles."""
    own = next((area for area in areas if area.name == person.system), None)
    home = person.home or (own.path if own else "/")
    if not wanted or wanted.startswith(SIGN_IN):
        return home
    area = next((area for area in areas if area.has(wanted.partition("?")[0])), None)
    if area is None or not person.system or area.is_workbench:
        return wanted
    if area is not own or area.is_door(wanted.partition("?")[0]):
        return home
    page = area.page_at(wanted.partition("?")[0])
    return wanted if page is None or page.is_for(Principal(person.subject, frozenset(person.roles))) else home


def _groups(people: Sequence[Person], areas: Sequence[Area], titles: Mapping[str, str]) -> list[Group]:
    groups = []
    for system in dict.fromkeys(person.system for person in people):
        area = next((area for area in areas if area.name == (system or "designs")), None)
        title = titles.get(system, "") or (area.title if area else system)
        found = tuple(person for person in people if person.system == system)
        groups.append(Group(title, area.icon if area else "people", area.accent if area else "slate", found))
    return groups
