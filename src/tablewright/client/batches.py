"""Any number of gets, puts and deletes, in as many batches as they need.

At most 100 keys or 25 writes go into one call, over all tables, and at most 16 MB. What the service leaves
unprocessed is sent again, after a jittered pause; what is still left after the last attempt is returned.
Must hold: nothing is lost silently; of two writes to one item the later one wins, since unprocessed writes are sent
before those that were not sent yet.
Elsewhere: a batch that is refused as a whole is retried by the Call (http.py, `retrying` in retries.py).
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from tablewright.client.call import Call, CallFailed, CallRefused, json_of
from tablewright.client.item_identity import identity_of
from tablewright.client.retries import Retries
from tablewright.world import World, real_world

KEYS = 100
WRITES = 25
# Of the 16 MB of a request, a little is left for what surrounds its items.
BYTES = 16 * 1024 * 1024 - 65536

Json: TypeAlias = dict[str, Any]
Entry: TypeAlias = tuple[str, Mapping[str, Any]]  # a table, and a key to get or a request to write
Send: TypeAlias = Callable[[list[Entry]], list[Entry]]


@dataclass(frozen=True, slots=True)
class BatchRead:
    """The items found, each with its table, in no order; and the keys that stayed unprocessed, usually none."""

    items: tuple[tuple[str, Json], ...]
    unread: Mapping[str, list[Mapping[str, Any]]]


class BatchStopped(CallFailed):
    """A batch was refused or got no answer; `unwritten` holds every write that may not have been done.

    The error is its `__cause__`. Puts and deletes of a batch may be repeated without harm.
    """

    def __init__(self, why: CallFailed, unwritten: Mapping[str, list[Mapping[str, Any]]]) -> None:
        self.why, self.unwritten = why, unwritten
        count = sum(map(len, unwritten.values()))
        super().__init__(f"{count} writes were not done: {why}")


def batch_get(
    call: Call,
    keys: Mapping[str, Iterable[Mapping[str, Any]]],
    *,
    consistent: bool = False,
    world: World | None = None,
    retries: Retries | None = None,
) -> BatchRead:
    """The items under `keys`, by table; a key that is given twice is read once."""
    settings: Json = {"ConsistentRead": True} if consistent else {}
    found: list[tuple[str, Json]] = []

    def send(chunk: list[Entry]) -> list[Entry]:
        asked = {table: {"Keys": some, **settings} for table, some in _by_table(chunk).items()}
        answer = call("BatchGetItem", {"RequestItems": asked})
        found.extend((table, item) for table, items in answer.get("Responses", {}).items() for item in items)
        left = answer.get("UnprocessedKeys") or {}
        return [(table, key) for table, rest in left.items() for key in rest["Keys"]]

    distinct = {identity_of(table, key): (table, key) for table, some in keys.items() for key in some}
    waiting = deque(distinct.values())
    _drain(waiting, KEYS, send, world or real_world(), retries)
    return BatchRead(tuple(found), _by_table(waiting))


def batch_write(
    call: Call,
    requests: Mapping[str, Iterable[Mapping[str, Any]]],
    *,
    world: World | None = None,
    retries: Retries | None = None,
) -> Mapping[str, list[Mapping[str, Any]]]:
    """Carry out `{"PutRequest": ...}` and `{"DeleteRequest": ...}`, by table; returns those that stayed unprocessed.

    A batch is not a transaction: when it raises BatchStopped, earlier writes remain.
    """

    def send(chunk: list[Entry]) -> list[Entry]:
        answer = call("BatchWriteItem", {"RequestItems": _by_table(chunk)})
        left = answer.get("UnprocessedItems") or {}
        return [(table, request) for table, rest in left.items() for request in rest]

    waiting = deque((table, request) for table, some in requests.items() for request in some)
    try:
        _drain(waiting, WRITES, send, world or real_world(), retries)
    except CallFailed as failure:
        raise BatchStopped(failure, _by_table(waiting)) from failure
    return _by_table(waiting)


def _drain(waiting: deque[Entry], most: int, send: Send, world: World, retries: Retries | None) -> None:
    """Send until nothing waits, or until `attempts` calls in a row processed nothing.

    In every case `waiting` then holds what may not have been done.
    """
    retries = retries or Retries(sleep=world.sleep)
    tried, room = 0, most
    while waiting:
        chunk = _take(waiting, room)
        left, room = chunk, most
        try:
            left = send(chunk)
        except CallRefused as refusal:
            if refusal.is_retryable:  # the Call has retried it already
                return
            if not _is_duplicate_refusal(refusal) or len(chunk) == 1:
                raise
            # Which two are one item depends on the table's schema. The batch was refused as a whole: send the
            # first half now, the second after it, until the two are apart.
            room = len(chunk) // 2
            continue
        finally:
            waiting.extendleft(reversed(left))
        if left:
            tried = tried + 1 if len(left) == len(chunk) else 0
            if tried >= retries.attempts:
                return
            retries.sleep(retries.pause(max(tried, 1), world.jitter()))


def _is_duplicate_refusal(refusal: CallRefused) -> bool:
    return refusal.name == "ValidationException" and "contains duplicates" in refusal.message


def _take(waiting: deque[Entry], most: int) -> list[Entry]:
    count, room = 0, BYTES
    for one in islice(waiting, most):
        room -= len(json_of("A batch", one))
        if room < 0 and count:
            break
        count += 1
    return [waiting.popleft() for _ in range(count)]


def _by_table(some: Iterable[Entry]) -> dict[str, list[Mapping[str, Any]]]:
    tables: dict[str, list[Mapping[str, Any]]] = {}
    for table, one in some:
        tables.setdefault(table, []).append(one)
    return tables
