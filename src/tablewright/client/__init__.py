"""DynamoDB's verbs as one function type, `Call`: in this process, over HTTP, or through boto3.

    call = embedded(engine)                       # or HttpCall(...), HttpCall.resolve(), through_boto3(client)
    call("PutItem", {"TableName": "pets", "Item": {"name": {"S": "rex"}}})
    for page in pages(call, "Query", {...}): ...

Must hold: everything here works with any Call, and raises CallFailed or a subclass of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tablewright.client.async_extra import of_extra
from tablewright.client.aws_config import NotResolved
from tablewright.client.batches import BatchRead, BatchStopped, batch_get, batch_write
from tablewright.client.boto import through_boto3
from tablewright.client.call import (
    AnswerNotUnderstood,
    Call,
    CallFailed,
    CallRefused,
    NoAnswer,
    RequestUnsendable,
)
from tablewright.client.connection_pool import ConnectionsClosed, Timeouts
from tablewright.client.consumed_capacity import Units, units_of
from tablewright.client.endpoint import EndpointUnusable
from tablewright.client.http import HttpCall
from tablewright.client.paging import pages
from tablewright.client.retries import ONCE, Retries, retrying
from tablewright.client.signing import Credentials, CredentialsUnusable, RegionUnusable
from tablewright.client.transactions import (
    Action,
    Reason,
    TransactionImpossible,
    TransactionRefused,
    transact_get,
    transact_write,
)

if (
    TYPE_CHECKING
):  # the type checker needs the real names; at run time these would load the engine and an extra
    from tablewright.client.async_http import AsyncHttpCall
    from tablewright.client.in_process import embedded
else:

    def __getattr__(name):
        if name == "AsyncHttpCall":
            return of_extra("tablewright.client.async_http", name)
        if name != "embedded":
            raise AttributeError(f"module 'tablewright.client' has no attribute {name!r}")
        # The module has another name: importing it would otherwise hide the function.
        return import_module("tablewright.client.in_process").embedded


__all__ = [
    "ONCE", "Action", "AnswerNotUnderstood", "AsyncHttpCall", "BatchRead", "BatchStopped", "Call", "CallFailed",
    "CallRefused", "ConnectionsClosed", "Credentials", "CredentialsUnusable", "EndpointUnusable", "HttpCall",
    "NoAnswer", "NotResolved", "Reason", "RegionUnusable", "RequestUnsendable", "Retries", "Timeouts",
    "TransactionImpossible", "TransactionRefused", "Units", "batch_get", "batch_write", "embedded", "pages",
    "retrying", "through_boto3", "transact_get", "transact_write", "units_of",
]  # fmt: skip
