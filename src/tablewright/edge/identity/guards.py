"""Authorisation: dependencies that find the principal of a request and refuse the wrong one.

    caller = principal(verifier)
    @router.get("/v1/reports", dependencies=[Depends(require(caller, "admin", mfa=True))])
    def report(me: Annotated[Principal, Depends(require(caller))]) -> ...

Must hold: a bearer token takes precedence; the cookie is read only without one. With an expired cookie the caller is
ANYONE on a public page, and gets a specific error where a login is needed; the same holds for a cookie that cannot be
verified because the identity provider is unreachable.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response

from tablewright.edge.identity.principal import ANYONE, Principal
from tablewright.edge.identity.verifier import Verifier
from tablewright.edge.problems import Problem, forbidden, unauthorized

FindPrincipal = Callable[..., Principal]
C = TypeVar("C", bound=Callable[..., Any])


_NEEDS = "tablewright_needs"


@dataclass(frozen=True, slots=True)
class Needs:
    """A login with one of these roles (any, if there are none), and with a second factor or not.

    `code` is that of the error without one of the roles; `words` replaces its advice, for roles that an administrator
    cannot grant.
    """

    roles: tuple[str, ...] = ()
    mfa: bool = False
    code: str = "ROLE_REQUIRED"
    words: str = ""

    def refuse_without(self, request: Request, caller: Principal) -> None:
        """Raise unless the caller has what is needed."""
        if not caller.is_known:
            raise getattr(request.state, "login_refusal", None) or login_required()
        if self.roles and caller.roles.isdisjoint(self.roles):
            raise role_required(self.code, *self.roles, words=self.words)
        if self.mfa:
            refuse_without_second_factor(caller)


@dataclass(frozen=True, slots=True)
class SessionCookie:
    """The cookie with a browser's login: scripts cannot read it, other sites' forms do not send it."""

    name: str = "session"
    secure: bool = True  # False only for plain HTTP on this machine

    def keep(self, response: Response, token: str, lifetime: timedelta) -> None:
        response.set_cookie(self.name, token, max_age=int(lifetime.total_seconds()), **self._attributes())

    def drop(self, response: Response) -> None:
        response.delete_cookie(self.name, **self._attributes())

    def _attributes(self) -> dict[str, Any]:
        return {"path": "/", "secure": self.secure, "httponly": True, "samesite": "lax"}


def principal(verifier: Verifier | None = None, *, cookie: SessionCookie | None = None) -> FindPrincipal:
    """A dependency: the caller, ANYONE without a login. The default verifier is the one `make_app` was given."""

    def find(request: Request) -> Principal:
        found = _principal(request, verifier or request.app.state.verifier, cookie)
        request.state.principal = found
        return found

    return find


def _principal(request: Request, verifier: Verifier, cookie: SessionCookie | None) -> Principal:
    header = request.headers.get("Authorization")
    if header is not None:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise unauthorized("TOKEN_INVALID", "Send your token as 'Authorization: Bearer <token>'.")
        return verifier.verify(token.strip())
    token = request.cookies.get(cookie.name, "") if cookie is not None else ""
    if not token:
        return ANYONE
    try:
        return verifier.verify(token)
    except Problem as refusal:
        request.state.login_refusal = refusal
        return ANYONE


def require(
    find: FindPrincipal, *roles: str, mfa: bool = False, code: str = "ROLE_REQUIRED", words: str = ""
) -> FindPrincipal:
    """A dependency: the caller, signed in and with one of `roles` (any login if there are none); see Needs."""

    needs = Needs(roles, mfa, code, words)

    def required(request: Request, caller: Annotated[Principal, Depends(find)]) -> Principal:
        needs.refuse_without(request, caller)
        return caller

    return checks(required, needs)


def checks(dependency: C, needs: Needs) -> C:
    """Note on a dependency what it needs, for the API's description and for `needs_of`."""
    setattr(dependency, _NEEDS, needs)
    return dependency


def needs_of(dependency: object) -> Needs | None:
    """What a dependency needs; None for one that refuses no caller."""
    found: Needs | None = getattr(dependency, _NEEDS, None)
    return found


def role_required(code: str, *roles: str, words: str = "") -> Problem:
    needed = f"This needs the role {' or '.join(roles)}, which this login does not have."
    asked = "Sign in as someone who has it, or ask your administrator."
    return forbidden(code, words or f"{needed} {asked}")


def refuse_without_second_factor(caller: Principal) -> None:
    if not caller.used_mfa:
        raise forbidden("MFA_REQUIRED", "This needs a login with a second factor. Sign in again with yours.")


def login_required() -> Problem:
    return unauthorized("LOGIN_REQUIRED", "Sign in first.")
