"""What a caller of the portal did wrong, with the code the API returns (CP-79).

Must hold: when one of these is raised, nothing was written. Elsewhere: what mistakes of all systems have in common
(edge/errors.py).
"""

from tablewright.edge import errors
from tablewright.edge.errors import CallerError


class PortalMistake(CallerError):
    """The base class of the portal's errors."""

    code = "PORTAL_MISTAKE"


class NotThere(errors.NotFound, PortalMistake):
    """It does not exist: TENANT_NOT_FOUND and similar. The message has the word that people use for it."""

    def __init__(self, noun: str, message: str | None = None, field: str | None = None) -> None:
        word = {"tenant": "customer", "product": "plan"}.get(noun.lower(), noun.lower())
        super().__init__(noun, message or f"There is no such {word}.", field)


class Taken(PortalMistake):
    """A unique value is already in use."""

    status = 409

    def __init__(self, code: str, message: str, field: str) -> None:
        self.code = code
        super().__init__(message, field=field)


class Changed(PortalMistake):
    """The caller read an older version: it was changed in between."""

    status = 412
    code = "STALE"

    def __init__(self) -> None:
        super().__init__(
            "Someone else changed this after you opened it. Reload it, then make your change again."
        )


class Refused(errors.Refused, PortalMistake):
    """A rule of the portal does not allow it."""


class Forbidden(Refused):
    """This caller is not allowed to do it."""

    status = 403


class Conflict(Refused):
    """The current state does not allow it."""

    status = 409


class RaceLost(Conflict):
    """Another write changed what this one depends on, at the same moment."""

    def __init__(self) -> None:
        super().__init__("STATUS_CONFLICT", "This was changed at the same moment. Reload it and try again.")


class Unavailable(Refused):
    """It existed, and no longer does."""

    status = 410


class TooOften(errors.TooManyRequests, PortalMistake):
    """A limit is used up for a while."""


class BadRequest(Refused):
    """The form of the request is wrong."""

    status = 400
