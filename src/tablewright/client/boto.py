"""A boto3 client as a Call, for programs that have one already, with its retries, hooks and credentials.

boto3 uses bytes and datetimes where the wire has base64 and seconds; both are converted here, both ways.
Must hold: a refusal reads as the same refusal does over HTTP; botocore is imported only to recognise its errors.
The client must be one of `boto3.client("dynamodb")`: that of a resource rewrites items on its own. Who reads streams
needs `boto3.client("dynamodbstreams")` as well: to boto3 they are another service.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from tablewright.client.aws_config import NotResolved
from tablewright.client.call import STREAM_VERBS, Call, CallFailed, CallRefused, NoAnswer, RequestUnsendable

_OF_BOTO = frozenset(("Error", "Message", "ResponseMetadata", "message"))


def through_boto3(client: Any, *, streams: Any = None) -> Call:
    """A Call through `client`; verbs of DynamoDB Streams go through `streams`."""

    def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        method = _method(streams if verb in STREAM_VERBS else client, verb)
        arguments = _to_boto(verb, request)
        try:
            answer = method(**arguments)
        except Exception as error:
            failure = _failure(verb, error)
            if failure is None:
                raise
            raise failure from error
        return {name: _to_wire(value) for name, value in answer.items() if name != "ResponseMetadata"}

    return call


def _method(client: Any, verb: str) -> Callable[..., dict[str, Any]]:
    if client is None:
        why = f'{verb} needs a client of its own: through_boto3(client, streams=boto3.client("dynamodbstreams"))'
        raise CallRefused("UnknownOperationException", why)
    method: Callable[..., dict[str, Any]] | None = getattr(
        client, re.sub(r"(?<!^)(?=[A-Z])", "_", verb).lower(), None
    )
    if method is None:
        raise CallRefused("UnknownOperationException", f"boto3 has no operation {verb}")
    return method


def _to_boto(verb: str, value: Any) -> Any:
    """The same request with binaries as bytes.

    An object whose one member is B with a text, or BS with a list of texts, is a binary wherever it appears:
    attributes hold objects, table names have at least three characters, and placeholders begin with # or :.
    """
    if isinstance(value, Mapping):
        if len(value) == 1:
            ((kind, content),) = value.items()
            if kind == "B" and isinstance(content, str):
                return {"B": _bytes(verb, content)}
            if kind == "BS" and isinstance(content, list | tuple):
                return {"BS": [_bytes(verb, one) if isinstance(one, str) else one for one in content]}
        return {name: _to_boto(verb, one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_to_boto(verb, one) for one in value]
    return value


def _bytes(verb: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise RequestUnsendable(verb, "a binary is not base64") from None


def _to_wire(value: Any) -> Any:
    match value:
        case dict():
            return {name: _to_wire(one) for name, one in value.items()}
        case list():
            return [_to_wire(one) for one in value]
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            return value.timestamp()
        case _:
            return value


def _failure(verb: str, error: Exception) -> CallFailed | None:
    """Our error for an error of botocore; None for any other error."""
    try:
        from botocore import exceptions as boto
    except ModuleNotFoundError:
        return None
    if isinstance(error, boto.ClientError):
        return _refusal(error.response)
    if isinstance(error, boto.ParamValidationError):
        # botocore validates a request before the service can; to the caller both are validation errors.
        return CallRefused("ValidationException", str(error))
    if isinstance(error, boto.EndpointConnectionError | boto.ConnectTimeoutError | boto.SSLError):
        return NoAnswer(verb, str(error), may_have_been_carried_out=False)
    if isinstance(error, boto.HTTPClientError):
        return NoAnswer(verb, str(error), may_have_been_carried_out=True)
    if isinstance(error, boto.BotoCoreError):  # no credentials, no endpoint: nothing was sent
        return NotResolved(f"{verb} could not be sent by boto3: {error}")
    return None


def _refusal(response: Mapping[str, Any]) -> CallRefused:
    error = response.get("Error", {})
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    fields = {name: _to_wire(value) for name, value in response.items() if name not in _OF_BOTO}
    return CallRefused(error.get("Code", ""), error.get("Message", ""), status, fields)
