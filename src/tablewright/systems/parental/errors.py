"""Errors for callers of parental controls, each with the code the API returns.

Must hold: when one of these is raised, nothing was written. Elsewhere: the errors common to all systems
(edge/errors.py).
"""

from pydantic import BaseModel

from tablewright.edge import errors
from tablewright.edge.errors import CallerError


class ParentalMistake(CallerError):
    """Base class of the errors of parental controls."""

    code = "PARENTAL_MISTAKE"


class NotThere(errors.NotFound, ParentalMistake):
    """It does not exist, or does not belong to the caller: CHILD_NOT_FOUND and the like."""


class Refused(errors.Refused, ParentalMistake):
    """A rule of the domain forbids it."""


class BadRequest(Refused):
    """The form of the request is wrong."""

    status = 400


class Forbidden(Refused):
    """The caller is not allowed to."""

    status = 403


class LimitExceeded(Refused):
    """A limit is reached."""

    def __init__(self, message: str, limit: int, field: str | None = None) -> None:
        super().__init__("LIMIT_EXCEEDED", message, field, {"limit": limit})


class Conflict(Refused):
    """The current state forbids it."""

    status = 409


class VersionConflict(Conflict):
    """Another caller changed it first; `current` is the stored version."""

    def __init__(self, current: BaseModel | None = None) -> None:
        self.current = current
        version = getattr(current, "version", None)
        words = "It was changed by someone else. Reload it, then repeat your change."
        super().__init__("VERSION_CONFLICT", words, "version", {"currentVersion": version})


class RaceLost(Conflict):
    """A condition of the write failed: another caller wrote first."""

    def __init__(self) -> None:
        super().__init__(
            "STATE_CONFLICT", "It was changed by someone else, and this is no longer possible. Reload it."
        )


class TooOften(errors.TooManyRequests, ParentalMistake):
    """Too many requests for now."""


class DeviceUnavailable(Refused):
    """A firewall does not respond. Only operators see this; for parents the change is pending."""

    status = 503

    def __init__(self, message: str) -> None:
        super().__init__("DEVICE_UNAVAILABLE", message)
