"""Work without a request: jobs with a period, and followers that run until they are stopped.

A system's `jobs.py` declares them beside the functions they run; each is given the system's service.
Must hold: a job may run again after a crash half-way, and in several processes.
A job is also how a system publishes metrics of its own: `publishes` says that what `run` returns are their values.
Elsewhere: when they run, and what is remembered of it (app/schedule.py).
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Job(Generic[S]):
    """Work with a period. `run` is called with the service; `about` is for people to read.

    `of_process`: it works on what this process has in memory or on its machine, so of several processes each runs it.
    With `publishes`, `run` returns the values of the system's metrics by name, a `Mapping[str, float]`: alarms of its
    design can be on them. `failures` is a metric that is 1 for a run that failed, and 0 for another.
    """

    name: str
    every: timedelta
    run: Callable[[S], object]
    about: str = ""
    of_process: bool = False
    publishes: bool = False
    failures: str = ""


@dataclass(frozen=True, slots=True)
class Follower(Generic[S]):
    """Work without an end: `run` returns when the event is set, or raises."""

    name: str
    run: Callable[[S, threading.Event], None]
    about: str = ""
