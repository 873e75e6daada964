"""What the routes share: the caller and its role, the version a change is based on, pages and their tokens."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, TypeVar

from fastapi import Header, Query, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator

from tablewright.edge import Principal
from tablewright.edge.errors import BadRequest, problem_for
from tablewright.edge.etags import mark, tags_in
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import Problem
from tablewright.kit.tables import Actor
from tablewright.mapping import Page as Found
from tablewright.systems.parental.api.bodies.common import Page, day_of, moment_of, through
from tablewright.systems.parental.api.bodies.families import child_view
from tablewright.systems.parental.api.bodies.policies import policy_view
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.model import Child, Policy

V = TypeVar("V", bound=BaseModel)
# One for every list but what was done and what failed (PC-21), though the store could give more of some.
LARGEST_PAGE, LARGEST_HISTORY_PAGE = 100, 200

PageSize = Annotated[
    int | None,
    AfterValidator(lambda size: _page_size(size, LARGEST_PAGE)),
    Query(alias="pageSize", description=f"1 to {LARGEST_PAGE}; the default depends on the list"),
]
HistoryPageSize = Annotated[
    int | None,
    AfterValidator(lambda size: _page_size(size, LARGEST_HISTORY_PAGE)),
    Query(alias="pageSize", description=f"1 to {LARGEST_HISTORY_PAGE}; 50 if not given"),
]
StartAt = Annotated[str | None, Query(alias="startAt", description="the token from the previous page")]
IfMatch = Annotated[str | None, Header(alias="If-Match")]
# Why support looks at a family's child; the family can read it.
Why = Annotated[str | None, Header(alias="X-Reason", description="the reason, if you are support")]
Since = Annotated[
    datetime | None, BeforeValidator(lambda value: moment_of(value, "from")), Query(alias="from")
]
Until = Annotated[datetime | None, BeforeValidator(lambda value: moment_of(value, "to")), Query(alias="to")]
Through = Annotated[
    datetime | None,
    BeforeValidator(lambda value: through(value, "to")),
    Query(alias="to", description="without fractions, that whole second is included"),
]
FromDay = Annotated[date | None, BeforeValidator(lambda value: day_of(value, "from")), Query(alias="from")]
ToDay = Annotated[date | None, BeforeValidator(lambda value: day_of(value, "to")), Query(alias="to")]


@dataclass(frozen=True, slots=True)
class Doors:
    """The access checks: any signed-in caller, operators, event sources of the network."""

    signed_in: FindPrincipal
    operator: FindPrincipal
    network: FindPrincipal


def actor_of(principal: Principal) -> Actor:
    """The caller as the service takes it."""
    role = next((role for role in ("operator", "support") if role in principal.roles), "parent")
    return Actor(principal.email or principal.subject, role, principal.subject, principal.email)


def _page_size(size: int | None, at_most: int) -> int | None:
    if size is not None and not 1 <= size <= at_most:
        raise BadRequest("INVALID_PAGE_SIZE", f"A page can have 1 to {at_most} entries.", "pageSize")
    return size


def page_of(found: Found[Any], view: Callable[[Any], V]) -> Page[V]:
    return Page(
        items=[view(item) for item in found.items],
        more_available=found.next is not None,
        start_at=found.next,
    )


def expected(match: str | None, version: int | None) -> int | None:
    """The version a change is based on, from the body or If-Match; None if neither is sent."""
    if match is None:
        return version
    tags = tags_in(match, weak=False)
    if tags is None:
        return version
    if len(tags) != 1 or not tags[0].isascii() or not tags[0].isdigit():
        raise BadRequest("BAD_ETAG", 'If-Match must be the version that was read, such as "7".', "If-Match")
    return int(tags[0])


def demanded(match: str | None, version: int | None) -> int:
    """The same, where a version is required."""
    found = expected(match, version)
    if found is None:
        words = "Send the version you read, in the body or as If-Match, so that no change is lost."
        raise Problem(428, "PRECONDITION_REQUIRED", words, "version")
    return found


def marked(response: Response, view: V) -> V:
    mark(response, view.version)  # type: ignore[attr-defined]  # every view that is marked has one
    return view


def problem_of(conflict: VersionConflict) -> Problem:
    """A conflict with the stored version, as its owner may see it."""
    problem = problem_for(conflict)
    if conflict.current is not None:
        problem.extra["current"] = _shown(conflict.current)
    return problem


def _shown(item: BaseModel) -> dict[str, Any]:
    """A record as its family sees it, for an answer that carries one beside an error."""
    view = item
    if isinstance(item, Policy):
        view = policy_view(item)
    elif isinstance(item, Child):
        view = child_view(item)
    return view.model_dump(mode="json", by_alias=True, exclude_none=True)
