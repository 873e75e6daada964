"""Requests and responses, the same in all systems: bodies, views, pages of a list, versions, times and dates.

Must hold: a body has only fields that its caller may set, and only text that can be stored; of two concurrent writers
the condition of the write refuses the second, the version here is what that condition compares with.
Elsewhere: who may call a route (access.py), ETags themselves (edge/etags.py), errors (edge/problems.py).
"""

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Header, Query, Request, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, model_validator
from pydantic.alias_generators import to_camel

from tablewright.edge.etags import if_match, mark, tags_in
from tablewright.edge.idempotency import idempotency_key
from tablewright.edge.problems import Problem, bad_request
from tablewright.mapping import Page as Found

T = TypeVar("T", bound=BaseModel)
V = TypeVar("V", bound=BaseModel)
_CAMEL_CASE = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


# --- bodies and views ---


class Body(BaseModel):
    """A request body. JSON allows half a surrogate pair, which cannot be stored or returned: it is refused."""

    model_config = _CAMEL_CASE

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, sent: Any) -> Any:
        try:
            json.dumps(sent, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            raise ValueError("must be valid UTF-8 text") from None
        return sent

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their Python names, without the version that they are based on."""
        return {name: getattr(self, name) for name in self.model_fields_set if name != "version"}


def view_of(view: type[V], source: object, **computed: Any) -> V:
    """A response body with the source's fields of the same names; `computed` adds to them or replaces them."""
    same = {name: getattr(source, name) for name in view.model_fields if hasattr(source, name)}
    return view(**{**same, **computed})


# --- lists ---

Cursor = Annotated[str | None, Query(alias="startAt", description="`startAt` of the previous page")]


class Page(BaseModel, Generic[T]):
    """A page of a list; `startAt` requests the next one."""

    model_config = _CAMEL_CASE

    items: list[T]
    more_available: bool
    start_at: str | None = None


def _same(item: Any) -> Any:
    return item


def page_of(found: Found[Any], view: Callable[[Any], Any] = _same) -> Page[Any]:
    """A page of a query as a response, each item by its view."""
    return listed(map(view, found.items), found.next)


def listed(items: Iterable[Any], token: str | None = None) -> Page[Any]:
    """Items as a page; `token` is that of the next page."""
    return Page(items=list(items), more_available=token is not None, start_at=token)


# --- versions ---

IfMatch = Annotated[str | None, Header(alias="If-Match")]


def matched(match: str | None, current: int) -> int | None:
    """The version a change must find: the current one if If-Match names it, None without If-Match; else 412 STALE.

    With If-Match the write has that version as its condition, so that a race after this check is 412 too.
    """
    if_match(match, current)
    return current if match is not None else None


async def _version_read(match: IfMatch = None) -> int | None:
    tags = tags_in(match, weak=False) if match is not None else None
    if tags is None:  # none was sent, or `*`, which any version matches
        return None
    if len(tags) != 1 or not tags[0].isascii() or not tags[0].isdigit():
        raise bad_request("BAD_ETAG", 'If-Match must be the version that was read, such as "7".', "If-Match")
    return int(tags[0])


# The version in If-Match that a change is based on; None if it names none.
VersionRead = Annotated[int | None, Depends(_version_read)]


def based_on(read: int | None, sent: int | None) -> int | None:
    """The version that a change is based on: of If-Match, else of the body."""
    return sent if read is None else read


def version_needed(version: int | None) -> int:
    """The version that a change is based on, where it must be sent; else 428."""
    if version is None:
        words = "Send the version you read, in the body or as If-Match, so that no change is lost."
        raise Problem(428, "PRECONDITION_REQUIRED", words, "version")
    return version


def marked(response: Response, view: V) -> V:
    """The view, with its version as the ETag of the response."""
    mark(response, view.version)  # type: ignore[attr-defined]  # every view that is marked has one
    return view


async def _idempotency_key(request: Request) -> str | None:
    return idempotency_key(request)


IdempotencyKey = Annotated[str | None, Depends(_idempotency_key)]


# --- times and dates ---


def day_of(value: Any, field: str) -> date | None:
    """A date such as 2025-06-01; INVALID_DATE for anything else, such as a number of seconds."""
    if value is None or isinstance(value, date):
        return value
    if isinstance(value, str) and re.fullmatch(r"(?a:\d{4}-\d\d-\d\d)", value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    raise bad_request("INVALID_DATE", f"{field} must be a date such as 2025-06-01.", field)


def moment_of(value: Any, field: str) -> datetime | None:
    """A time with its zone; INVALID_DATE if it is not one."""
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, str):
        with suppress(ValueError):
            found = datetime.fromisoformat(value)
            if found.tzinfo is not None and 2000 <= found.year < 9000:
                return found
    words = f"{field} must be a time with its zone, such as 2025-06-01T00:00:00Z."
    raise bad_request("INVALID_DATE", words, field)


def _field(info: ValidationInfo) -> str:
    return to_camel(info.field_name or "time")


# In bodies: the error names the field. Null is not a date.
Day = Annotated[date, BeforeValidator(lambda value, info: day_of(value or "", _field(info)))]
Moment = Annotated[datetime | None, BeforeValidator(lambda value, info: moment_of(value, _field(info)))]
RequiredMoment = Annotated[
    datetime, BeforeValidator(lambda value, info: moment_of("" if value is None else value, _field(info)))
]
# In queries.
Since = Annotated[
    datetime | None, BeforeValidator(lambda value: moment_of(value, "from")), Query(alias="from")
]
Until = Annotated[datetime | None, BeforeValidator(lambda value: moment_of(value, "to")), Query(alias="to")]
FromDay = Annotated[date | None, BeforeValidator(lambda value: day_of(value, "from")), Query(alias="from")]
ToDay = Annotated[date | None, BeforeValidator(lambda value: day_of(value, "to")), Query(alias="to")]
