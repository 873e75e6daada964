"""The frame around every page, and how a page is made.

    console.page(request, "portal/tenants.html", title="Tenants", listing=...)

Must hold: templates escape everything and know every name they use; a page is for its caller, never for a
cache. Elsewhere: areas (area.py), errors as pages (page_route.py), macros (templates/blocks.html).
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from pydantic import BaseModel

from tablewright import english
from tablewright.design import Query
from tablewright.edge import Principal, SessionCookie
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import Router
from tablewright.kit.system import Person, initials_of
from tablewright.mapping import Db
from tablewright.pages import charts, words
from tablewright.pages.assets import Asset, assets_of
from tablewright.pages.forms import Form
from tablewright.pages.front import Front, front_at
from tablewright.pages.icons import icon
from tablewright.pages.lists import Listing, here, listing
from tablewright.pages.page_route import PageRoute, sign_in_link
from tablewright.world import World

E = TypeVar("E", bound=BaseModel)
Tone: TypeAlias = Literal["good", "bad", "note"]
PACKAGE = "tablewright.pages"
FLASH = "tablewright-flash"
_FLASH_SECONDS = 60
_FLASH_LETTERS = 600


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step on the way to this page."""

    title: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class DemoBar:
    """The bar above the pages of a demo: who the reader is, the people to be instead, ways to its mail and tools."""

    name: str  # of the reader, "" if not signed in
    role: str
    people: tuple[Person, ...]
    next: str  # where to go after switching person
    mailbox: str
    workbench: str


@dataclass(frozen=True, slots=True)
class Frame:
    """The content of the frame around a page."""

    front: Front
    path: str
    caller: Principal  # with the roles of the front's system
    person: Person | None
    people: tuple[Person, ...]  # of the demo, with a home in this front
    flash: tuple[tuple[Tone, str], ...]
    search: str
    is_demo: bool
    keeps_mail: bool
    bar: DemoBar | None
    sign_in: str  # the front's sign-in page, and the way back here
    has_account: bool  # false for a demo user, and for a login that a system issued
    scripts: tuple[str, ...]  # files of static/ that this page loads after the frame's own
    icon: str  # the file of static/ that browsers show beside the title

    @property
    def name(self) -> str:
        """What to call the caller."""
        return _name_of(self.caller, self.person)

    @property
    def initials(self) -> str:
        return initials_of(self.name) or "?"


def _name_of(caller: Principal, person: Person | None) -> str:
    if person is not None:
        return person.name
    return str(caller.claims.get("name") or caller.email or caller.subject)


def _has_none(caller: Principal) -> bool:
    return False


@dataclass(frozen=True)
class Console:
    """Makes pages. One for the app.

    `packages` are those with templates/ and static/ of their own, by the name in front of their files:
    `portal/tenants.html` is templates/tenants.html of the package `portal`.
    """

    world: World
    identity: FindPrincipal
    people: tuple[Person, ...]
    cookie: SessionCookie
    is_demo: bool = True
    url: str = ""  # how people reach us, where that is known
    mailbox: str = ""  # the page of app/designs/mail.py, where mail is shown because it is not sent
    workbench: str = "/"  # where it begins; "" for a server without one
    packages: Mapping[str, str] = field(default_factory=dict)
    has_account: Callable[[Principal], bool] = _has_none
    environment: Environment = field(init=False, repr=False)
    assets: Mapping[str, Asset] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        packages = tuple(self.packages.items())
        object.__setattr__(self, "environment", environment_of(packages))
        object.__setattr__(self, "assets", assets_in(packages))

    def asset(self, name: str) -> str:
        """The address of a file in static/."""
        return self.assets[name].href

    def router(self) -> APIRouter:
        """A router for pages: its errors are pages too, and the API's description leaves it out."""
        return Router(route_class=PageRoute, include_in_schema=False)

    def page(
        self,
        request: Request,
        template: str,
        *,
        title: str,
        crumbs: Sequence[Crumb] = (),
        status: int = 200,
        **values: Any,
    ) -> HTMLResponse:
        """A page in the frame. `crumbs` are the steps between the home page and this one."""
        frame = self._frame(request)
        now = self.world.now()
        made = self.environment.get_template(template).render(
            {
                "frame": frame,
                "title": title,
                "crumbs": tuple(crumbs),
                "request_path": request.url.path,
                "when": lambda at, zone="UTC": words.when(at, now, zone),
                "here": lambda **changed: here(request, **changed),
                **values,
            }
        )
        response = HTMLResponse(made, status)
        if frame.flash:
            response.delete_cookie(FLASH, path="/", httponly=True, samesite="lax")
        return response

    def list(
        self,
        request: Request,
        db: Db,
        query: Query[E],
        *,
        size: int = 25,
        deleted: bool = False,
    ) -> Listing[E]:
        """One page of a pattern, by the `after` or `before` in the address; tokens are for this caller only."""
        return listing(request, db, query, size=size, reader=self.caller(request).subject, deleted=deleted)

    def confirm(
        self,
        request: Request,
        *,
        title: str,
        happens: str,
        button: str,
        back: str,
        crumbs: Sequence[Crumb] = (),
        form: Form | None = None,
        details: Mapping[str, object] | None = None,
        undo: str = "",
    ) -> HTMLResponse:
        """The step before something dangerous: says what will happen; its button posts to this same address."""
        return self.page(
            request, "confirm.html", title=title, crumbs=crumbs, happens=happens, button=button, back=back,
            form=form or Form(), details=details or {}, undo=undo,
        )  # fmt: skip

    def go(self, to: str, said: str = "", tone: Tone = "good") -> RedirectResponse:
        """Redirect after a change; the next page shows the sentence."""
        response = RedirectResponse(to, 303)
        if said:
            note(response, said, tone)
        return response

    def caller(self, request: Request) -> Principal:
        """The caller, with the roles as the token spells them."""
        found: Principal = self.identity(request)
        return found

    def _frame(self, request: Request) -> Frame:
        areas, path, whole = request.app.state.areas, request.url.path, self.caller(request)
        front = front_at(areas, path, whole)
        caller = front.caller
        everywhere = tuple(name for area in areas for name in area.everywhere)
        own_icon = f"{front.system}/icon.svg"
        person = next((each for each in self.people if each.subject == caller.subject), None)
        people = tuple(each for each in self.people if _is_at_home(each, front))
        return Frame(
            front,
            path,
            caller,
            person,
            people,
            _flash(request),
            request.query_params.get("q", "") if path == front.search else "",
            self.is_demo,
            bool(self.mailbox),
            self._bar(whole, people, path if front.system else "") if self.is_demo else None,
            sign_in_link(request),
            self.has_account(caller),
            everywhere + (front.area.scripts if front.area else ()),
            own_icon if own_icon in self.assets else "icon.svg",
        )

    def _bar(self, caller: Principal, people: tuple[Person, ...], back: str) -> DemoBar:
        person = next((each for each in self.people if each.subject == caller.subject), None)
        name, role = _name_of(caller, person), person.role if person else ""
        others = tuple(each for each in people if each is not person)
        return DemoBar(name, role, others, back, self.mailbox, self.workbench)


def _is_at_home(person: Person, front: Front) -> bool:
    """Whether a demo user has pages in this front; the workbench shows all of them."""
    if not front.system:
        return True
    return (
        person.system == front.system
        and front.area is not None
        and front.area.has(person.home or front.area.path)
    )


def note(response: Response, said: str, tone: Tone = "good") -> None:
    """A sentence for the next page, valid for a minute."""
    text = base64.urlsafe_b64encode(json.dumps([[tone, said[:_FLASH_LETTERS]]]).encode()).decode()
    response.set_cookie(FLASH, text, max_age=_FLASH_SECONDS, path="/", httponly=True, samesite="lax")


def _flash(request: Request) -> tuple[tuple[Tone, str], ...]:
    try:
        told = json.loads(base64.urlsafe_b64decode(request.cookies.get(FLASH, "")))
        return tuple((tone, str(said)) for tone, said in told if tone in ("good", "bad", "note"))
    except (ValueError, TypeError):
        return ()


@cache
def assets_in(packages: tuple[tuple[str, str], ...]) -> Mapping[str, Asset]:
    """Every static file, by its name."""
    found = dict(assets_of(PACKAGE))
    for name, package in packages:
        found |= assets_of(package, f"{name}/")
    return found


@cache
def environment_of(packages: tuple[tuple[str, str], ...]) -> Environment:
    """The templates, compiled once for all consoles of a process that have the same packages."""
    own = PrefixLoader({name: PackageLoader(package) for name, package in packages})
    assets = assets_in(packages)
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(PACKAGE), own]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "number": english.number,
        "size": english.size,
        "money": english.money,
        "plural": english.plural,
        "moment": english.moment,
        "label": words.label,
        "duration": english.duration,
        "lifetime": english.lifetime,
        "linked": words.linked,
        "coded": words.coded,
    }
    environment.globals |= {
        "asset": lambda name: assets[name].href,
        "icon": icon,
        "bars": charts.bars,
    }
    return environment
