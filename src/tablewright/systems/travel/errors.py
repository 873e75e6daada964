"""What a caller of Skratch did wrong, with the code the API answers.

Must hold: whatever is raised here, nothing was written. Elsewhere: what mistakes of all systems have in common
(edge/errors.py), HTTP statuses (api/common.py); what is wrong with one operation of a push is its result, not an
error (sync/operations.py).
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tablewright.edge import errors
from tablewright.edge.errors import CallerError


class TravelMistake(CallerError):
    """The base of what can be wrong here."""

    code = "TRAVEL_MISTAKE"


class NotThere(errors.NotFound, TravelMistake):
    """There is no such thing, or none of the caller's: VISIT_NOT_FOUND and the like."""


class Refused(errors.Refused, TravelMistake):
    """A rule says no."""


class BadRequest(Refused):
    """What was asked for cannot be: UNKNOWN_REGION, NOTES_TOO_LONG, FUTURE_DATE, BATCH_TOO_LARGE and the like."""


class Forbidden(Refused):
    """The caller may not."""


class Unauthenticated(Refused):
    """Nobody is proved to be who they say: a wrong code, a login that was used, a session that has ended."""


class Conflict(Refused):
    """The state of things says no, now."""


class VersionConflict(Conflict):
    """Somebody else was faster; `current` is what they made of it."""

    def __init__(self, current: BaseModel | None = None, facts: Mapping[str, Any] | None = None) -> None:
        self.current = current
        words = "It has changed since you read it. Look at what it is now, then repeat your change."
        super().__init__("VERSION_CONFLICT", words, "version", facts)


class ResyncRequired(TravelMistake):
    """The device is too far behind to be told what is new: it has to take everything."""

    code = "FULL_RESYNC_REQUIRED"


class ClientTooOld(TravelMistake):
    """The app on the device speaks a form that is no longer understood (SK-X14)."""

    code = "CLIENT_TOO_OLD"

    def __init__(self, schema: int, at_least: int) -> None:
        words = "This version of the app can no longer sync. Update it; what you marked offline is kept until then."
        super().__init__(words, field="schema", facts={"schema": schema, "minimumSchema": at_least})


class TooOften(errors.TooManyRequests, TravelMistake):
    """A limit is used up for a while."""
