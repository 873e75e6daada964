"""How much, and for how long, clients may use the server: every number of this package."""

from dataclasses import dataclass

from tablewright.engine.limits import REQUEST_BYTES


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes, requests and seconds: of all connections together, then of each."""

    held_bytes: int = 128 * 1024 * 1024  # requests that are being received, wait or are being served
    unread_bytes: int = 128 * 1024 * 1024  # responses that clients do not read
    light_bytes: int = 16 * 1024  # a request up to this size is not counted
    stalled_seconds: float = 2  # without 64 KB of a body arriving, while others wait for room
    body_bytes: int = REQUEST_BYTES  # the service's own: a longer body is answered 413
    head_bytes: int = 16 * 1024  # request line and headers; the service's own, longer ones are answered 400
    waiting_requests: int = 32  # pipelined behind an unfinished request; then we stop reading
    waiting_bytes: int = 64 * 1024
    unsent_bytes: int = 64 * 1024  # responses the client has not read; then we stop serving it
    request_seconds: float = 30  # for a whole request to arrive
    idle_seconds: float = 300  # between two requests
    unread_seconds: float = 30  # without the client reading any of its response
    farewell_seconds: float = 2  # for the client to read a refusal
    tick_seconds: float = 1  # how often timeouts are checked
