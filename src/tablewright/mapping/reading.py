"""Reading one shard: its pages, from where the lease stands, with a checkpoint behind each.

Must hold: what a stream no longer holds is never passed over in silence; a page's place is kept when all of it was
handled, parked or passed over.
Elsewhere: which shards a worker reads (consumer.py, leases.py), what is done with a record (handling.py).
"""

from threading import Event

from tablewright.client import Call, CallRefused
from tablewright.mapping import shards
from tablewright.mapping.handling import Held, Progress, Reader, Stopped, end, handled, keep, pause, renew
from tablewright.mapping.leases import ChangesLost, LeaseLost
from tablewright.mapping.shards import Records

# Pages of one shard before the next one has its turn.
PAGES = 10
# An open shard may give empty pages though more is to come. So many in a row, and it counts as read to its end.
EMPTY_PAGES = 20


def turn(reader: Reader, held: Held, stop: Event) -> Progress:
    """Some pages of a shard. It `is_over` when the shard has ended, was asked for, or is no longer ours."""
    done = Progress()
    try:
        for _ in range(PAGES):
            page, lost = _page(reader, held)
            done += lost
            for came_of in handled(reader, held, page.records, stop):
                done += came_of
            if held.is_over or stop.is_set():
                return done
            if page.next is None:
                end(reader, held)
                return done + Progress(shards_ended=1)
            _keep_place(reader, held, page)
            if held.lease.wanted is not None:
                held.is_over = True
                return done
            if held.is_caught_up and not page.records:
                return done
    except LeaseLost:
        held.is_over = True
        return done + Progress(leases_lost=1)
    except Stopped:
        return done
    return done


# --- pages ---


def _page(reader: Reader, held: Held) -> tuple[Records, Progress]:
    """The next page, wherever the iterator stands. Raises ChangesLost."""
    lost, tried = Progress(), 0
    while True:
        try:
            if held.iterator is None:
                if not held.from_horizon and held.lease.checkpoint is None and held.lease.first is None:
                    lost += _to_horizon(reader, held)
                held.iterator = _iterator(reader.call, held)
            return shards.read(reader.call, held.iterator, reader.batch), lost
        except CallRefused as refusal:
            tried += 1
            match refusal.name:
                case shards.NOT_FOUND:
                    raise LeaseLost from None  # the shard itself is gone: the next plan says what that means
                case shards.TRIMMED if not held.from_horizon:
                    lost += _to_horizon(reader, held)
                case shards.EXPIRED | shards.TRIMMED:
                    pass
                case shards.BUSY if tried < reader.retries.attempts:  # too many read this shard
                    pause(reader, held, tried)
                    continue
                case _:
                    raise
            held.iterator = None


def _iterator(call: Call, held: Held) -> str:
    lease = held.lease
    if held.from_horizon:
        return shards.iterator(call, lease.stream, lease.shard)
    return shards.iterator(call, lease.stream, lease.shard, after=lease.checkpoint, at=lease.first)


def _to_horizon(reader: Reader, held: Held) -> Progress:
    """Go on with the oldest change there is. Nothing was lost if we were up to date less than a day ago."""
    held.from_horizon = True
    worker, since = reader.worker, held.lease.since
    if worker.now() - since < shards.KEPT:
        return Progress()
    if not reader.skips:
        raise ChangesLost(worker.table, worker.consumer, since)
    return Progress(lost_since=since)


def _keep_place(reader: Reader, held: Held, page: Records) -> None:
    """Go on behind a page, with a checkpoint if it brought anything."""
    held.iterator = page.next
    held.from_horizon = held.from_horizon and not page.records  # there is a checkpoint now
    held.empty = 0 if page.records else held.empty + 1
    if held.empty >= EMPTY_PAGES and not held.is_closing:
        held.is_caught_up = True
    if held.is_caught_up and not page.records:
        held.lease = held.lease.model_copy(update={"caught_up": reader.worker.now()})
    if held.is_unsaved:
        keep(reader, held)
    else:
        renew(reader, held)
