"""Public keys for verifying tokens: parsed from a JWKS, or cached and refreshed from its address.

Must hold: a key verifies one algorithm, an asymmetric one, decided by the key's own type and never by a token. Keys are
fetched over HTTPS, or from this machine. An unknown key id causes a refresh, but not more often than every
`REFRESH_INTERVAL`: forged tokens must not cause requests.
"""

import json
import logging
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.algorithms import AllowedPublicKeys
from jwt.exceptions import PyJWTError

from tablewright.edge.problems import Problem
from tablewright.engine.errors import fault
from tablewright.world import World

log = logging.getLogger("tablewright.edge")

FRESH = timedelta(hours=1)  # then fetched again, so that a revoked key stops working
USABLE = timedelta(hours=24)  # while fetching fails
REFRESH_INTERVAL = timedelta(seconds=10)
RETRY_INTERVAL = timedelta(seconds=5)
_FETCH_SECONDS = 5
_FETCH_BYTES = 1024 * 1024
_LEAST_RSA_BITS = 2048

_PUBLIC_MEMBERS = {"RSA": ("n", "e"), "EC": ("crv", "x", "y"), "OKP": ("crv", "x")}
_ALGORITHMS = {("RSA", None): "RS256", ("EC", "P-256"): "ES256", ("OKP", "Ed25519"): "EdDSA"}
ALGORITHMS = frozenset(_ALGORITHMS.values())


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key and the one algorithm it verifies."""

    kid: str | None
    algorithm: str
    key: AllowedPublicKeys


# The key with this id and algorithm; raises Problem 503 when the keys cannot be had.
Keys = Callable[[str | None, str], PublicKey | None]


class KeyAddressUnsafe(ValueError):
    """An address from which keys could be replaced in transit."""

    def __init__(self, url: str) -> None:
        super().__init__(f"{url}: signing keys are fetched over https, or over http from this machine only")


class KeysUnavailable(Exception):
    """The identity provider did not answer, or not with a JWKS."""


def read_jwks(document: Mapping[str, Any]) -> tuple[PublicKey, ...]:
    """The keys of a JWKS that can verify a signature; others (encryption, symmetric, weak) are skipped."""
    entries = document.get("keys")
    if not isinstance(entries, list):
        raise KeysUnavailable("the document has no list of keys")
    found = (_public_key(entry) for entry in entries if isinstance(entry, dict))
    return tuple(key for key in found if key is not None)


def find_key(keys: Iterable[PublicKey], kid: str | None, algorithm: str) -> PublicKey | None:
    """The key a token names; for a token that names none, the only key there is."""
    fitting = [key for key in keys if key.algorithm == algorithm and kid in (None, key.kid)]
    return fitting[0] if len(fitting) == 1 or (fitting and kid is not None) else None


def _public_key(entry: Mapping[str, Any]) -> PublicKey | None:
    kind = entry.get("kty")
    algorithm = (
        _ALGORITHMS.get((kind, None if kind == "RSA" else entry.get("crv")))
        if isinstance(kind, str)
        else None
    )
    if algorithm is None or entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
        return None
    public = {"kty": kind} | {name: entry[name] for name in _PUBLIC_MEMBERS[str(kind)] if name in entry}
    try:
        key = PyJWK(public, algorithm).key
    except (PyJWTError, ValueError, TypeError):
        return None
    if isinstance(key, RSAPublicKey) and key.key_size < _LEAST_RSA_BITS:
        return None
    kid = entry.get("kid")
    return PublicKey(kid if isinstance(kid, str) else None, algorithm, key)


def is_local(url: str) -> bool:
    """Whether the URL's host is this machine, by its name alone."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_address(url: str) -> None:
    """Raise KeyAddressUnsafe if the response could be changed in transit."""
    scheme = urlsplit(url).scheme
    if scheme != "https" and not (scheme == "http" and is_local(url)):
        raise KeyAddressUnsafe(url)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any) -> None:
        return None  # redirects are not followed: their address was not checked


def fetch_json(url: str) -> Mapping[str, Any]:
    """The JSON object at an address."""
    check_address(url)
    direct = [urllib.request.ProxyHandler({})] if is_local(url) else []
    opener = urllib.request.build_opener(_NoRedirects, *direct)
    try:
        with opener.open(url, timeout=_FETCH_SECONDS) as response:
            found = json.loads(response.read(_FETCH_BYTES))
    except urllib.error.HTTPError as error:
        error.close()
        raise KeysUnavailable(f"status {error.code}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise KeysUnavailable(type(error).__name__) from error
    if not isinstance(found, dict):
        raise KeysUnavailable("the response is not a JSON object")
    return found


def discovered(issuer: str) -> str:
    """The address of an OpenID provider's keys, from its discovery document."""
    document = fetch_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if document.get("issuer") != issuer:
        raise KeysUnavailable("the discovery document is of another issuer")
    address = document.get("jwks_uri")
    if not isinstance(address, str):
        raise KeysUnavailable("the discovery document names no jwks_uri")
    return address


@dataclass(frozen=True, slots=True)
class _CachedKeys:
    keys: tuple[PublicKey, ...]
    since: datetime


class RemoteKeys:
    """The keys at an address, cached and refreshed. Threads may share it. Is a `Keys`."""

    def __init__(self, address: Callable[[], str], world: World) -> None:
        self._address, self._world = address, world
        self._cached: _CachedKeys | None = None
        self._next_refresh: datetime | None = None
        self._lock = threading.Lock()

    def __call__(self, kid: str | None, algorithm: str) -> PublicKey | None:
        held = self._cached
        if held is None or self._world.now() - held.since > FRESH:
            held = self._refresh()
        if held is None or self._world.now() - held.since > USABLE:
            words = (
                "The identity provider does not answer, so logins cannot be checked. Try again in a moment."
            )
            retry = str(int(RETRY_INTERVAL.total_seconds()))
            raise Problem(503, "IDENTITY_UNAVAILABLE", words, headers={"Retry-After": retry})
        found = find_key(held.keys, kid, algorithm)
        if found is None:
            refreshed = self._refresh()
            found = find_key(refreshed.keys, kid, algorithm) if refreshed is not None else None
        return found

    def _refresh(self) -> _CachedKeys | None:
        """Fetch the keys, unless they were fetched a moment ago, perhaps by another thread."""
        with self._lock:
            now = self._world.now()
            if self._next_refresh is not None and now < self._next_refresh:
                return self._cached
            try:
                self._cached = _CachedKeys(read_jwks(fetch_json(self._address())), now)
                self._next_refresh = now + REFRESH_INTERVAL
            except (KeysUnavailable, KeyAddressUnsafe) as error:
                self._next_refresh = now + RETRY_INTERVAL
                log.warning("signing keys not fetched", extra=fault(error))
            return self._cached
