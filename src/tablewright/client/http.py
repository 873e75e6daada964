"""Calls over HTTP to any DynamoDB endpoint: our own server, Amazon, DynamoDB Local, Alternator.

    with HttpCall("http://127.0.0.1:8000", "us-east-1", Credentials("id", "secret")) as call: ...
    with HttpCall.resolve() as call: ...       # region, endpoint and credentials as boto3 would find them

What is tried again: refusals that pass by themselves, answers with a wrong CRC-32, and lost connections, for
every verb, as the AWS SDKs do. A write whose answer was lost may thus be carried out twice: a bare `ADD` counts
double, a condition fails on our own first write. Who cannot have that uses a transaction (each gets a
ClientRequestToken, so repeating it is harmless) or reads again when told so: `CallRefused.follows_lost_answer`,
`NoAnswer.may_have_been_carried_out`.
The four verbs of DynamoDB Streams go out under that service's name and, on Amazon, to its own host.
Must hold: a mistake is never repeated; no call takes longer than `Timeouts.total`; each attempt is signed anew.
Not supported: proxies, redirects, compressed answers, HTTP/2.
Elsewhere: sockets (connections.py), bytes (answers.py), signatures (signing.py), botocore (resolution.py).
"""

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from types import TracebackType
from typing import Any, Self

from tablewright.client import resolution
from tablewright.client.answers import AnswerDamaged, understood
from tablewright.client.call import (
    STREAM_VERBS,
    CallFailed,
    CallRefused,
    NoAnswer,
    RequestUnsendable,
    json_of,
)
from tablewright.client.connections import Lost, Pool, Timeouts
from tablewright.client.endpoint import Endpoint, endpoint_of, streams_endpoint
from tablewright.client.retries import Retries
from tablewright.client.signing import Credentials, Scope, checked_region, scope_of, signed
from tablewright.world import World, real_world

_TABLES = "DynamoDB_20120810"
_STREAMS = "DynamoDBStreams_20120810"


@dataclass(frozen=True, slots=True)
class _Service:
    """Tables or streams: two services to an SDK, with one signing name."""

    target: str
    where: Endpoint
    pool: Pool


class HttpCall:
    """A Call over HTTP. Any number of threads may use it; it owns connections: close it.

    `credentials` may be a function, asked before each attempt, for keys that change.
    `pool_size` is how many connections are kept while idle; calls at the same time may open more.
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
    ) -> None:
        self.endpoint, self.region = endpoint, checked_region(region)
        self._credentials = credentials
        self._world, self._retries = world or real_world(), retries or Retries()
        self._timeouts = timeouts or Timeouts()
        where = endpoint_of(endpoint)
        if tls is None and where.is_tls:
            tls = ssl.create_default_context()
        pool = Pool(where, self._timeouts, pool_size, tls)
        self._tables = _Service(_TABLES, where, pool)
        streams = streams_endpoint(where)
        pool = pool if streams == where else Pool(streams, self._timeouts, pool_size, tls)
        self._streams = _Service(_STREAMS, streams, pool)
        self._scope: Scope | None = None

    @classmethod
    def resolve(
        cls,
        region: str | None = None,
        endpoint: str | None = None,
        profile: str | None = None,
        *,
        world: World | None = None,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        pool_size: int = 10,
    ) -> Self:
        """Region, endpoint and credentials from where boto3 finds them; raises NotResolved."""
        found = resolution.resolve(region, endpoint, profile)
        return cls(
            found.endpoint,
            found.region,
            found.credentials,
            world=world,
            timeouts=timeouts,
            retries=retries,
            pool_size=pool_size,
            tls=found.tls,
        )

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if not (verb.isascii() and verb.isalnum()):
            raise RequestUnsendable(verb, "a verb is a name such as GetItem")
        if verb == "TransactWriteItems" and request.get("ClientRequestToken") is None:
            request = {**request, "ClientRequestToken": self._world.new_id()}
        body = json_of(verb, request)
        service = self._streams if verb in STREAM_VERBS else self._tables
        deadline = time.monotonic() + self._timeouts.total
        tried, in_doubt, was_stale = 0, False, False
        while True:
            try:
                return understood(verb, service.pool.exchange(self._signed(service, verb, body), deadline))
            except CallRefused as refusal:
                refusal.follows_lost_answer = in_doubt
                if not refusal.is_retryable:
                    raise
                failure: CallFailed = refusal
                # Of a server that stumbled nobody knows how far it had come.
                in_doubt = in_doubt or refusal.status >= 500
            except AnswerDamaged as damage:
                in_doubt = True
                failure = NoAnswer(verb, str(damage), may_have_been_carried_out=True)
            except Lost as lost:
                in_doubt = in_doubt or lost.was_sent
                failure = NoAnswer(verb, lost.why, may_have_been_carried_out=in_doubt)
                failure.__cause__ = lost
                if lost.is_hopeless:
                    raise failure from lost
                if lost.was_stale and not was_stale:
                    # The server had hung up on an idle line: no sign of trouble, so no pause; once.
                    was_stale = True
                    service.pool.forget()
                    continue
            tried += 1
            self._wait_or_give_up(tried, deadline, failure)

    def _wait_or_give_up(self, tried: int, deadline: float, failure: CallFailed) -> None:
        pause = self._retries.pause(tried, self._world.jitter())
        if tried >= self._retries.attempts or time.monotonic() + pause >= deadline:
            raise failure
        self._retries.sleep(pause)

    def _signed(self, service: _Service, verb: str, body: bytes) -> bytes:
        credentials = self._credentials
        if not isinstance(credentials, Credentials):
            credentials = credentials()
        # Not strftime: it costs more than the hashing.
        moment = self._world.now().astimezone(UTC).isoformat(timespec="seconds")
        stamp = moment[:19].replace("-", "").replace(":", "") + "Z"
        scope = self._scope
        if scope is None or scope.day != stamp[:8] or scope.credentials != credentials:
            self._scope = scope = scope_of(credentials, self.region, stamp[:8])
        return signed(scope, service.where, f"{service.target}.{verb}", stamp, body)

    def close(self) -> None:
        """Close all connections that are idle; those at work close when they are done."""
        self._tables.pool.close()
        self._streams.pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
