"""The errors a caller of Skratch can cause, with the codes of the API.

Must hold: when one of these is raised, nothing was written. Elsewhere: the base classes of all systems
(edge/errors.py); a refused operation of a push is a result, not an error
(sync/operations.py).
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tablewright.edge import errors
from tablewright.edge.errors import CallerError


class TravelMistake(CallerError):
    """The base class of these errors."""

    code = "TRAVEL_MISTAKE"


class NotThere(errors.NotFound, TravelMistake):
    """It does not exist, or is not the caller's: VISIT_NOT_FOUND and the like."""


class Refused(errors.Refused, TravelMistake):
    """A rule does not allow it."""


class BadRequest(Refused):
    """The request is invalid: UNKNOWN_REGION, NOTES_TOO_LONG, FUTURE_DATE, BATCH_TOO_LARGE and the like."""

    status = 400


class Forbidden(Refused):
    """The caller is not allowed to do this."""

    status = 403


class Unauthenticated(errors.Unauthenticated, TravelMistake):
    """The caller is not authenticated: a wrong code, a login that was already used, an ended session."""


class Conflict(Refused):
    """The current state does not allow it."""

    status = 409


class VersionConflict(Conflict):
    """Another device or page changed it first; `current` is the newer version."""

    def __init__(self, current: BaseModel | None = None, facts: Mapping[str, Any] | None = None) -> None:
        self.current = current
        words = "This was changed by another device or page. Check the current version, then make your change again."
        super().__init__("VERSION_CONFLICT", words, "version", facts)


class ResyncRequired(TravelMistake):
    """The device is too far behind for a pull: it needs a full resync."""

    status = 410
    code = "FULL_RESYNC_REQUIRED"


class ClientTooOld(TravelMistake):
    """The app on the device uses a protocol version that is no longer supported (SK-X14)."""

    status = 426
    code = "CLIENT_TOO_OLD"

    def __init__(self, schema: int, at_least: int) -> None:
        words = "This version of the app can no longer sync. Please update it. Your offline changes stay on the device."
        super().__init__(words, field="schema", facts={"schema": schema, "minimumSchema": at_least})


class TooOften(errors.TooManyRequests, TravelMistake):
    """A limit is used up for a while."""
