"""The caller as each system sees them: the same login, with only the roles of that system.

Must hold: a role of one system is never valid in another. `portal.admin` in a token is `admin` in the portal and
nothing elsewhere. A login issued by a system (claim `for`) is valid only there: a system cannot create accounts of the
server. A login to an account is checked against the account at every request: invalid if it was closed, and limited to
the roles it still has. A login that was signed out is invalid, and so is one of a demo user if the demo is off.
Elsewhere: tokens, cookies and their verification (edge/identity), what a login contains, signing out (logins.py).
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
    """A dependency: the caller, if the login is still valid."""

    def who(request: Request) -> Principal:
        # A page asks for the caller several times; the lookup is done once per request.
        caller: Principal | None = getattr(request.state, _FOUND, None)
        if caller is None:
            caller = _as_of_now(find(request), accounts, is_demo)
        if caller is None:
            ended = unauthorized("LOGIN_ENDED", "This login has ended. Please sign in again.")
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
            words = "You are signed in to another part of this server. Please sign in here."
            request.state.login_refusal = unauthorized("LOGIN_ELSEWHERE", words)
        request.state.principal = caller
        return caller

    return who
