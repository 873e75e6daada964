"""Who is calling: a subject, its roles, and what its token claimed.

A principal is made by a verifier from a token it trusts, and by nothing else.
Must hold: `ANYONE` has no subject and owns nothing. An e-mail address is here only if the identity provider says it
was verified; a claimed one is in `claims`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is calling. `roles` are the token's, and authoritative; scopes are what its holder let the client do."""

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
