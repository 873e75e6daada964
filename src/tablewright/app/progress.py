"""Progress of long-running jobs: percent, rate, time left; as values, and as lines in a terminal.

A worker reports to a `Progress` of kit/system.py; a ProgressSnapshot is where it was at one moment.
Must hold: a terminal gets one line that is rewritten, anything else gets plain lines, and few of them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from tablewright.pages.words import duration

__all__ = ["ProgressSnapshot", "Terminal", "bar", "duration", "silent", "spoken"]


def silent(done: int, total: int | None, what: str) -> None:
    """A Progress that is not shown."""


@dataclass(frozen=True, slots=True)
class ProgressSnapshot:
    """Where work stands after so many seconds."""

    done: int
    total: int | None
    seconds: float

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where the end is not known."""
        if self.total is None:
            return None
        return min(self.done / self.total, 1.0) if self.total > 0 else 1.0

    @property
    def percent(self) -> int | None:
        return None if self.share is None else int(self.share * 100)

    @property
    def rate(self) -> float | None:
        """Steps a second; None as long as there is nothing to tell it by."""
        return self.done / self.seconds if self.done > 0 and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        if self.total is None or self.rate is None:
            return None
        return max(self.total - self.done, 0) / self.rate


def spoken(what: str, progress: ProgressSnapshot) -> str:
    """`portal: 40 %, 1200/s, 3 s left`."""
    parts = [f"{progress.percent} %" if progress.percent is not None else f"{progress.done} so far"]
    if progress.rate is not None:
        parts.append(f"{progress.rate:.0f}/s" if progress.rate >= 10 else f"{progress.rate:.1f}/s")
    if progress.seconds_left is not None and progress.share != 1.0:
        parts.append(f"{duration(progress.seconds_left)} left")
    return f"{what}: {', '.join(parts)}"


def bar(share: float, width: int = 24) -> str:
    """`[########................]`."""
    full = int(share * width)
    return f"[{'#' * full}{'.' * (width - full)}]"


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
