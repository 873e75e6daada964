"""Shard iterators: a place in a shard, as text that a client hands back. It is good for a quarter of an hour.

Must hold: whatever text comes back, it is an iterator or refused.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

import orjson

from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.storage_rows import Rows, Shard, Stream
from tablewright.engine.streams import DAY

ITERATOR_AGE = 15 * 60_000_000
MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class Iterator:
    """`position` is the number of the next change to look at; None for the oldest there is by then."""

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
    if len(parts) != 3 or not all(_is_number(n) for n in (shard, at, 0 if position is None else position)):
        raise invalid("Invalid ShardIterator")
    if abs(now - at) > ITERATOR_AGE:
        raise ServiceError(
            "ExpiredIteratorException", "The provided iterator exceeds the maximum age allowed"
        )
    return Iterator(parts[0], shard, position, at)


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value < MOST


def refuse_trimmed(rows: Rows, seq: int, now: int) -> None:
    """Whoever points at a change of more than a day ago has missed something."""
    at = rows.journal_time(seq)
    is_gone = seq < rows.first_sequence() if at is None else at < now - DAY
    if is_gone:
        raise ServiceError("TrimmedDataAccessException", "The data you are trying to access has been trimmed")
