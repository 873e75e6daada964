"""The schema of a table as a value, and as the JSON of CP-53.

    read_schema(text, where)   a value; SchemaRefused with every problem by its field
    schema_text(schema)        the text of a file; read_schema(schema_text(s)) == s, and the text is the same again

Beyond CP-53, and absent where a table has none: `ttl`, `localSecondaryIndexes`, `vectorIndexes`, `nonKeyAttributes` of
an index that includes some, lists of names where a key of an index has several attributes, and `entities`: what else
is stored in the table beside the entity that `attributes` are of.
Elsewhere: the rules (validate_schemas.py), from a design (export.py), as values of the design language (tables.py).
"""

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from tablewright.design.errors import DesignMistake
from tablewright.design.schemas.validate_schemas import problems


class SchemaRefused(DesignMistake):
    """A schema that does not say what a table is."""

    def __init__(self, where: str, found: Sequence[str]) -> None:
        self.where, self.problems = where, tuple(found)
        super().__init__("\n".join(f"{where}: {problem}" for problem in found))


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class SchemaKey(_Part):
    name: str
    type: Literal["S", "N", "B"]
    pattern: str


class PrimaryKey(_Part):
    partition_key: SchemaKey
    sort_key: SchemaKey | None


class SchemaAttribute(_Part):
    name: str
    type: str
    required: bool
    default: Any = None
    enum: tuple[str, ...] = ()
    format: str = ""
    description: str


class SchemaIndex(_Part):
    """A global index, or a local one, which has no partition key of its own."""

    index_name: str
    partition_key: str | tuple[str, ...] = ()
    sort_key: str | tuple[str, ...] | None
    projection_type: Literal["ALL", "KEYS_ONLY", "INCLUDE"]
    non_key_attributes: tuple[str, ...] = ()
    description: str


class SchemaVectorIndex(_Part):
    index_name: str
    attribute: str
    dimensions: int
    distance: str
    partition_key: str | None
    filters: tuple[str, ...]


class SchemaEntity(_Part):
    """Something else that is stored in the table: the patterns of its keys, and its attributes."""

    name: str
    description: str
    partition_key: str
    sort_key: str | None
    attributes: tuple[SchemaAttribute, ...]


class Pitr(_Part):
    enabled: bool
    description: str = ""


class SchemaBackup(_Part):
    frequency: str
    retention: int


class Streams(_Part):
    enabled: bool
    view_type: Literal["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] | None
    description: str = ""


class TableSchema(_Part):
    table_name: str
    description: str
    primary_key: PrimaryKey
    attributes: tuple[SchemaAttribute, ...]
    global_secondary_indexes: tuple[SchemaIndex, ...]
    local_secondary_indexes: tuple[SchemaIndex, ...] = ()
    vector_indexes: tuple[SchemaVectorIndex, ...] = ()
    ttl: str | None = None
    capacity_mode: Literal["ON_DEMAND", "PROVISIONED"]
    pitr: Pitr
    backup: dict[str, SchemaBackup]
    streams: Streams
    tags: dict[str, str]
    entities: tuple[SchemaEntity, ...] = ()


def read_schema(text: str, where: str = "the schema") -> TableSchema:
    """The schema that a file contains."""
    try:
        said = json.loads(text)
    except ValueError as error:
        raise SchemaRefused(where, [f"the file: is not JSON: {error}"]) from None
    found = problems(said)
    if found:
        raise SchemaRefused(where, found)
    return TableSchema.model_validate(said)


def schema_text(schema: TableSchema) -> str:
    """The file of a schema. What was never set is left out; null stays null."""
    said = schema.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"
