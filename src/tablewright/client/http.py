"""Calls over HTTP to any DynamoDB endpoint: our own server, Amazon, DynamoDB Local, Alternator.

    with HttpCall("http://127.0.0.1:8000", "us-east-1", Credentials("id", "secret")) as call: ...
    with HttpCall.resolve() as call: ...       # region, endpoint and credentials as boto3 would find them

Retried: transient refusals, responses with a wrong CRC-32, and lost connections, for every verb, as the AWS SDKs do. A
write whose response was lost may therefore be carried out twice: a bare `ADD` counts double, a condition fails because
of our own first write. Where that matters, use a transaction (each gets a ClientRequestToken, so repeating it is
harmless), or read again after `CallRefused.follows_lost_answer` or `NoAnswer.may_have_been_carried_out`.
The four verbs of DynamoDB Streams are sent under that service's name and, on Amazon, to its own host. SearchVectors
has a host of its own there, too.
Must hold: an invalid request is never retried; no call takes longer than `Timeouts.total`; each attempt is signed.
Not supported: proxies, redirects, compressed responses, HTTP/2.
Elsewhere: sockets (connection_pool.py), bytes (http_response.py), signatures (signing.py), botocore (aws_config.py).
"""

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from tablewright.client import aws_config
from tablewright.client.call import (
    STREAM_VERBS,
    CallFailed,
    CallRefused,
    NoAnswer,
    RequestUnsendable,
    json_of,
)
from tablewright.client.connection_pool import (
    Connect,
    ConnectionPool,
    ExchangeFailed,
    Timeouts,
    connect_socket,
)
from tablewright.client.endpoint import Endpoint, endpoint_of, search_endpoint, streams_endpoint
from tablewright.client.http_response import ChecksumMismatch, result_of
from tablewright.client.retries import Retries
from tablewright.client.signing import Credentials, checked_region, signed_request
from tablewright.sigv4 import amz_date
from tablewright.world import World, real_world

_TABLES = "DynamoDB_20120810"
_STREAMS = "DynamoDBStreams_20120810"


@dataclass(frozen=True, slots=True)
class _Service:
    """Tables or streams: two services to an SDK, with one signing name."""

    target: str
    endpoint: Endpoint
    pool: ConnectionPool


class HttpCall:
    """A Call over HTTP. Threads may share it. It owns connections: close it.

    `credentials` may be a function, called before each attempt, for keys that change.
    `pool_size` is how many connections are kept while idle; concurrent calls may open more. `connect` opens their
    sockets: those of this module block; async_http.py has others.
    """

    def __init__(
        self,
        endpoint: str,
        region: str,
        credentials: Credentials | Callable[[], Credentials],
        *,
        world: World | None = None,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        pool_size: int = 10,
        tls: ssl.SSLContext | None = None,
        connect: Connect = connect_socket,
    ) -> None:
        self.endpoint, self.region = endpoint, checked_region(region)
        self._credentials = credentials
        self._world, self._retries = world or real_world(), retries or Retries()
        self._timeouts = timeouts or Timeouts()
        parsed = endpoint_of(endpoint)
        if tls is None and parsed.is_tls:
            tls = ssl.create_default_context()

        def service(target: str, at: Endpoint) -> _Service:
            pool = ConnectionPool(at, self._timeouts, pool_size, tls, connect)
            return _Service(target, at, pool)

        self._tables = service(_TABLES, parsed)
        streams, search = streams_endpoint(parsed), search_endpoint(parsed)
        own = self._tables.pool
        self._streams = _Service(_STREAMS, parsed, own) if streams == parsed else service(_STREAMS, streams)
        self._search = self._tables if search == parsed else service(_TABLES, search)

    @classmethod
    def resolve(
        cls,
        region: str | None = None,
        endpoint: str | None = None,
        profile: str | None = None,
        *,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        pool_size: int = 10,
    ) -> Self:
        """Region, endpoint and credentials from where boto3 finds them; raises NotResolved."""
        url, region, credentials, tls = aws_config.resolve(region, endpoint, profile)
        return cls(url, region, credentials, timeouts=timeouts, retries=retries, pool_size=pool_size, tls=tls)

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if not (verb.isascii() and verb.isalnum()):
            raise RequestUnsendable(verb, "a verb is a name such as GetItem")
        if verb == "TransactWriteItems" and request.get("ClientRequestToken") is None:
            request = {**request, "ClientRequestToken": self._world.new_id()}
        body = json_of(verb, request)
        service = self._streams if verb in STREAM_VERBS else self._tables
        if verb == "SearchVectors":
            service = self._search
        deadline = time.monotonic() + self._timeouts.total
        tried, in_doubt, was_stale = 0, False, False
        while True:
            try:
                return result_of(
                    verb, service.pool.exchange(self._signed_request(service, verb, body), deadline)
                )
            except CallRefused as refusal:
                refusal.follows_lost_answer = in_doubt
                if not refusal.is_retryable:
                    raise
                failure: CallFailed = refusal
                # A server that failed may have carried the request out.
                in_doubt = in_doubt or refusal.status >= 500
            except ChecksumMismatch as mismatch:
                in_doubt = True
                failure = NoAnswer(verb, str(mismatch), may_have_been_carried_out=True)
            except ExchangeFailed as failed:
                in_doubt = in_doubt or failed.was_sent
                failure = NoAnswer(verb, failed.why, may_have_been_carried_out=in_doubt)
                failure.__cause__ = failed
                if failed.is_permanent:
                    raise failure from failed
                if failed.was_stale and not was_stale:
                    # The server had closed an idle connection, which is not a fault: retry without a pause, once.
                    was_stale = True
                    service.pool.close_idle()
                    continue
            tried += 1
            self._wait_or_give_up(tried, deadline, failure)

    def _wait_or_give_up(self, tried: int, deadline: float, failure: CallFailed) -> None:
        pause = self._retries.pause(tried, self._world.jitter())
        if tried >= self._retries.attempts or time.monotonic() + pause >= deadline:
            raise failure
        self._retries.sleep(pause)

    def _signed_request(self, service: _Service, verb: str, body: bytes) -> bytes:
        credentials = self._credentials
        if not isinstance(credentials, Credentials):
            credentials = credentials()
        stamp = amz_date(self._world.now())
        return signed_request(
            credentials, self.region, service.endpoint, f"{service.target}.{verb}", stamp, body
        )

    def close(self) -> None:
        """Close idle connections now, those in use when their call ends."""
        self._tables.pool.close()
        self._streams.pool.close()
        self._search.pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
