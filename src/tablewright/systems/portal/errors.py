"""What a caller of the portal did wrong, with the code the API answers (CP-79).

Must hold: whatever is raised here, nothing was written. Elsewhere: HTTP statuses (api.py).
"""

from collections.abc import Mapping
from typing import Any


class PortalMistake(Exception):
    """The base. `code` is stable and for programs; the message is for people."""

    code = "PORTAL_MISTAKE"

    def __init__(
        self, message: str, *, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.field, self.facts = message, field, dict(facts or {})


class NotThere(PortalMistake):
    """There is no such thing. `noun` makes the code: TENANT_NOT_FOUND."""

    def __init__(self, noun: str, message: str | None = None, field: str | None = None) -> None:
        self.code = f"{noun.upper()}_NOT_FOUND"
        super().__init__(message or f"There is no such {noun.lower()}.", field=field)


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


class Refused(PortalMistake):
    """A rule of the portal says no."""

    def __init__(
        self, code: str, message: str, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        self.code = code
        super().__init__(message, field=field, facts=facts)


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


class TooOften(PortalMistake):
    """A limit is used up for a while."""

    def __init__(self, code: str, message: str, retry_after: int) -> None:
        self.code, self.retry_after = code, retry_after
        super().__init__(message)


class BadRequest(Refused):
    """The form of the request is wrong."""
