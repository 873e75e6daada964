"""Requests to a Cisco Firewall Management Center (FMC): tokens, its limits, pages, and its mistakes in our words.

Must hold: certificates are checked; a token is renewed before it expires (30 minutes, three
renewals, then a new sign-in); no more requests leave than the FMC takes in a minute, and never two at a time, since it
takes one write at a time; a request that was answered 429 was not done and is sent again after the time the FMC names,
if that is soon; a write whose answer was lost is not sent again: the caller reads first. No secret and no address of
a child is in a message. Not supported: proxies, redirects.
Elsewhere: what is asked (cisco_fmc.py).
"""

import base64
import http.client
import json
import re
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tablewright.systems.parental.firewall.driver import Conflict, RateLimited, Rejected, Unavailable
from tablewright.systems.parental.firewall.endpoints import endpoint, is_local
from tablewright.world import World

PLATFORM = "/api/fmc_platform/v1"
CONFIG = "/api/fmc_config/v1/domain"
MAX_PAYLOAD = 2_048_000
PAGE = 1000
MAX_REFRESHES = 3
# Tokens live 30 minutes by the FMC's clock; a minute is left for ours.
TOKEN_LIFE = timedelta(minutes=29)
_MINUTE = timedelta(minutes=1)
# A connection that was idle for longer may have been closed by the other side: a write would be lost in doubt.
_MAX_IDLE = 15.0
_ADDRESS = re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b|\b[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{0,4}){3,7}\b")


class NotThere(Rejected):
    """What was asked for does not exist on the FMC."""


class DuplicateName(Conflict):
    """Something of that name exists."""


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach an FMC. `address` is a host, perhaps with a port. Unless `may_be_local`, nothing is sent to an
    address of this machine or its link, whatever name leads there.

    `ca_file` names the authority that signed the FMC's certificate, if it is not one everybody knows.
    `requests_per_minute` is 120 on most, 300 from version 7.4.1 on. `patience` is how many seconds a call may wait for
    its turn before it says RateLimited.
    """

    address: str
    username: str
    password: str = field(repr=False)
    ca_file: Path | None = None
    may_be_local: bool = True
    requests_per_minute: int = 120
    patience: float = 10.0
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class _Token:
    access: str = field(repr=False)
    renewal: str = field(repr=False)
    domain: str
    since: datetime
    renewed: int = 0


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class FmcClient:
    """A signed-in user of an FMC. Threads may share it: their requests go one after the other. Close it."""

    def __init__(
        self, connection: Connection, world: World, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._given = connection
        self._world, self._sleep = world, sleep
        where = endpoint(connection.address)
        self._host, self._port = where.host, where.port
        self._tls = _tls(connection)
        self._lock = threading.RLock()
        self._wire: http.client.HTTPSConnection | None = None
        self._used_at = 0.0
        self._sent: deque[datetime] = deque()
        self._token: _Token | None = None

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        """One thing, or one page, of the domain."""
        return self._ask("GET", path, query)

    def pages(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Every item of a list, page after page."""
        offset = 0
        while True:
            answer = self._ask("GET", path, {**query, "limit": PAGE, "offset": offset})
            # An empty list has no `items`.
            items = answer.get("items", [])
            yield from items
            offset += len(items)
            if not items or offset >= answer.get("paging", {}).get("count", 0):
                return

    def post(self, path: str, body: object, **query: str | int) -> dict[str, Any]:
        return self._ask("POST", path, query, body)

    def put(self, path: str, body: object) -> dict[str, Any]:
        return self._ask("PUT", path, {}, body)

    def delete(self, path: str, **query: str | int) -> None:
        """Delete; fine if it is not there."""
        try:
            self._ask("DELETE", path, query)
        except NotThere:
            return

    def platform(self, path: str) -> dict[str, Any]:
        """What belongs to the FMC and to no domain, such as its version."""
        return self._ask("GET", path, {}, base=PLATFORM)

    def close(self) -> None:
        with self._lock:
            self._hang_up()

    # --- one request ---

    def _ask(
        self, method: str, path: str, query: Mapping[str, str | int], body: object = None, base: str = ""
    ) -> dict[str, Any]:
        payload = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        if payload is not None and len(payload) > MAX_PAYLOAD:
            raise Rejected(f"the request has {len(payload)} bytes; the FMC takes {MAX_PAYLOAD}")
        asked = f"?{urlencode(query, quote_via=quote, safe=':,;')}" if query else ""
        with self._lock:
            token = self._signed_in()
            answer = self._send(method, self._url(base, token, path + asked), _token_header(token), payload)
            if answer.status == 401:
                # The FMC forgot the token: it was restarted, or the user signed in too often elsewhere.
                token = self._sign_in()
                answer = self._send(
                    method, self._url(base, token, path + asked), _token_header(token), payload
                )
        return _checked_answer(answer)

    def _url(self, base: str, token: _Token, rest: str) -> str:
        return f"{base or f'{CONFIG}/{token.domain}'}{rest}"

    def _send(self, method: str, url: str, headers: Mapping[str, str], payload: bytes | None) -> _Answer:
        """Send, and again while the FMC says 429, as long as patience lasts."""
        waited, tried = 0.0, 0
        while True:
            waited += self._wait_for_turn(waited)
            answer = self._exchange(method, url, headers, payload)
            if answer.status != 429:
                return answer
            tried += 1
            pause = _retry_after(answer, tried, self._world.jitter())
            if waited + pause > self._given.patience:
                raise RateLimited(pause)
            self._sleep(pause)
            waited += pause

    def _wait_for_turn(self, waited: float) -> float:
        now = self._world.now()
        while self._sent and self._sent[0] <= now - _MINUTE:
            self._sent.popleft()
        pause = 0.0
        if len(self._sent) >= self._given.requests_per_minute:
            pause = (self._sent[0] + _MINUTE - now).total_seconds()
            if waited + pause > self._given.patience:
                raise RateLimited(pause)
            self._sleep(pause)
        self._sent.append(self._world.now())
        return pause

    def _exchange(self, method: str, url: str, headers: Mapping[str, str], payload: bytes | None) -> _Answer:
        for attempt in (1, 2):
            try:
                return self._exchange_once(method, url, headers, payload)
            except ssl.SSLCertVerificationError as error:
                self._hang_up()
                words = (
                    f"the certificate of {self._host} is not trusted ({error.verify_message}); name its CA"
                )
                raise Unavailable(words) from None
            except (OSError, http.client.HTTPException) as error:
                self._hang_up()
                if method != "GET" or attempt == 2:
                    raise Unavailable(f"{self._host} gave no answer ({type(error).__name__})") from None
        raise AssertionError("the loop returns or raises")

    def _exchange_once(
        self, method: str, url: str, headers: Mapping[str, str], payload: bytes | None
    ) -> _Answer:
        if self._wire is not None and time.monotonic() - self._used_at > _MAX_IDLE:
            self._hang_up()
        if self._wire is None:
            self._wire = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._given.timeout, context=self._tls
            )
            self._wire.connect()
            self._refuse_local(self._wire)
        sent = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        self._wire.request(method, url, body=payload, headers=sent)
        told = self._wire.getresponse()
        answer = _Answer(told.status, {k.lower(): v for k, v in told.getheaders()}, told.read())
        self._used_at = time.monotonic()
        if told.will_close:
            self._hang_up()
        return answer

    def _refuse_local(self, wire: http.client.HTTPSConnection) -> None:
        if not self._given.may_be_local and is_local(wire.sock.getpeername()[0]):
            self._hang_up()
            raise Unavailable(f"{self._host} leads to this machine or its link; nothing was sent")

    def _hang_up(self) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    # --- tokens ---

    def _signed_in(self) -> _Token:
        token = self._token
        if token is None:
            return self._sign_in()
        if self._world.now() < token.since + TOKEN_LIFE:
            return token
        return self._renew(token) if token.renewed < MAX_REFRESHES else self._sign_in()

    def _renew(self, token: _Token) -> _Token:
        now = self._world.now()
        headers = {**_token_header(token), "X-auth-refresh-token": token.renewal}
        answer = self._send("POST", f"{PLATFORM}/auth/refreshtoken", headers, None)
        if answer.status not in (200, 204):
            return self._sign_in()
        fresh = self._token_of(answer, now)
        self._token = replace(fresh, domain=token.domain, renewed=token.renewed + 1)
        return self._token

    def _sign_in(self) -> _Token:
        self._token = None
        now = self._world.now()
        told = f"{self._given.username}:{self._given.password}".encode()
        headers = {"Authorization": f"Basic {base64.b64encode(told).decode()}"}
        answer = self._send("POST", f"{PLATFORM}/auth/generatetoken", headers, None)
        if answer.status == 401:
            raise Unavailable(f"{self._host} refuses our user name and password; correct the device's secret")
        if answer.status not in (200, 204):
            _checked_answer(answer)
            raise Unavailable(f"{self._host} answered a sign-in with {answer.status}")
        self._token = self._token_of(answer, now)
        return self._token

    def _token_of(self, answer: _Answer, now: datetime) -> _Token:
        access = answer.headers.get("x-auth-access-token", "")
        if not access:
            raise Unavailable(f"{self._host} signed us in without a token")
        renewal = answer.headers.get("x-auth-refresh-token", "")
        return _Token(access, renewal, answer.headers.get("domain_uuid", ""), now)


def _token_header(token: _Token) -> dict[str, str]:
    return {"X-auth-access-token": token.access}


def _tls(connection: Connection) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=connection.ca_file)
    except OSError as error:
        raise Rejected(
            f"the CA file {connection.ca_file} cannot be used: {error.strerror or error}"
        ) from None


def _retry_after(answer: _Answer, tried: int, chance: float) -> float:
    told = answer.headers.get("retry-after", "")
    # Without a word from the FMC: 1, 2, 4... seconds and a bit, so that two of us do not meet again.
    return float(told) if told.isdigit() else 2.0 ** (tried - 1) + chance


def _checked_answer(answer: _Answer) -> dict[str, Any]:
    """The answer's JSON, or the mistake it tells of."""
    if 200 <= answer.status < 300:
        return _json(answer.body)
    words = _words(answer)
    match answer.status:
        case 404:
            raise NotThere(words)
        case 400 | 409 if "duplicate" in words.lower() or "already exists" in words.lower():
            raise DuplicateName(words)
        case 409 | 423:
            raise Conflict(words)
        case 401 | 403:
            raise Unavailable(f"the FMC's user may not do this: {words}")
        case status if 400 <= status < 500:
            raise Rejected(words)
        case _:
            raise Unavailable(words)


def _json(body: bytes) -> dict[str, Any]:
    if not body.strip():
        return {}
    try:
        told = json.loads(body)
    except ValueError:
        raise Unavailable("the FMC's response isn't JSON; is this the address of an FMC?") from None
    return told if isinstance(told, dict) else {"items": told}


def _words(answer: _Answer) -> str:
    """What the FMC says went wrong, without addresses: they are children's."""
    try:
        messages = json.loads(answer.body)["error"]["messages"]
        told = "; ".join(str(one["description"]) for one in messages)
    except (ValueError, KeyError, TypeError):
        told = "no reason given"
    return f"the FMC answered {answer.status}: {_ADDRESS.sub('(address)', told)[:500]}"
