"""A table's streams over a Call: their shards, and pages of their records.

A table that had its stream switched off and on has two for a day, the older with what came before.
Must hold: records come in the form that records.py reads, whichever way the Call goes.
Elsewhere: which shard is read when, and by whom (leases.py, consumer.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright.client import Call, CallRefused, Retries, pages
from tablewright.mapping.errors import MappingMistake
from tablewright.mapping.tables import await_active

# DynamoDB keeps stream records for this long.
RETENTION = timedelta(hours=24)
TRIMMED = "TrimmedDataAccessException"
EXPIRED = "ExpiredIteratorException"
NOT_FOUND = "ResourceNotFoundException"
BUSY = "LimitExceededException"  # more than two read one shard


class NoStream(MappingMistake):
    """A table whose changes are to be read has no stream."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            f"the table {table} has no stream; give it one in its design (stream=...) and call create_tables() of "
            "the consumer, or switch it on where the table is deployed"
        )


@dataclass(frozen=True, slots=True)
class Shard:
    """A piece of a stream. `first` and `last` are its numbers, `last` once it is closed; `created` is the stream's."""

    stream: str
    created: datetime
    id: str
    parent: str | None
    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Some records in order, and where to go on; None at the end of a closed shard."""

    records: list[dict[str, Any]]
    next: str | None


def enable_stream(call: Call, table: str, view: str, retries: Retries) -> None:
    """Give the table a stream if it has none."""
    described = call("DescribeTable", {"TableName": table})["Table"]
    if (described.get("StreamSpecification") or {}).get("StreamEnabled"):
        return
    wanted = {"StreamEnabled": True, "StreamViewType": view}
    try:
        call("UpdateTable", {"TableName": table, "StreamSpecification": wanted})
    except CallRefused as refusal:
        # Another process that started at the same time may have given it one.
        described = call("DescribeTable", {"TableName": table})["Table"]
        if not (described.get("StreamSpecification") or {}).get("StreamEnabled"):
            raise refusal from None
    await_active(call, table, retries)


def shards_of(call: Call, table: str) -> list[Shard]:
    """Every shard that can be read, older streams first; NoStream if the table has none."""
    found = pages(call, "ListStreams", {"TableName": table})
    streams = sorted([one["StreamArn"] for page in found for one in page["Streams"]], key=label_of)
    if not streams:
        raise NoStream(table)
    return [shard for stream in streams for shard in _shards(call, stream)]


def label_of(stream: str) -> str:
    """The end of a stream's name: the time it was made, so that names sort by age."""
    return stream.rpartition("/")[2]


def _shards(call: Call, stream: str) -> Iterator[Shard]:
    request: dict[str, Any] = {"StreamArn": stream}
    while True:
        try:
            told = call("DescribeStream", request)["StreamDescription"]
        except CallRefused as refusal:
            if refusal.name != NOT_FOUND:  # a stream that ended a day ago goes while we look
                raise
            return
        created = _created(told)
        for one in told["Shards"]:
            numbers = one.get("SequenceNumberRange", {})
            first, last = numbers.get("StartingSequenceNumber"), numbers.get("EndingSequenceNumber")
            yield Shard(stream, created, one["ShardId"], one.get("ParentShardId"), first, last)
        if not told.get("LastEvaluatedShardId"):
            return
        request["ExclusiveStartShardId"] = told["LastEvaluatedShardId"]


def _created(told: dict[str, Any]) -> datetime:
    """When a stream was made. ExtendDB does not say it; there, as on Amazon, the label is that time."""
    if "CreationRequestDateTime" in told:
        return datetime.fromtimestamp(told["CreationRequestDateTime"], UTC)
    return datetime.fromisoformat(told["StreamLabel"]).replace(tzinfo=UTC)


def shard_iterator(
    call: Call, stream: str, shard: str, *, after: str | None = None, at: str | None = None
) -> str:
    """An iterator after a record, at a sequence number, or else at the oldest record."""
    request = {"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    if after is not None:
        request |= {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": after}
    elif at is not None:
        request |= {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": at}
    place: str = call("GetShardIterator", request)["ShardIterator"]
    return place


def read_page(call: Call, place: str, limit: int) -> RecordPage:
    answer = call("GetRecords", {"ShardIterator": place, "Limit": limit})
    return RecordPage(
        [_with_lower_case(record) for record in answer["Records"]], answer.get("NextShardIterator")
    )


def _with_lower_case(record: dict[str, Any]) -> dict[str, Any]:
    """GetRecords writes the members of userIdentity with a capital, the records given to Lambda functions do not."""
    by = record.get("userIdentity")
    if not by:
        return record
    return record | {"userIdentity": {name[:1].lower() + name[1:]: value for name, value in by.items()}}


def created_at(record: Mapping[str, Any]) -> datetime | None:
    """When the change was made, to the second."""
    moment = record["dynamodb"].get("ApproximateCreationDateTime")
    return None if moment is None else datetime.fromtimestamp(moment, UTC)
