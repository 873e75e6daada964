"""Sign in with Apple: what an id_token proves, and that it is used once (SK-X3, SK-E3).

The client asks us for a nonce, hands it to Apple (as it is or hashed, as Apple's own samples do), and brings back the
token with it inside. Must hold: a token is believed only if a key of the issuer signed it with RS256, for our app, in
time, and with a nonce we gave out a moment ago; a stolen token is useless on another device.
Elsewhere: signatures, issuer, audience, times, rotated keys (edge/identity); whose account it is (accounts.py).
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import orjson

from tablewright.edge import Issuer, Verifier
from tablewright.edge.errors import BadRequest, Unauthenticated
from tablewright.edge.identity import PublicKey
from tablewright.edge.identity.keys import Keys
from tablewright.kit.keyring import KeyRing
from tablewright.mapping import AlreadyExists
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.addresses import email_address
from tablewright.systems.travel.model import SpentNonce
from tablewright.systems.travel.repository import Repository
from tablewright.world import World

ISSUER, KEYS_URL = "https://appleid.apple.com", "https://appleid.apple.com/auth/keys"
NONCE_LIVES = timedelta(minutes=10)
DEVELOPMENT_APP = "app.skratch.development"
_SUBJECT_AT_MOST = 128
_PURPOSE = "apple nonce"


@dataclass(frozen=True, slots=True)
class AppleLogin:
    """Apple's statement about a person. `email` is set only if Apple verified it."""

    subject: str
    email: str | None = field(default=None, repr=False)
    is_private_relay: bool = False


class AppleVerifier:
    """Believes id_tokens of one issuer. For Apple itself: `apple_of`; in development and tests: `DevelopmentApple`."""

    def __init__(self, verifier: Verifier, web: str | None = None) -> None:
        """`web` is the client id of our pages: Apple knows pages by another one than apps."""
        self._verifier, self.web = verifier, web

    def way(self, nonce: str, state: str, back: str) -> str:
        """Where a browser signs in at Apple. It comes `back` with the answer behind the #, which no server sees."""
        # Without a scope: Apple would bring back a name or address only by a form of its own site, without our cookie.
        asked = {
            "response_type": "code id_token",
            "response_mode": "fragment",
            "client_id": self.web or "",
            "redirect_uri": back,
            "nonce": hashlib.sha256(nonce.encode()).hexdigest(),
            "state": state,
        }
        return f"{self._verifier.issuer}/auth/authorize?{urlencode(asked)}"

    def verify(self, id_token: str, nonce: str) -> AppleLogin:
        """The subject of the token; raises Problem 401 (503 while the keys are unavailable), or NONCE_MISMATCH."""
        found = self._verifier.verify(id_token)
        claims = found.claims
        told = claims.get("nonce")
        fitting = (nonce, hashlib.sha256(nonce.encode()).hexdigest())
        if not isinstance(told, str) or not any(
            [hmac.compare_digest(told.encode(), each.encode()) for each in fitting]
        ):
            words = "This login belongs to another sign-in. Please sign in with Apple again."
            raise Unauthenticated("NONCE_MISMATCH", words, "nonce")
        if len(found.subject) > _SUBJECT_AT_MOST:
            raise Unauthenticated(
                "TOKEN_INVALID", "The token's subject is too long. Please sign in again.", "id_token"
            )
        return AppleLogin(
            found.subject, _address(found.email), claims.get("is_private_email") in (True, "true")
        )


def apple_of(
    apps: Iterable[str],
    world: World,
    *,
    issuer: str = ISSUER,
    keys_url: str = KEYS_URL,
    web: str | None = None,
) -> AppleVerifier:
    """Apple's own tokens, for apps with these client ids, and for our pages if they have one."""
    known = [*apps, web] if web is not None else apps
    return AppleVerifier(_rs256_only(Verifier.of_oidc(issuer, known, world, jwks_url=keys_url)), web)


class AppleSettingsUnusable(ValueError):
    """The file that says for which apps Apple's tokens are taken is not what it should be."""

    def __init__(self, path: Path) -> None:
        super().__init__(f'{path} must say {{"apps": ["com.example.app"]}}, the client ids that Apple knows')


def apple_in(home: Path, world: World) -> AppleVerifier | None:
    """Apple as `apple.json` of a directory says: its `apps`, the id of our pages as `web` if they have one,
    and another `issuer` and `keys_url` if need be.

    None without the file: then Sign in with Apple is not offered.
    """
    path = home / "apple.json"
    if not path.exists():
        return None
    try:
        told = orjson.loads(path.read_bytes())
        apps = [str(app) for app in told["apps"]] if isinstance(told["apps"], list) else []
        issuer, keys = str(told.get("issuer", ISSUER)), str(told.get("keys_url", KEYS_URL))
        web = str(told["web"]) if told.get("web") else None
        return apple_of(apps, world, issuer=issuer, keys_url=keys, web=web)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise AppleSettingsUnusable(path) from None


class DevelopmentApple(AppleVerifier):
    """Stands in for Apple where there is none: signs with an RSA key of its own, and believes only that."""

    def __init__(self, issuer: Issuer, app: str = DEVELOPMENT_APP) -> None:
        super().__init__(_rs256_only(issuer.verifier([app])), app)
        self._issuer, self._app = issuer, app

    def id_token(self, subject: str, nonce: str, email: str | None = None) -> str:
        """The token that Apple would issue for a person who signed in there."""
        claims = {"nonce": hashlib.sha256(nonce.encode()).hexdigest(), "nonce_supported": True}
        return self._issuer.issue(
            subject, audience=self._app, lifetime=NONCE_LIVES, email=email, claims=claims
        )


def _rs256_only(verifier: Verifier) -> Verifier:
    """Apple signs with RS256 and names the key; a token that does otherwise is not Apple's."""
    keys: Keys = verifier.keys

    def named(kid: str | None, algorithm: str) -> PublicKey | None:
        return keys(kid, algorithm) if kid is not None and algorithm == "RS256" else None

    return Verifier(verifier.issuer, verifier.audiences, named, verifier.world)


def _address(told: str | None) -> str | None:
    try:
        return email_address(told) if told else None
    except BadRequest:
        return None  # an address we cannot write to is as good as none


class Nonces:
    """Nonces that we gave out: nothing is stored until one comes back."""

    def __init__(self, repository: Repository, keyring: KeyRing) -> None:
        self._repository, self._keyring = repository, keyring

    def give(self) -> str:
        """A nonce that works for ten minutes."""
        ends = int((self._repository.now() + NONCE_LIVES).timestamp())
        said = f"{ends}.{self._repository.world.new_id()}"
        return f"{said}.{self._keyring.hmac(_PURPOSE, said)}"

    def spend(self, nonce: str, device_id: str) -> None:
        """Take a nonce back: once, or again on the same device, whose answer may have been lost."""
        said, _, proof = nonce.rpartition(".")
        ends = said.partition(".")[0]
        is_ours = self._keyring.is_hmac(_PURPOSE, said, proof)
        if not is_ours or int(ends) <= self._repository.now().timestamp():
            raise Unauthenticated("NONCE_INVALID", "This sign-in took too long. Please try again.", "nonce")
        spent = SpentNonce(
            nonce_hash=hashlib.sha256(nonce.encode()).hexdigest(),
            device_id=device_id,
            expires_at=self._repository.now() + NONCE_LIVES,
        )
        try:
            self._repository.db.write(d.nonces.create(spent))
        except AlreadyExists as used:
            if not isinstance(used.current, SpentNonce) or used.current.device_id != device_id:
                raise Unauthenticated(
                    "NONCE_USED", "This login was already used. Please sign in again.", "nonce"
                ) from None
