"""Who is calling, as each system sees it: the same login, but only the roles it has there.

Must hold: a role of one system never counts in another. `portal.admin` in a token is `admin` to the portal and
nothing to anybody else. A login to an account is worth what the account is worth now: none if it was closed, and only
roles that it still has.
Elsewhere: tokens, cookies and their checking (edge/identity).
"""

from dataclasses import replace

from fastapi import Request

from tablewright.app.accounts import PREFIX, Accounts
from tablewright.edge import ANYONE, Principal
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import unauthorized


def in_system(caller: Principal, system: str) -> Principal:
    """The caller with the roles of one system, under their plain names."""
    prefix = f"{system}."
    return replace(
        caller,
        roles=frozenset(role.removeprefix(prefix) for role in caller.roles if role.startswith(prefix)),
    )


def as_of_now(find: FindPrincipal, accounts: Accounts) -> FindPrincipal:
    """A dependency: who is calling, after a look at their account if the login is to one."""

    def who(request: Request) -> Principal:
        caller = _as_of_now(find(request), accounts)
        if caller is None:
            ended = unauthorized("LOGIN_ENDED", "This login was ended. Sign in again.")
            if "Authorization" in request.headers:
                raise ended
            request.state.login_refusal = ended
            caller = ANYONE
        request.state.principal = caller
        return caller

    return who


def _as_of_now(caller: Principal, accounts: Accounts) -> Principal | None:
    if not caller.subject.startswith(PREFIX):
        return caller
    account = accounts.of(caller.subject)
    if account is None or account.closed is not None or caller.claims.get("epoch") != account.epoch:
        return None
    return replace(caller, roles=caller.roles & frozenset(account.roles))


def identity_of(find: FindPrincipal, system: str) -> FindPrincipal:
    """A dependency for the routes of one system."""

    def who(request: Request) -> Principal:
        caller = in_system(find(request), system)
        request.state.principal = caller
        return caller

    return who
