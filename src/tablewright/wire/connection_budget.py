"""One connection's part of the memory budget: for the request it receives, and for the one it serves.

Must hold: a connection waits for room once at a time; what it reserved is released exactly once, also when it is lost.
Elsewhere: the budget of all connections (memory_budget.py), requests that wait behind others (connection.py).
"""

from tablewright.wire.memory_budget import MemoryBudget, OnRoom

# For which request a connection waits for room: none, the one it receives, the one whose turn it is.
NOTHING, BODY, TURN = 0, 1, 2


class ConnectionBudget:
    """What a connection has reserved, and what it waits for."""

    __slots__ = ("_budget", "_serving", "receiving", "waits_for")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._serving = 0
        self.waits_for = NOTHING
        self.receiving = 0  # reserved for the request that is being received

    def reserve_body(self, on_room: OnRoom, weight: int, received: int) -> None:
        """Reserve room for the rest of a body. If there is none, `waits_for` is BODY until `on_room` is called."""
        if self.receiving or self.waits_for != NOTHING:
            return
        self.waits_for = BODY
        if self._budget.reserve(on_room, weight, received):
            self.waits_for, self.receiving = NOTHING, weight

    def reserve_turn(self, on_room: OnRoom, weight: int, size: int) -> bool:
        """Whether a complete request may be served. If not, `waits_for` is TURN until `on_room` is called.

        If the request behind it waits for room already, that one has to reserve again afterwards.
        """
        if self.waits_for == BODY:
            self._budget.cancel(on_room)
        self.waits_for = TURN
        is_reserved = self._budget.reserve(on_room, weight, size)
        if is_reserved:
            self.waits_for = NOTHING
        return is_reserved

    def take_received(self) -> int:
        """What is reserved for the request that is now complete; the caller has to release it."""
        reserved, self.receiving = self.receiving, 0
        return reserved

    def served(self, weight: int, is_busy: bool) -> None:
        """A request was answered, or (`is_busy`) is being answered by another thread."""
        if is_busy:
            self._serving = weight
        else:
            self._budget.release(weight)

    def delivered(self) -> None:
        """The other thread has answered."""
        if self._serving:
            reserved, self._serving = self._serving, 0
            self._budget.release(reserved)

    def release_body(self, on_room: OnRoom) -> None:
        """The request that is being received is given up."""
        if self.waits_for == BODY:
            self.waits_for = NOTHING
            self._budget.cancel(on_room)
        if self.receiving:
            self._budget.release(self.take_received())
