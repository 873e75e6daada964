"""The schema of a table, from the deployments of its system: one for each environment.

Must hold: what is the same in every environment is said here, once; what differs (units, replicas, days of recovery) is
said where a table is deployed. Tags are those that every environment has with the same value (CP-D39).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic_core import PydanticUndefined

from tablewright.design.attributes import Attribute
from tablewright.design.deployment import Deployment
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.environments import Provisioned
from tablewright.design.schemas.table_schema import (
    Pitr,
    PrimaryKey,
    SchemaAttribute,
    SchemaBackup,
    SchemaEntity,
    SchemaIndex,
    SchemaKey,
    SchemaVectorIndex,
    Streams,
    TableSchema,
)
from tablewright.design.table_spec import key_types, projection
from tablewright.design.tables import Index, Table
from tablewright.design.vectors import VectorIndex

_FORMATS = {datetime: "ISO 8601", date: "ISO 8601 date (YYYY-MM-DD)"}
_SETS = ("SS", "NS", "BS")


def schema_of(deployments: Sequence[Deployment], table: Table) -> TableSchema:
    """The schema of a table; the last of the deployments is production."""
    system, production = deployments[0], deployments[-1]
    shapes, indexes = system.shapes(table), system.indexes(table)
    letters = key_types(table, indexes, shapes)
    own = [each for each in deployments if table in each.own]
    further: dict[str, Any] = {
        "local_secondary_indexes": tuple(_index(system, each) for each in indexes if each.local),
        "vector_indexes": tuple(_vector(each) for each in system.vectors(table)),
        "ttl": table.ttl,
        "entities": tuple(_entity(shape) for shape in shapes[1:]),
    }
    is_provisioned = bool(own) and isinstance(production.environment.capacity_of(table.name), Provisioned)
    return TableSchema(
        table_name=table.name,
        description=table.about or f"The table {table.name}",
        primary_key=_primary_key(table, shapes, letters),
        attributes=tuple(_attributes(table, shapes, indexes, letters)),
        global_secondary_indexes=tuple(_index(system, each) for each in indexes if not each.local),
        capacity_mode="PROVISIONED" if is_provisioned else "ON_DEMAND",
        pitr=Pitr(enabled=any(each.environment.pitr_days > 0 for each in own)),
        backup={each.environment.name: made for each in own if (made := _backup(each)) is not None},
        streams=_streams(table),
        tags=_tags(deployments),
        **{name: value for name, value in further.items() if value},
    )


def _tags(deployments: Sequence[Deployment]) -> dict[str, str]:
    first, *others = (each.environment.tags for each in deployments)
    return {key: value for key, value in first.items() if all(tags.get(key) == value for tags in others)}


def _backup(deployment: Deployment) -> SchemaBackup | None:
    said = deployment.environment.backups
    return (
        None if said is None else SchemaBackup(frequency=frequency(said.schedule), retention=said.keep_days)
    )


def frequency(schedule: str) -> str:
    """How often a schedule is due; the schedule itself if that has no name."""
    found = re.fullmatch(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)", schedule)
    match found.groups() if found else ():
        case (_, "*", _, "*", _, "*"):
            return "hourly"
        case (_, hour, "*" | "?", "*", "*" | "?", "*") if hour.isdigit():
            return "daily"
        case (_, hour, "?", "*", day, "*") if hour.isdigit() and day.isalnum():
            return "weekly"
        case (_, hour, day, "*", "?", "*") if hour.isdigit() and day.isdigit():
            return "monthly"
        case _:
            return schedule


def _streams(table: Table) -> Streams:
    if table.stream is None:
        return Streams(enabled=False, view_type=None)
    about = "Followed by the system" if table.followed else "For replicas and for who follows it"
    return Streams(enabled=True, view_type=table.stream, description=about)


# --- keys and indexes ---


def _primary_key(table: Table, shapes: Sequence[EntitySpec], letters: Mapping[str, str]) -> PrimaryKey:
    patterns = _patterns(shapes[0]) if shapes else {}

    def key(name: str) -> SchemaKey:
        return SchemaKey.model_validate(
            {"name": name, "type": letters[name], "pattern": patterns.get(name, f"{{{name}}}")}
        )

    return PrimaryKey(partition_key=key(table.pk), sort_key=key(table.sk) if table.sk else None)


def _patterns(shape: EntitySpec) -> dict[str, str]:
    """The texts of an entity's own keys, by attribute."""
    found = {shape.table.pk: shape.pk.text}
    if shape.table.sk and shape.sk is not None:
        found[shape.table.sk] = shape.sk.text
    return found


def _index(deployment: Deployment, index: Index) -> SchemaIndex:
    kind, listed = projection(index, deployment.shapes(index.table))
    said: dict[str, Any] = {} if index.local else {"partition_key": _one_or_several(index.pk)}
    said |= {"sort_key": _one_or_several(index.sk), "projection_type": kind}
    if listed:
        said["non_key_attributes"] = tuple(listed)
    return SchemaIndex(index_name=index.name, description=_purpose(deployment, index), **said)


def _one_or_several(names: tuple[str, ...]) -> str | tuple[str, ...] | None:
    return None if not names else names[0] if len(names) == 1 else names


def _purpose(deployment: Deployment, index: Index) -> str:
    """What the first pattern that reads an index is for."""
    plans = [plan for design in deployment.every_design for plan in design.plans if plan.index == index]
    about = plans[0].about.partition("\n")[0].strip() if plans else ""
    return about or f"Items by {' and '.join(index.key_names)}"


def _vector(index: VectorIndex) -> SchemaVectorIndex:
    return SchemaVectorIndex(
        index_name=index.name,
        attribute=index.of,
        dimensions=index.dimensions,
        distance=index.distance,
        partition_key=index.partition,
        filters=index.filters,
    )


# --- attributes ---


def _attributes(
    table: Table, shapes: Sequence[EntitySpec], indexes: Sequence[Index], letters: Mapping[str, str]
) -> list[SchemaAttribute]:
    """The keys of the table, the fields of its first entity, and what else is in the key of an index."""
    first = shapes[0] if shapes else None
    stored = {made.name: made for made in _fields(first)} if first else {}
    patterns = _patterns(first) if first else {}
    found = {
        name: stored[name] if name in stored else _key(name, letters, part, patterns.get(name))
        for name, part in zip(table.key_names, ("Partition key", "Sort key"), strict=False)
    }
    found |= {name: made for name, made in stored.items() if name not in found}
    for index in indexes:
        for name in index.key_names:
            found.setdefault(name, _key(name, letters, f"Key of {index.name}", None, is_required=False))
    if table.ttl and table.ttl not in found:
        about = "When the item expires, in seconds since 1970"
        found[table.ttl] = SchemaAttribute(name=table.ttl, type="N", required=False, description=about)
    return list(found.values())


def _key(
    name: str, letters: Mapping[str, str], part: str, pattern: str | None, *, is_required: bool = True
) -> SchemaAttribute:
    about = f"{part}: {pattern}" if pattern else part
    return SchemaAttribute(name=name, type=letters[name], required=is_required, description=about)


def _entity(shape: EntitySpec) -> SchemaEntity:
    return SchemaEntity(
        name=shape.tag,
        description=_sentence(shape.model.__doc__ or "") or shape.tag,
        partition_key=shape.pk.text,
        sort_key=shape.sk.text if shape.sk is not None else None,
        attributes=tuple(_fields(shape)),
    )


def _sentence(text: str) -> str:
    return " ".join(text.strip().partition("\n\n")[0].split())


def _fields(shape: EntitySpec) -> list[SchemaAttribute]:
    return [_attribute(shape, attribute) for attribute in shape.fields.values()]


def _attribute(shape: EntitySpec, attribute: Attribute) -> SchemaAttribute:
    info = (shape.whole or shape.model).model_fields[attribute.field]
    said: dict[str, Any] = {}
    default = _plain(info.default)
    if default is not None:
        said["default"] = default
    if attribute.kind.choices:
        said["enum"] = attribute.kind.choices
    if attribute.kind.plain in _FORMATS:
        said["format"] = _FORMATS[attribute.kind.plain]
    return SchemaAttribute(
        name=attribute.stored,
        type=attribute.kind.letter,
        required=not attribute.optional and attribute.kind.letter not in _SETS,
        description=info.description or _words(attribute.field),
        **said,
    )


def _plain(default: object) -> Any:
    """A default as JSON has it; None where it is not text, a number or a truth."""
    if default is PydanticUndefined:
        return None
    if isinstance(default, Enum):
        return default.value
    if isinstance(default, Decimal):
        return int(default) if default == default.to_integral_value() else float(default)
    return default if isinstance(default, str | int | bool) else None


def _words(field: str) -> str:
    """`date_created` is "Date created"."""
    return field.replace("_", " ").strip().capitalize()
