"""The marks of requests that did not succeed. Pure."""

from collections.abc import Collection, Sequence

from tablewright.engine.errors import ServiceError
from tablewright.engine.metric_names import SYSTEM_ERRORS, THROTTLED_REQUESTS, USER_ERRORS, Mark
from tablewright.engine.throttle import Throttled


def refusal(verb: str, table: object, mistake: ServiceError) -> list[Mark]:
    """The marks of a request that was refused."""
    if isinstance(mistake, Throttled):
        return [((THROTTLED_REQUESTS, name, "", verb), 1.0) for name in mistake.tables]
    if mistake.status >= 500:
        return [failure(verb, table)]
    # A condition that does not hold is no mistake; it was marked where it was found.
    return [] if mistake.name == "ConditionalCheckFailedException" else [((USER_ERRORS, "", "", ""), 1.0)]


def lost(marks: Sequence[Mark], done: Sequence[tuple[str, int]]) -> list[Mark]:
    """The marks of a group that could not be committed."""
    found, first = [], 0
    for verb, end in done:
        if verb and end > first:
            found.append(failure(verb, marks[first][0][1]))
        first = end
    return found


def disowned(marks: Sequence[Mark], done: Sequence[tuple[str, int]], tables: Collection[str]) -> list[Mark]:
    """The marks of those of a group that are about tables whose writes were committed and are not acknowledged."""
    return [mark for mark in lost(marks, done) if mark[0][1] in tables]


def failure(verb: str, table: object) -> Mark:
    """The mark of a request that failed for a fault of ours."""
    return (SYSTEM_ERRORS, table if isinstance(table, str) else "", "", verb), 1.0
