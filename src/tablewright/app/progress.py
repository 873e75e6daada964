"""Progress of long-running jobs: percent, rate, time left.

A worker reports to a `Progress` of kit/system.py; a ProgressSnapshot is where it was at one moment.
Elsewhere: the same as lines in a terminal (cli/progress.py).
"""

from dataclasses import dataclass


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
