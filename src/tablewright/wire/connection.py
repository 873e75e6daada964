"""One client's connection: requests served one at a time, answers out in the order they were asked for.

Must hold: answers leave in the order their requests came, although a write is answered later than a read
begun after it; so while a write is under way, what follows on the same connection waits, and sees it.
What waits is bounded (we stop reading), what is slow is given up, and whatever happens the client gets an
answer or a closed connection, never silence. Nothing that is logged quotes an item.
Elsewhere: bytes to requests (reader.py), what is asked (gate.py), answers (letterhead.py), writes (group.py).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import orjson

from tablewright.engine import Engine, ServiceError
from tablewright.engine.errors import fault
from tablewright.engine.replica_peers import PEER_VERBS
from tablewright.wire.gate import Gate, Headers, Reply
from tablewright.wire.group import GroupWriter, Outcome
from tablewright.wire.letterhead import (
    AMZ_JSON,
    CLOSE,
    CONTINUE,
    GZIP_FLOOR,
    KEEP,
    Letterhead,
    gzipped,
    wants_gzip,
)
from tablewright.wire.limits import Limits
from tablewright.wire.outbox import Outbox
from tablewright.wire.peers import Errands
from tablewright.wire.reader import Reader
from tablewright.wire.signature import region_meant

log = logging.getLogger("tablewright.wire")


@dataclass(frozen=True, slots=True)
class Desk:
    """What all connections of one server share."""

    engine: Engine
    gate: Gate
    letterhead: Letterhead
    writer: GroupWriter
    outbox: Outbox
    limits: Limits
    errands: Errands
    # Where there are several regions, each by its name; the engine and writer above are the home region's.
    branches: Mapping[str, tuple[Engine, GroupWriter]] | None = None
    connections: "set[Connection]" = field(default_factory=set)


class _Waiting(NamedTuple):
    """A request whose turn has not come; or, with a refusal, where the conversation ends."""

    method: bytes
    url: bytes
    headers: Headers
    body: bytes | bytearray
    keep: bool
    refusal: int = 0


class Connection(asyncio.Protocol):
    """What asyncio drives: one for each client."""

    __slots__ = (
        "_accepts",
        "_desk",
        "_doing",
        "_extra",
        "_going_on",
        "_is_busy",
        "_is_leaving",
        "_is_lost",
        "_is_paused",
        "_is_posted",
        "_is_stalled",
        "_keep",
        "_kind",
        "_lingers",
        "_reader",
        "_since",
        "_transport",
        "_waiting",
    )

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._reader = Reader(desk.limits, self._take, self._refuse)
        self._waiting: deque[_Waiting] = deque()
        self._is_busy = False  # a write is with the group writer
        self._is_stalled = False  # the client does not read its answers
        self._is_paused = False  # too much waits: we stopped reading
        self._is_leaving = False  # the server stops
        self._is_lost = False  # nobody to answer any more
        self._is_posted = False  # an answer is in the outbox
        self._lingers = False  # refused; we only wait for the client to notice
        self._doing: tuple[float, str, int] = (0, "", 0)
        self._since = 0.0
        # Of the request being served:
        self._keep = True
        self._accepts = b""
        self._going_on = b""
        self._extra = b""
        self._kind = AMZ_JSON

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # a listening socket gives no other kind
        self._transport.set_write_buffer_limits(high=self._desk.limits.unsent_bytes)
        self._desk.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._desk.connections.discard(self)
        self._is_lost = True
        self._waiting.clear()
        self._reader.end()

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        if self._reader.expects:
            self._encourage()

    def eof_received(self) -> bool:
        self._reader.end()
        return self._is_busy or bool(self._waiting)  # True keeps our side open for the answers owed

    def pause_writing(self) -> None:
        self._is_stalled = True

    def resume_writing(self) -> None:
        self._is_stalled = False
        self._proceed()

    # Serving

    def _take(self, method: bytes, url: bytes, headers: Headers, body: bytes | bytearray, keep: bool) -> None:
        if self._is_busy or self._waiting or self._is_stalled:
            self._wait(_Waiting(method, url, headers, body, keep))
        else:
            self._serve(method, url, headers, body, keep)

    def _serve(
        self, method: bytes, url: bytes, headers: Headers, body: bytes | bytearray, keep: bool
    ) -> None:
        self._keep = keep
        self._extra = (
            b"Access-Control-Allow-Origin: *\r\n"
            if b"origin" in headers and self._desk.gate.welcomes(headers)
            else b""
        )
        self._going_on = KEEP if b"connection" in headers else b""
        self._accepts = headers.get(b"accept-encoding", b"")
        desk = self._desk
        admitted = desk.gate.admit(method, url, headers, body)
        if isinstance(admitted, Reply):
            self._extra += admitted.extra
            self._send(admitted.status, admitted.kind, admitted.body)
            return
        verb, writes, request, self._kind = admitted
        engine, writer = desk.engine, desk.writer
        if desk.branches is not None:
            engine, writer = desk.branches[region_meant(url, headers)]
        if writes and not engine.only_reads(verb, request):
            self._is_busy = True
            if verb in PEER_VERBS:
                desk.errands.add(self._deliver, engine, verb, request)
            else:
                writer.add(self._deliver, verb, request)
            return
        try:
            answer = engine.answer(verb, request)
        except Exception as error:
            self._send_error(verb, error)
        else:
            self._send(200, self._kind, answer)

    def _deliver(self, verb: str, outcome: Outcome) -> None:
        """The write is done: answer it, then what waited behind it."""
        self._is_busy = False
        if self._is_lost:
            return
        if isinstance(outcome, bytes):
            self._send(200, self._kind, outcome)
        else:
            self._send_error(verb, outcome)
        if self._waiting or self._is_paused or self._reader.expects:
            self._proceed()

    def _send_error(self, verb: str, error: Exception) -> None:
        if not isinstance(error, ServiceError):
            log_failure(verb, error)
            error = ServiceError("InternalServerError", "Internal server error", status=500)
        self._send(error.status, self._kind, orjson.dumps(error.body()))

    def _send(self, status: int, kind: bytes, body: bytes) -> None:
        extra = self._extra
        if len(body) > GZIP_FLOOR and wants_gzip(self._accepts):
            body = gzipped(body)
            extra += b"Content-Encoding: gzip\r\n"
        is_last = not self._keep or ((self._is_leaving or self._reader.is_ended) and not self._waiting)
        extra += CLOSE if is_last else self._going_on
        letter = self._desk.letterhead.letter(status, kind, body, extra)
        if self._is_posted:
            self._desk.outbox.flush()
        self._is_posted = True
        self._desk.outbox.post(self._mail, letter)
        if is_last:
            self._close()

    def _mail(self, letter: bytes) -> None:
        self._is_posted = False
        if not self._is_lost:
            self._transport.write(letter)

    # Waiting

    def _wait(self, request: _Waiting) -> None:
        self._waiting.append(request)
        limits = self._desk.limits
        if not self._is_paused and (
            len(self._waiting) >= limits.waiting_requests
            or sum(len(each.body) for each in self._waiting) >= limits.waiting_bytes
        ):
            self._is_paused = True
            self._transport.pause_reading()

    def _proceed(self) -> None:
        """Serve what waited, as far as it goes; read on once nothing waits."""
        waiting = self._waiting
        while waiting and not self._is_busy and not self._is_stalled:
            request = waiting.popleft()
            if request.refusal:
                self._send_refusal(request.refusal)
            else:
                self._serve(*request[:5])
        if waiting or self._is_busy or self._transport.is_closing():
            return
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        self._encourage()

    def _encourage(self) -> None:
        """Ask for the body of a client that waits to be asked, once nothing is owed before it."""
        if self._reader.expects and self._reader.is_receiving and not self._is_busy and not self._waiting:
            self._reader.expects = False
            self._desk.outbox.flush()
            self._transport.write(CONTINUE)

    # Ending

    def leave(self) -> None:
        """The server stops: finish what was asked, take nothing new."""
        self._is_leaving = True
        if not (self._is_busy or self._waiting or self._reader.is_receiving):
            self._close()

    def abort(self) -> None:
        self._transport.abort()

    def look_at_the_clock(self, now: float) -> None:
        """Called once a tick: end what has been the same for too long."""
        doing = self._what_it_does()
        if doing != self._doing:
            self._doing, self._since = doing, now
            return
        limit, what, _ = doing
        if now - self._since < limit:
            return
        if what == "request":
            self._reader.refuse(408)
        elif what == "idle":
            self._close()
        else:
            self._transport.abort()

    def _what_it_does(self) -> tuple[float, str, int]:
        """How long it may do so, what it does, and a number that changes with progress."""
        limits = self._desk.limits
        if self._lingers:
            return limits.farewell_seconds, "farewell", 0
        if self._is_stalled or self._transport.is_closing():
            return limits.unread_seconds, "unread", self._transport.get_write_buffer_size()
        if self._reader.is_receiving and not self._is_paused:
            return limits.request_seconds, "request", self._reader.begun
        if self._is_busy or self._waiting:
            return float("inf"), "served", 0
        return limits.idle_seconds, "idle", self._reader.begun

    def _close(self) -> None:
        self._desk.outbox.flush()
        self._reader.end()
        self._transport.close()

    def _refuse(self, status: int) -> None:
        """Say, when it is its turn, that this is no request we can serve."""
        if self._is_busy or self._waiting or self._is_stalled:
            self._waiting.append(_Waiting(b"", b"", {}, b"", False, status))
        else:
            self._send_refusal(status)

    def _send_refusal(self, status: int) -> None:
        # Closing with unread bytes in the socket would reset it, and the client might never see why: we
        # end our side only, swallow what still comes, and close when the client does or takes too long.
        self._desk.outbox.flush()
        self._transport.write(self._desk.letterhead.letter(status, AMZ_JSON, b"", CLOSE))
        self._transport.write_eof()
        self._lingers = True


def log_failure(verb: str, error: Exception) -> None:
    """Which line broke, and on what kind of error. Not its message: that may quote an item."""
    log.error("request failed", extra={"verb": verb, **fault(error)})
