"""A table as DynamoDB describes it: the types of its key attributes, and what each index projects. Pure.

Used by mapping/tables.py (over a Call) and terraform/tables.py (in a file), so that both create the same table. Must
hold: an index projects the attributes that show that an item has expired or is deleted, or reads could not hide it.
"""

from collections.abc import Sequence

from tablewright.design.entity_spec import EntitySpec
from tablewright.design.tables import Index, Table


def key_types(table: Table, indexes: Sequence[Index], shapes: Sequence[EntitySpec]) -> dict[str, str]:
    """The key attributes of a table and its indexes, no others, with their letters."""
    names = dict.fromkeys((*table.key_names, *(name for index in indexes for name in index.key_names)))
    return {name: _letter(shapes, name) for name in names}


def _letter(shapes: Sequence[EntitySpec], name: str) -> str:
    return next((key.letter for shape in shapes for key in shape.keys if key.name == name), "S")


def projection(index: Index, shapes: Sequence[EntitySpec]) -> tuple[str, list[str]]:
    """How much of the items of these entities an index carries: the kind, and the names where it is some."""
    if isinstance(index.project, str):
        return index.project, []
    listed = projected(index, shapes)
    return ("INCLUDE", listed) if listed else ("KEYS_ONLY", [])


def projected(index: Index, shapes: Sequence[EntitySpec]) -> list[str]:
    """The attributes besides the keys that an index carries of these entities, where it does not carry all."""
    here = [shape for shape in shapes if index in shape.on]
    # What tells that an item has expired or is deleted goes along, or reads could not hide it.
    hiding = [shape.table.ttl for shape in here if shape.expires and shape.table.ttl]
    hiding += [shape.fields[shape.soft_delete.field].stored for shape in here if shape.soft_delete]
    if isinstance(index.project, str):
        return []
    keys = {*index.key_names, *index.table.key_names}
    return [name for name in dict.fromkeys((*index.project, *hiding)) if name not in keys]
