"""One client's connection: requests are served one at a time, and answered in the order in which they came.

Must hold: responses leave in the order of their requests, although a write takes longer than a read begun after it; so
while a write is under way, what follows on the same connection waits, and sees that write. What waits is bounded (we
stop reading), what is slow is ended, and in every case the client gets a response or a closed connection.
A request that is not light reserves room in the memory budget before it is read, and releases it when it is answered.
Elsewhere: bytes to requests (request_parser.py), checks (request_checks.py), responses (response_writer.py), writes
(group_writer.py), slow reads (slow_reads.py), the memory of all connections (memory_budget.py).
"""

import asyncio
from collections import deque
from typing import NamedTuple, cast

from tablewright.engine.read_budget import Bounded, ExceedsBudget
from tablewright.wire.connection_budget import BODY, NOTHING, TURN, ConnectionBudget
from tablewright.wire.group_writer import Outcome
from tablewright.wire.request_checks import Headers, Reply
from tablewright.wire.request_parser import RequestParser
from tablewright.wire.response_writer import ResponseWriter, error_response
from tablewright.wire.responses import AMZ_JSON
from tablewright.wire.server_context import ServerContext
from tablewright.wire.signature import region_of
from tablewright.wire.slow_reads import Encoded
from tablewright.wire.timeouts import Activity, Timeouts


class _WaitingRequest(NamedTuple):
    """A request that waits for its turn; with `refusal`, the status that ends the connection at its turn."""

    method: bytes
    url: bytes
    headers: Headers
    body: bytes | bytearray
    keep_alive: bool
    weight: int = 0
    room: int = 0  # what is reserved for it in the memory budget
    refusal: int = 0


class Connection(asyncio.Protocol):
    """What asyncio drives: one for each client."""

    __slots__ = (
        "_budget", "_connections", "_content_type", "_context", "_is_busy", "_is_finishing", "_is_lost",
        "_is_paused", "_is_refused", "_is_unread", "_keep_alive", "_parser", "_responses", "_timeouts",
        "_transport", "_waiting",
    )  # fmt: skip

    def __init__(self, context: ServerContext, connections: "set[Connection]") -> None:
        self._context = context
        self._connections = connections  # all of the server
        self._parser = RequestParser(context.limits, self._take, self._refuse)
        self._responses = ResponseWriter(context.renderer, context.queue)
        self._budget = ConnectionBudget(context.budget)
        self._timeouts = Timeouts()
        self._waiting: deque[_WaitingRequest] = deque()
        self._is_busy = False  # another thread works on a write or a slow read
        self._is_unread = False  # the client does not read its responses
        self._is_paused = False  # too much waits: we stopped reading
        self._is_finishing = False  # the server stops
        self._is_lost = False  # the client is gone
        self._is_refused = False  # we only wait for the client to read the refusal
        # Of the request being served:
        self._keep_alive = True
        self._content_type = AMZ_JSON

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # a listening socket gives no other kind
        self._transport.set_write_buffer_limits(high=self._context.limits.unsent_bytes)
        self._responses.open(self._transport)
        self._connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._connections.discard(self)
        self._is_lost = True
        self._responses.close()
        self._context.budget.remove_unread(self.abort)
        self._context.budget.cancel(self._on_room)
        self._drop_waiting()
        self._budget.release_body(self._on_room)
        self._parser.close()

    def data_received(self, data: bytes) -> None:
        self._parser.feed(data)
        self._reserve_body()
        if self._parser.expects_continue:
            self._send_continue()

    def eof_received(self) -> bool:
        self._parser.end()
        self._budget.release_body(self._on_room)
        # True keeps our side open for the responses still to come.
        return self._is_busy or bool(self._waiting)

    def pause_writing(self) -> None:
        self._is_unread = True
        self._context.budget.add_unread(self.abort, self._transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._is_unread = False
        self._context.budget.remove_unread(self.abort)
        self._serve_waiting()

    # Serving

    def _take(
        self, method: bytes, url: bytes, headers: Headers, body: bytes | bytearray, keep_alive: bool
    ) -> None:
        weight = self._parser.weight
        room = self._budget.take_received() if weight else 0
        if self._is_busy or self._waiting or self._is_unread:
            self._wait(_WaitingRequest(method, url, headers, body, keep_alive, weight, room))
        elif weight > room:
            self._waiting.append(_WaitingRequest(method, url, headers, body, keep_alive, weight))
            self._serve_waiting()
        else:
            try:
                self._serve(method, url, headers, body, keep_alive)
            finally:
                if weight:
                    self._budget.served(weight, self._is_busy)

    def _serve(
        self, method: bytes, url: bytes, headers: Headers, body: bytes | bytearray, keep_alive: bool
    ) -> None:
        self._keep_alive = keep_alive
        context = self._context
        self._responses.begin(headers, b"origin" in headers and context.checks.allows_origin(headers))
        accepted = context.checks.accept(method, url, headers, body)
        if isinstance(accepted, Reply):
            self._send(accepted.status, accepted.content_type, accepted.body, extra=accepted.extra)
            return
        verb, writes, request, self._content_type = accepted
        engine, writer = context.engine, context.writer
        if context.branches is not None:
            engine, writer = context.branches[region_of(url, headers)]
        if writes and not engine.only_reads(verb, request):
            self._is_busy = True
            writer.add(self._deliver, verb, request)
            return
        try:
            # A get reads one row: most requests are gets, and a bound for each would take a fiftieth of their time.
            answer = engine.answer(verb, request, None if verb == "GetItem" else Bounded())
        except ExceedsBudget:
            self._is_busy = True
            accepts = self._responses.accepts
            context.slow_reads.add(self._deliver, self._is_open, engine, verb, request, accepts)
        except Exception as error:
            self._send_error(verb, error)
        else:
            self._send(200, self._content_type, answer)

    def _is_open(self) -> bool:
        return not self._is_lost

    def _deliver(self, verb: str, outcome: Outcome | Encoded) -> None:
        """The write or the slow read is done: send its response, then serve what waited behind it."""
        self._is_busy = False
        self._budget.delivered()
        if self._is_lost:
            return
        if isinstance(outcome, bytes):
            self._send(200, self._content_type, outcome)
        elif isinstance(outcome, Encoded):
            self._send(200, self._content_type, outcome.body, outcome.line)
        else:
            self._send_error(verb, outcome)
        if self._waiting or self._is_paused or self._parser.expects_continue:
            self._serve_waiting()

    def _send_error(self, verb: str, error: Exception) -> None:
        status, body = error_response(verb, error)
        self._send(status, self._content_type, body)

    def _send(
        self,
        status: int,
        content_type: bytes,
        body: bytes,
        encoding_line: bytes | None = None,
        extra: bytes = b"",
    ) -> None:
        is_ending = self._is_finishing or self._parser.is_ended
        is_last = not self._keep_alive or (is_ending and not self._waiting)
        self._responses.send(status, content_type, body, is_last, encoding_line, extra)
        if is_last:
            self._close()

    # Waiting

    def _wait(self, request: _WaitingRequest) -> None:
        self._waiting.append(request)
        limits = self._context.limits
        if not self._is_paused and (
            len(self._waiting) >= limits.waiting_requests
            or sum(len(each.body) for each in self._waiting) >= limits.waiting_bytes
        ):
            self._is_paused = True
            self._pause_or_resume_reading()

    def _serve_waiting(self) -> None:
        """Serve waiting requests until one has to wait for another thread or for room; read again once none waits."""
        waiting = self._waiting
        while waiting and not self._is_busy and not self._is_unread and self._budget.waits_for != TURN:
            request = waiting[0]
            weight = request.weight
            if weight > request.room:
                sent = len(request.body) + self._parser.received
                if not self._budget.reserve_turn(self._on_room, weight, sent):
                    self._pause_or_resume_reading()
                    return
                self._reserve_body()
            waiting.popleft()
            try:
                if request.refusal:
                    self._send_refusal(request.refusal)
                else:
                    self._serve(*request[:5])
            finally:
                if weight:
                    self._budget.served(weight, self._is_busy)
        if waiting or self._is_busy or self._transport.is_closing():
            return
        if self._is_paused:
            self._is_paused = False
            self._pause_or_resume_reading()
        self._send_continue()

    def _pause_or_resume_reading(self) -> None:
        """Stop reading while too much waits, and while there is no room for what would come."""
        transport = self._transport
        if transport.is_closing():
            return
        may_read = not self._is_paused and not self._budget.waits_for
        if may_read and not transport.is_reading():
            transport.resume_reading()
        elif not may_read and transport.is_reading():
            transport.pause_reading()

    # Room

    def _reserve_body(self) -> None:
        parser = self._parser
        if parser.is_receiving and parser.weight:
            self._budget.reserve_body(self._on_room, parser.weight, parser.received)
            self._pause_or_resume_reading()

    def _on_room(self, is_granted: bool) -> None:
        """The memory budget has reserved what we wait for, or refuses it."""
        if not is_granted:
            self._turn_away()
            return
        waited_for, self._budget.waits_for = self._budget.waits_for, NOTHING
        if waited_for == BODY:
            self._budget.receiving = self._parser.weight
        else:
            self._waiting[0] = self._waiting[0]._replace(room=self._waiting[0].weight)
            self._reserve_body()
        self._pause_or_resume_reading()
        self._serve_waiting()

    def _turn_away(self) -> None:
        """There is no room: refuse with 503, after which the client may try again."""
        if self._budget.waits_for == TURN:
            self._drop_waiting()
        self._budget.waits_for = NOTHING
        self._is_paused = False
        self._parser.refuse(503)
        self._pause_or_resume_reading()

    def _drop_waiting(self) -> None:
        room = sum(each.room for each in self._waiting)
        self._waiting.clear()
        if room:
            self._context.budget.release(room)

    def _send_continue(self) -> None:
        """Ask for the body of a client that waits for 100 Continue, once all responses before it are sent."""
        if self._budget.waits_for or self._is_busy or self._waiting:
            return
        if self._parser.expects_continue and self._parser.is_receiving:
            self._parser.expects_continue = False
            self._responses.send_continue()

    # Ending

    def finish(self) -> None:
        """The server stops: answer the requests that have arrived, accept no others."""
        self._is_finishing = True
        if not (self._is_busy or self._waiting or self._parser.is_receiving):
            self._close()

    def abort(self) -> None:
        self._transport.abort()

    def tick(self, now: float) -> None:
        """Called once a tick: end what has been the same for too long."""
        activity = self._activity()
        name = activity[1]
        if self._timeouts.is_over(now, activity):
            self._end(name)
        elif name == "request" and self._budget.receiving and self._context.budget.is_short:
            seconds = self._context.limits.stalled_seconds
            if self._timeouts.has_stalled(now, self._parser.request_count, self._parser.received, seconds):
                self._turn_away()

    def _end(self, activity: str) -> None:
        if activity == "request":
            self._parser.refuse(408)
        elif activity == "room":
            self._context.budget.cancel(self._on_room)
            self._turn_away()
        elif activity == "idle":
            self._close()
        else:
            self._transport.abort()

    def _activity(self) -> Activity:
        limits = self._context.limits
        if self._is_refused:
            return limits.farewell_seconds, "refused", 0
        if self._budget.waits_for:
            return limits.request_seconds, "room", self._budget.waits_for
        if self._is_unread or self._transport.is_closing():
            return limits.unread_seconds, "unread", self._transport.get_write_buffer_size()
        if self._parser.is_receiving and not self._is_paused:
            return limits.request_seconds, "request", self._parser.request_count
        if self._is_busy or self._waiting:
            return float("inf"), "served", 0
        return limits.idle_seconds, "idle", self._parser.request_count

    def _close(self) -> None:
        self._responses.flush()
        self._parser.end()
        self._budget.release_body(self._on_room)
        self._transport.close()

    def _refuse(self, status: int) -> None:
        """Send this status when it is its turn: the bytes that came cannot be served."""
        self._budget.release_body(self._on_room)
        if self._is_busy or self._waiting or self._is_unread:
            self._waiting.append(_WaitingRequest(b"", b"", {}, b"", False, refusal=status))
        else:
            self._send_refusal(status)

    def _send_refusal(self, status: int) -> None:
        self._responses.send_refusal(status)
        self._is_refused = True
