"""The errors that only Campus Cloud has, with the codes of its API (C.2).

Elsewhere: the errors that all systems have (edge/errors.py).
"""

from tablewright.edge.errors import CallerError, Conflict, Refused


class Changed(CallerError):
    """The caller read an older version: it was changed in between."""

    code = "VERSION_CONFLICT"
    status = 409

    def __init__(self) -> None:
        super().__init__(
            "Someone else changed this after you opened it. Reload it, then make your change again."
        )


class RaceLost(Conflict):
    """Another write changed what this one depends on, at the same moment."""

    def __init__(self) -> None:
        super().__init__("VERSION_CONFLICT", "This was changed at the same moment. Reload it and try again.")


class Gone(Refused):
    """It existed, and was deleted."""

    status = 410


class TooLarge(Refused):
    """More bytes than the quota or a limit allows."""

    status = 413


class Locked(Refused):
    """The bytes cannot be read: they are quarantined, or wait for their scan."""

    status = 423
