"""Schemas of tables as JSON files (CP-53): made from a design, read back, and refused by field."""

from tablewright.design.schemas.export import schema_of
from tablewright.design.schemas.paths import schema_path
from tablewright.design.schemas.table_schema import SchemaRefused, TableSchema, read_schema, schema_text
from tablewright.design.schemas.tables import SchemaTables, tables_of

__all__ = [
    "SchemaRefused", "SchemaTables", "TableSchema", "read_schema", "schema_of", "schema_path", "schema_text",
    "tables_of",
]  # fmt: skip
