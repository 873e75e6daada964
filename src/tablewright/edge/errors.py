"""Errors of the caller, the same for all systems: a code, a message, the field it is about, and facts.

A system has a base class of its own, for `except`, and its errors have both bases:

    class ShopError(CallerError): ...
    class NotFound(errors.NotFound, ShopError): ...

Elsewhere: a system's other errors (its errors.py), the answer over HTTP (problems.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tablewright.edge.problems import Problem

# The HTTP status of each type of error; the first that matches is used.
Statuses: TypeAlias = Sequence[tuple[type["CallerError"], int]]
DEFAULT_STATUS = 422


class CallerError(Exception):
    """The base. `code` is stable and for programs; the message is for people."""

    code = "MISTAKE"

    def __init__(
        self, message: str, *, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.field, self.facts = message, field, dict(facts or {})


class NotFound(CallerError):
    """It does not exist, or is not the caller's. `noun` makes the code: ORDER_NOT_FOUND."""

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


class TooManyRequests(CallerError):
    """A limit is used up for a while."""

    def __init__(self, code: str, message: str, retry_after: int) -> None:
        self.code, self.retry_after = code, retry_after
        super().__init__(message)


def problem_for(error: CallerError, statuses: Statuses) -> Problem:
    """The error as an HTTP answer."""
    status = next((status for kind, status in statuses if isinstance(error, kind)), DEFAULT_STATUS)
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, TooManyRequests) else {}
    return Problem(status, error.code, error.message, error.field, error.facts, headers)
