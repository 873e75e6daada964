"""The scrub: once a day a pass over the whole store that looks for damage to the file, in small steps.

Reads compare the checksum of each item they return; the scrub finds damage in what is not read: items, index entries,
journal rows, chunks of snapshots, the structure of the file, and the counters. Rows that an earlier version wrote get
their checksums here.
Must hold: a step reads one snapshot and keeps nothing open; it writes only missing checksums and its own report. A
report names parts of the store, never keys or contents.
Elsewhere: the steps (scrub_steps.py), the thread and its pauses (background/threads.py), a check of every invariant in
one snapshot, which needs the store exclusively (invariants.py).
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tablewright.engine.background.session import Session
from tablewright.engine.verify import store
from tablewright.engine.verify.scrub_steps import ScrubStep, named, scrub_steps, total_rows

log = logging.getLogger("tablewright.engine")

# Microseconds between the end of a pass and the next.
EVERY = 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class ScrubReport:
    """A pass: when it began and ended (microseconds; None: in progress), rows it has read of about `total`.

    `found` has the number of damaged places of each damaged part of the store.
    """

    begun: int
    ended: int | None
    rows: int
    total: int
    found: tuple[tuple[str, int], ...]


class Scrub:
    """The passes over one open store. `damaged` are the tables in which requests found damage (storage/sqlite.py)."""

    def __init__(self, session: Session, damaged: set[int], is_over: Callable[[], bool]) -> None:
        self._session, self._damaged, self._is_over = session, damaged, is_over
        self._steps: Iterator[ScrubStep] | None = None
        self.current: ScrubReport | None = None

    def last(self) -> ScrubReport | None:
        """The last finished pass."""
        found = self._session.read(lambda txn: store.last_ended(txn.rows))
        return (
            None
            if found is None
            else ScrubReport(found.begun, found.ended, found.rows, found.rows, found.found)
        )

    def damage(self) -> list[str]:
        """The parts of the store in which requests or a pass found damage."""
        parts = {name for one in (self.last(), self.current) if one is not None for name, _ in one.found}
        met = tuple(self._damaged)
        return sorted(parts | set(self._session.read(lambda txn: [named(txn, one) for one in met])))

    def is_due(self) -> bool:
        if self._steps is not None:
            return True
        last = self._session.read(lambda txn: (store.last_ended(txn.rows), txn.now()))
        return last[0] is None or last[1] >= (last[0].ended or 0) + EVERY

    def step(self) -> bool:
        """One step of the current pass, or of a new one; False at the end of a pass."""
        if self._steps is None or self.current is None:
            self.current = self._begun()
            self._steps = scrub_steps(self._session, self._is_over)
        try:
            step = next(self._steps, None)
        except BaseException:
            # Interrupted, for example by a full disk: rows that were not read must not count as read.
            self._steps = self.current = None
            raise
        if step is None:
            self._end(self.current)
            return False
        self.current = self._with(self.current, step)
        return True

    def run(self) -> ScrubReport:
        """A whole pass at once, from its beginning."""
        self._steps = None
        while self.step():
            pass
        last = self.last()
        assert last is not None, "a finished pass is saved"
        return last

    def _begun(self) -> ScrubReport:
        now, total = self._session.read(lambda txn: (txn.now(), total_rows(txn)))
        return ScrubReport(now, None, 0, total, ())

    def _with(self, report: ScrubReport, step: ScrubStep) -> ScrubReport:
        found = dict(report.found)
        for part in step.found:
            if part not in found:
                log.error("damage found", extra={"part": part})
            found[part] = found.get(part, 0) + 1
        return replace(report, rows=report.rows + step.rows, found=tuple(sorted(found.items())))

    def _end(self, report: ScrubReport) -> None:
        self._session.write(
            lambda txn: store.save(
                txn.rows, store.ScrubPass(report.begun, txn.position.at, report.rows, report.found)
            )
        )
        log.info("scrub finished", extra={"rows": report.rows, "damaged_parts": len(report.found)})
        self._steps = self.current = None
        # Damage found by requests is in the pass now, unless it was repaired: a restored table has another number.
        self._damaged.clear()
