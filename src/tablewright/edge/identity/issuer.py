"""The built-in identity provider: signs tokens with keys of its own and publishes their public halves.

Each key is one file in a directory, `000001.json`, never changed after it is written; the newest key signs. An older
key stays in the JWKS until the last token it may have signed has expired, then its file is deleted.
Must hold: a key file is readable by its owner alone, or it is not used; two processes that start together, or rotate
together, end with the same keys (a file appears whole, and under each number once).
Not here: who may have a token (the systems decide), login pages, the code flow.
"""

import base64
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from fastapi import APIRouter, Response
from jwt.algorithms import AllowedPrivateKeys, ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tablewright.edge.etags import public_cache
from tablewright.edge.identity.keys import PublicKey, find_key, read_jwks
from tablewright.edge.identity.verifier import LEEWAY, Verifier, audience_names
from tablewright.edge.routes import Router
from tablewright.world import World

LONGEST = timedelta(days=1)
_OURS = frozenset(("iss", "sub", "aud", "iat", "nbf", "exp", "jti", "roles", "email", "email_verified"))
_EXPORTS: Mapping[str, Callable[..., Any]] = {
    "EdDSA": OKPAlgorithm.to_jwk,
    "ES256": ECAlgorithm.to_jwk,
    "RS256": RSAAlgorithm.to_jwk,
}


class KeyFileExposed(PermissionError):
    """A private key that others than its owner could read."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} can be read by others than its owner, who could use it to sign in as anyone. If you are sure that "
            "it was not read, run chmod 600; else delete it, which ends every login made with it"
        )


class KeyFileUnusable(ValueError):
    """A key file that is not what this issuer wrote."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is not a key of this issuer; restore it from a backup, or move it away")


class LifetimeTooLong(ValueError):
    """A token's lifetime would exceed the time that keys are kept."""

    def __init__(self, lifetime: timedelta, longest: timedelta) -> None:
        super().__init__(
            f"a token's lifetime must be between a second and {longest}, not {lifetime}: an older key is "
            "kept no longer (open the issuer with a larger `longest`)"
        )


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key with its public half as a JWK."""

    number: int
    made: datetime
    algorithm: str
    private: AllowedPrivateKeys = field(repr=False)
    jwk: Mapping[str, Any]

    @property
    def kid(self) -> str:
        return str(self.jwk["kid"])


def new_key(number: int, algorithm: str, made: datetime) -> SigningKey:
    """A new key. Its randomness is the operating system's, not World's: a key must not be predictable."""
    private: AllowedPrivateKeys
    match algorithm:
        case "EdDSA":
            private = Ed25519PrivateKey.generate()
        case "ES256":
            private = generate_private_key(SECP256R1())
        case "RS256":
            private = generate_rsa_key(public_exponent=65537, key_size=2048)
        case _:
            raise ValueError(f"an issuer signs with EdDSA, ES256 or RS256, not {algorithm}")
    return SigningKey(number, made, algorithm, private, _jwk_of(private, algorithm))


def _jwk_of(private: AllowedPrivateKeys, algorithm: str) -> dict[str, Any]:
    public: dict[str, Any] = _EXPORTS[algorithm](private.public_key(), as_dict=True)
    members = {name: public[name] for name in ("crv", "e", "kty", "n", "x", "y") if name in public}
    # The key's id is its fingerprint (RFC 7638), so ids cannot collide.
    text = json.dumps(members, sort_keys=True, separators=(",", ":"))
    kid = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return members | {"kid": kid, "use": "sig", "alg": algorithm}


class Issuer:
    """Signs for one issuer URL with the keys of one directory. Threads and processes may share the directory."""

    def __init__(
        self,
        directory: str | Path,
        url: str,
        world: World,
        *,
        algorithm: str = "EdDSA",
        longest: timedelta = LONGEST,
    ) -> None:
        self.url, self._world, self._algorithm, self._longest = url, world, algorithm, longest
        self._directory = Path(directory)
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._read: dict[str, SigningKey] = {}
        if not self._names():
            self._add(new_key(1, algorithm, world.now()))
        self._keys()  # raises now, not at the first login, if a key cannot be used

    def issue(
        self,
        subject: str,
        *,
        audience: str,
        lifetime: timedelta,
        roles: Iterable[str] = (),
        email: str | None = None,
        claims: Mapping[str, Any] | None = None,
    ) -> str:
        """A signed token. `email` is one you verified; `claims` are further members, such as amr or scope."""
        if not subject:
            raise ValueError("a token needs a subject")
        if not timedelta(seconds=1) <= lifetime <= self._longest:
            raise LifetimeTooLong(lifetime, self._longest)
        taken = _OURS.intersection(claims or ())
        if taken:
            raise ValueError(f"the issuer sets {', '.join(sorted(taken))} itself")
        now = int(self._world.now().timestamp())
        payload = dict(claims or {}) | {
            "iss": self.url,
            "sub": subject,
            "aud": audience,
            "iat": now,
            "nbf": now,
            "exp": now + int(lifetime.total_seconds()),
            "jti": self._world.new_id(),
            "roles": sorted(roles),
        }
        if email is not None:
            payload |= {"email": email, "email_verified": True}
        key = self._keys()[-1]
        return jwt.encode(payload, key.private, key.algorithm, {"kid": key.kid})

    def rotate(self) -> str:
        """Sign with a new key from now on and delete expired ones; returns the new key's id."""
        newest = self._keys()[-1]
        self._add(new_key(newest.number + 1, self._algorithm, self._world.now()))
        keys = self._keys()
        for key in keys[:-1]:
            if key not in self._published(keys):
                (self._directory / _name(key.number)).unlink(missing_ok=True)
        return keys[-1].kid

    def jwks(self) -> dict[str, Any]:
        """The public halves of the keys whose tokens may still be valid."""
        return {"keys": [dict(key.jwk) for key in self._published(self._keys())]}

    def public_key(self, kid: str | None, algorithm: str) -> PublicKey | None:
        """A `Keys`, for a verifier in this process."""
        return find_key(read_jwks(self.jwks()), kid, algorithm)

    def verifier(self, audiences: Iterable[str]) -> Verifier:
        """A verifier of this issuer's tokens, without HTTP."""
        return Verifier(self.url, audience_names(audiences), self.public_key, self._world)

    def router(self) -> APIRouter:
        """Routes with the public keys. Mount it so that `url` + `/.well-known/...` reaches it."""
        router = Router(prefix="/.well-known", include_in_schema=False)

        @router.get("/openid-configuration")
        def configuration(response: Response) -> dict[str, Any]:
            response.headers["Cache-Control"] = public_cache()
            return {
                "issuer": self.url,
                "jwks_uri": f"{self.url.rstrip('/')}/.well-known/jwks.json",
                "id_token_signing_alg_values_supported": sorted({key.algorithm for key in self._keys()}),
                "response_types_supported": ["id_token"],
                "subject_types_supported": ["public"],
            }

        @router.get("/jwks.json")
        def keys(response: Response) -> dict[str, Any]:
            response.headers["Cache-Control"] = public_cache()
            return self.jwks()

        return router

    def _published(self, keys: list[SigningKey]) -> list[SigningKey]:
        now, kept = self._world.now(), self._longest + 2 * LEEWAY
        succeeded = [following.made for following in keys[1:]]
        return [key for key, since in zip(keys, succeeded, strict=False) if now - since <= kept] + keys[-1:]

    def _names(self) -> list[str]:
        return sorted(
            name for name in os.listdir(self._directory) if name.endswith(".json") and name[:-5].isdigit()
        )

    def _keys(self) -> list[SigningKey]:
        """The keys, oldest first. The directory is listed each time: another process may have rotated."""
        names = self._names()
        read = self._read
        if list(read) != names:
            try:
                read = {name: read.get(name) or _read_key(self._directory / name) for name in names}
            except FileNotFoundError:
                return self._keys()  # deleted by another process since we listed it
            self._read = read
        return list(read.values())

    def _add(self, key: SigningKey) -> None:
        """Write a key's file, unless another process has written this number."""
        path = self._directory / _name(key.number)
        draft = path.with_suffix(f".{self._world.new_id()}.draft")
        pem = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        content = {"algorithm": key.algorithm, "made": key.made.isoformat(), "private": pem}
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)  # unlike a rename, this fails if the file exists
        except FileExistsError:
            pass  # use the other process's key
        finally:
            draft.unlink()


def _name(number: int) -> str:
    return f"{number:06}.json"


def _read_key(path: Path) -> SigningKey:
    with open(path, encoding="utf-8") as file:
        if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise KeyFileExposed(path)
        text = file.read()
    try:
        content = json.loads(text)
        private: Any = load_pem_private_key(content["private"].encode(), None)
        algorithm, made = content["algorithm"], datetime.fromisoformat(content["made"])
        return SigningKey(int(path.stem), made, algorithm, private, _jwk_of(private, algorithm))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise KeyFileUnusable(path) from error
