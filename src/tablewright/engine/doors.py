"""How long work reaches the store: through two doors, and no other way.

Must hold: what goes through a door is quick, since others wait; what is slow is done between two of them.
Elsewhere: who comes through (labours.py), what is behind (engine.py).
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

from tablewright.engine.writing import Reading, Writing

T = TypeVar("T")


class EngineClosed(RuntimeError):
    """The engine was closed and takes no more calls."""


@runtime_checkable
class Closed(Protocol):
    """Something a labour remembers that has to be closed in the end."""

    def close(self) -> None: ...


class Doors(Protocol):
    """The way in for a labour. `memory` is what it remembers between two steps; gone when the store is closed."""

    memory: dict[str, Any]

    def read(self, look: Callable[[Reading], T]) -> T:
        """What `look` finds, all of it at one moment. It may be called twice, so it changes nothing outside."""
        ...

    def write(self, deed: Callable[[Writing], T]) -> T:
        """What `deed` answers, once that is committed. It may be called twice; only the last call counts."""
        ...
