"""Clock, ids, randomness and pauses: everything that differs between two runs, injected and never global.

Must hold: no other module reads the clock, draws a random number or makes an id.
Elsewhere: a clock that tests can move (testing.py).
"""

import random
import time
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
    # How a pause before a retry is waited for: a coroutine waits in another way (client/coroutines.py).
    sleep: Callable[[float], None] = time.sleep


def machine_time() -> datetime:
    """The machine's clock, in UTC. The clock of another World may jump."""
    return datetime.now(UTC)


def real_world() -> World:
    """The machine's clock, random UUIDs, random jitter."""
    return World(now=machine_time, new_id=lambda: str(uuid.uuid4()), jitter=random.random)


def derived_id(namespace: str, name: str) -> str:
    """The id of a name in a namespace, which is an address: always the same one, a UUID of version 5."""
    return str(uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_URL, namespace), name))
