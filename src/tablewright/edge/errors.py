"""Errors of the caller, the same for all systems: a code, a message, the field it is about, facts, an HTTP status.

Must hold: when one of these is raised, nothing was written.
Elsewhere: errors that one system alone has (its errors.py), the answer over HTTP (problems.py).
"""

from collections.abc import Mapping
from typing import Any

from tablewright.client import TransactionRefused
from tablewright.edge.problems import Problem, unauthorized


class CallerError(Exception):
    """The base. `code` is stable and for programs; the message is for people."""

    code = "MISTAKE"
    status = 422

    def __init__(
        self, message: str, *, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.field, self.facts = message, field, dict(facts or {})


class NotFound(CallerError):
    """It does not exist, or is not the caller's. `noun` makes the code: ORDER_NOT_FOUND."""

    status = 404

    def __init__(self, noun: str, message: str | None = None, field: str | None = None) -> None:
        self.code = f"{noun.upper()}_NOT_FOUND"
        super().__init__(message or f"There is no such {noun.lower()}.", field=field)


class Refused(CallerError):
    """A rule of the system does not allow it."""

    def __init__(
        self, code: str, message: str, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        self.code = code
        super().__init__(message, field=field, facts=facts)


class BadRequest(Refused):
    """The form of the request is wrong."""

    status = 400


class Unauthenticated(Refused):
    """The caller is not authenticated: a wrong code, a login that was already used, an ended session."""

    status = 401


class Forbidden(Refused):
    """The caller is not allowed to do this."""

    status = 403


class Conflict(Refused):
    """The current state does not allow it."""

    status = 409


class TooManyRequests(CallerError):
    """A limit is used up for a while."""

    status = 429

    def __init__(self, code: str, message: str, retry_after: int) -> None:
        self.code, self.retry_after = code, retry_after
        super().__init__(message)


def contended(error: TransactionRefused) -> Problem:
    """The answer where a transaction was refused until its retries were used up, because others changed the same items.

    Anything else that a store refuses is a fault of ours, and stays one.
    """
    if not error.is_retryable:
        raise error
    words = "Too many changes of the same thing arrived at once, and this one was not made. Try again in a moment."
    return Problem(503, "BUSY", words, headers={"Retry-After": "1"})


def problem_for(error: CallerError) -> Problem:
    """The error as an HTTP answer."""
    headers = unauthorized(error.code, error.message).headers if isinstance(error, Unauthenticated) else {}
    if isinstance(error, TooManyRequests):
        headers = {"Retry-After": str(error.retry_after)}
    return Problem(error.status, error.code, error.message, error.field, error.facts, headers)
