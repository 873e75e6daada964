"""What a caller did wrong, as every system of ours says it: a code, a sentence, the field it is about, and facts.

A system has a base of its own, for `except`, and its kinds are both:

    class ShopMistake(Mistake): ...
    class NotThere(mistakes.NotThere, ShopMistake): ...

Elsewhere: what else can be wrong with a system (its errors.py), the answer over HTTP (problems.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tablewright.edge.problems import Problem

# Which status a kind of mistake has; the first that fits.
Statuses: TypeAlias = Sequence[tuple[type["Mistake"], int]]
OTHERWISE = 422


class Mistake(Exception):
    """The base. `code` is stable and for programs; the message is for people."""

    code = "MISTAKE"

    def __init__(
        self, message: str, *, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.field, self.facts = message, field, dict(facts or {})


class NotThere(Mistake):
    """There is no such thing, or none of the caller's. `noun` makes the code: ORDER_NOT_FOUND."""

    def __init__(self, noun: str, message: str | None = None, field: str | None = None) -> None:
        self.code = f"{noun.upper()}_NOT_FOUND"
        super().__init__(message or f"There is no such {noun.lower()}.", field=field)


class Refused(Mistake):
    """A rule says no."""

    def __init__(
        self, code: str, message: str, field: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        self.code = code
        super().__init__(message, field=field, facts=facts)


class TooOften(Mistake):
    """A limit is used up for a while."""

    def __init__(self, code: str, message: str, retry_after: int) -> None:
        self.code, self.retry_after = code, retry_after
        super().__init__(message)


def problem_of(mistake: Mistake, statuses: Statuses) -> Problem:
    """A mistake as an answer."""
    status = next((status for kind, status in statuses if isinstance(mistake, kind)), OTHERWISE)
    headers = {"Retry-After": str(mistake.retry_after)} if isinstance(mistake, TooOften) else {}
    return Problem(status, mistake.code, mistake.message, mistake.field, mistake.facts, headers)
