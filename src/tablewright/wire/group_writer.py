"""Group commit: the writes of one turn of the event loop, or of several that each bring more, share a transaction.

Must hold: an outcome is delivered only after its transaction is durable, as the engine is configured; groups
follow one another, so a write collected later never commits earlier; a request that makes the engine fail does
not affect the others. While a commit waits for the disk in our thread, the loop collects the next group.
Elsewhere: the transaction itself (engine), the order of responses on one connection (connection.py).
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from tablewright.engine import Engine, PendingCommit

log = logging.getLogger("tablewright.wire")

Outcome = bytes | Exception
Deliver = Callable[[str, Outcome], None]
Write = tuple[Deliver, str, dict[str, Any]]
Job = Callable[[], Sequence[Outcome]]

# How many writes one transaction takes: more would hold the loop, and every reader on it, for too long.
GROUP_LIMIT = 128
# From this many writes on, in this group or the last one, a group is collected for as long as each turn of the loop
# brings another write: clients that were answered together ask together, and the first of them would have a commit of
# its own. Fewer are served at once, and the next arrive while they are: cheaper, unless commits wait for the disk.
CROWD, CROWD_AT_DISK = 8, 3


class GroupWriter:
    """The queue of writes in front of the engine, and the thread that waits for the disk."""

    def __init__(self, engine: Engine, loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._loop = loop
        self._queue: list[Write] = []
        self._is_flushing = False
        self._last = 0  # how many writes the last group had
        self._jobs: SimpleQueue[tuple[list[Write], Job] | None] = SimpleQueue()
        self._committing = threading.Thread(target=self._work, name="tablewright-commit", daemon=True)
        self._committing.start()

    def add(self, deliver: Deliver, verb: str, request: dict[str, Any]) -> None:
        """Add a write; `deliver` is called on the loop with its outcome."""
        self._queue.append((deliver, verb, request))
        if not self._is_flushing:
            self._is_flushing = True
            self._loop.call_soon(self._collect)

    @property
    def is_idle(self) -> bool:
        return not self._is_flushing

    def close(self) -> None:
        """Finish the commit under way and end the thread; what is still queued is not begun."""
        self._queue.clear()
        self._is_flushing = True  # a group begun now would hold the engine's write lock for ever
        self._jobs.put(None)
        self._committing.join()

    def _collect(self, known: int = 0) -> None:
        """Begin the group, or give the loop another turn; `known` is how many writes there were a turn ago."""
        waiting = len(self._queue)
        crowd = CROWD_AT_DISK if self._engine.commit_blocks else CROWD
        if known < waiting < GROUP_LIMIT and max(waiting, self._last) >= crowd:
            self._loop.call_soon(self._collect, waiting)
        else:
            self._flush()

    def _flush(self) -> None:
        writes = self._queue[:GROUP_LIMIT]
        del self._queue[:GROUP_LIMIT]
        if not writes:
            return
        self._last = len(writes)
        group = self._start(writes)
        if group is None:
            self._jobs.put((writes, lambda: self._in_turn(writes)))
        elif self._engine.commit_blocks:
            self._jobs.put((writes, group.finish))
        else:
            self._deliver(writes, _outcomes(writes, group.finish))

    def _start(self, writes: Sequence[Write]) -> PendingCommit | None:
        try:
            return self._engine.start_group([(verb, request) for _, verb, request in writes])
        except Exception:
            return None  # one by one, only the write at fault will fail

    def _work(self) -> None:
        for writes, job in iter(self._jobs.get, None):
            self._loop.call_soon_threadsafe(self._deliver, writes, _outcomes(writes, job))
            del writes, job  # or the last group's requests stay in memory until the next one comes

    def _in_turn(self, writes: Sequence[Write]) -> list[Outcome]:
        """Another thread of the process is writing: wait for it with one write, then commit the rest as a group."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(writes):
            _, verb, request = writes[len(outcomes)]
            try:
                outcomes.append(self._engine.answer(verb, request))
            except Exception as error:
                outcomes.append(error)
            rest = writes[len(outcomes) :]
            group = self._start(rest) if rest else None
            if group is not None:
                outcomes += _outcomes(rest, group.finish)
        return outcomes

    def _deliver(self, writes: Sequence[Write], outcomes: Sequence[Outcome]) -> None:
        for (deliver, verb, _), outcome in zip(writes, outcomes, strict=True):
            try:
                deliver(verb, outcome)
            except (
                Exception
            ) as error:  # a failure of one client must not keep the others from their responses
                log.error("response not sent", extra={"verb": verb, "mistake": type(error).__name__})
        self._is_flushing = bool(self._queue)
        if self._queue:
            self._loop.call_soon(self._collect)


def _outcomes(writes: Sequence[Write], job: Job) -> Sequence[Outcome]:
    """The outcomes of a job; if it could not commit, its error for each of the writes."""
    try:
        return job()
    except Exception as error:
        return [error] * len(writes)
