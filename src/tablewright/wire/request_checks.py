"""The checks of a request before the engine gets it, in the service's order.

Method and content type (404), JSON (SerializationException), target (UnknownOperationException), signature,
then a body that is an object. Size comes before all of these, while the request arrives (request_parser.py).
If a body is large or compressed, target and signature come before the JSON: parsed, it may take twenty times the
memory, and it is not parsed for a caller without permission.
Must hold: a request that breaks two rules is refused for the first; nothing here reads the engine's data.
`GET /metrics` is not of the service: who may read it is decided in metrics.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from tablewright.engine import ServiceError
from tablewright.engine.api.registry import STREAM_VERBS
from tablewright.engine.limits import REQUEST_BYTES
from tablewright.wire.content_encoding import TooLarge, Undecodable, decode
from tablewright.wire.metrics import METRICS_PATH, TEXT, Metrics
from tablewright.wire.responses import AMZ_JSON, PLAIN_JSON
from tablewright.wire.signature import Authority, path_of

Headers = dict[bytes, bytes]
LARGE_BYTES = 65536
_LOCAL_PAGE = re.compile(rb"https?://(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")
# verb, whether it writes, its request, the content type of the response
Accepted = tuple[str, bool, dict[str, Any], bytes]


@dataclass(frozen=True, slots=True)
class Reply:
    """A response that needs no engine."""

    status: int
    content_type: bytes
    body: bytes
    extra: bytes = b""


@dataclass(frozen=True, slots=True)
class RequestChecks:
    """What a server's checks depend on."""

    targets: Mapping[bytes, tuple[str, bool]]
    authority: Authority
    health: bytes
    any_origin: bool
    metrics: Metrics | None = None

    def accept(
        self, method: bytes, url: bytes, headers: Headers, body: bytes | bytearray
    ) -> Accepted | Reply:
        """The request, ready for the engine, or the response that ends it here."""
        if method != b"POST":
            return self._not_a_call(method, url, headers)
        if b"origin" in headers and not self.allows_origin(headers):
            return _error(AMZ_JSON, ServiceError("AccessDeniedException", _FOREIGN_PAGE))
        content_type = headers.get(b"content-type", b"")
        if content_type != AMZ_JSON:
            content_type = content_type.partition(b";")[0].strip()  # without its parameters
            if body and content_type not in (AMZ_JSON, PLAIN_JSON):
                return _NOT_FOUND
            if content_type != AMZ_JSON:
                content_type = PLAIN_JSON
        target = self.targets.get(headers.get(b"x-amz-target", b""))
        is_heavy = len(body) > LARGE_BYTES or b"content-encoding" in headers
        try:
            request = orjson.loads(body) if body and not is_heavy else None
            if target is None:
                return _error(content_type, ServiceError("UnknownOperationException"))
            refusal = self.authority(method, url, headers, body)  # it covers the bytes as they were sent
            if refusal is not None:
                return _error(content_type, refusal)
            if is_heavy:
                request = orjson.loads(decode(body, headers.get(b"content-encoding", b""), REQUEST_BYTES))
        except orjson.JSONDecodeError:
            return _error(content_type, ServiceError("SerializationException"))
        except Undecodable:
            return _error(content_type, ServiceError("InternalFailure", status=500))
        except TooLarge:
            return Reply(413, content_type, b"")
        if type(request) is not dict:
            return _error(content_type, ServiceError("SerializationException"))
        return target[0], target[1], request, content_type

    def allows_origin(self, headers: Headers) -> bool:
        """Whether a web page of another origin may call and read the responses.

        The service allows every page, since a page without keys is refused. A server that accepts any signature
        would give its tables to every site its user visits, so it allows pages of this machine only.
        """
        origin = headers.get(b"origin")
        return origin is not None and (self.any_origin or _LOCAL_PAGE.fullmatch(origin) is not None)

    def _not_a_call(self, method: bytes, url: bytes, headers: Headers) -> Accepted | Reply:
        if method == b"GET":
            if self.metrics is not None and url.partition(b"?")[0] == METRICS_PATH:
                refusal = self.metrics.refusal(url, headers)
                return _error(PLAIN_JSON, refusal) if refusal else Reply(200, TEXT, self.metrics.text())
            if path_of(url) == b"/":
                return Reply(200, b"text/plain", self.health)
            return _NOT_FOUND
        if method == b"OPTIONS" and self.allows_origin(headers):
            return _preflight(headers)
        if method == b"HEAD":
            return Reply(404, b"application/xml", b"")
        return _NOT_FOUND


def request_checks(
    verbs: Mapping[str, bool],
    authority: Authority,
    region: str,
    any_origin: bool,
    metrics: Metrics | None = None,
) -> RequestChecks:
    """The checks for these verbs (verb -> whether it writes)."""
    targets = {_target(verb): (verb, writes) for verb, writes in verbs.items()}
    # The service, too, sends the space at the end.
    return RequestChecks(
        targets, authority, f"healthy: dynamodb.{region}.amazonaws.com ".encode(), any_origin, metrics
    )


def _target(verb: str) -> bytes:
    """The x-amz-target of a verb. Streams are a service of their own to an SDK, on the same port."""
    service = b"DynamoDBStreams_20120810." if verb in STREAM_VERBS else b"DynamoDB_20120810."
    return service + verb.encode()


_FOREIGN_PAGE = (
    "A web page of another site may not call a server that verifies no signatures; "
    "start it with --credentials to let pages call with keys"
)
_NOT_FOUND = Reply(404, b"application/xml", b"<UnknownOperationException/>\n")


def _error(content_type: bytes, error: ServiceError) -> Reply:
    return Reply(error.status, content_type, orjson.dumps(error.body()))


def _preflight(headers: Headers) -> Reply:
    """The response to a browser that asks whether a page may send these headers with this method."""
    extra = b""
    for asked, granted in (
        (b"access-control-request-headers", b"Access-Control-Allow-Headers"),
        (b"access-control-request-method", b"Access-Control-Allow-Methods"),
    ):
        if asked in headers:
            extra += b"%b: %b\r\n" % (granted, headers[asked])
    return Reply(200, b"text/plain", b"", extra + b"Access-Control-Max-Age: 172800\r\n")
