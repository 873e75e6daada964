"""Refusals, in the service's own types and words.

SDKs read these: the name decides which exception a client raises, the message is often matched on.
Must hold: a ServiceError leaves the store as it was, except one of status 500: after that its effect is unknown.
"""

import traceback
from collections.abc import Mapping, Sequence
from typing import Any

_SERVICE = "com.amazon.coral.service#"
_STREAMS = "com.amazonaws.dynamodb.streams.v20120810#"
_NAMESPACES = {
    "ValidationException": "com.amazon.coral.validate#",
    "ExpiredIteratorException": _STREAMS,
    "TrimmedDataAccessException": _STREAMS,
    "AccessDeniedException": _SERVICE,
    "IncompleteSignatureException": _SERVICE,
    "InternalFailure": _SERVICE,
    "InvalidSignatureException": _SERVICE,
    "MissingAuthenticationTokenException": _SERVICE,
    "SerializationException": _SERVICE,
    "UnknownOperationException": _SERVICE,
    "UnrecognizedClientException": _SERVICE,
}
# The modelled shapes of these spell their text with a capital.
_CAPITAL_MESSAGE = frozenset(
    (
        "AccessDeniedException",
        "IdempotentParameterMismatchException",
        "SerializationException",
        "TransactionCanceledException",
        "TransactionInProgressException",
    )
)

CONFLICT = "Transaction is ongoing for the item"
DUPLICATE = "Duplicate primary key exists in table"


class ServiceError(Exception):
    """A response that is an error. `fields` are further members of the body, such as Item."""

    def __init__(
        self, name: str, message: str = "", status: int = 400, fields: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(f"{name}: {message}")
        self.name, self.message, self.status, self.fields = name, message, status, dict(fields or {})

    def body(self) -> dict[str, Any]:
        """The JSON body the service sends."""
        namespace = _NAMESPACES.get(self.name, "com.amazonaws.dynamodb.v20120810#")
        body: dict[str, Any] = {"__type": namespace + self.name}
        if self.message:
            body["Message" if self.name in _CAPITAL_MESSAGE else "message"] = self.message
        return body | self.fields


def invalid(message: str) -> ServiceError:
    return ServiceError("ValidationException", message)


class Reworded(ServiceError):
    """A ValidationException with another text, `current`, in the verbs that the service has reworded in 2026."""

    def __init__(self, message: str, current: str) -> None:
        super().__init__("ValidationException", message)
        self.current = current


class ItemMistake(ServiceError):
    """A mistake about one item, not about the form of the request.

    Alone it refuses the call like any other; in a transaction it becomes the action's cancellation reason.
    """

    def __init__(self, message: str) -> None:
        super().__init__("ValidationException", message)


def invalid_parameter(message: str) -> ServiceError:
    return invalid(f"One or more parameter values were invalid: {message}")


def not_supported(argument: str) -> ServiceError:
    """An argument DynamoDB knows and this engine does not honour: refused, never ignored."""
    return invalid(f"{argument} is not supported by this engine")


def serialization(message: str) -> ServiceError:
    return ServiceError("SerializationException", message)


def resource_not_found(message: str = "Requested resource not found") -> ServiceError:
    return ServiceError("ResourceNotFoundException", message)


def table_not_found(name: str) -> ServiceError:
    return resource_not_found(f"Requested resource not found: Table: {name} not found")


def resource_in_use(message: str) -> ServiceError:
    return ServiceError("ResourceInUseException", message)


def limit_exceeded(message: str) -> ServiceError:
    return ServiceError("LimitExceededException", message)


def condition_failed(item: Mapping[str, Any] | None) -> ServiceError:
    fields = {"Item": item} if item else {}
    return ServiceError("ConditionalCheckFailedException", "The conditional request failed", fields=fields)


def not_the_writer(table: str, region: str, writer: str | None, epoch: int) -> ServiceError:
    """A write to a replica that takes none. Ours: on the service every replica takes writes."""
    why = (
        f"its writer is {writer} since epoch {epoch}. Write there, or fail over to {region}"
        if writer not in (None, region)
        else f"it has writes that the other regions do not have, or is being copied. Let {region} rejoin"
    )
    return ServiceError("ReplicaNotWriterException", f"Table {table} takes no writes in {region}: {why}")


def transaction_canceled(reasons: Sequence[Mapping[str, Any]]) -> ServiceError:
    codes = ", ".join(reason["Code"] for reason in reasons)
    return ServiceError(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        fields={"CancellationReasons": list(reasons)},
    )


def fault(error: BaseException) -> dict[str, str]:
    """A fault of ours for the log: its kind and where it struck. Not its message, which may quote an item."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames))
    return {"mistake": type(error).__name__, "where": where}


def internal_error() -> ServiceError:
    return ServiceError("InternalServerError", "Internal server error", status=500)
