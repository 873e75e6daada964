"""Types in a design file: `string`, `time?`, `{list: Login}`, `{choice: [open, closed]}`; and what they are in Python.

A name ends in `?` where null is allowed; the other forms say `optional: true`. Must hold: the annotation made of a type
is stored as that from which the type was written: the same letter, the same choices.
Elsewhere: models made of them (models.py), written from Python (writer.py).
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag

from tablewright.design.large import Large

SCALARS: dict[str, Any] = {
    "string": str,
    "integer": int,
    "decimal": Decimal,
    "boolean": bool,
    "time": datetime,
    "date": date,
    "uuid": UUID,
    "binary": bytes,
    "json": JsonValue,
    "vector": tuple[float, ...],
    "large": Large,
}
OPTIONAL = "?"
# How a member of a union is named in the place of an error; places leave out what begins so.
TAG = "("
_FORMS = ("list", "set", "map", "choice")


class Part(BaseModel):
    """A part of a design file: nothing unknown in it, nothing converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, strict=True)


class ListType(Part):
    """A list of members of one type."""

    members: "TypeDocument" = Field(alias="list")
    optional: bool = False


class SetType(Part):
    """A set of texts, numbers or binaries."""

    members: "TypeDocument" = Field(alias="set")
    optional: bool = False


class MapType(Part):
    """A map from texts, any or those in `keys`, to members of one type."""

    members: "TypeDocument" = Field(alias="map")
    keys: tuple[str, ...] = ()
    optional: bool = False


class ChoiceType(Part):
    """One of these texts, or one of these whole numbers."""

    choice: tuple[str | int, ...] = Field(min_length=1)
    optional: bool = False


def _form(value: Any) -> str:
    if isinstance(value, dict):
        return next((f"({form})" for form in _FORMS if form in value), "(name)")
    kinds: tuple[tuple[type[Part], str], ...] = (
        (ListType, "list"), (SetType, "set"), (MapType, "map"), (ChoiceType, "choice")
    )  # fmt: skip
    return next((f"({form})" for kind, form in kinds if isinstance(value, kind)), "(name)")


TypeName: TypeAlias = Annotated[
    str,
    Field(
        description=f"One of {', '.join(SCALARS)}, or a name in `types`; with '?' behind it, null is allowed."
    ),
]
TypeDocument: TypeAlias = Annotated[
    Annotated[TypeName, Tag("(name)")]
    | Annotated[ListType, Tag("(list)")]
    | Annotated[SetType, Tag("(set)")]
    | Annotated[MapType, Tag("(map)")]
    | Annotated[ChoiceType, Tag("(choice)")],
    Discriminator(_form),
]


class FieldDocument(Part):
    """A field of an entity. Its name in stored items is `stored`, by default the field's own.

    A field whose type allows null has the default null, unless `required` says that it must be given.
    """

    type: TypeDocument
    default: JsonValue = None
    required: bool = False
    stored: str | None = None
    about: str = ""
    min_length: int | None = None
    max_length: int | None = None
    ge: int | float | None = None
    gt: int | float | None = None
    le: int | float | None = None
    lt: int | float | None = None
    pattern: str | None = None


class ParameterDocument(Part):
    """A parameter of a pattern; without a type it is taken to have that of the field it is compared with."""

    type: TypeDocument | None = None
    default: JsonValue = None
    required: bool = False


def _field_form(value: Any) -> str:
    is_form = isinstance(value, FieldDocument | ParameterDocument)
    if isinstance(value, dict):
        is_form = "type" in value or not any(form in value for form in _FORMS)
    return "(object)" if is_form else _form(value)


FieldOrType: TypeAlias = Annotated[
    Annotated[TypeName, Tag("(name)")]
    | Annotated[ListType, Tag("(list)")]
    | Annotated[SetType, Tag("(set)")]
    | Annotated[MapType, Tag("(map)")]
    | Annotated[ChoiceType, Tag("(choice)")]
    | Annotated[FieldDocument, Tag("(object)")],
    Discriminator(_field_form),
]
ParameterOrType: TypeAlias = Annotated[
    Annotated[TypeName, Tag("(name)")]
    | Annotated[ListType, Tag("(list)")]
    | Annotated[SetType, Tag("(set)")]
    | Annotated[MapType, Tag("(map)")]
    | Annotated[ChoiceType, Tag("(choice)")]
    | Annotated[ParameterDocument, Tag("(object)")],
    Discriminator(_field_form),
]
for _type in (ListType, SetType, MapType, FieldDocument, ParameterDocument):
    _type.model_rebuild()
