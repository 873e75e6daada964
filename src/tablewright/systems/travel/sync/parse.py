"""Operations as they arrive in a push, before they are parsed.

Must hold: an unreadable one is refused alone, and the others of its push are done; if its id is readable, the refusal
is stored under that id, so that later operations do not wait for it. Elsewhere: what an operation is
(operations.py), what it may say (split.py, rules.py), whose id cannot be one (push.py).
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationError

from tablewright.edge.errors import BadRequest
from tablewright.systems.travel.sync.operations import Edit

_CODES = {
    "operation_id": "INVALID_ID",
    "operation_type": "INVALID_OPERATION",
    "entity_type": "INVALID_OPERATION",
    "client_version": "INVALID_VERSION",
    "client_timestamp": "INVALID_TIMESTAMP",
    "previous": "INVALID_ID",
}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An operation that is refused as it came. `edit` is what can be read of it; None if not even its id can."""

    edit: Edit | None
    refusal: BadRequest


def read(said: Any) -> Edit | Unreadable:
    """An operation, or why there is none."""
    try:
        return Edit.model_validate(said)
    except ValidationError as error:
        places = [str(mistake["loc"][0]) if mistake["loc"] else "" for mistake in error.errors()]
        return Unreadable(_salvaged(said, places), _refusal(places[0], error.errors()[0]["msg"]))


Asked = Annotated[Edit | Unreadable, PlainValidator(read, json_schema_input_type=Edit)]


def _refusal(place: str, words: str) -> BadRequest:
    # The name of an unknown field comes from the caller and is not repeated.
    field = place if place in Edit.model_fields else None
    return BadRequest(
        _CODES.get(place, "INVALID_FIELD" if place else "INVALID_OPERATION"),
        f"This isn't a valid operation{': ' + field if field else ''}: {words}.",
        field,
    )


def _salvaged(said: Any, wrong: list[str]) -> Edit | None:
    """What is written down as refused. What cannot be read is something else, but always the same."""
    if not isinstance(said, dict) or "operation_id" in wrong:
        return None
    sound = {name: value for name, value in said.items() if name in Edit.model_fields and name not in wrong}
    unknown = {"operation_type": "update", "client_timestamp": datetime.min.replace(tzinfo=UTC)}
    found = read({**unknown, **sound})
    return found if isinstance(found, Edit) else None
