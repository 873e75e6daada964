"""How long-running jobs access the store: short read and write transactions, nothing else.

Must hold: a function passed to `read` or `write` is quick, since other requests wait for it; slow work (compression,
files, network) is done between two transactions.
Elsewhere: the jobs (jobs.py), the implementation for an open engine (engine.py), pauses between transactions
(pacing.py).
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

from tablewright.engine.transaction import ReadTransaction, WriteTransaction

T = TypeVar("T")


class EngineClosed(RuntimeError):
    """The engine was closed and accepts no more calls."""


@runtime_checkable
class Closable(Protocol):
    """A value in `Session.memory` that is closed with the session."""

    def close(self) -> None: ...


class Session(Protocol):
    """Access to the store for a job. `memory` holds what it keeps between two steps; dropped when the store closes."""

    memory: dict[str, Any]

    def read(self, fn: Callable[[ReadTransaction], T]) -> T:
        """The result of `fn` on one snapshot. `fn` may be called twice, so it must have no side effects."""
        ...

    def write(self, fn: Callable[[WriteTransaction], T]) -> T:
        """The result of `fn`, after its commit. `fn` may be called twice; only the last call takes effect."""
        ...
