"""Slow reads, in threads beside the event loop: while one of them reads many items, short requests are answered.

Must hold: a read whose connection is lost is not begun; its response is compressed here, not on the loop.
Elsewhere: which reads are slow (engine/read_budget.py), the order of responses on one connection (connection.py).
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from tablewright.engine import Engine
from tablewright.engine.read_budget import Considerate
from tablewright.wire.content_encoding import encode

# Two: one enormous read does not keep the others waiting. More would take processor time from the loop.
THREADS = 2


class Encoded(NamedTuple):
    """A body as it is sent, and the header line that names its encoding."""

    body: bytes
    line: bytes


Deliver = Callable[[str, Encoded | Exception], None]


class SlowReads:
    """The threads of slow reads."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._reads = ThreadPoolExecutor(THREADS, "tablewright-reads")

    def add(
        self,
        deliver: Deliver,
        is_wanted: Callable[[], bool],
        engine: Engine,
        verb: str,
        request: dict[str, Any],
        accepted: bytes,
    ) -> None:
        """Answer a read in a thread, if it is still wanted; `deliver` is called on the loop."""

        def read() -> Encoded:
            if not is_wanted():
                return Encoded(b"", b"")
            return Encoded(*encode(engine.answer(verb, request, Considerate()), accepted))

        self._reads.submit(self._run, deliver, verb, read)

    def _run(self, deliver: Deliver, verb: str, read: Callable[[], Encoded]) -> None:
        try:
            outcome: Encoded | Exception = read()
        except Exception as error:
            outcome = error
        self._loop.call_soon_threadsafe(deliver, verb, outcome)

    def close(self) -> None:
        self._reads.shutdown(cancel_futures=True)
