"""How long a connection may stay in one state. Checked once a tick, so every time here is as coarse as a tick."""

# A connection's state: how long it may last, its name, and a number that changes with progress.
Activity = tuple[float, str, int]
# A body that should make room for others has stalled if it grows by less than this between two ticks.
_STEP_BYTES = 65536


class Timeouts:
    """When a connection's state, and the size of the body it receives, last changed."""

    __slots__ = ("_activity", "_grew_at", "_progress", "_since")

    def __init__(self) -> None:
        self._activity: Activity = (0, "", 0)
        self._progress = (0, 0)
        self._since = self._grew_at = 0.0

    def is_over(self, now: float, activity: Activity) -> bool:
        """Whether the activity has been the same for as long as it may."""
        if activity != self._activity:
            self._activity, self._since = activity, now
        return now - self._since >= activity[0]

    def has_stalled(self, now: float, request: int, received: int, seconds: float) -> bool:
        """Whether the body of this request has not grown for so many seconds."""
        progress = request, received // _STEP_BYTES
        if progress != self._progress:
            self._progress, self._grew_at = progress, now
        return now - self._grew_at >= seconds
