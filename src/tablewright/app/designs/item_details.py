"""One item with all there is about it: whose it is, its fields, its place in each index, what writes of it would send.

Must hold: secrets are covered before anything is made of an item (secrets.py). Elsewhere: the pages (item_pages.py).
"""

from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from tablewright.app.designs.browse import key_names
from tablewright.app.designs.code_targets import TypedCode, target_of, typed_item
from tablewright.app.designs.derived_attributes import misfits
from tablewright.app.designs.designs import indexes_of
from tablewright.app.designs.diagrams import Owner, owner_of
from tablewright.app.designs.item_grid import plain_item, shown
from tablewright.app.designs.lookup import table_of
from tablewright.app.designs.secrets import covered, covered_model
from tablewright.app.json_words import pretty
from tablewright.app.runtime import Runtime
from tablewright.design import Design, Entity, EntitySpec, States, Write
from tablewright.design.errors import DesignMistake
from tablewright.mapping import Db
from tablewright.mapping.code_samples import samples
from tablewright.mapping.errors import ItemUnreadable
from tablewright.mapping.explain import Explanation
from tablewright.mapping.items import is_deleted, is_expired, model_of
from tablewright.mapping.migrate.router import renamed
from tablewright.pages.forms import Form
from tablewright.values import Value, item_size


def item_details(
    runtime: Runtime, described: Mapping[str, Any], stored: dict[str, Value], form: Form
) -> dict[str, Any]:
    physical = described["TableName"]
    design, table = table_of(runtime, physical)
    owner = owner_of(design, table.name if table else physical, stored)
    weight = item_size(stored)
    model, unreadable = _model(owner.shape, stored)
    is_over = bool(owner.shape and is_expired(owner.shape, stored, int(runtime.world.now().timestamp())))
    is_gone = bool(owner.shape and is_deleted(owner.shape, stored))
    wrong = misfits(owner.shape, stored)
    stored = covered(stored, owner.shape, design, table)
    key = {name: stored[name] for name in key_names(described["KeySchema"])}
    request = {"TableName": physical, "Key": key}
    code = _typed(runtime, design, owner, model, deleted=is_gone)
    return {
        "owner": owner,
        "design": design,
        "weight": weight,
        "read_units": max(-(-weight // 4096), 1),
        "write_units": max(-(-weight // 1024), 1),
        "raw": pretty(stored),
        "plain": pretty(plain_item(stored)),
        "key": pretty(key),
        "samples": samples([("GetItem", request)], target_of(runtime), code.text),
        "code": code,
        "decoded": _decoded(owner.shape, model),
        "unreadable": unreadable,
        "misfits": wrong,
        "is_expired": is_over,
        "is_deleted": is_gone,
        "indexes": [_standing(index, stored) for index in indexes_of(described)],
        "explained": _explained(runtime, design, owner.shape, model, form) if design and model else None,
    }


_NOT_TYPED = {
    "entity": "the item does not fit its entity, so no read of the design returns it",
    "guard": "this item guards a unique value; the mapping writes it, and no read of the design returns it",
    "receipt": "this item is a receipt of a write; the mapping reads it itself",
    "stranger": "the design does not know this item",
}


def _typed(
    runtime: Runtime, design: Design | None, owner: Owner, model: BaseModel | None, *, deleted: bool
) -> TypedCode:
    """The typed call that reads this item, or why there is none."""
    if design is None or owner.shape is None or model is None:
        return TypedCode(why_none=_NOT_TYPED[owner.kind])
    return typed_item(runtime, design, owner.shape, model, deleted=deleted)


def _model(shape: EntitySpec | None, stored: Mapping[str, Value]) -> tuple[BaseModel | None, str]:
    if shape is None:
        return None, ""
    try:
        return covered_model(shape, model_of(shape, stored)), ""
    except ItemUnreadable as mistake:
        return None, str(mistake)


def _decoded(shape: EntitySpec | None, model: BaseModel | None) -> list[tuple[str, str, str]]:
    """Each field with its value, and its data class if it has one."""
    if shape is None or model is None:
        return []
    given = {name: value for name, value in model.model_dump(mode="json").items() if value is not None}
    classes = {name: data.value for name, data in shape.data.items()}
    return [
        (name, value if isinstance(value, str) else orjson.dumps(value).decode(), classes.get(name, ""))
        for name, value in given.items()
    ]


def _standing(index: Mapping[str, Any], stored: Mapping[str, Value]) -> dict[str, Any]:
    """Where an item is in an index, or which attribute keeps it out."""
    names = key_names(index["KeySchema"])
    missing = [name for name in names if name not in stored]
    return {
        "name": index["IndexName"],
        "keys": [(name, shown(stored[name])) for name in names if name in stored],
        "missing": missing,
    }


def _explained(
    runtime: Runtime, design: Design, shape: EntitySpec | None, model: BaseModel, form: Form
) -> dict[str, Any]:
    """The writes one could make of this item, laid open. Nothing is run."""
    assert shape is not None
    _, db = runtime.designs[design.name]
    kind, text = form.get("kind", "change"), form.get("json")
    original = pretty(model.model_dump(mode="json", by_alias=True))
    shown_form = Form({"kind": kind, "json": text or original})
    try:
        after = shape.model.model_validate_json(text or original)
        explanation = db.explain(_write(shape, kind, model, after))
    except ValidationError as mistakes:
        first = mistakes.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return {
            "form": shown_form.wrong("json", f"{where + ': ' if where else ''}{first['msg']}."),
            "calls": (),
        }
    except DesignMistake as mistake:
        return {"form": shown_form.wrong("json", f"{mistake}."), "calls": ()}
    return {
        "form": shown_form,
        "explanation": explanation,
        "calls": [(verb, pretty(body)) for verb, body in open_calls(runtime, db, explanation)],
    }


def open_calls(runtime: Runtime, db: Db, explanation: Explanation) -> list[tuple[str, Mapping[str, Any]]]:
    """The calls of an explanation as they would be sent now: to the tables that are open."""
    tables = [table for design in db.designs for table in design.tables]
    leading = {db.physical(table): runtime.open_table(db, table) for table in tables}
    return [(verb, renamed(body, leading)) for verb, body in explanation.calls]


def _write(shape: EntitySpec, kind: str, before: BaseModel, after: BaseModel) -> Write[Any]:
    entity: Entity[Any, Any] = Entity(shape, shape.model)
    if kind == "create":
        return entity.create(after)
    if kind == "delete":
        return entity.delete(before)
    states = shape.states
    if states is None or _state(before, states) == _state(after, states):
        return entity.change(before, after)
    actors = states.moves.get(_state(before, states), {}).get(_state(after, states), ()) or states.overrides
    return entity.move(before, after, by=next(iter(actors), "anyone"))


def _state(item: BaseModel, states: States) -> str:
    value = getattr(item, states.field)
    return str(getattr(value, "value", value))
