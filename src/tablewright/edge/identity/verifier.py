"""A token in, a principal out: signature, issuer, audience, times.

Must hold: no claim is used before the signature was verified with a key of the issuer, with the algorithm of that key;
time is World's. Every refusal is a 401 with a code and without the token's content.
Elsewhere: where keys come from (keys.py), tokens of our own (issuer.py), reading requests (guards.py).
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from jwt import PyJWS
from jwt.exceptions import PyJWTError

from tablewright.edge.identity.keys import ALGORITHMS, Keys, RemoteKeys, check_address, discovered
from tablewright.edge.identity.principal import Principal
from tablewright.edge.problems import Problem, unauthorized
from tablewright.world import World

LEEWAY = timedelta(seconds=30)
_TOKEN_BYTES = 16 * 1024
# Other signed documents of the same issuer (logout tokens, security events, proofs) have other types.
_TOKEN_TYPES = frozenset(("", "jwt", "at+jwt", "application/at+jwt"))
_JWS = PyJWS()


def _invalid(why: str) -> Problem:
    return unauthorized("TOKEN_INVALID", f"The token cannot be used: {why}. Sign in again.")


@dataclass(frozen=True, slots=True)
class Verifier:
    """Which tokens are accepted. `roles_claim` is a name, or the path to a nested one."""

    issuer: str
    audiences: frozenset[str]
    keys: Keys
    world: World
    roles_claim: tuple[str, ...] = ("roles",)
    # Cognito's access tokens have client_id instead of aud, and token_use.
    is_cognito: bool = False
    token_uses: frozenset[str] = frozenset(("access", "id"))
    leeway: timedelta = LEEWAY

    @classmethod
    def of_oidc(
        cls,
        issuer: str,
        audiences: Iterable[str],
        world: World,
        *,
        jwks_url: str | None = None,
        roles_claim: Iterable[str] = ("roles",),
    ) -> Self:
        """Tokens of an OpenID provider; its keys are found by discovery unless `jwks_url` is given."""
        check_address(jwks_url or issuer)
        keys = RemoteKeys((lambda: jwks_url) if jwks_url else (lambda: discovered(issuer)), world)
        return cls(issuer, audience_names(audiences), keys, world, tuple(roles_claim))

    @classmethod
    def of_cognito(
        cls,
        region: str,
        pool: str,
        clients: Iterable[str],
        world: World,
        *,
        token_uses: Iterable[str] = ("access", "id"),
        jwks_url: str | None = None,
    ) -> Self:
        """Tokens of a Cognito user pool, for these app clients; groups are roles."""
        issuer = f"https://cognito-idp.{region}.amazonaws.com/{pool}"
        address = jwks_url or f"{issuer}/.well-known/jwks.json"
        check_address(address)
        keys = RemoteKeys(lambda: address, world)
        return cls(
            issuer, audience_names(clients), keys, world, ("cognito:groups",), True, frozenset(token_uses)
        )

    def verify(self, token: str) -> Principal:
        """The token's principal; raises Problem 401, or 503 if the keys cannot be fetched."""
        claims = self._signed_claims(token)
        self._check_origin(claims)
        self._check_times(claims)
        subject = claims.get("sub")
        if not isinstance(subject, str) or not subject:
            raise _invalid("it has no subject")
        email = claims.get("email") if claims.get("email_verified") in (True, "true") else None
        return Principal(
            subject,
            _words(_nested(claims, self.roles_claim)),
            email if isinstance(email, str) else None,
            _words(claims.get("scope")),
            claims,
        )

    def _signed_claims(self, token: str) -> dict[str, Any]:
        if len(token) > _TOKEN_BYTES:
            raise _invalid("it is too long")
        try:
            header = _JWS.get_unverified_header(token)
        except (PyJWTError, ValueError, RecursionError):
            raise _invalid("it is not a signed JWT") from None
        algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise _invalid(f"its algorithm is not one of {', '.join(sorted(ALGORITHMS))}")
        if "crit" in header or not isinstance(kind, str) or kind.lower() not in _TOKEN_TYPES:
            raise _invalid("it is not a token for signing in")
        key = self.keys(kid if isinstance(kid, str) else None, algorithm)
        if key is None:
            raise _invalid("its issuer has no such key")
        try:
            payload = _JWS.decode_complete(token, key.key, [key.algorithm])["payload"]
            claims = json.loads(payload)
        except (PyJWTError, ValueError, RecursionError):
            raise _invalid("its signature is wrong") from None
        if not isinstance(claims, dict):
            raise _invalid("it has no claims")
        return claims

    def _check_origin(self, claims: Mapping[str, Any]) -> None:
        if claims.get("iss") != self.issuer:
            raise unauthorized("TOKEN_FOREIGN", "The token is from another issuer than this service trusts.")
        audience = claims.get("aud")
        if self.is_cognito:
            if claims.get("token_use") not in self.token_uses:
                raise _invalid(f"token_use must be {' or '.join(sorted(self.token_uses))}")
            audience = claims.get("client_id") if audience is None else audience
        named = audience if isinstance(audience, list) else [audience]
        if not any(isinstance(name, str) and name in self.audiences for name in named):
            raise unauthorized("TOKEN_FOREIGN", "The token was made for another service than this one.")

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        now, leeway = self.world.now().timestamp(), self.leeway.total_seconds()
        expires, begins = _moment(claims, "exp"), _moment(claims, "nbf")
        if expires is None:
            raise _invalid("it has no expiry")
        if now >= expires + leeway:
            raise unauthorized("TOKEN_EXPIRED", "The login has expired. Sign in again.")
        if begins is not None and now < begins - leeway:
            raise unauthorized(
                "TOKEN_NOT_YET_VALID", "The token is not valid yet. Check the clocks of both machines."
            )


def audience_names(audiences: Iterable[str]) -> frozenset[str]:
    """The set of audiences, at least one; a single text is one audience."""
    found = frozenset((audiences,) if isinstance(audiences, str) else audiences)
    if not found:
        raise ValueError(
            "name at least one audience: a token for another service must not be accepted by this one"
        )
    return found


def _moment(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _invalid(f"{name} is not a time")
    return value


def _nested(claims: Mapping[str, Any], path: Iterable[str]) -> Any:
    found: Any = claims
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _words(value: Any) -> frozenset[str]:
    """A list of names, or names separated by spaces: providers differ."""
    names = value.split() if isinstance(value, str) else value if isinstance(value, list) else ()
    return frozenset(name for name in names if isinstance(name, str))
