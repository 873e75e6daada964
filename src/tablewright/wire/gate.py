"""The order in which the service looks at a request before its database sees it.

Method and content type (404), JSON (SerializationException), target (UnknownOperationException), signature,
then a body that is an object. Size comes before all of these, while the request arrives (reader.py).
Must hold: a request that breaks two rules is told about the first; nothing here touches the engine's data.
`GET /metrics` is not the service's: its figures go to whoever may (metrics.py).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from tablewright.engine import ServiceError
from tablewright.engine.operations import STREAM_VERBS
from tablewright.engine.replica_peers import PEER_VERBS
from tablewright.wire.letterhead import AMZ_JSON, PLAIN_JSON
from tablewright.wire.metrics import FIGURES, METRICS_PATH, TEXT, Metrics
from tablewright.wire.peers import TARGET

Headers = dict[bytes, bytes]
_LOCAL_PAGE = re.compile(rb"https?://(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")
# (method, url, headers, body) -> what is wrong with the signature, or None
Authority = Callable[[bytes, bytes, Headers, bytes | bytearray], ServiceError | None]
# verb, whether it writes, its request, the content type to answer with
Admitted = tuple[str, bool, dict[str, Any], bytes]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that needed no engine."""

    status: int
    kind: bytes
    body: bytes
    extra: bytes = b""


@dataclass(frozen=True, slots=True)
class Gate:
    """What a server needs to know to let a request in."""

    targets: Mapping[bytes, tuple[str, bool]]
    authority: Authority
    health: bytes
    any_page: bool
    metrics: Metrics | None = None

    def admit(self, method: bytes, url: bytes, headers: Headers, body: bytes | bytearray) -> Admitted | Reply:
        """The request, ready for the engine, or the answer that ends it here."""
        if method != b"POST":
            return self._not_a_call(method, url, headers)
        if b"origin" in headers and not self.welcomes(headers):
            return _error(AMZ_JSON, ServiceError("AccessDeniedException", _FOREIGN_PAGE))
        kind = headers.get(b"content-type", b"")
        if kind != AMZ_JSON:
            kind = _without_parameters(kind)
            if body and kind not in (AMZ_JSON, PLAIN_JSON):
                return _NOT_FOUND
            if kind != AMZ_JSON:
                kind = PLAIN_JSON
        try:
            request = orjson.loads(body) if body else None
        except orjson.JSONDecodeError:
            return _error(kind, ServiceError("SerializationException"))
        target = self.targets.get(headers.get(b"x-amz-target", b""))
        if target is None:
            return _error(kind, ServiceError("UnknownOperationException"))
        refusal = self.authority(method, url, headers, body)
        if refusal is not None:
            return _error(kind, refusal)
        if type(request) is not dict:
            return _error(kind, ServiceError("SerializationException"))
        return target[0], target[1], request, kind

    def welcomes(self, headers: Headers) -> bool:
        """Whether a web page of another origin may call and read the answers.

        The service lets every page, since a page without keys gets nowhere. A server that takes any
        signature would hand its tables to whatever site its user visits, so it lets pages of this machine only.
        """
        origin = headers.get(b"origin")
        return origin is not None and (self.any_page or _LOCAL_PAGE.fullmatch(origin) is not None)

    def _not_a_call(self, method: bytes, url: bytes, headers: Headers) -> Admitted | Reply:
        if method == b"GET":
            if self.metrics is not None and url.partition(b"?")[0] == METRICS_PATH:
                return _figures(self.metrics, url, headers)
            return Reply(200, b"text/plain", self.health)
        if method == b"OPTIONS" and self.welcomes(headers):
            return _preflight(headers)
        if method == b"HEAD":
            return Reply(404, b"application/xml", b"")
        return _NOT_FOUND


def _figures(metrics: Metrics, url: bytes, headers: Headers) -> Admitted | Reply:
    """All figures as text; those of one table take a while to be read, which is not done here."""
    refusal = metrics.refusal(url, headers)
    if refusal is not None:
        return _error(PLAIN_JSON, refusal)
    try:
        asked = metrics.asked(url)
    except ServiceError as mistake:
        return _error(PLAIN_JSON, mistake)
    return Reply(200, TEXT, metrics.text()) if asked is None else (FIGURES, True, asked, PLAIN_JSON)


def gate(
    verbs: Mapping[str, bool],
    authority: Authority,
    region: str,
    any_page: bool,
    metrics: Metrics | None = None,
) -> Gate:
    """A gate for these verbs (verb -> whether it writes)."""
    targets = {_target(verb): (verb, writes) for verb, writes in verbs.items()}
    # What regions ask each other goes the way of writes: it is answered when it is done.
    targets |= {TARGET.encode() + verb.encode(): (verb, True) for verb in PEER_VERBS if verb != FIGURES}
    # The space at the end is the service's own.
    return Gate(targets, authority, f"healthy: dynamodb.{region}.amazonaws.com ".encode(), any_page, metrics)


def _target(verb: str) -> bytes:
    """Streams are a service of their own to an SDK, on the same port."""
    service = b"DynamoDBStreams_20120810." if verb in STREAM_VERBS else b"DynamoDB_20120810."
    return service + verb.encode()


_FOREIGN_PAGE = (
    "A web page of another site may not call a server that verifies no signatures; "
    "start it with --credentials to let pages call with keys"
)
_NOT_FOUND = Reply(404, b"application/xml", b"<UnknownOperationException/>\n")


def _without_parameters(content_type: bytes) -> bytes:
    return content_type.partition(b";")[0].strip()


def _error(kind: bytes, error: ServiceError) -> Reply:
    return Reply(error.status, kind, orjson.dumps(error.body()))


def _preflight(headers: Headers) -> Reply:
    """A browser asks whether a page it lets call may call so."""
    extra = b""
    for asked, granted in (
        (b"access-control-request-headers", b"Access-Control-Allow-Headers"),
        (b"access-control-request-method", b"Access-Control-Allow-Methods"),
    ):
        if asked in headers:
            extra += b"%b: %b\r\n" % (granted, headers[asked])
    return Reply(200, b"text/plain", b"", extra + b"Access-Control-Max-Age: 172800\r\n")
