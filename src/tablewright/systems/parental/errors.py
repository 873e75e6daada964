"""What a caller of parental controls did wrong, with the code the API answers.

Must hold: whatever is raised here, nothing was written. Elsewhere: what mistakes of all systems have in common
(edge/errors.py), HTTP statuses (api/router.py).
"""

from pydantic import BaseModel

from tablewright.edge import errors
from tablewright.edge.errors import CallerError


class ParentalMistake(CallerError):
    """The base of what can be wrong here."""

    code = "PARENTAL_MISTAKE"


class NotThere(errors.NotFound, ParentalMistake):
    """There is no such thing, or none of the caller's: CHILD_NOT_FOUND and the like."""


class Refused(errors.Refused, ParentalMistake):
    """A rule says no."""


class BadRequest(Refused):
    """The form of the request is wrong."""


class Forbidden(Refused):
    """The caller may not."""


class LimitExceeded(Refused):
    """There are as many as there may be."""

    def __init__(self, message: str, limit: int, field: str | None = None) -> None:
        super().__init__("LIMIT_EXCEEDED", message, field, {"limit": limit})


class Conflict(Refused):
    """The state of things says no, now."""


class VersionConflict(Conflict):
    """Somebody else was faster; `current` is what they made of it."""

    def __init__(self, current: BaseModel | None = None) -> None:
        self.current = current
        version = getattr(current, "version", None)
        words = "It has changed since you read it. Look at what it is now, then repeat your change."
        super().__init__("VERSION_CONFLICT", words, "version", {"currentVersion": version})


class RaceLost(Conflict):
    """What a write rested on was changed by somebody else in the same moment."""

    def __init__(self) -> None:
        super().__init__("STATE_CONFLICT", "It is no longer in the state this needs. Read it again.")


class TooOften(errors.TooManyRequests, ParentalMistake):
    """A limit is used up for a while."""


class DeviceUnavailable(Refused):
    """A firewall does not answer. Only operators learn this; for parents what they asked for is pending."""

    def __init__(self, message: str) -> None:
        super().__init__("DEVICE_UNAVAILABLE", message)
