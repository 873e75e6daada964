"""Times, bodies and pages: the parts of all requests and responses."""

import json
import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationInfo, model_validator
from pydantic.alias_generators import to_camel

from tablewright.edge.errors import BadRequest
from tablewright.kit.tables import TICK
from tablewright.systems.parental.model import Value

T = TypeVar("T", bound=BaseModel)
SECOND = timedelta(seconds=1)


# --- dates and times ---


def day_of(value: Any, field: str) -> date | None:
    """An ISO date as text; a number of seconds is refused."""
    if value is None or isinstance(value, date):
        return value
    if isinstance(value, str) and re.fullmatch(r"(?a:\d{4}-\d\d-\d\d)", value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    raise BadRequest("INVALID_DATE", f"{field} must be a date such as 2030-06-01.", field)


def moment_of(value: Any, field: str) -> datetime | None:
    """A time with its zone; else INVALID_DATE."""
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, str):
        with suppress(ValueError):
            found = datetime.fromisoformat(value)
            if found.tzinfo is not None and 2000 <= found.year < 9000:
                return found
    words = f"{field} must be a time with its zone, such as 2030-06-01T00:00:00Z."
    raise BadRequest("INVALID_DATE", words, field)


def through(value: Any, field: str) -> datetime | None:
    """The same as the end of a range: a time without fractions is the whole of that second, which is in it (PC-22)."""
    found = moment_of(value, field)
    is_second = isinstance(value, str) and "." not in value and "," not in value
    return found + (SECOND - TICK) if found is not None and is_second else found


def _moment(value: Any, info: ValidationInfo) -> datetime | None:
    return moment_of(value, to_camel(info.field_name or "time"))


Moment = Annotated[datetime | None, BeforeValidator(_moment)]


# --- bodies ---


class Body(Value):
    """What a caller sends. Half a surrogate pair passes for text in JSON, but no store or answer can carry it."""

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, sent: Any) -> Any:
        try:
            json.dumps(sent, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            raise ValueError("must be text that UTF-8 can carry") from None
        return sent

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by our names, without the version they are based on."""
        return {name: getattr(self, name) for name in self.model_fields_set if name != "version"}


class Page(Value, Generic[T]):
    """One page of a list; `startAt` requests the next."""

    items: list[T]
    more_available: bool
    start_at: str | None = None
