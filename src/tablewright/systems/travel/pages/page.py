"""What every page of Skratch needs: the service, the console, and the traveller whose map it is.

Must hold: a signed-in person without a map (an admin, a user of another system) reads how to get one.
Elsewhere: whose map it is (access.py), shared texts (words.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends, Request

from tablewright.edge import Principal
from tablewright.edge.errors import NotFound
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.layout import Console
from tablewright.pages.system_pages import SystemPages
from tablewright.systems.travel import access
from tablewright.systems.travel.geography.regions import CONTINENTS, Region
from tablewright.systems.travel.model import SERVER, Profile, RegionType
from tablewright.systems.travel.pages import words as texts
from tablewright.systems.travel.travel import Travel

HOME = "/console/travel"


@dataclass(frozen=True)
class TravelPages(SystemPages):
    """Skratch with the console around it."""

    folder = "travel"

    # The access checks of its routes.
    signed_in = staticmethod(access.signed_in)
    admin = staticmethod(access.admin)

    travel: Travel

    def access(self) -> Any:
        return access.TRAVEL.of(self.travel, self.who)

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
        return access.own_map(self.travel, self.caller(request))

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
    return TravelPages(console, access.live_login(travel, who), travel)
