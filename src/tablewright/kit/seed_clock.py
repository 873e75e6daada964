"""The clock of a demo's past: what a seed makes is spread over days. The seed sets `now` to jump."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass
class SeedClock:
    """Goes on by a millisecond with each reading, so that no two changes have the same time."""

    now: datetime

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now
