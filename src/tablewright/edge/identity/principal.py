"""The caller: a subject, its roles, and its token's claims.

Only a verifier makes a principal, from a verified token.
Must hold: `ANYONE` has no subject and owns nothing. `email` is set only if the identity provider says it was verified;
an unverified one is in `claims`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller. `roles` are the token's, and authoritative; `scopes` are what the user allowed the client to do."""

    subject: str
    roles: frozenset[str] = frozenset()
    email: str | None = field(default=None, repr=False)
    scopes: frozenset[str] = frozenset()
    claims: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)

    @property
    def is_known(self) -> bool:
        return bool(self.subject)

    @property
    def used_mfa(self) -> bool:
        """Whether the sign-in took a second factor (RFC 8176's `amr`, or a claim `mfa` that is true)."""
        methods = self.claims.get("amr")
        return self.claims.get("mfa") is True or (isinstance(methods, list) and "mfa" in methods)


ANYONE = Principal("")
