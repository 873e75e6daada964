"""Background work of Campus Cloud: what runs with a period, and what follows changes.

Each job may be run at any time and any number of times, in several processes; it records what it has done.
Must hold: every public function here is in JOBS, or makes them (`work`, `consumers`).
Elsewhere: the scheduler (app/schedule.py).
"""

from collections.abc import Sequence

from tablewright.kit.jobs import Follower, Job
from tablewright.mapping import Consumer
from tablewright.systems.campus.campus import Campus

# --- files ---

# --- sharing ---

# --- courses ---

# --- grading ---

# --- people ---


JOBS: tuple[Job[Campus], ...] = ()


def consumers(campus: Campus) -> tuple[Consumer, ...]:
    """The consumers of the tables' streams."""
    return ()


def work(campus: Campus) -> Sequence[Job[Campus] | Follower[Campus]]:
    """Everything that runs without a request."""
    return (*(_follower(consumer) for consumer in consumers(campus)), *JOBS)


def _follower(consumer: Consumer) -> Follower[Campus]:
    about = "Keeps counts up to date."
    return Follower(f"changes of {consumer.table}", lambda _, stop: consumer.run(stop), about)
