"""Who is calling, as each system sees it: the same login, but only the roles it has there.

Must hold: a role of one system never counts in another. `portal.admin` in a token is `admin` to the portal and
nothing to anybody else. A login that a system gave by itself (its claim `for`) is nobody's in every other: who may have
an account here is not for a system to say. A login to an account is worth what the account is worth now: none if it was
closed, and only roles that it still has. One that was signed out of is worth nothing, nor is one of the demo where
there is no demo.
Elsewhere: tokens, cookies and their checking (edge/identity), what is in a login, signing out (logins.py).
"""

from dataclasses import replace

from fastapi import Request

from tablewright.app import logins
from tablewright.app.accounts import PREFIX, Accounts
from tablewright.app.logins import DEMO
from tablewright.edge import ANYONE, Principal
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import unauthorized
from tablewright.kit.system import in_system

_FOUND = "login_as_of_now"


def as_of_now(find: FindPrincipal, accounts: Accounts, is_demo: bool) -> FindPrincipal:
    """A dependency: who is calling, after a look at whether the login still holds."""

    def who(request: Request) -> Principal:
        # A page asks several times who is calling; it is looked up once, and is the same all over the page.
        caller: Principal | None = getattr(request.state, _FOUND, None)
        if caller is None:
            caller = _as_of_now(find(request), accounts, is_demo)
        if caller is None:
            ended = unauthorized("LOGIN_ENDED", "This login was ended. Sign in again.")
            if "Authorization" in request.headers:
                raise ended
            request.state.login_refusal = ended
            caller = ANYONE
        setattr(request.state, _FOUND, caller)
        request.state.principal = caller
        return caller

    return who


def _as_of_now(caller: Principal, accounts: Accounts, is_demo: bool) -> Principal | None:
    if not caller.is_known:
        return caller
    if (caller.claims.get(DEMO) and not is_demo) or logins.is_ended(accounts.db, caller):
        return None
    if not caller.subject.startswith(PREFIX):
        return caller
    account = accounts.of(caller.subject)
    if account is None or account.closed is not None or caller.claims.get("epoch") != account.epoch:
        return None
    return replace(caller, roles=caller.roles & frozenset(account.roles))


def identity_of(find: FindPrincipal, system: str) -> FindPrincipal:
    """A dependency for the routes of one system."""

    def who(request: Request) -> Principal:
        known = find(request)
        caller = in_system(known, system)
        if known.is_known and not caller.is_known:
            words = "This login is for another part of this server. Sign in to your account here."
            request.state.login_refusal = unauthorized("LOGIN_ELSEWHERE", words)
        request.state.principal = caller
        return caller

    return who
