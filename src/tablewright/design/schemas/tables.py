"""A schema as the values of the design language: the table, its indexes, and the types of their keys."""

from dataclasses import dataclass

from tablewright.design.schemas.table_schema import SchemaIndex, TableSchema
from tablewright.design.tables import Index, Projection, Table, names


@dataclass(frozen=True, slots=True)
class SchemaTables:
    """What a table is made from: as a design has it, but for the system's own use of it (`followed`, `whole`)."""

    table: Table
    indexes: tuple[Index, ...]
    key_types: dict[str, str]


def tables_of(schema: TableSchema, design: str) -> SchemaTables:
    """The table and the indexes that a schema describes, as those of a design of this name."""
    key = schema.primary_key
    table = Table(
        design,
        schema.table_name,
        key.partition_key.name,
        key.sort_key.name if key.sort_key else None,
        schema.ttl,
        schema.streams.view_type,
        schema.description,
    )
    local = [_index(table, index, is_local=True) for index in schema.local_secondary_indexes]
    indexes = (*(_index(table, index) for index in schema.global_secondary_indexes), *local)
    types = {attribute.name: attribute.type for attribute in schema.attributes}
    keys = dict.fromkeys((*table.key_names, *(name for index in indexes for name in index.key_names)))
    return SchemaTables(table, indexes, {name: types[name] for name in keys})


def _index(table: Table, said: SchemaIndex, *, is_local: bool = False) -> Index:
    project: Projection = (
        said.non_key_attributes if said.projection_type == "INCLUDE" else said.projection_type
    )
    partition = (table.pk,) if is_local else names(said.partition_key)
    return Index(table, said.index_name, partition, names(said.sort_key), project, is_local)
