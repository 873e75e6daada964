"""Who may do what in Skratch: the dependencies of its API and its pages.

Must hold: whose map something is about is decided by the login alone, never by what is sent; a login that was made on
a device speaks for that device; a login that was ended on the list of devices opens nothing.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request

from tablewright.edge import ANYONE, Principal
from tablewright.edge.errors import BadRequest, NotFound, Unauthenticated, problem_for
from tablewright.edge.identity.guards import FindPrincipal, Needs, checks
from tablewright.kit.access import Access, itself
from tablewright.systems.travel.model import Profile
from tablewright.systems.travel.rules import check_id
from tablewright.systems.travel.travel import Travel

ADMIN = "admin"
NO_MAP = "You don't have a map, because this login is not a traveller's. Sign in as a traveller to see a map."
TRAVEL: Access[Travel] = Access("travel")
DeviceId = Annotated[
    str | None,
    Header(alias="X-Device-Id", description="the device, for logins that were not made on one"),
]

signed_in = TRAVEL.require(itself)
admin = TRAVEL.require(itself, ADMIN, code="ADMIN_ONLY")

Caller = Annotated[Principal, Depends(TRAVEL.caller)]  # anyone: for public routes
Admin = Annotated[Principal, Depends(admin)]


@dataclass(frozen=True, slots=True)
class TravellerLogin:
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


def traveller(request: Request, named: DeviceId = None) -> TravellerLogin:
    """A dependency: the traveller of a login, whose session has not been ended."""
    caller, sessions = signed_in(request), TRAVEL.service(request).sessions
    role = ADMIN if ADMIN in caller.roles else "user"
    session = sessions.of_login(caller.subject, caller.claims)
    if named is not None:
        sessions.bind(caller.subject, caller.claims, session, check_id(named, "X-Device-Id"))
    if session is None or session.is_page:
        return TravellerLogin(caller.subject, session.session_id if session else None, named, role)
    return TravellerLogin(caller.subject, session.session_id, session.device_id, role)


Traveller = Annotated[TravellerLogin, Depends(checks(traveller, Needs()))]


def own_map(travel: Travel, caller: Principal) -> Profile:
    """The profile of a caller; USER_NOT_FOUND for an admin or a user of another system."""
    try:
        return travel.repository.profile(caller.subject)
    except NotFound:
        raise NotFound("USER", NO_MAP) from None


def live_login(travel: Travel, who: FindPrincipal) -> FindPrincipal:
    """The caller of a page. A login whose device was signed out counts as not signed in; the reason is noted."""

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
