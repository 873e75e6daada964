"""Who may call a route: dependencies that a system declares once, in its access.py, for its API and its pages.

    PORTAL: Access[Portal] = Access("portal")
    staff = PORTAL.require(actor_of, "support", "admin", code="ADMIN_ONLY")
    Staff = Annotated[Actor, Depends(staff)]

    api = Router(dependencies=[PORTAL.of(portal, who)])
    @api.get("/orders")
    def list_orders(actor: Staff) -> ...

The dependencies are values of a module, so that they can be types of arguments; the service and the way to find the
caller come with the request, from the router.
Must hold: a route of a system has one of these dependencies or is on the system's list of public routes
(tests/systems/test_access.py).
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from fastapi import Depends, Request

from tablewright.edge import Principal
from tablewright.edge.identity.guards import FindPrincipal, Needs, checks

S = TypeVar("S")
R = TypeVar("R")


class Access(Generic[S]):
    """The access checks of one system."""

    def __init__(self, system: str) -> None:
        self._key = f"access_to_{system}"

    def of(self, service: S, who: FindPrincipal) -> Any:
        """A dependency for routers: their routes are about this service, and `who` finds their caller."""

        # Not a plain function: FastAPI would run it in a thread.
        async def bind(request: Request) -> None:
            setattr(request.state, self._key, (service, who))

        return Depends(bind)

    def service(self, request: Request) -> S:
        found: tuple[S, FindPrincipal] = getattr(request.state, self._key)
        return found[0]

    def caller(self, request: Request) -> Principal:
        """A dependency: the caller, ANYONE without a login."""
        found: tuple[S, FindPrincipal] = getattr(request.state, self._key)
        return found[1](request)

    def require(
        self,
        make: Callable[[Principal], R],
        *roles: str,
        mfa: bool = False,
        code: str = "ROLE_REQUIRED",
        words: str = "",
    ) -> Callable[[Request], R]:
        """A dependency: what `make` returns for the caller, who is signed in and has one of `roles` (see Needs)."""
        return self._required(Needs(roles, mfa, code, words), lambda _, caller: make(caller))

    def require_record(
        self, find: Callable[[S, Principal], R], *roles: str, code: str = "ROLE_REQUIRED"
    ) -> Callable[[Request], R]:
        """A dependency: what `find` returns for the service and the caller, who is signed in as for `require`.

        One dependency and not two: FastAPI runs each plain function in a thread, and waiting for it takes longer than
        most of them do.
        """
        return self._required(Needs(roles, code=code), find)

    def _required(self, needs: Needs, find: Callable[[S, Principal], R]) -> Callable[[Request], R]:
        def required(request: Request) -> R:
            caller = self.caller(request)
            needs.refuse_without(request, caller)
            return find(self.service(request), caller)

        return checks(required, needs)


def itself(caller: Principal) -> Principal:
    """For `require`: the caller."""
    return caller
