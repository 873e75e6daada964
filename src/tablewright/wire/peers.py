"""Regions in other processes: how they are asked, and how they are answered, over the same port as everybody else.

`HttpPeer` is somebody to ask for `engine.regions`; `Errands` answers such requests beside the loop, since some take
longer than a read, and with them who asks for a table's figures. Requests carry a target of our own and are signed like
any other: with the key of the credentials file if there is one, and for the region that is meant.
Must hold: a peer that does not answer is a PeerUnreachable within seconds, never a hang; a refusal is the same
ServiceError it was there.
Elsewhere: what is asked (engine/replica_peers.py).
"""

import asyncio
import hashlib
import http.client
import ssl
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import orjson

from tablewright.engine import Engine, PeerUnreachable, ServiceError
from tablewright.wire.credentials import AccessKey
from tablewright.wire.group import Deliver
from tablewright.wire.metrics import FIGURES, figures_of
from tablewright.wire.signature import sign
from tablewright.world import World, real_world

TARGET = "Tablewright_20261116."
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
_KIND = "application/x-amz-json-1.0"
# For a server that takes any signature.
_ANYBODY = AccessKey("peer", "peer")


class PeerUnusable(ValueError):
    """A peer that is not written as a region and a URL."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(f"{text!r} is no peer; write it as eu-west-1=http://host:8000")


def peer_named(text: str) -> tuple[str, str]:
    """The region and the URL of `eu-west-1=http://host:8000`."""
    region, _, url = text.partition("=")
    parts = urlsplit(url)
    is_address = (
        parts.scheme in ("http", "https") and parts.hostname and parts.path in ("", "/") and not parts.query
    )
    if not region or not is_address:
        raise PeerUnusable(text)
    return region, url


class HttpPeer:
    """A region behind a URL, to be asked. Any number of threads may ask; each has a connection of its own. Close it."""

    def __init__(
        self,
        url: str,
        region: str,
        key: AccessKey | None = None,
        world: World | None = None,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.url, self.region, self.answer_seconds = url, region, answer_seconds
        self._parts, self._key, self._world = urlsplit(url), key or _ANYBODY, world or real_world()
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._all: list[http.client.HTTPConnection] = []

    def __call__(self, verb: str, request: dict[str, Any]) -> dict[str, Any]:
        body = orjson.dumps(request)
        try:
            status, raw = self._exchanged(verb, body)
        except (OSError, http.client.HTTPException) as trouble:
            why = str(trouble) or type(trouble).__name__
            raise PeerUnreachable(f"{self.region} at {self.url} does not answer: {why}") from trouble
        try:
            told = orjson.loads(raw)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise PeerUnreachable(f"what answers at {self.url} is no engine of ours (HTTP {status})")
        if status == 200:
            return told
        name = str(told.pop("__type", f"Http{status}")).rpartition("#")[2]
        message = told.pop("message", None) or told.pop("Message", "")
        if status >= 500:
            raise PeerUnreachable(f"{self.region} at {self.url} stumbled: {name}")
        raise ServiceError(name, str(message), status, told)

    def _exchanged(self, verb: str, body: bytes) -> tuple[int, bytes]:
        """One request and its answer; on a kept connection that the other side has closed, once more on a new one."""
        for is_kept in (True, False):
            connection = self._kept() if is_kept else None
            if is_kept and connection is None:
                continue
            connection = connection or self._opened()
            try:
                connection.request("POST", "/", body, self._headers(verb, body))
                answer = connection.getresponse()
                return answer.status, answer.read()
            except BaseException as trouble:
                self._drop(connection)
                is_stale = isinstance(trouble, (ConnectionError, http.client.RemoteDisconnected))
                if not (is_kept and is_stale):
                    raise
        raise AssertionError("the second try returns or raises")

    def _headers(self, verb: str, body: bytes) -> dict[str, str]:
        headers = {"Host": self._parts.netloc, "Content-Type": _KIND, "X-Amz-Target": TARGET + verb}
        digest = hashlib.sha256(body).hexdigest()
        return headers | sign(headers, digest, self._key, self.region, self._world.now())

    def _kept(self) -> http.client.HTTPConnection | None:
        kept: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        return kept

    def _opened(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        patience = min(CONNECT_SECONDS, self.answer_seconds)
        connection = (
            http.client.HTTPSConnection(host, port, timeout=patience, context=ssl.create_default_context())
            if self._parts.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=patience)
        )
        connection.connect()
        connection.sock.settimeout(self.answer_seconds)
        self._mine.connection = connection
        with self._lock:
            self._all.append(connection)
        return connection

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        self._mine.connection = None
        connection.close()
        with self._lock:
            if connection in self._all:
                self._all.remove(connection)

    def close(self) -> None:
        with self._lock:
            for connection in self._all:
                connection.close()
            self._all.clear()


class Errands:
    """Answers other regions, and who asks for figures, in a thread of its own, one after the other."""

    def __init__(self, loop: asyncio.AbstractEventLoop, engines: Mapping[str, Engine]) -> None:
        self._loop, self._engines = loop, engines
        self._asked: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tablewright-errands", daemon=True)
        self._thread.start()

    def add(self, deliver: Deliver, engine: Engine, verb: str, request: dict[str, Any]) -> None:
        def run() -> None:
            try:
                outcome: bytes | Exception = (
                    figures_of(self._engines, request) if verb == FIGURES else engine.peer(verb, request)
                )
            except Exception as error:
                outcome = error
            self._loop.call_soon_threadsafe(deliver, verb, outcome)

        self._asked.put(run)

    def close(self) -> None:
        self._asked.put(None)
        self._thread.join()

    def _work(self) -> None:
        for run in iter(self._asked.get, None):
            run()
