"""What a caller of parental controls did wrong, with the code the API answers.

Must hold: whatever is raised here, nothing was written. Elsewhere: HTTP statuses (api.py).
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel


class ParentalMistake(Exception):
    """The base. `code` is stable and for programs; the message is for people."""

    code = "PARENTAL_MISTAKE"

    def __init__(
        self, message: str, *, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.field, self.facts = message, field, dict(facts or {})


class NotThere(ParentalMistake):
    """There is no such thing, or none of the caller's. `noun` makes the code: CHILD_NOT_FOUND."""

    def __init__(self, noun: str, message: str | None = None, field: str | None = None) -> None:
        self.code = f"{noun.upper()}_NOT_FOUND"
        super().__init__(message or f"There is no such {noun.lower()}.", field=field)


class Refused(ParentalMistake):
    """A rule says no."""

    def __init__(
        self, code: str, message: str, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        self.code = code
        super().__init__(message, field=field, facts=facts)


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


class TooOften(ParentalMistake):
    """A limit is used up for a while."""

    def __init__(self, code: str, message: str, retry_after: int) -> None:
        self.code, self.retry_after = code, retry_after
        super().__init__(message)


class DeviceUnavailable(Refused):
    """A firewall does not answer. Only operators learn this; for parents what they asked for is pending."""

    def __init__(self, message: str) -> None:
        super().__init__("DEVICE_UNAVAILABLE", message)
