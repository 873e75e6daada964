"""The one door to what differs between two runs: time, ids and chance.

Must hold: no other module reads a clock, draws a random number or makes an id of its own.
Elsewhere: a clock that tests can move (testing.py).
"""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class World:
    """Everything that could differ between two runs of the same program."""

    now: Callable[[], datetime]
    new_id: Callable[[], str]
    jitter: Callable[[], float]


def machine_time() -> datetime:
    """The machine's clock. A world with another one may jump at any moment."""
    return datetime.now(UTC)


def real_world() -> World:
    """The machine's clock, random ids, real chance."""
    return World(now=machine_time, new_id=lambda: str(uuid.uuid4()), jitter=random.random)
