"""The memory that requests and unread responses may take, over all connections of a server.

A request of more than `light_bytes` reserves its whole announced size before its body is read, and releases it when it
has been answered. While there is no room, its connection is not read. Room that becomes free goes in turn to the client
that has waited longest and to the one that came last: a crowd of stalled requests does not keep a newcomer out, and
newcomers do not keep the crowd out.
Must hold: what is held never exceeds `held_bytes` (a single request always fits), what waiting clients have sent
already never exceeds half of that, and unread responses never exceed `unread_bytes`; a client that waits is granted its
room or refused.
Elsewhere: which bodies have stalled, and how long a client waits at most (connection.py, timeouts.py).
"""

from collections.abc import Callable
from typing import TypeAlias

from tablewright.wire.limits import Limits

# A connection that waits for room, by the function that is called with the outcome: True if it has its room,
# False if it is refused. Methods of one connection compare equal, so that it can be found again.
OnRoom: TypeAlias = Callable[[bool], None]
# A connection with unread responses, by the function that cuts it off.
Abort: TypeAlias = Callable[[], None]


class MemoryBudget:
    """Bytes held, and the clients that wait for room: in order of arrival, each with its request and what it sent."""

    __slots__ = (
        "_is_granting", "_max_held", "_max_unread", "_newest_next", "_sent", "_unread", "_unread_bytes",
        "_waiting", "held",
    )  # fmt: skip

    def __init__(self, limits: Limits) -> None:
        self._max_held, self._max_unread = limits.held_bytes, limits.unread_bytes
        self._waiting: dict[OnRoom, tuple[int, int]] = {}
        self._unread: dict[Abort, int] = {}
        self._newest_next = self._is_granting = False
        self._sent = self._unread_bytes = self.held = 0

    @property
    def is_short(self) -> bool:
        """Whether a client waits for room."""
        return bool(self._waiting)

    def reserve(self, on_room: OnRoom, weight: int, sent: int) -> bool:
        """Whether there is room now. If not, `on_room` is called later; `sent` is what the client has sent already."""
        if not self._waiting and self._fits(weight):
            self.held += weight
            return True
        self._waiting[on_room] = weight, sent
        self._sent += sent
        while self._sent > self._max_held // 2:
            oldest = next(iter(self._waiting))
            self._leave_queue(oldest)
            oldest(False)
        return False

    def release(self, weight: int) -> None:
        self.held -= weight
        self._grant()

    def cancel(self, on_room: OnRoom) -> None:
        """The client waits for room no longer."""
        if on_room in self._waiting:
            self._leave_queue(on_room)
            self._grant()

    def add_unread(self, abort: Abort, size: int) -> None:
        """A client does not read its responses; if all of these are too much, the first such client is cut off."""
        self.remove_unread(abort)
        self._unread[abort] = size
        self._unread_bytes += size
        while self._unread_bytes > self._max_unread:
            first = next(iter(self._unread))
            self.remove_unread(first)
            first()

    def remove_unread(self, abort: Abort) -> None:
        self._unread_bytes -= self._unread.pop(abort, 0)

    def _leave_queue(self, on_room: OnRoom) -> int:
        weight, sent = self._waiting.pop(on_room)
        self._sent -= sent
        return weight

    def _fits(self, weight: int) -> bool:
        return not self.held or self.held + weight <= self._max_held

    def _grant(self) -> None:
        if self._is_granting:
            return  # a client granted below was answered at once; the loop continues with what it released
        self._is_granting = True
        try:
            while self._waiting:
                on_room = next(reversed(self._waiting) if self._newest_next else iter(self._waiting))
                if not self._fits(self._waiting[on_room][0]):
                    break
                self.held += self._leave_queue(on_room)
                self._newest_next = not self._newest_next
                on_room(True)
        finally:
            self._is_granting = False
