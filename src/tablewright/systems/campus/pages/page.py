"""What all pages of Campus Cloud share: the service, the console, the caller, and how times and sizes are shown.

Must hold: the routes check who may see a page (access.py); every time is shown with its zone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import Request, Response

from tablewright.edge import Principal
from tablewright.edge.security import CONTENT_POLICY, connecting_to
from tablewright.english import full_date, in_zone, moment_of_week
from tablewright.pages.layout import Crumb
from tablewright.pages.lists import Listing
from tablewright.pages.system_pages import SystemPages
from tablewright.systems.campus.access import CAMPUS
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.files.type_words import kind_of
from tablewright.systems.campus.model import User

HOME = "/console/campus"
STAFF = ("instructor", "admin")


@dataclass(frozen=True)
class CampusPages(SystemPages):
    """Campus Cloud with its console around it."""

    folder = "campus"

    campus: Campus

    def access(self) -> Any:
        return CAMPUS.of(self.campus, self.who)

    def words(self, request: Request) -> Mapping[str, Any]:
        caller = self.who(request)
        return {
            "base": HOME,
            "is_admin": "admin" in caller.roles,
            "is_instructor": not caller.roles.isdisjoint(STAFF),
            "moment": moment_words,
            "day": day_words,
            "kind": kind_of,
        }

    def page(
        self,
        request: Request,
        name: str,
        *,
        title: str,
        crumbs: tuple[Crumb, ...] = (),
        status: int = 200,
        **values: Any,
    ) -> Response:
        response = super().page(request, name, title=title, crumbs=crumbs, status=status, **values)
        origin = self.campus.objects.origin
        if origin is not None:  # parts of uploads are sent there
            response.headers[CONTENT_POLICY] = connecting_to(origin)
        return response

    def caller(self, request: Request) -> Principal:
        return self.who(request)

    def list(self, request: Request, query: Any, size: int = 20) -> Listing[Any]:
        """One page of a query."""
        return self.console.list(request, self.campus.repository.db, query, size=size)


def moment_words(at: datetime | None, user: User | str = "UTC") -> str:
    """`Fri 16 November 2026, 09:30 CET`, in the zone of a user or of a name."""
    if at is None:
        return "–"
    return moment_of_week(at, user if isinstance(user, str) else user.time_zone)


def day_words(at: datetime, user: User | str = "UTC") -> str:
    """`16 November 2026`."""
    return full_date(in_zone(at, user if isinstance(user, str) else user.time_zone))
