"""What a caller of the portal did wrong, with the code the API answers (CP-79).

Must hold: whatever is raised here, nothing was written. Elsewhere: what mistakes of all systems have in common
(edge/errors.py), HTTP statuses (api/common.py).
"""

from tablewright.edge import errors
from tablewright.edge.errors import CallerError


class PortalMistake(CallerError):
    """The base of what can be wrong here."""

    code = "PORTAL_MISTAKE"


class NotThere(errors.NotFound, PortalMistake):
    """There is no such thing: TENANT_NOT_FOUND and the like."""


class Taken(PortalMistake):
    """Something unique is in use already."""

    def __init__(self, code: str, message: str, field: str) -> None:
        self.code = code
        super().__init__(message, field=field)


class Changed(PortalMistake):
    """Somebody else was faster; the caller has seen an older version."""

    code = "STALE"

    def __init__(self) -> None:
        super().__init__("It has changed since you read it. Read it again, then repeat your change.")


class Refused(errors.Refused, PortalMistake):
    """A rule of the portal says no."""


class Forbidden(Refused):
    """The caller may not."""


class Conflict(Refused):
    """The state of things says no, now."""


class RaceLost(Conflict):
    """What a write rested on was changed by somebody else in the same moment."""

    def __init__(self) -> None:
        super().__init__("STATUS_CONFLICT", "It is no longer in the state this needs. Read it again.")


class Unavailable(Refused):
    """It was there once."""


class TooOften(errors.TooManyRequests, PortalMistake):
    """A limit is used up for a while."""


class BadRequest(Refused):
    """The form of the request is wrong."""
