"""How many tenants are in each status, counted at most once a minute: counting reads every one of them."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tablewright.systems.portal.service import Portal

KEPT = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Counts:
    """Active tenants by status, and when they were counted."""

    by_status: Mapping[str, int]
    at: datetime

    @property
    def all(self) -> int:
        return sum(self.by_status.values())


class KeptCounts:
    """The last count, renewed when somebody asks and it is old."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._lock = threading.Lock()
        self._last: Counts | None = None

    def look(self) -> Counts:
        with self._lock:  # one counts, the others wait for it: better than all of them counting
            now = self._portal.repository.now()
            if self._last is None or now - self._last.at >= KEPT:
                self._last = Counts(self._portal.tenants.counts(), now)
            return self._last
