"""The errors that only the portal has, with the codes of its API (CP-79).

Elsewhere: the errors that all systems have (edge/errors.py).
"""

from tablewright.edge.errors import CallerError, Conflict, Refused


class Changed(CallerError):
    """The caller read an older version: it was changed in between."""

    code = "STALE"
    status = 412

    def __init__(self) -> None:
        super().__init__(
            "Someone else changed this after you opened it. Reload it, then make your change again."
        )


class Taken(Conflict):
    """A unique value is already in use."""


class RaceLost(Conflict):
    """Another write changed what this one depends on, at the same moment."""

    def __init__(self) -> None:
        super().__init__("STATUS_CONFLICT", "This was changed at the same moment. Reload it and try again.")


class Unavailable(Refused):
    """It existed, and no longer does."""

    status = 410
