"""Who is calling, as each system sees it: the same login, but only the roles it has there.

Must hold: a role of one system never counts in another. `portal.admin` in a token is `admin` to the portal and
nothing to anybody else.
Elsewhere: tokens, cookies and their checking (edge/identity).
"""

from dataclasses import replace

from fastapi import Request

from tablewright.edge import Principal
from tablewright.edge.identity.guards import FindPrincipal


def in_system(caller: Principal, system: str) -> Principal:
    """The caller with the roles of one system, under their plain names."""
    prefix = f"{system}."
    return replace(
        caller,
        roles=frozenset(role.removeprefix(prefix) for role in caller.roles if role.startswith(prefix)),
    )


def identity_of(find: FindPrincipal, system: str) -> FindPrincipal:
    """A dependency for the routes of one system."""

    def who(request: Request) -> Principal:
        caller = in_system(find(request), system)
        request.state.principal = caller
        return caller

    return who
