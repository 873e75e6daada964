"""Work without a request: jobs with a period, and followers that run until they are stopped.

A system's `jobs.py` declares them beside the functions they run; each is given the system's service.
Must hold: a job may run again after a crash half-way, and in several processes.
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
    """Work with a period. `run` is called with the service; `about` is for people to read."""

    name: str
    every: timedelta
    run: Callable[[S], object]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Follower(Generic[S]):
    """Work without an end: `run` returns when the event is set, or raises."""

    name: str
    run: Callable[[S, threading.Event], None]
    about: str = ""
