"""How much work a read may do at once.

A server answers most reads on its event loop, where each delays all others. There a read is `Bounded`: beyond its
budget it stops, and is run again on another thread, where it is `Considerate`: it releases the interpreter now and
then. In the caller's own process a read has no budget and runs to its end. The unit is a byte of an item; a row costs
ROW_COST beside its bytes, and as much again for each part of a filter.
Must hold: a read that stops has changed nothing, neither the store nor the metrics.
"""

from time import sleep
from typing import Protocol

# Measured: reading and parsing a row takes about as long as copying this many bytes.
ROW_COST = 512
# About two milliseconds: a query of 200 items of 1 KB, 50 of them with a filter of ten parts.
MOST = 512 * 1024
# About a millisecond.
TURN = 256 * 1024


class ExceedsBudget(Exception):
    """A read would exceed its budget; it can be run again without a bound."""


class ReadBudget(Protocol):
    """Receives the cost of the work of a read, step by step."""

    def spend(self, amount: int) -> None: ...


class Bounded:
    """For the event loop: raises ExceedsBudget when the budget is spent."""

    __slots__ = ("_left",)

    def __init__(self, most: int = MOST) -> None:
        self._left = most

    def spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise ExceedsBudget


class Considerate:
    """For another thread: sleeps a moment now and then, so that waiting threads get the interpreter."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = TURN

    def spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            self._left = TURN
            sleep(0.00001)
