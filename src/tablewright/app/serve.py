"""The whole app: every system's API, the console, health and the built-in issuer, behind one port.

Must hold: with demo sign-in anyone who reaches the port can sign in as anyone, so demo sign-in and listening beyond
this machine exclude each other.
Elsewhere: what is opened and closed (runtime.py), the command (cli/serve.py), the layers around the routes
(edge/app.py).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from tablewright import __version__
from tablewright.app.accounts import PREFIX
from tablewright.app.api_docs import docs_router
from tablewright.app.designs import designs_area, engineer
from tablewright.app.designs.mail import add_mail
from tablewright.app.home import home_router, root_router
from tablewright.app.identity import as_of_now, identity_of
from tablewright.app.mail import Directory
from tablewright.app.manual_job_pages import work_router
from tablewright.app.place import NotOnEndpoint
from tablewright.app.problem_pages import problems_router
from tablewright.app.runtime import Runtime
from tablewright.app.sign_in import account_door_router, sign_in_router, staff_door_router
from tablewright.client import NoAnswer
from tablewright.design import KeyTextUnusable
from tablewright.design.alarms import SERVER_ERRORS
from tablewright.edge import SessionCookie, make_app, principal
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import Problem, bad_request
from tablewright.edge.request_ids import Answered
from tablewright.edge.routes import MountedRouter
from tablewright.edge.security import LOOPBACK_HOSTS
from tablewright.kit.system import System
from tablewright.mapping import BadCursor, CursorExpired, KeyTooLong, PageTooLarge
from tablewright.mapping.migrate import SideChanged, WritesPaused
from tablewright.pages.area import Area
from tablewright.pages.assets import assets_router
from tablewright.pages.layout import Console
from tablewright.pages.page_route import error_page
from tablewright.pages.search import search_router
from tablewright.wire.server import is_loopback

# Errors that every system may raise; no system translates them itself.
TRANSLATIONS: Mapping[type[Exception], Callable[[Any], Problem]] = {
    CursorExpired: lambda error: bad_request("TOKEN_EXPIRED", _sentence(error)),
    BadCursor: lambda error: bad_request("BAD_TOKEN", _sentence(error)),
    PageTooLarge: lambda error: bad_request("INVALID_PAGE_SIZE", _sentence(error), "pageSize"),
    NotOnEndpoint: lambda error: Problem(
        404,
        "NOT_ON_ENDPOINT",
        "Not available here: the tables are on an endpoint, and this needs a store of this process.",
    ),
    NoAnswer: lambda error: Problem(
        503,
        "STORE_UNAVAILABLE",
        "The database does not answer. Check whether your change was made, or repeat it with the same idempotency key."
        if error.may_have_been_carried_out
        else "The database does not answer. Nothing was changed; try again.",
        headers={"Retry-After": "2"},
    ),
    WritesPaused: lambda error: Problem(
        503,
        "WRITES_PAUSED",
        "Nothing was changed: writes are paused for a moment. Try again.",
        headers={"Retry-After": str(error.retry_after)},
    ),
    SideChanged: lambda error: Problem(
        503,
        "OUTCOME_UNKNOWN",
        "We don't know whether this change was made. Check, or repeat it with the same idempotency key.",
        headers={"Retry-After": "1"},
    ),
}
# The store refuses these values as keys, so no item can have them.
UNUSABLE: tuple[type[Exception], ...] = (KeyTextUnusable, KeyTooLong)


class DemoIsForThisMachine(ValueError):
    """The app would be reachable from other machines while anyone can sign in as a demo user."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"refusing to listen on {host or 'every address'} while anyone can sign in as a demo user. "
            "Turn demo sign-in off (--no-demo-sign-in) or listen on this machine only (--host 127.0.0.1)"
        )


def check_reach(host: str, is_demo: bool) -> None:
    """Raise DemoIsForThisMachine if others than this machine could sign in without a password."""
    if is_demo and not is_loopback(host):
        raise DemoIsForThisMachine(host)


def app_of(
    runtime: Runtime,
    *,
    is_demo: bool = True,
    open_sign_up: bool = False,
    hosts: Sequence[str] = (),
    port: int = 8080,
    is_https: bool = False,
    url: str = "",
    has_workbench: bool = True,
    spans: Callable[[ASGIApp], ASGIApp] | None = None,
) -> FastAPI:
    """Everything in one app. `hosts` are further names it goes by, `url` is how people reach it if that is known.

    Without the demo people sign in to accounts; with `open_sign_up` any e-mail address may create one. Without the
    workbench the one system of the runtime is all there is. `spans` goes around each request (edge/request_spans.py).
    """
    # Cookies know no ports: two servers on one machine must not sign each other's people out.
    cookie = SessionCookie(f"tablewright-{port}", secure=is_https)
    find = as_of_now(principal(runtime.verifier, cookie=cookie), runtime.accounts, is_demo)
    keeps_mail = isinstance(runtime.mail.way, Directory)
    mailbox = "/console/designs/mail" if has_workbench else "/demo/mail"
    console = Console(
        runtime.world,
        find,
        tuple(person for person in runtime.people if has_workbench or person.system),
        cookie,
        is_demo,
        url,
        mailbox if keeps_mail else "",
        "/" if has_workbench else "",
        packages_of([each.system for each in runtime.running]),
        lambda caller: caller.subject.startswith(PREFIX),
    )
    areas: list[Area] = [
        each.system.pages(each.service, console, identity_of(find, each.system.name))
        for each in runtime.running
        if each.system.pages is not None
    ]
    guard = engineer(find, is_demo)
    if has_workbench:
        areas.append(designs_area(runtime, console, guard))
    translations = {
        **TRANSLATIONS,
        **{k: v for each in runtime.running for k, v in each.system.translations.items()},
    }
    titles = {each.system.name: each.system.title for each in runtime.running}
    app = make_app(
        "Tablewright" if has_workbench else ", ".join(titles.values()),
        runtime.world,
        verifier=runtime.verifier,
        version=__version__,
        routers=[
            runtime.issuer.router(),
            assets_router(console.assets),
            sign_in_router(console, titles, runtime, open_sign_up),
            problems_router(console),
            *(
                _workbench(runtime, console, areas[-1], titles, guard)
                if has_workbench
                else _alone(runtime, console, areas[0])
            ),
            *(part for area in areas for part in _front(runtime, console, area, open_sign_up)),
            *_apis(runtime, find),
        ],
        checks=runtime.checks,
        translations=translations,
        unusable=UNUSABLE,
        hosts={*LOOPBACK_HOSTS, *hosts},
        answered=_counted(runtime),
        spans=spans,
        streamed_bodies={
            f"/{each.system.name}{path}": most
            for each in runtime.running
            for path, most in each.system.streamed_bodies.items()
        },
        larger_bodies={
            f"/console/{each.system.name}{path}": most
            for each in runtime.running
            for path, most in each.system.form_bodies.items()
        },
    )
    app.state.console, app.state.areas, app.state.translations = console, tuple(areas), translations
    _missing_pages_are_pages(app)
    return app


def _workbench(
    runtime: Runtime, console: Console, designs: Area, titles: Mapping[str, str], guard: FindPrincipal
) -> list[APIRouter]:
    """The engineers' pages that are not below the designs."""
    return [
        home_router(console, runtime),
        search_router(console, designs),
        docs_router(console, titles),
        work_router(console, runtime, guard),
    ]


def _alone(runtime: Runtime, console: Console, area: Area) -> Iterator[APIRouter | MountedRouter]:
    """What a server of one system has beside its pages; in the demo its mail, which is not sent."""
    yield root_router(console, area)
    if console.is_demo and console.mailbox:
        mail = console.router()
        add_mail(mail, runtime, console, console.identity)
        yield MountedRouter("/demo", mail)


def _front(runtime: Runtime, console: Console, area: Area, open_sign_up: bool) -> Iterator[MountedRouter]:
    """The pages of an area, after those that the app makes for it: its search and its sign-in to accounts."""
    if not area.is_workbench:
        yield MountedRouter(area.path, search_router(console, area))
        if not area.has_door:
            yield MountedRouter(area.path, account_door_router(console, runtime, area, open_sign_up))
        elif not console.is_demo:
            yield MountedRouter(f"{area.path}/staff", staff_door_router(console, runtime, area))
    yield MountedRouter(area.path, area.router)


def _counted(runtime: Runtime) -> Answered:
    """Counts which of a system's answers are faults; of its API and of its pages."""
    names = {each.system.name for each in runtime.running}

    def answered(path: str, status: int) -> None:
        system = path.removeprefix("/console").split("/", 2)[1:2]
        if system and system[0] in names:
            runtime.alarms.published.record(system[0], SERVER_ERRORS, float(status >= 500))

    return answered


def packages_of(systems: Sequence[System]) -> dict[str, str]:
    """Where templates and static files are, by the name in front of them."""
    found = {system.name: system.package for system in systems if system.package}
    return {"app": "tablewright.app", "designs": "tablewright.app.designs", **found}


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + "."


def _apis(runtime: Runtime, find: Any) -> Iterator[MountedRouter]:
    """Each system's API under its name, tagged with its title for the docs."""
    for each in runtime.running:
        if each.system.router is not None:
            router = each.system.router(each.service, identity_of(find, each.system.name))
            yield MountedRouter(f"/{each.system.name}", router, (each.system.title,))


# Pages for addresses that a reader typed, or for the address of a form that was opened again.
_MISSING = {
    404: Problem(
        404, "NO_SUCH_PATH", "There is no page at this address. Check the spelling or go to the home page."
    ),
    405: Problem(
        405,
        "METHOD_NOT_ALLOWED",
        "This address only accepts form submissions. Go to the home page and start again.",
    ),
}


def _missing_pages_are_pages(app: FastAPI) -> None:
    """A path that is nowhere is answered as a page to a browser, and as a problem to a program."""
    as_problem: Any = app.exception_handlers[HTTPException]

    async def on_http(request: Request, error: Exception) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "") and request.method in ("GET", "HEAD")
        if not wants_page or not isinstance(error, HTTPException) or error.status_code not in _MISSING:
            answer: Response = await as_problem(request, error)
            return answer
        if error.status_code == 404 and (to := _page_without_slash(request.url.path)):
            return RedirectResponse(to, 307)
        page = await run_in_threadpool(error_page, request, _MISSING[error.status_code])
        page.headers.update(error.headers or {})
        return page

    app.add_exception_handler(HTTPException, on_http)


def _page_without_slash(path: str) -> str:
    """The page that is meant by an address of one with a slash too many; nothing for any other.

    Only below /console: of a path that begins with two slashes a browser would make another server.
    """
    return path.rstrip("/") if path.startswith("/console/") and path.endswith("/") else ""
