"""The base of every page of parental controls: the service, the console, the caller and the child.

Must hold: a child is found through the caller's family (families.py); another family's child is a 404. Support gives a
reason, which is kept in a cookie for the child's pages and shown to the family; support changes nothing. Neither a
phone number nor a reason is in a URL, because URLs end up in histories and proxy logs. Times are in the child's zone,
and the zone is named.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tablewright.design import Query
from tablewright.edge.errors import CallerError
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.kit.tables import Actor
from tablewright.mapping import Page
from tablewright.pages.forms import Form, FormWrong, asked, posted
from tablewright.pages.layout import Console, Crumb
from tablewright.pages.lists import AFTER, Listing, here
from tablewright.pages.system_pages import SystemPages
from tablewright.systems.parental import access
from tablewright.systems.parental.model import Child, Override
from tablewright.systems.parental.pages import words as texts
from tablewright.systems.parental.parental import Parental

Posted: TypeAlias = Annotated[Form, Depends(posted)]
Asked: TypeAlias = Annotated[Form, Depends(asked)]
HOME = "/console/parental"
VERSION = "version"
REASON = "reason"
_REASON_SECONDS = 8 * 3600
_MOST_MINUTES = 366 * 24 * 60
# The views of one child: what they are called, and their path below it.
TABS = (
    ("Now", ""),
    ("Rules", "/policies"),
    ("Dashboard", "/dashboard"),
    ("History", "/history"),
    ("Settings", "/settings"),
)


@dataclass(frozen=True, slots=True)
class Look:
    """A child with its viewer. `may_change` is False for support, and after the number was released."""

    child: Child
    home: str
    actor: Actor
    reason: str
    may_change: bool

    def at(self, path: str = "", **query: str) -> str:
        """An address below the child."""
        given = {name: text for name, text in query.items() if text}
        return f"{self.home}{path}?{urlencode(given)}" if given else f"{self.home}{path}"


@dataclass(frozen=True)
class ParentalPages(SystemPages):
    """Parental controls with the console around them. `admitted` refuses who may not see these pages."""

    folder = "parental"

    admits = staticmethod(access.signed_in)

    parental: Parental

    def access(self) -> Any:
        return access.PARENTAL.of(self.parental, self.who)

    def private_router(self) -> APIRouter:
        """A router whose pages are for those who are admitted: a route cannot forget to ask."""
        router = self.router()
        router.dependencies.append(Depends(self.admits))
        return router

    def now(self) -> datetime:
        return self.parental.repository.now()

    def actor(self, request: Request) -> Actor:
        return access.actor_of(self.who(request))

    def look(self, request: Request, key: str) -> Look:
        """The child, for a caller who may see it; a 404 for any other."""
        actor = self.actor(request)
        reason = _kept_reason(request) if actor.role == "support" else ""
        child = self.parental.families.child(actor, self.key_of(key), reason=reason or None)
        may_change = child.released_at is None and not reason
        return Look(child, self.child_path(child), actor, reason, may_change)

    def open(self, request: Request, key: str) -> Look:
        """The same, for changes: never for support."""
        actor = self.actor(request)
        child = self.parental.families.open_child(actor, self.key_of(key))
        return Look(child, self.child_path(child), actor, "", True)

    def key_of(self, reference: str) -> str:
        """The child that a part of a path means: a reference, or else a number that was typed."""
        return self.parental.references.open(reference) or reference

    def child_path(self, child: Child) -> str:
        return child_path(self.parental, child)

    def overrides_of(self, child: Child) -> list[Override]:
        """The child's exceptions, each with the name of the guardian who added it."""
        people = {one.email: one.name for one in self.parental.repository.guardians_of(child.family_id)}
        return [
            one.model_copy(update={"by": people.get(one.by, one.by)})
            for one in self.parental.overrides.of_child(child)
        ]

    def words(self, request: Request) -> Mapping[str, Any]:
        return {
            "base": HOME,
            "words": texts,
            "child_path": self.child_path,
        }

    def child_page(
        self, request: Request, look: Look, name: str, *, tab: str, title: str = "", status: int = 200, **values: Any
    ) -> Response:  # fmt: skip
        """A page about one child, under its name and the tabs of its views."""
        child, now = look.child, self.now()
        crumbs = (Crumb(child.child_name, look.at()),) if title else ()
        return self.page(
            request,
            name,
            title=title or child.child_name,
            crumbs=crumbs,
            status=status,
            look=look,
            child=child,
            zone=child.timezone,
            local=now.astimezone(texts.zone_of(child)),
            now=now,
            tabs=[(words, look.at(path), path == tab) for words, path in TABS],
            **values,
        )

    def list(self, request: Request, query: Query[Any], size: int = 25) -> Listing[Any]:
        """One page of a request of the service."""
        return self.console.list(request, self.parental.repository.db, query, size=size)


def pages_of(parental: Parental, console: Console, who: FindPrincipal) -> ParentalPages:
    return ParentalPages(console, who, parental)


def zone_of_family(pages: ParentalPages, family_id: str) -> str:
    """The time zone for a whole family: its first child's."""
    children = pages.parental.repository.children_of(family_id)
    return children[0].timezone if children else "UTC"


def child_path(parental: Parental, child: Child) -> str:
    return f"{HOME}/children/{parental.references.of(child.child)}"


def keep_reason(response: Response, home: str, reason: str) -> None:
    """Keep support's reason for the pages of this child, for a working day."""
    text = base64.urlsafe_b64encode(reason.encode()).decode()
    response.set_cookie(REASON, text, max_age=_REASON_SECONDS, path=home, httponly=True, samesite="strict")


def _kept_reason(request: Request) -> str:
    try:
        return base64.urlsafe_b64decode(request.cookies.get(REASON, "")).decode()
    except ValueError:
        return ""


def listing_of(request: Request, page: Page[Any]) -> Listing[Any]:
    """A page of the service with links to the next and the first."""
    is_later = AFTER in request.query_params
    return Listing(
        page.items,
        next=here(request, after=page.next) if page.next else None,
        first=here(request, after=None) if is_later else None,
    )


def version_of(form: Form) -> int | None:
    """The version a form was filled from; None saves over any version."""
    text = form.get(VERSION)
    return int(text) if text.isascii() and text.isdigit() else None


def overtaken(form: Form, what: str, **current: str) -> Form:
    """The form as it was typed, based on what someone else has saved: its version, or what `current` names."""
    words = f"Someone else changed {what}. Your entries are still here; save again to replace theirs."
    return replace(form, values={**form.values, **current}, error=words)


def later(form: Form, child: Child, now: datetime) -> datetime:
    """The end that was chosen: a time in the child's zone, or else a number of minutes; FormWrong beside `until`."""
    text, minutes = form.get("until").strip(), form.get("minutes").strip()
    if not text:
        if minutes.isascii() and minutes.isdigit() and 0 < int(minutes) <= _MOST_MINUTES:
            return now + timedelta(minutes=int(minutes))
        raise FormWrong(Form({"until": "", **form.values}).wrong("until", "Enter an end time."))
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        words = "Enter a date and time such as 2026-01-31 18:00."
        raise FormWrong(form.wrong("until", words)) from None
    return found if found.tzinfo else found.replace(tzinfo=texts.zone_of(child))


def refused(form: Form, mistake: FormWrong | CallerError, fields: Mapping[str, str] | None = None) -> Form:
    """The form with the refusal beside its field; `fields` maps the API's field names to the form's."""
    if isinstance(mistake, FormWrong):
        return form.refused(mistake)
    name = (fields or {}).get(mistake.field or "", mistake.field)
    if name == VERSION:  # hidden in the form: a sentence beside it is not read
        return replace(form, error=mistake.message)
    if name is not None and (name in form.values or name in (fields or {}).values()):
        return form.wrong(name, mistake.message)
    return form.refused(mistake)
