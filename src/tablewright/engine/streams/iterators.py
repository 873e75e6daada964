"""Shard iterators: a position in a shard, as text that the client sends back. Valid for 15 minutes.

Must hold: any text that a client sends is either a valid iterator or refused.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

import orjson

from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.streams.shards import DAY
from tablewright.engine.streams.store import Shard, Stream

ITERATOR_AGE = 15 * 60_000_000
MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class Iterator:
    """`position` is the number of the next change to read; None for the oldest one when it is used."""

    stream: str
    shard: int
    position: int | None
    at: int

    def text(self) -> str:
        inside = orjson.dumps([self.shard, self.position, self.at])
        return f"{self.stream}|1|{urlsafe_b64encode(inside).decode()}"


def iterator_at(stream: Stream, shard: Shard, position: int | None, now: int) -> str:
    return Iterator(stream.arn, shard.number, position, now).text()


def read_iterator(text: str, now: int) -> Iterator:
    parts = text.split("|")
    try:
        shard, position, at = orjson.loads(urlsafe_b64decode(parts[2].encode("ascii")))
    except (ValueError, IndexError, TypeError):
        raise invalid("Invalid ShardIterator") from None
    numbers = (shard, at, 0 if position is None else position)
    if len(parts) != 3 or not all(type(number) is int and 0 <= number < MOST for number in numbers):
        raise invalid("Invalid ShardIterator")
    if abs(now - at) > ITERATOR_AGE:
        raise ServiceError(
            "ExpiredIteratorException", "The provided iterator exceeds the maximum age allowed"
        )
    return Iterator(parts[0], shard, position, at)


def refuse_trimmed(rows: RowReader, seq: int, now: int) -> None:
    """Refuse a position that is more than a day old: changes after it may have been pruned."""
    at = rows.journal_time(seq)
    is_gone = seq < rows.first_sequence() if at is None else at < now - DAY
    if is_gone:
        raise ServiceError("TrimmedDataAccessException", "The data you are trying to access has been trimmed")
