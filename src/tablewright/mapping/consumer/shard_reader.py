"""Reading one shard: its pages, from the checkpoint of the lease, with a checkpoint after each.

Must hold: records that the stream no longer has are never skipped silently; the position after a page is saved when all
of it was handled, parked or skipped.
Elsewhere: which shards a worker reads (consumer.py, leases.py), what is done with a record (processor.py).
"""

from threading import Event

from tablewright.client import CallRefused
from tablewright.mapping.consumer import shards
from tablewright.mapping.consumer.leases import ChangesLost, LeaseLost
from tablewright.mapping.consumer.processor import LeasedShard, Progress, StopRequested
from tablewright.mapping.consumer.shards import RecordPage

# Pages of one shard before the next shard is read.
PAGES = 10
# An open shard may return empty pages although records follow. After this many it counts as read to its end.
EMPTY_PAGES = 20


def read_pages(leased: LeasedShard, stop: Event) -> Progress:
    """Read some pages of a shard. It `is_over` when it has ended, another worker wants it, or its lease is lost."""
    done = Progress()
    try:
        for _ in range(PAGES):
            page, lost = _next_page(leased)
            done += lost
            for came_of in leased.process(page.records, stop):
                done += came_of
            if leased.is_over or stop.is_set():
                return done
            if page.next is None:
                leased.end()
                return done + Progress(shards_ended=1)
            _save_position(leased, page)
            if leased.lease.wanted is not None:
                leased.is_over = True
                return done
            if leased.is_caught_up and not page.records:
                return done
    except LeaseLost:
        leased.is_over = True
        return done + Progress(leases_lost=1)
    except StopRequested:
        return done
    return done


def _next_page(leased: LeasedShard) -> tuple[RecordPage, Progress]:
    """The next page, and what was lost before it. Raises ChangesLost."""
    settings, lost, tried = leased.settings, Progress(), 0
    call = settings.worker.call
    while True:
        try:
            if leased.iterator is None:
                lease = leased.lease
                if not leased.from_horizon and lease.checkpoint is None and lease.first is None:
                    lost += _to_horizon(leased)
                place = {} if leased.from_horizon else {"after": lease.checkpoint, "at": lease.first}
                leased.iterator = shards.shard_iterator(call, lease.stream, lease.shard, **place)
            return shards.read_page(call, leased.iterator, settings.batch), lost
        except CallRefused as refusal:
            tried += 1
            match refusal.name:
                case shards.NOT_FOUND:
                    raise LeaseLost from None  # the shard itself is gone: the next plan says what that means
                case shards.TRIMMED if not leased.from_horizon:
                    lost += _to_horizon(leased)
                case shards.EXPIRED | shards.TRIMMED:
                    pass
                case shards.BUSY if tried < settings.retries.attempts:  # too many read this shard
                    leased.pause(tried)
                    continue
                case _:
                    raise
            leased.iterator = None


def _to_horizon(leased: LeasedShard) -> Progress:
    """Continue with the oldest record. Nothing was lost if the consumer was up to date less than a day ago."""
    leased.from_horizon = True
    worker, since = leased.settings.worker, leased.lease.since
    if worker.now() - since < shards.RETENTION:
        return Progress()
    if not leased.settings.skips_lost:
        raise ChangesLost(worker.table, worker.consumer, since)
    return Progress(lost_since=since)


def _save_position(leased: LeasedShard, page: RecordPage) -> None:
    """Save the position after a page, if it had records."""
    leased.iterator = page.next
    leased.from_horizon = leased.from_horizon and not page.records  # there is a checkpoint now
    leased.empty = 0 if page.records else leased.empty + 1
    if leased.empty >= EMPTY_PAGES and not leased.is_closing:
        leased.is_caught_up = True
    if leased.is_caught_up and not page.records:
        leased.lease = leased.lease.model_copy(update={"caught_up": leased.settings.worker.now()})
    if leased.is_unsaved:
        leased.save()
    else:
        leased.renew()
