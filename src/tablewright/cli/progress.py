"""Wait for a long-running job and show its progress: a bar on a terminal, occasional lines elsewhere.

Must hold: a terminal gets one line that is rewritten, anything else gets plain lines, and few of them; progress goes to
stderr; Ctrl-C stops the waiting, not the job, and says so.
Elsewhere: percent, rate and time left (app/progress.py).
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO, TypeVar

from tablewright.app.progress import ProgressSnapshot
from tablewright.cli.output import print_message
from tablewright.english import duration

SHORT, LONG = 0.02, 2.0

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Progress:
    """`is_over` if the job has succeeded or failed; `done` of `total` steps, if the total is known."""

    is_over: bool
    done: int = 0
    total: int | None = None


def spoken(what: str, progress: ProgressSnapshot) -> str:
    """`portal: 40 %, 1200/s, 3 s left`."""
    parts = [f"{progress.percent} %" if progress.percent is not None else f"{progress.done} so far"]
    if progress.rate is not None:
        parts.append(f"{progress.rate:.0f}/s" if progress.rate >= 10 else f"{progress.rate:.1f}/s")
    if progress.seconds_left is not None and progress.share != 1.0:
        parts.append(f"{duration(progress.seconds_left)} left")
    return f"{what}: {', '.join(parts)}"


def bar(share: float) -> str:
    """`[########................]`."""
    full = int(share * 24)
    return f"[{'#' * full}{'.' * (24 - full)}]"


class Terminal:
    """Progress as lines on a stream, with a bar if wanted. Call it as a Progress; `end()` when the talk is over."""

    def __init__(
        self,
        stream: TextIO,
        *,
        prefix: str = "",
        has_bar: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._prefix, self._clock = stream, prefix, clock
        self._is_tty = stream.isatty()
        self._has_bar = has_bar and self._is_tty
        self._what = ""
        self._began = self._last = clock()
        self._is_open = False

    def __call__(self, done: int, total: int | None, what: str) -> None:
        now = self._clock()
        is_new = what != self._what
        if is_new:
            self.end()
            self._what, self._began = what, now
        progress = ProgressSnapshot(done, total, now - self._began)
        is_last = progress.share == 1.0
        if is_new or is_last or now - self._last >= (0.1 if self._is_tty else 2.0):
            self._last = now
            drawn = f"{bar(progress.share)} " if self._has_bar and progress.share is not None else ""
            self._say(drawn + spoken(what, progress))
        if is_last:
            self.end()

    def _say(self, text: str) -> None:
        if self._is_tty:
            self._stream.write(f"\r\x1b[K{self._prefix}{text}")
            self._is_open = True
        else:
            self._stream.write(f"{self._prefix}{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Leave the last line where it is."""
        if self._is_open:
            self._stream.write("\n")
            self._stream.flush()
            self._is_open = False


@contextmanager
def progress_bar() -> Iterator[Terminal]:
    terminal = Terminal(sys.stderr, has_bar=True)
    try:
        yield terminal
    finally:
        terminal.end()


def wait_for(
    job: str,
    fetch: Callable[[], State],
    progress_of: Callable[[State], Progress],
    sleep: Callable[[float], None] = time.sleep,
) -> State:
    """Fetch the job's state, first often, then every two seconds, until it is over; returns the last state."""
    was_announced, total = False, None
    pause = SHORT
    try:
        with progress_bar() as terminal:
            while True:
                state = fetch()
                progress = progress_of(state)
                if progress.is_over:
                    if total is not None:
                        terminal(total, total, job)
                    return state
                total = progress.total
                if total is not None:
                    terminal(min(progress.done, max(total - 1, 0)), total, job)  # 100 % only when it is over
                elif pause > LONG / 2 and not was_announced:
                    was_announced = True
                    print_message(f"{job}: in progress")
                sleep(pause)
                pause = min(pause * 1.5, LONG)
    except KeyboardInterrupt:
        print_message(f"tablewright: {job} is not finished; it continues whenever its store is open")
        raise
