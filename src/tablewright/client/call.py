"""The seam: one function type between everything above and whatever answers.

    Call = (verb, request) -> answer, all three in the wire's JSON form

In this process (embedded.py), over HTTP (http.py) or through somebody's boto3 client (boto.py): code that takes
a Call cannot tell which. Must hold: a Call answers, or raises one of the errors here; a refusal has changed
nothing unless it says `follows_lost_answer`.
Elsewhere: which refusals are worth repeating, and how (retries.py).
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson

Call: TypeAlias = Callable[[str, Mapping[str, Any]], dict[str, Any]]

# What passes by itself. TransactionConflict on a single write is among them: nothing was written, and the
# transaction in the way lives for milliseconds. Not among them, though the service's table says "retry":
# LimitExceeded (also a quota that no waiting lifts), ItemCollectionSizeLimitExceeded and UnrecognizedClient.
RETRYABLE = frozenset(
    (
        "InternalFailure",
        "InternalServerError",
        "ProvisionedThroughputExceededException",
        "ReplicatedWriteConflictException",
        "RequestLimitExceeded",
        "RequestThrottledException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "Throttling",
        "ThrottledException",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    )
)
_TOO_MANY_REQUESTS = 429
# To the service and its SDKs, streams are a service of their own.
STREAM_VERBS = frozenset(("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"))


class CallFailed(Exception):
    """The base of this room's errors: a call brought no answer that can be used."""


class CallRefused(CallFailed):
    """The service answered with an error: its short name, its sentence, and what else it said."""

    def __init__(
        self, name: str, message: str = "", status: int = 400, fields: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(f"{name}: {message}" if message else name)
        self.name, self.message, self.status = name, message, status
        self.fields: dict[str, Any] = dict(fields or {})  # Item, CancellationReasons and the like
        # An earlier attempt of this very call may have been carried out unseen: a condition that failed now
        # may have failed because of our own write.
        self.follows_lost_answer = False

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may well be granted in a moment."""
        return self.name in RETRYABLE or self.status >= 500 or self.status == _TOO_MANY_REQUESTS


class NoAnswer(CallFailed):
    """The line failed or the time was up, so nobody knows the answer."""

    def __init__(self, verb: str, why: str, *, may_have_been_carried_out: bool) -> None:
        self.verb, self.why, self.may_have_been_carried_out = verb, why, may_have_been_carried_out
        fate = (
            "it may have been carried out: read before you repeat a write that is not idempotent"
            if may_have_been_carried_out
            else "it was not carried out"
        )
        super().__init__(f"{verb} got no answer: {why}; {fate}")


class AnswerNotUnderstood(CallFailed):
    """Something answered that does not speak DynamoDB's protocol: a proxy, a login page, the wrong port."""

    def __init__(self, verb: str, status: int, why: str) -> None:
        self.verb, self.status, self.why = verb, status, why
        super().__init__(
            f"{verb} got an answer that is not DynamoDB's (HTTP {status}): {why}; check the endpoint"
        )


class RequestUnsendable(CallFailed):
    """A request that has no JSON form, or a verb that is no name."""

    def __init__(self, verb: str, why: str) -> None:
        self.verb, self.why = verb, why
        super().__init__(
            f"{verb} cannot be sent: {why}; requests are the wire's own JSON: numbers and binaries are text, "
            'as in {"N": "3"} and {"B": "cmV4"}'
        )


def json_of(verb: str, request: Any) -> bytes:
    """The request as it travels; any Mapping will do for an object."""
    try:
        return orjson.dumps(request, _plain)
    except TypeError as error:
        raise RequestUnsendable(verb, str(error)) from None


def _plain(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"there is no JSON for a {type(value).__name__}")
