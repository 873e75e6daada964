"""How much, and for how long, one client may ask of the server. Every number of this room, once."""

from dataclasses import dataclass

from tablewright.engine.limits import REQUEST_BYTES


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes, requests and seconds, for each connection."""

    body_bytes: int = REQUEST_BYTES  # the service's own: a longer body is answered 413
    head_bytes: int = 64 * 1024
    waiting_requests: int = 32  # pipelined behind an unfinished write; then we stop reading
    waiting_bytes: int = 1024 * 1024
    unsent_bytes: int = 1024 * 1024  # answers the client has not read; then we stop serving it
    request_seconds: float = 30  # for a whole request to arrive
    idle_seconds: float = 300  # between two requests
    unread_seconds: float = 30  # without the client reading any of its answer
    farewell_seconds: float = 2  # for the client to read why we refused
    tick_seconds: float = 1  # how often we look at the clock
