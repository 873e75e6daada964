"""The samples of requests that did not succeed. Pure."""

from collections.abc import Sequence

from tablewright.engine.errors import ServiceError
from tablewright.engine.metrics.names import SYSTEM_ERRORS, THROTTLED_REQUESTS, USER_ERRORS, Sample
from tablewright.engine.throughput.token_buckets import Throttled


def refused_samples(verb: str, table: object, mistake: ServiceError) -> list[Sample]:
    """The samples of a request that was refused."""
    if isinstance(mistake, Throttled):
        return [((THROTTLED_REQUESTS, name, "", verb), 1.0) for name in mistake.tables]
    if mistake.status >= 500:
        return [failure_sample(verb, table)]
    # A failed condition is not a user error; its sample was added where it was evaluated.
    return [] if mistake.name == "ConditionalCheckFailedException" else [((USER_ERRORS, "", "", ""), 1.0)]


def lost_commit_samples(samples: Sequence[Sample], done: Sequence[tuple[str, int]]) -> list[Sample]:
    """The samples of a group that could not be committed."""
    found, first = [], 0
    for verb, end in done:
        if verb and end > first:
            found.append(failure_sample(verb, samples[first][0][1]))
        first = end
    return found


def failure_sample(verb: str, table: object) -> Sample:
    """The sample of a request that failed with an internal error."""
    return (SYSTEM_ERRORS, table if isinstance(table, str) else "", "", verb), 1.0
