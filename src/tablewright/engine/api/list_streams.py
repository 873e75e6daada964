"""ListStreams: all streams, a page at a time; a disabled stream is listed for another day."""

from typing import Any

from tablewright.engine.api.common_members import INDEX_NAME, STREAM_ARN
from tablewright.engine.api.operation import STREAMS, ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Whole
from tablewright.engine.streams.shards import is_readable
from tablewright.engine.streams.store import streams
from tablewright.engine.transaction import ReadTransaction

MOST = 100

SHAPE = Struct(
    "ListStreamsInput",
    # The name of a table, never an ARN: the same pattern as an index name.
    {"TableName": INDEX_NAME, "Limit": Whole(least=1, most=MOST), "ExclusiveStartStreamArn": STREAM_ARN},
)


def list_streams(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    table, start = request.get("TableName"), request.get("ExclusiveStartStreamArn") or ""
    limit, now = int(request.get("Limit") or MOST), txn.now()
    found = [
        stream
        for stream in streams(txn.rows)
        if stream.arn > start and table in (None, stream.table) and is_readable(stream, now)
    ]
    listed = [
        {"StreamArn": stream.arn, "TableName": stream.table, "StreamLabel": stream.label}
        for stream in found[:limit]
    ]
    answer: dict[str, Any] = {"Streams": listed}
    if len(found) > limit:
        answer["LastEvaluatedStreamArn"] = found[limit - 1].arn
    return answer


OPERATION = ReadOperation("ListStreams", SHAPE, list_streams, service=STREAMS)
