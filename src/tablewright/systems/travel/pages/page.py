"""What every page of Skratch needs: the service, the console, and the traveller whose map it is.

Must hold: the traveller comes from the login alone, and a login that was ended on the list of devices opens nothing.
A signed-in person without a map (an admin, a user of another system) reads how to get one.
Elsewhere: shared texts (words.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends, Request

from tablewright.edge import ANYONE, Principal, require
from tablewright.edge.errors import CallerError, NotFound, Unauthenticated, problem_for
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.forms import Form
from tablewright.pages.layout import Console
from tablewright.pages.system_pages import SystemPages
from tablewright.systems.travel.geography.regions import CONTINENTS, Region
from tablewright.systems.travel.model import SERVER, Profile, RegionType
from tablewright.systems.travel.pages import words as texts
from tablewright.systems.travel.travel import Travel

HOME = "/console/travel"
ADMIN = "admin"


class NoMap(NotFound):
    """The signed-in person is not a traveller."""

    def __init__(self) -> None:
        words = "You don't have a map, because this login is not a traveller's. Sign in as a traveller to see a map."
        super().__init__("MAP", words)


@dataclass(frozen=True)
class TravelPages(SystemPages):
    """Skratch with the console around it."""

    folder = "travel"

    travel: Travel
    signed_in: FindPrincipal
    admin: FindPrincipal

    def router(self, *guards: FindPrincipal) -> APIRouter:
        """A router whose pages all need what the guards ask for."""
        router = super().router()
        router.dependencies += [Depends(guard) for guard in guards]
        return router

    def now(self) -> datetime:
        return self.travel.repository.now()

    def caller(self, request: Request) -> Principal:
        found: Principal = self.who(request)
        return found

    def traveller(self, request: Request) -> Profile:
        """Whose map it is."""
        try:
            return self.travel.repository.profile(self.caller(request).subject)
        except NotFound:
            raise NoMap from None

    def has_map(self, caller: Principal) -> bool:
        try:
            self.travel.repository.profile(caller.subject)
        except NotFound:
            return False
        return True

    def device_here(self, request: Request) -> str | None:
        """The device that this browser is, if its map was opened."""
        caller = self.caller(request)
        session = self.travel.sessions.of_login(caller.subject, caller.claims)
        return session.device_id if session is not None and session.device_id != SERVER else None

    def region(self, region_type: RegionType, code: str) -> Region:
        """The region an address names."""
        return self.travel.places.get(region_type, code)

    def words(self, request: Request) -> Mapping[str, Any]:
        return {
            "base": HOME,
            "words": texts,
            "geography": self.travel.geography,
            "continent_names": CONTINENTS,
        }


def pages_of(travel: Travel, console: Console, who: FindPrincipal) -> TravelPages:
    live = live_login(travel, who)
    return TravelPages(
        console, live, travel, signed_in=require(live), admin=require(live, ADMIN, code="ADMIN_ONLY")
    )


def live_login(travel: Travel, who: FindPrincipal) -> FindPrincipal:
    """A dependency: the caller. A login whose device was signed out counts as not signed in; the reason is noted."""

    def found(request: Request) -> Principal:
        caller = who(request)
        try:
            if caller.is_known:
                travel.sessions.of_login(caller.subject, caller.claims)
        except Unauthenticated as ended:
            request.state.login_refusal = problem_for(ended)
            request.state.principal = ANYONE
            return ANYONE
        return caller

    return found


def refused(form: Form, mistake: CallerError) -> Form:
    """The form with the refusal beside its field."""
    return form.refused(problem_for(mistake))


def status_of(mistake: CallerError) -> int:
    return mistake.status
