"""ListStreams: the streams there are, a page at a time; one that was disabled stays for a day."""

from typing import Any

from tablewright.engine.members import INDEX_NAME, STREAM_ARN
from tablewright.engine.shapes import Request, Struct, Whole
from tablewright.engine.streams import is_kept
from tablewright.engine.writing import Reading

MOST = 100

SHAPE = Struct(
    "ListStreamsInput",
    # A table is named as an index is: by its name, never by an ARN.
    {"TableName": INDEX_NAME, "Limit": Whole(least=1, most=MOST), "ExclusiveStartStreamArn": STREAM_ARN},
)


def list_streams(reading: Reading, request: Request) -> dict[str, Any]:
    table, start = request.get("TableName"), request.get("ExclusiveStartStreamArn") or ""
    limit, now = int(request.get("Limit") or MOST), reading.now()
    found = [
        stream
        for stream in reading.rows.streams()
        if stream.arn > start and table in (None, stream.table) and is_kept(stream, now)
    ]
    shown = [
        {"StreamArn": stream.arn, "TableName": stream.table, "StreamLabel": stream.label}
        for stream in found[:limit]
    ]
    answer: dict[str, Any] = {"Streams": shown}
    if len(found) > limit:
        answer["LastEvaluatedStreamArn"] = found[limit - 1].arn
    return answer
