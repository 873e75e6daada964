"""DynamoDB's verbs over one seam, `Call`: in this process, over HTTP, or through boto3.

    call = embedded(engine)                       # or HttpCall(...), HttpCall.resolve(), through_boto3(client)
    call("PutItem", {"TableName": "pets", "Item": {"name": {"S": "rex"}}})
    for page in pages(call, "Query", {...}): ...

Must hold: everything here works with any Call, and raises CallFailed or one of its children.
"""

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
from tablewright.client.connections import ConnectionsClosed, Timeouts
from tablewright.client.embedded import embedded
from tablewright.client.endpoint import EndpointUnusable
from tablewright.client.http import HttpCall
from tablewright.client.paging import pages
from tablewright.client.resolution import NotResolved
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
from tablewright.client.units import Share, Units, total_units, units_of

__all__ = [
    "ONCE",
    "Action",
    "AnswerNotUnderstood",
    "BatchRead",
    "BatchStopped",
    "Call",
    "CallFailed",
    "CallRefused",
    "ConnectionsClosed",
    "Credentials",
    "CredentialsUnusable",
    "EndpointUnusable",
    "HttpCall",
    "NoAnswer",
    "NotResolved",
    "Reason",
    "RegionUnusable",
    "RequestUnsendable",
    "Retries",
    "Share",
    "Timeouts",
    "TransactionImpossible",
    "TransactionRefused",
    "Units",
    "batch_get",
    "batch_write",
    "embedded",
    "pages",
    "retrying",
    "through_boto3",
    "total_units",
    "transact_get",
    "transact_write",
    "units_of",
]
