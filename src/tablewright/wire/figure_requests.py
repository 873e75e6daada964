"""Requests for the figures of a table, answered by a thread beside the loop: they take longer than a read.

Elsewhere: the figures (metrics.py), reads that turn out to be long (slow_reads.py).
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any

from tablewright.engine import Engine
from tablewright.wire.group_writer import Deliver
from tablewright.wire.metrics import figures_of


class FigureRequests:
    """Answers requests for figures in a thread of its own, one after the other."""

    def __init__(self, loop: asyncio.AbstractEventLoop, engines: Mapping[str, Engine]) -> None:
        self._loop, self._engines = loop, engines
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tablewright-figures", daemon=True)
        self._thread.start()

    def add(self, deliver: Deliver, verb: str, request: dict[str, Any]) -> None:
        """Answer a request; `deliver` is called on the loop with the outcome."""

        def run() -> None:
            try:
                outcome: bytes | Exception = figures_of(self._engines, request)
            except Exception as error:
                outcome = error
            self._loop.call_soon_threadsafe(deliver, verb, outcome)

        self._queue.put(run)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        for run in iter(self._queue.get, None):
            run()
            del run  # or the last request stays in memory until the next one
