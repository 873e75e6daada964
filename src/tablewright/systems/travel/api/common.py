"""What the routes share: the traveller and device of a request, the version in If-Match, errors as responses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Query, Request
from pydantic import BaseModel

from tablewright.edge import Principal
from tablewright.edge.errors import BadRequest, problem_for
from tablewright.edge.etags import tags_in
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import Problem
from tablewright.systems.travel.api import bodies
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import Profile, Visit
from tablewright.systems.travel.rules import check_id
from tablewright.systems.travel.travel import Travel

PageSize = Annotated[int | None, Query(alias="limit", description="how many at a time")]
After = Annotated[str | None, Query(description="the token of the page before")]
IfMatch = Annotated[str | None, Header(alias="If-Match")]
DeviceId = Annotated[
    str | None,
    Header(alias="X-Device-Id", description="the device, for logins that were not made on one"),
]


@dataclass(frozen=True, slots=True)
class Traveller:
    """The caller: an account, and the device and session of the login if it has one."""

    user_id: str
    session_id: str | None = None
    device_id: str | None = None
    role: str = "user"

    @property
    def device(self) -> str:
        """The device that syncs; DEVICE_REQUIRED if none is named."""
        if self.device_id is None:
            words = "Send the device's ID as X-Device-Id. Register the device first at me/devices."
            raise BadRequest("DEVICE_REQUIRED", words, "X-Device-Id")
        return self.device_id


FindTraveller = Callable[..., Traveller]


@dataclass(frozen=True, slots=True)
class Doors:
    """The dependencies of routes: a traveller, an admin, any caller."""

    traveller: FindTraveller
    admin: FindPrincipal
    anyone: FindPrincipal


def traveller_door(travel: Travel, signed_in: FindPrincipal) -> FindTraveller:
    """A dependency: the traveller of a login, whose session has not been ended."""

    def traveller(caller: Annotated[Principal, Depends(signed_in)], named: DeviceId = None) -> Traveller:
        role = "admin" if "admin" in caller.roles else "user"
        session = travel.sessions.of_login(caller.subject, caller.claims)
        if named is not None:
            travel.sessions.bind(caller.subject, caller.claims, session, check_id(named, "X-Device-Id"))
        if session is None or session.is_page:
            return Traveller(caller.subject, session.session_id if session is not None else None, named, role)
        return Traveller(caller.subject, session.session_id, session.device_id, role)

    return traveller


def root_of(request: Request) -> str:
    """Where the API is, for addresses that are given out: everything up to /v1."""
    before, version, _ = request.url.path.partition("/v1/")
    return f"{before}{version.rstrip('/')}"


def expected(match: str | None) -> int | None:
    """The version a change rests on, from If-Match; None if it does not say. `*` asks only that it is there."""
    tags = tags_in(match, weak=False) if match is not None else None
    if tags is None:
        return None
    if len(tags) != 1 or not tags[0].isascii() or not tags[0].isdigit():
        raise BadRequest("BAD_ETAG", 'If-Match must have exactly one version, such as "7".', "If-Match")
    return int(tags[0])


def problem_of(conflict: VersionConflict) -> Problem:
    """A conflict with the stored version, as its owner may see it."""
    problem = problem_for(conflict)
    if "current" not in problem.extra:
        problem.extra |= _current(conflict.current)
    return problem


def _current(item: BaseModel | None) -> dict[str, Any]:
    """The server's copy, as its owner may see it."""
    if isinstance(item, Visit):
        return {"current": bodies.visit_view(item).model_dump(mode="json")}
    if isinstance(item, Profile):
        return {"current": bodies.me_view(item).model_dump(mode="json")}
    return {}
