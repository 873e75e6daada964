"""`Call`: one function type between the code above and the database.

    Call = (verb, request) -> answer, all three in the wire's JSON form

In this process (in_process.py), over HTTP (http.py) or through a boto3 client (boto.py): code that takes a Call cannot
tell which. Must hold: a Call returns an answer, or raises one of the errors here; a refused call has changed nothing
unless `follows_lost_answer` is set.
Elsewhere: how refusals are retried (retries.py).
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson

Call: TypeAlias = Callable[[str, Mapping[str, Any]], dict[str, Any]]

# Transient refusals. TransactionConflict on a single write is one: nothing was written, and the conflicting
# transaction lasts for milliseconds. Not among them, though the service's table says "retry": LimitExceeded (also
# a quota that waiting does not lift), ItemCollectionSizeLimitExceeded and UnrecognizedClient.
RETRYABLE = frozenset(
    ("InternalFailure", "InternalServerError", "ProvisionedThroughputExceededException",
     "ReplicatedWriteConflictException", "RequestLimitExceeded", "RequestThrottledException",
     "ServiceUnavailable", "ServiceUnavailableException", "Throttling", "ThrottledException",
     "ThrottlingException", "TransactionConflictException", "TransactionInProgressException")
)  # fmt: skip
_TOO_MANY_REQUESTS = 429
# To the service and its SDKs, streams are a service of their own.
STREAM_VERBS = frozenset(("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"))


class CallFailed(Exception):
    """The base of this package's errors: a call returned no usable answer."""


class CallRefused(CallFailed):
    """The service answered with an error: its short name, its message, and its other members."""

    def __init__(
        self, name: str, message: str = "", status: int = 400, fields: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(f"{name}: {message}" if message else name)
        self.name, self.message, self.status = name, message, status
        self.fields: dict[str, Any] = dict(fields or {})  # Item, CancellationReasons and the like
        # An earlier attempt of this call may have been carried out although its answer was lost: a condition that
        # failed now may have failed because of our own write.
        self.follows_lost_answer = False

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed in a moment."""
        return self.name in RETRYABLE or self.status >= 500 or self.status == _TOO_MANY_REQUESTS


class NoAnswer(CallFailed):
    """The connection failed or the call timed out, so the outcome is unknown."""

    def __init__(self, verb: str, why: str, *, may_have_been_carried_out: bool) -> None:
        self.verb, self.why, self.may_have_been_carried_out = verb, why, may_have_been_carried_out
        outcome = (
            "it may have been carried out: read before you repeat a write that is not idempotent"
            if may_have_been_carried_out
            else "nothing was changed"
        )
        super().__init__(f"{verb} got no answer: {why}; {outcome}")


class AnswerNotUnderstood(CallFailed):
    """Something answered that does not speak DynamoDB's protocol: a proxy, a login page, the wrong port."""

    def __init__(self, verb: str, status: int, why: str) -> None:
        self.verb, self.status, self.why = verb, status, why
        super().__init__(
            f"{verb} got an answer that is not DynamoDB's (HTTP {status}): {why}; check the endpoint"
        )


class RequestUnsendable(CallFailed):
    """A request that has no JSON form, or a verb that is not a name."""

    def __init__(self, verb: str, why: str) -> None:
        self.verb, self.why = verb, why
        super().__init__(
            f"{verb} cannot be sent: {why}; requests are the wire's own JSON: numbers and binaries are text, "
            'as in {"N": "3"} and {"B": "cmV4"}'
        )


def json_of(verb: str, request: Any) -> bytes:
    """The request as JSON; an object may be any Mapping."""
    try:
        return orjson.dumps(request, _plain)
    except TypeError as error:
        raise RequestUnsendable(verb, str(error)) from None


def _plain(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")
