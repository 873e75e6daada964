"""Who may: dependencies that find the principal of a request and refuse the wrong one.

    who = principal(verifier)
    @router.get("/v1/reports", dependencies=[Depends(require(who, "admin", mfa=True))])
    def report(me: Annotated[Principal, Depends(require(who))]) -> ...

Must hold: a bearer token decides alone; the cookie is only looked at when there is none. A stale cookie makes the
caller ANYONE on a page for everyone, and gets its own sentence where a login is needed; so does one that cannot be
checked because the identity provider is away.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

from fastapi import Depends, Request, Response

from tablewright.edge.identity.principal import ANYONE, Principal
from tablewright.edge.identity.verifier import Verifier
from tablewright.edge.problems import Problem, forbidden, unauthorized

FindPrincipal = Callable[..., Principal]


@dataclass(frozen=True, slots=True)
class SessionCookie:
    """The cookie a browser's login lives in: scripts cannot read it, other sites' forms do not send it."""

    name: str = "session"
    secure: bool = True  # False only for plain HTTP on this machine

    def keep(self, response: Response, token: str, lifetime: timedelta) -> None:
        response.set_cookie(self.name, token, max_age=int(lifetime.total_seconds()), **self._how())

    def drop(self, response: Response) -> None:
        response.delete_cookie(self.name, **self._how())

    def _how(self) -> dict[str, Any]:
        return {"path": "/", "secure": self.secure, "httponly": True, "samesite": "lax"}


def principal(verifier: Verifier | None = None, *, cookie: SessionCookie | None = None) -> FindPrincipal:
    """A dependency: who is calling, ANYONE without a login. Without a verifier it asks the one `make_app` was given."""

    def who(request: Request) -> Principal:
        found = _principal(request, verifier or request.app.state.verifier, cookie)
        request.state.principal = found
        return found

    return who


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
    who: FindPrincipal, *roles: str, mfa: bool = False, code: str = "ROLE_REQUIRED", words: str = ""
) -> FindPrincipal:
    """A dependency: the caller, who is signed in and has one of `roles` (any login when there are none).

    `words` say what to do where a role is not somebody's to give.
    """

    def required(request: Request, caller: Annotated[Principal, Depends(who)]) -> Principal:
        if not caller.is_known:
            raise getattr(request.state, "login_refusal", None) or login_required()
        if roles and caller.roles.isdisjoint(roles):
            raise role_required(code, *roles, words=words)
        if mfa and not caller.used_mfa:
            raise forbidden(
                "MFA_REQUIRED", "This needs a login with a second factor. Sign in again with yours."
            )
        return caller

    return required


def role_required(code: str, *roles: str, words: str = "") -> Problem:
    needed = f"This needs the role {' or '.join(roles)}, which this login does not have."
    asked = "Sign in as somebody who has it, or ask whoever runs this server to give it to you."
    return forbidden(code, words or f"{needed} {asked}")


def login_required() -> Problem:
    return unauthorized("LOGIN_REQUIRED", "Sign in first.")


def require_owner(
    caller: Principal, owner: str, *, or_roles: Collection[str] = (), hidden_as: Problem | None = None
) -> None:
    """Raise unless the object is the caller's own, or one of `or_roles` lets them.

    Where its very existence is a secret, `hidden_as` is the problem an absent object gets, so that the two cannot be
    told apart.
    """
    if not caller.is_known:
        raise login_required()
    if caller.subject != owner and caller.roles.isdisjoint(or_roles):
        raise hidden_as or forbidden("NOT_OWNER", "This belongs to somebody else.")
