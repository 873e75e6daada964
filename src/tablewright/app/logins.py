"""Logins: what one contains, and those that end before their token expires.

A login is a token of our issuer: to an account, as a demo user, or issued by a system. Signing out ends it on the
server too, not only in the browser.
Must hold: a login issued by a system is valid only there; the token of an ended login is never accepted again; the
record of the end is deleted when the token would have expired.
Elsewhere: all logins of an account at once (its epoch, accounts.py), whether one is still valid (identity.py).
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright.app.code_login import SignedIn
from tablewright.app.design import EndedLogin, ended_logins
from tablewright.edge import Issuer, Principal
from tablewright.edge.identity.verifier import LEEWAY
from tablewright.kit.system import FOR, LOGIN_LASTS, Issue, Person
from tablewright.mapping import Db

AUDIENCE = "tablewright"
DEMO = "demo"  # a claim of our tokens: of a demo user
_LONGER = LEEWAY + timedelta(minutes=1)


# --- made ---


def of_demo(issuer: Issuer, person: Person) -> str:
    """A login as this demo user; valid only in the demo."""
    claims: dict[str, Any] = {"name": person.name, DEMO: True}
    if person.used_mfa:
        claims["amr"] = ["pwd", "mfa"]
    return _issued(issuer, person.subject, person.qualified_roles, person.email, claims)


def of_account(issuer: Issuer, signed: SignedIn) -> str:
    """A login to an account; it and its roles are valid as long as the account has them (identity.py)."""
    account = signed.account
    claims: dict[str, Any] = {"amr": list(signed.methods), "epoch": account.epoch}
    if account.name:
        claims["name"] = account.name
    return _issued(issuer, account.subject, tuple(account.roles), account.email, claims)


def issued_by(system: str, issuer: Issuer) -> Issue:
    """Logins that a system may issue: with its own roles, valid only there."""

    def issue(
        subject: str, roles: tuple[str, ...], email: str, claims: Mapping[str, Any] | None = None, /
    ) -> str:
        named = tuple(f"{system}.{role}" for role in roles)
        return _issued(issuer, subject, named, email or None, {**(claims or {}), FOR: system})

    return issue


def _issued(
    issuer: Issuer, subject: str, roles: tuple[str, ...], email: str | None, claims: Mapping[str, Any]
) -> str:
    return issuer.issue(
        subject, audience=AUDIENCE, lifetime=LOGIN_LASTS, roles=roles, email=email, claims=claims
    )


# --- ended ---


def end(db: Db, caller: Principal) -> None:
    """End the caller's login: its token is refused from now on. Without a token nothing happens."""
    token_id, ends = caller.claims.get("jti"), caller.claims.get("exp")
    if isinstance(token_id, str) and isinstance(ends, int):
        until = datetime.fromtimestamp(ends, UTC) + _LONGER
        db.write(ended_logins.put(EndedLogin(token_id=token_id, until=until)))


def is_ended(db: Db, caller: Principal) -> bool:
    token_id = caller.claims.get("jti")
    return isinstance(token_id, str) and db.one(ended_logins.get(token_id), consistent=True) is not None
