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

from tablewright.design import Query
from tablewright.edge import Principal, SessionCookie
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.kit.system import Person, initials_of
from tablewright.mapping import Db
from tablewright.pages import charts, words
from tablewright.pages.area import Area, Nav
from tablewright.pages.assets import Asset, assets_of
from tablewright.pages.forms import Form
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
class Shown:
    """An area as one caller sees it on the left: with its pages, if they are in it."""

    area: Area
    pages: tuple[Nav, ...]
    is_here: bool
    page: Nav | None


@dataclass(frozen=True, slots=True)
class Frame:
    """The content of the frame around a page."""

    areas: tuple[Shown, ...]
    here: Shown | None
    path: str
    caller: Principal
    person: Person | None
    people: tuple[Person, ...]
    flash: tuple[tuple[Tone, str], ...]
    search: str
    is_demo: bool
    keeps_mail: bool
    sign_in: str  # the sign-in page of the system whose page this is, and the way back here
    has_account: bool  # false for a demo user, and for a login that a system issued

    @property
    def accent(self) -> str:
        return self.here.area.accent if self.here else "slate"

    @property
    def name(self) -> str:
        """What to call the caller."""
        if self.person is not None:
            return self.person.name
        return str(self.caller.claims.get("name") or self.caller.email or self.caller.subject)

    @property
    def initials(self) -> str:
        return initials_of(self.name) or "?"

    @property
    def scripts(self) -> tuple[str, ...]:
        """Files of static/ that this page loads after the frame's own."""
        everywhere = tuple(name for shown in self.areas for name in shown.area.everywhere)
        return everywhere + (self.here.area.scripts if self.here else ())


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
    keeps_mail: bool = False  # mail is not sent; the page of app/designs/mail.py shows it
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
        return APIRouter(route_class=PageRoute, include_in_schema=False)

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
        """A page in the frame. `crumbs` are the steps between the area and this page."""
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
        caller, path = self.caller(request), request.url.path
        areas = tuple(_shown(area, caller, path) for area in request.app.state.areas)
        return Frame(
            areas,
            next((shown for shown in areas if shown.is_here), None),
            path,
            caller,
            next((person for person in self.people if person.subject == caller.subject), None),
            self.people,
            _flash(request),
            request.query_params.get("q", "") if path == "/search" else "",
            self.is_demo,
            self.keeps_mail,
            sign_in_link(request),
            self.has_account(caller),
        )


def _shown(area: Area, caller: Principal, path: str) -> Shown:
    is_here = area.has(path)
    if not is_here:
        return Shown(area, (), is_here, None)
    return Shown(area, area.pages_for(area.local(caller)), is_here, area.page_at(path))


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
        "number": words.number,
        "size": words.size,
        "money": words.money,
        "plural": words.plural,
        "label": words.label,
        "duration": words.duration,
        "lifetime": words.lifetime,
        "linked": words.linked,
        "coded": words.coded,
    }
    environment.globals |= {
        "asset": lambda name: assets[name].href,
        "icon": icon,
        "bars": charts.bars,
    }
    return environment
