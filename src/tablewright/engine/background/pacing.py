"""Pauses of background work, so that client writes are not delayed by it.

`Pacer` is for maintenance, whose steps are writes. A client write that arrives during a step waits until its end. While
clients write, each step is followed by a pause as long as the step took (waiting for the writer included), so at least
half of the time is theirs. After steps with no deadline (the TTL sweep) the pause is three times as long: each page
they change is written to the disk once more beside the clients' commits, and with half of the time every hundredth
client commit was measurably slower. While no client writes, the pause is just long enough for a waiting thread to get
the lock.
`PacedSession` is for jobs, which compute between their transactions. In Python a thread that computes delays all
others, once for each time it holds the interpreter. While clients write, the job sleeps before each transaction for as
long as it has worked since the last one.
Must hold: while no client writes, a job never sleeps; no pause of a job is longer than LONGEST_SECONDS.
Elsewhere: the steps (maintenance.py), the jobs (jobs.py), the threads (threads.py).
"""

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from tablewright.engine.background.session import Session
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

T = TypeVar("T")

ALONE_SECONDS = 0.0002
CROWDED_SECONDS = 0.001
LONGEST_SECONDS = 0.05
# The pause after a step without a deadline, in multiples of the step.
NO_DEADLINE = 3
# Clients that wrote within this time are assumed to write again.
MEMORY_SECONDS = 0.1


class Pacer:
    """The pauses between the steps of one thread. `writes` returns the number of writes so far, its own included."""

    def __init__(
        self,
        writes: Callable[[], int],
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], None] = sleep,
    ) -> None:
        self._writes, self._clock, self._sleep = writes, clock, sleep
        self._began, self._seen = clock(), writes()
        self._last_client_write = self._began - MEMORY_SECONDS

    def step(self) -> None:
        """Call before a step of one write."""
        self._began = self._clock()

    def rest(self, times: int = 1) -> None:
        """Call after the step. While clients write, sleeps `times` as long as the step took."""
        now, writes = self._clock(), self._writes()
        if writes - self._seen > 1:
            self._last_client_write = now
        self._seen = writes
        is_crowded = now - self._last_client_write < MEMORY_SECONDS
        took = min(max(now - self._began, CROWDED_SECONDS), LONGEST_SECONDS)
        self._sleep(times * took if is_crowded else ALONE_SECONDS)


class PacedSession:
    """The session of a job, with pauses. A journal row that the job did not write is a client's write."""

    def __init__(
        self, session: Session, clock: Callable[[], float] = monotonic, sleep: Callable[[float], None] = sleep
    ) -> None:
        self.session, self.memory = session, session.memory
        self._clock, self._sleep = clock, sleep
        self._began = clock()
        self._seen: int | None = None
        self._last_client_write = self._began - MEMORY_SECONDS

    def read(self, fn: Callable[[ReadTransaction], T]) -> T:
        self._rest()
        result, seq = self.session.read(lambda txn: (fn(txn), txn.rows.last_sequence()[0]))
        self._note_journal(seq)
        return result

    def write(self, fn: Callable[[WriteTransaction], T]) -> T:
        self._rest()

        def work(txn: WriteTransaction) -> tuple[int, T, int]:
            return txn.position.seq, fn(txn), txn.position.seq

        before, result, after = self.session.write(work)
        self._note_journal(before)
        self._seen = after
        return result

    def begin(self) -> None:
        """Call before a step of a job: the time before it was not work."""
        self._began = self._clock()

    def _note_journal(self, seq: int) -> None:
        if self._seen is not None and seq > self._seen:
            self._last_client_write = self._clock()
        self._seen = seq

    def _rest(self) -> None:
        now = self._clock()
        if now - self._last_client_write < MEMORY_SECONDS:
            self._sleep(min(now - self._began, LONGEST_SECONDS))
            self._began = self._clock()


class UnitRate:
    """At most so many units per second for one job, by sleeping before its steps."""

    def __init__(
        self, units: int, clock: Callable[[], float] = monotonic, sleep: Callable[[float], None] = sleep
    ) -> None:
        self._units, self._clock, self._sleep = units, clock, sleep
        self._next = clock()

    def rest(self) -> bool:
        """Sleep until the next step may begin, LONGEST_SECONDS at most; False if that is not enough."""
        wait = self._next - self._clock()
        if wait > 0:
            self._sleep(min(wait, LONGEST_SECONDS))
        return wait <= LONGEST_SECONDS

    def spend(self, units: float) -> None:
        self._next = max(self._next, self._clock()) + units / self._units
