"""A design file as a value: what may be in it, in which form. The published JSON Schema is printed from it.

Names are those of the design language (tables.py, traits.py, patterns.py). A part that refers to another names it:
an index by its name in the table of the entity, an entity by its tag.
Elsewhere: types of fields (field_types.py), environments and alarms (settings_document.py), to a Design (reader.py).
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Discriminator, Field, Tag, model_validator

from tablewright.design.files.durations import PATTERN
from tablewright.design.files.field_types import ChoiceType, FieldOrType, ParameterOrType, Part
from tablewright.design.files.settings_document import (
    AcceptanceDocument,
    AlarmDocument,
    EnvironmentDocument,
    LoadDocument,
)
from tablewright.design.traits import States

FORMAT = "tablewright-design/1"


def _one_or_more(value: Any) -> str:
    return "(several)" if isinstance(value, list | tuple) else "(one)"


def _short_or_object(value: Any) -> str:
    return "(one)" if isinstance(value, str) else "(object)"


DURATION, NAME, ATTRIBUTE = PATTERN, r"^[A-Za-z_]\w*$", r"^\S+$"
Duration: TypeAlias = Annotated[str, Field(pattern=DURATION, description="Such as '90 days'.")]
Names: TypeAlias = Annotated[
    Annotated[str, Tag("(one)")] | Annotated[tuple[str, ...], Tag("(several)")], Discriminator(_one_or_more)
]
Project: TypeAlias = Annotated[
    Annotated[Literal["ALL", "KEYS_ONLY"], Tag("(one)")] | Annotated[tuple[str, ...], Tag("(several)")],
    Discriminator(_one_or_more),
]


# --- tables ---


class SchemaDocument(Part):
    """The form of items is numbered in `field`; `version` is the present one. Upcasts are Python functions, and a file
    has none: what is read in an older form is refused."""

    field: str
    version: int = Field(1, ge=1)


class IndexDocument(Part):
    """A secondary index; a local one has the partition key of its table."""

    name: str
    pk: Names = ()
    sk: Names = ()
    project: Project = "ALL"
    local: bool = False
    aliases: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _has_its_keys(self) -> Self:
        if self.local and (self.pk or not isinstance(self.sk, str)):
            raise ValueError("a local index has one sk, and the pk of its table: leave pk out")
        if not self.local and not self.pk:
            raise ValueError("pk is missing")
        return self


class VectorDocument(Part):
    """A vector index of the attribute `of`."""

    name: str
    of: str
    dimensions: int
    distance: Literal["COSINE", "EUCLIDEAN", "DOT_PRODUCT"] = "COSINE"
    partition: str | None = None
    filters: tuple[str, ...] = ()
    project: Project = "ALL"


# --- entities ---


class KeysDocument(Part):
    """Where an entity stands in an index: a template for each key attribute."""

    pk: Names
    sk: Names | None = None


class UniqueDocument(Part):
    """No two items have the same value; held by a guard item in the entity's table, or in `table`."""

    name: str
    value: str
    pk: str | None = None
    sk: str = "UNIQUE"
    keep: dict[str, str] = Field(default_factory=dict)
    table: str | None = None


class ExpiresDocument(Part):
    """The item expires `after` the time in `field`."""

    field: str
    after: Duration = "0 seconds"


class SoftDeleteDocument(Part):
    """The item counts as deleted while `field` is not `live`."""

    field: str
    live: bool = True


class CopyDocument(Part):
    """`field` repeats `source` of the entity `of`."""

    field: str
    of: str
    source: str
    refresh: Literal["snapshot", "on_read", "stream", "job"]


class RetentionDocument(Part):
    """How long items are kept; null for as long as they are wanted."""

    period: Duration | None
    purpose: str
    then: str = "deleted"


DataClass: TypeAlias = Literal["public", "internal", "personal", "child", "financial", "secret"]


class EntityDocument(Part):
    """What one kind of item is. `key` are the fields of the primary key in the order in which code gives them; by
    default that of the templates."""

    tag: str
    about: str = ""
    fields: dict[str, FieldOrType]
    pk: str
    sk: str | None = None
    key: tuple[str, ...] | None = None
    indexes: dict[str, KeysDocument] = Field(default_factory=dict)
    derived: dict[str, str] = Field(default_factory=dict)
    unique: tuple[UniqueDocument, ...] = ()
    version: str | None = None
    expires: (
        Annotated[
            Annotated[str, Tag("(one)")] | Annotated[ExpiresDocument, Tag("(object)")],
            Discriminator(_short_or_object),
        ]
        | None
    ) = None
    soft_delete: (
        Annotated[
            Annotated[str, Tag("(one)")] | Annotated[SoftDeleteDocument, Tag("(object)")],
            Discriminator(_short_or_object),
        ]
        | None
    ) = None
    states: States | None = None
    copies: tuple[CopyDocument, ...] = ()
    immutable: tuple[str, ...] = ()
    data: dict[str, DataClass] = Field(default_factory=dict)
    retention: RetentionDocument | None = None
    load: dict[str, LoadDocument] = Field(default_factory=dict)
    forms: SchemaDocument | None = Field(None, alias="schema")


class TableDocument(Part):
    """A table with its indexes and entities. `schema` is the default for its entities."""

    name: str
    about: str = ""
    pk: str
    sk: str | None = None
    ttl: str | None = Field(None, pattern=ATTRIBUTE)
    stream: Literal["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] | None = None
    followed: bool = False
    whole: bool = False
    discriminator: str = ""
    forms: SchemaDocument | None = Field(None, alias="schema")
    indexes: tuple[IndexDocument, ...] = ()
    vectors: tuple[VectorDocument, ...] = ()
    entities: tuple[EntityDocument, ...] = ()


# --- patterns ---


class ViewDocument(Part):
    """An entity of which a pattern returns fewer fields: those of the type `view`."""

    entity: str
    view: str


Readable: TypeAlias = Annotated[
    Annotated[str, Tag("(one)")] | Annotated[ViewDocument, Tag("(object)")], Discriminator(_short_or_object)
]


class SortDocument(Part):
    """A condition on a sort key: exactly one of these."""

    equals: str | None = None
    begins: str | None = None
    between: tuple[str, str] | None = None
    at_least: str | None = None
    at_most: str | None = None
    above: str | None = None
    below: str | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) != 1 or None in (getattr(self, name) for name in self.model_fields_set):
            raise ValueError(f"give exactly one of {', '.join(SortDocument.model_fields)}")
        return self


def _sort_form(value: Any) -> str:
    return "(several)" if isinstance(value, list | tuple) else _short_or_object(value)


OneSort: TypeAlias = Annotated[
    Annotated[str, Tag("(one)")] | Annotated[SortDocument, Tag("(object)")], Discriminator(_short_or_object)
]
Sorts: TypeAlias = Annotated[
    Annotated[str, Tag("(one)")]
    | Annotated[SortDocument, Tag("(object)")]
    | Annotated[tuple[OneSort, ...], Tag("(several)")],
    Discriminator(_sort_form),
]


class PatternDocument(Part):
    """A named way to read: one item by its key (`kind: get`), or a range. A text as `sk` is one it equals."""

    name: str = Field(pattern=NAME)
    about: str = ""
    kind: Literal["query", "get"] = "query"
    of: tuple[Readable, ...] = Field(min_length=1)
    parameters: dict[str, ParameterOrType] = Field(default_factory=dict)
    index: str | None = None
    pk: Names | None = None
    sk: Sorts | None = None
    descending: bool = False
    consistent: bool = False
    page: int = 50
    at_most: int = 1000
    roles: tuple[str, ...] = ()
    load: LoadDocument | None = None
    others: bool = False

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.kind == "query" and self.pk is None:
            raise ValueError("pk is missing; a get needs none: write kind: get")
        if self.kind == "get":
            asked = {"index", "pk", "sk", "descending", "page", "at_most", "others"} & self.model_fields_set
            if asked or len(self.of) != 1:
                what = ", ".join(sorted(asked)) or "of with several entities"
                raise ValueError(f"a get reads one item by the key of its entity: leave out {what}")
        return self


class SearchDocument(Part):
    """A search in a vector index. Parameters are its partition, which is needed, and filters, which may be null."""

    name: str = Field(pattern=NAME)
    about: str = ""
    of: Readable
    index: str
    parameters: dict[str, ParameterOrType] = Field(default_factory=dict)
    top: int = 10
    load: LoadDocument | None = None


# --- the whole ---


class ModelDocument(Part):
    """A group of fields that fields, or views of entities, name as their type."""

    about: str = ""
    fields: dict[str, FieldOrType]


def _type_form(value: Any) -> str:
    is_choice = isinstance(value, ChoiceType) or (isinstance(value, dict) and "choice" in value)
    return "(choice)" if is_choice else "(fields)"


NamedType: TypeAlias = Annotated[
    Annotated[ModelDocument, Tag("(fields)")] | Annotated[ChoiceType, Tag("(choice)")],
    Discriminator(_type_form),
]


class DesignDocument(Part):
    """A design. `notes` are for readers; nothing is made of them."""

    format: Literal["tablewright-design/1"]
    name: str = Field(min_length=1)
    version: int = 1
    about: str = ""
    notes: tuple[str, ...] = ()
    types: dict[str, NamedType] = Field(default_factory=dict)
    tables: tuple[TableDocument, ...] = ()
    patterns: tuple[PatternDocument, ...] = ()
    searches: tuple[SearchDocument, ...] = ()
    principals: dict[str, dict[str, str]] = Field(default_factory=dict)
    environments: tuple[EnvironmentDocument, ...] = ()
    alarms: tuple[AlarmDocument, ...] = ()
    accepted: tuple[AcceptanceDocument, ...] = ()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of design files."""
    made = DesignDocument.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": FORMAT, **made}


def names_at(steps: Sequence[str | int]) -> list[str]:
    """What an object of a design file may have, by the steps that lead to it."""
    schema = DesignDocument.model_json_schema()
    here = [schema]
    for step in steps:
        here = [inner for each in _forms(here, schema) for inner in _inside(each, step)] or here
    return list(dict.fromkeys(name for each in _forms(here, schema) for name in each.get("properties", ())))


def _forms(schemas: Sequence[dict[str, Any]], whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The alternatives of schemas, with what they refer to."""
    for each in schemas:
        if "$ref" in each:
            yield from _forms([whole["$defs"][each["$ref"].removeprefix("#/$defs/")]], whole)
        yield from _forms((*each.get("anyOf", ()), *each.get("oneOf", ())), whole)
        yield each


def _inside(schema: dict[str, Any], step: str | int) -> Iterator[dict[str, Any]]:
    found = (
        schema.get("items")
        if isinstance(step, int)
        else schema.get("properties", {}).get(step, schema.get("additionalProperties"))
    )
    if isinstance(found, dict):
        yield found
