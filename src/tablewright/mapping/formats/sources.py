"""What a file from elsewhere is, by its content, and the tables in it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tablewright.design import DesignMistake
from tablewright.design.files import is_design
from tablewright.design.schemas import SchemaRefused
from tablewright.design.schemas.table_schema import SchemaAttribute, TableSchema
from tablewright.design.schemas.validate_schemas import problems
from tablewright.mapping.deploy.states import table_state
from tablewright.mapping.formats.cloudformation_reader import KINDS, cloudformation_tables
from tablewright.mapping.formats.imported_tables import ImportedAttribute, ImportedEntity, ImportedTable
from tablewright.mapping.formats.source_forms import (
    refuse_described,
    refuse_resources,
    refuse_terraform,
    refuse_workbench,
)
from tablewright.mapping.formats.terraform_reader import KIND, is_terraform, terraform_tables
from tablewright.mapping.formats.workbench_reader import workbench_tables


class FormatUnknown(DesignMistake):
    """A file in none of the formats that are read, or without a table in it."""


def tables_in(value: Any) -> list[ImportedTable]:
    """The tables that a file describes.

    FormatUnknown if it is of no format that is read, or describes none; DesignFileRefused names each wrong part.
    """
    try:
        found = list(_tables(value))
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        if isinstance(error, DesignMistake):
            raise
        what = f"{error} is missing" if isinstance(error, KeyError) else f"a part has another form: {error}"
        raise FormatUnknown(f"is not complete: {what}; export the file again") from None
    if not found:
        raise FormatUnknown(
            "describes no DynamoDB table; name the file with the tables, or read live ones with --table"
        )
    for table in found:
        _refuse_keys_without_types(table)
    return found


def _refuse_keys_without_types(table: ImportedTable) -> None:
    state = table.state
    for where, key, types in (
        (state.name, state.key, state.types),
        *((f"{state.name}.{each.name}", each.key, each.types) for each in state.indexes.values()),
    ):
        if not any(kind == "HASH" for _, kind in key):
            raise FormatUnknown(f"is not complete: {where} has no partition key; add it to its key schema")
        for name, _ in key:
            if name not in types:
                raise FormatUnknown(
                    f"is not complete: the key attribute {name} of {where} has no type; add it to the attributes "
                    "that are defined"
                )


def _tables(value: Any) -> Iterator[ImportedTable]:
    if isinstance(value, list):
        for at, each in enumerate(value):
            if isinstance(each, dict) and "KeySchema" in each:
                refuse_described(each, f"[{at}]")
            yield from _tables(each)
    elif not isinstance(value, dict):
        raise FormatUnknown("is not an object, nor a list of objects")
    elif is_design(value):
        raise FormatUnknown("is a design file already; check it with `tablewright design check`")
    elif "DataModel" in value:
        refuse_workbench(value)
        yield from workbench_tables(value)
    elif "Resources" in value:
        refuse_resources(value, KINDS)
        yield from cloudformation_tables(value)
    elif is_terraform(value):
        refuse_terraform(value, KIND)
        yield from terraform_tables(value)
    elif "primaryKey" in value:
        yield _schema_table(value)
    elif "KeySchema" in value or "Table" in value:
        refuse_described(value.get("Table", value), "Table" if "Table" in value else "")
        yield described_table(value.get("Table", value))
    else:
        raise FormatUnknown(
            "is none of: a NoSQL Workbench model, a CloudFormation template, Terraform's state or plan as JSON, a "
            "table schema, the answer of DescribeTable"
        )


def described_table(told: dict[str, Any]) -> ImportedTable:
    """The answer of DescribeTable, or a CreateTable request."""
    state = table_state(told)
    notes = [f"{state.name}: {extra} is not part of a design." for extra in state.extras]
    if state.arn:
        # What an answer does not tell is off in the state.
        notes.append(f"{state.name}: DescribeTable tells neither TTL nor recovery; --table asks for them.")
    return ImportedTable(state, region=region_of(state.arn), notes=tuple(notes), says_protection=False)


def region_of(arn: str) -> str:
    return arn.split(":")[3] if arn.count(":") >= 5 else ""


# --- schemas of tables ---


def _schema_table(value: dict[str, Any]) -> ImportedTable:
    found = problems(value)
    if found:
        raise SchemaRefused("the schema", found)
    schema = TableSchema.model_validate(value)
    attributes = tuple(_attribute(each) for each in schema.attributes)
    inner = (_attribute(each) for entity in schema.entities for each in entity.attributes)
    letters = {each.name: each.letter for each in (*inner, *attributes)}
    key = schema.primary_key
    told = {
        "TableName": schema.table_name,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": letter} for name, letter in letters.items()
        ],
        "KeySchema": _key_schema(key.partition_key.name, key.sort_key.name if key.sort_key else None),
        "GlobalSecondaryIndexes": [_index(each) for each in schema.global_secondary_indexes],
        "LocalSecondaryIndexes": [
            _index(each, key.partition_key.name) for each in schema.local_secondary_indexes
        ],
        "VectorIndexes": [_vector(each) for each in schema.vector_indexes],
        "StreamSpecification": {"StreamEnabled": schema.streams.enabled, "StreamViewType": schema.streams.view_type},
        "Tags": [{"Key": name, "Value": text} for name, text in schema.tags.items()],
    }  # fmt: skip
    state = replace(table_state(told), ttl=schema.ttl, recovery_days=None if schema.pitr.enabled else 0)
    vectors = {index.attribute for index in schema.vector_indexes}
    first = ImportedEntity(
        schema.table_name,
        schema.description,
        key.partition_key.pattern,
        key.sort_key.pattern if key.sort_key else None,
        tuple(each for each in attributes if each.name not in vectors),
    )
    others = tuple(
        ImportedEntity(
            each.name,
            each.description,
            each.partition_key,
            each.sort_key,
            tuple(map(_attribute, each.attributes)),
        )
        for each in schema.entities
    )
    notes = [
        f"{schema.table_name}: the keys of its items in indexes are taken as stored; write their templates."
    ]
    if schema.capacity_mode == "PROVISIONED":
        notes.append(f"{schema.table_name}: it has reserved units; a schema does not say how many.")
    if schema.backup:
        notes.append(f"{schema.table_name}: its backups ({', '.join(schema.backup)}) are to be stated again.")
    return ImportedTable(state, schema.description, (), (first, *others), notes=tuple(notes))


def _attribute(said: SchemaAttribute) -> ImportedAttribute:
    return ImportedAttribute(said.name, said.type, said.required, said.enum, said.format, said.description)


def _key_schema(pk: Any, sk: Any) -> list[dict[str, str]]:
    def listed(names: Any) -> list[str]:
        return [names] if isinstance(names, str) else list(names or ())

    halves = (("HASH", listed(pk)), ("RANGE", listed(sk)))
    return [{"AttributeName": name, "KeyType": kind} for kind, names in halves for name in names]


def _index(said: Any, pk: str | None = None) -> dict[str, Any]:
    projection = {"ProjectionType": said.projection_type, "NonKeyAttributes": list(said.non_key_attributes)}
    return {
        "IndexName": said.index_name,
        "KeySchema": _key_schema(pk or said.partition_key, said.sort_key),
        "Projection": projection,
    }


def _vector(said: Any) -> dict[str, Any]:
    names = [(said.partition_key, "HASH")] if said.partition_key else []
    searched = [*names, *((name, "INLINE_FILTER") for name in said.filters)]
    return {
        "IndexName": said.index_name,
        "VectorAttribute": {"AttributeName": said.attribute},
        "Dimensions": said.dimensions,
        "DistanceFunction": said.distance,
        "SearchSchema": [{"AttributeName": name, "SearchSchemaElementType": kind} for name, kind in searched],
        "Projection": {"ProjectionType": "ALL"},
    }
