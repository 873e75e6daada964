"""The writes of each entity as tools: create, put, update, delete.

A call without `confirm` shows what would be done and does nothing. The rules of a system's service are not here: a tool
writes what the design allows.
Must hold: an update and a delete carry the condition that the item is as it was read (Stale otherwise); a mask is never
written over what it hides; a plan shows no value of a stored item.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, StrictBool, ValidationError

from tablewright.cli.mcp.masks import Show, has_mask
from tablewright.cli.mcp.tools import (
    Answer,
    Json,
    Tool,
    ToolArgument,
    ToolRefused,
    of_parameters,
    optional,
    required,
    sentences,
    title_of,
    tool_name,
)
from tablewright.design import Design, Entity, EntitySpec, Write
from tablewright.design.arguments import arguments_of
from tablewright.mapping import Db

# Strict: "yes" or 1 are not an agreement to a write.
CONFIRM = optional("confirm", StrictBool, "true writes. Without it the plan is shown and nothing is written.")


def write_tools(design: Design, db: Db, show: Show) -> Iterator[Tool]:
    """The tools of every entity. There is no put where it could overwrite another's change."""
    for shape in design.shapes:
        entity: Entity[Any, Any] = Entity(shape, shape.model)
        yield _whole_tool(design, entity, "create", db, show)
        if not (shape.unique or shape.version or shape.states):
            yield _whole_tool(design, entity, "put", db, show)
        yield _update_tool(design, entity, db, show)
        yield _delete_tool(design, entity, db, show)


def _whole_tool(design: Design, entity: Entity[Any, Any], verb: str, db: Db, show: Show) -> Tool:
    def run(given: Mapping[str, Any]) -> Answer:
        item = given["item"]
        _refuse_mask(item.model_dump())
        write = entity.create(item) if verb == "create" else entity.put(item)
        return _written(db, write, given, lambda: show(entity.shape, item))

    what = "A new item; refused if its key or a unique value is taken." if verb == "create" else (
        "The item, in place of any other with its key."
    )  # fmt: skip
    arguments = (required("item", entity.model, "The whole item."), CONFIRM)
    return _tool(design, entity, verb, what, arguments, run)


def _update_tool(design: Design, entity: Entity[Any, Any], db: Db, show: Show) -> Tool:
    def run(given: Mapping[str, Any]) -> Answer:
        changes = given["changes"]
        if not changes:
            raise ToolRefused("changes is empty; name a field to change.")
        _refuse_mask(changes)
        before = _stored(db, entity, given)
        after = _changed(entity.shape, before, changes)
        write = entity.change(before, after)
        written = write.item if write.item is not None else after
        return _written(db, write, given, lambda: show(entity.shape, written))

    changes = required(
        "changes",
        dict[str, Any],
        "The fields to change; null removes an optional one.",
        _changes_schema(entity),
    )
    what = "Change fields of an item; refused if it was changed since it was read."
    return _tool(design, entity, "update", what, (*_key(entity), changes, CONFIRM), run)


def _delete_tool(design: Design, entity: Entity[Any, Any], db: Db, show: Show) -> Tool:
    def run(given: Mapping[str, Any]) -> Answer:
        item = _stored(db, entity, given)
        return _written(db, entity.delete(item), given, lambda: show(entity.shape, item))

    what = "Remove an item for good; refused if it was changed since it was read."
    return _tool(design, entity, "delete", what, (*_key(entity), CONFIRM), run)


# --- parts ---


def _tool(
    design: Design,
    entity: Entity[Any, Any],
    verb: str,
    what: str,
    arguments: tuple[ToolArgument, ...],
    run: Callable[[Mapping[str, Any]], Answer],
) -> Tool:
    return Tool(
        tool_name(design.name, entity.tag, verb),
        f"{title_of(verb)} {entity.tag}",
        f"{what} Entity {entity.tag} of {design.name}.",
        arguments,
        run,
        "writes" if verb == "create" else "destroys",
    )


def _key(entity: Entity[Any, Any]) -> tuple[ToolArgument, ...]:
    shape = entity.shape
    return of_parameters(arguments_of(shape.key, shape), shape.key.parameters)


def _stored(db: Db, entity: Entity[Any, Any], given: Mapping[str, Any]) -> BaseModel:
    key = {name: given[name] for name in entity.shape.parameters if name in given}
    item: BaseModel | None = db.one(entity.get(**key), consistent=True)
    if item is None:
        raise ToolRefused(f"There is no {entity.tag} with this key; create it first.")
    return item


def _changed(shape: EntitySpec, before: BaseModel, changes: Mapping[str, Any]) -> BaseModel:
    """The item with the changes, checked as a whole; ToolRefused names what does not fit."""
    known = {each.stored: each for each in shape.attributes}
    strange = [name for name in changes if name not in known]
    if strange:
        raise ToolRefused(f"{shape.tag} has no field {', '.join(strange)}; it has {', '.join(known)}.")
    values = {each.given: getattr(before, each.field) for each in known.values()}
    values |= {known[name].given: value for name, value in changes.items()}
    try:
        return shape.model.model_validate(values, extra="forbid")
    except ValidationError as mistakes:
        raise ToolRefused(" ".join(sentences(mistakes, "changes"))) from None


def _changes_schema(entity: Entity[Any, Any]) -> Json:
    """The model's own schema, with nothing required."""
    schema = entity.model.model_json_schema(
        by_alias=True, ref_template="#/$defs/{model}", mode="serialization"
    )
    kept = {name: schema[name] for name in ("$defs", "properties") if name in schema}
    return {"type": "object", **kept, "additionalProperties": False}


def _refuse_mask(value: Any) -> None:
    if has_mask(value):
        raise ToolRefused(
            "A masked value cannot be written: it would replace what it hides. Leave the field out of an update."
        )


def _written(db: Db, write: Write[Any], given: Mapping[str, Any], shown: Callable[[], Json]) -> Answer:
    """Do it, or say what would be done: which calls on which tables, and their units."""
    if given.get("confirm"):
        db.write(write)
        return Answer({"written": True, "what": write.name, **shown()})
    plan = db.explain(write)
    return Answer(
        {
            "written": False,
            "what": write.name,
            "calls": [verb for verb, _ in plan.calls],
            "table": db.physical(write.shape.table.name),
            "readUnits": plan.read_units,
            "writeUnits": plan.write_units,
            "next": "Nothing was written. Call the tool again with confirm: true to write.",
        }
    )
