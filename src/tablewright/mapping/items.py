"""Models to items and back; what is hidden, and from whom."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tablewright.design.attributes import decode_values, encode_item
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.requests import Query
from tablewright.expressions.build import all_of, attribute_not_exists, equal
from tablewright.expressions.nodes import Compare, Condition, Or
from tablewright.mapping.errors import ItemUnreadable
from tablewright.values import Item, Value, item_size

E = TypeVar("E", bound=BaseModel)


def item_of(shape: EntitySpec, model: BaseModel | None, key: Mapping[str, Value] | None = None) -> Item:
    """Everything that is stored of a model: its fields, its key unless it is given, what is made from fields."""
    assert model is not None
    values = model.__dict__
    item = encode_item(model, shape.attributes)
    item.update(shape.key_of(values) if key is None else key)
    item.update(shape.derive(values))
    if shape.schema is not None:
        item[shape.fields[shape.schema.field].stored] = {"N": str(shape.schema.version)}
    return item


def older_form(shape: EntitySpec, model: BaseModel) -> int | None:
    """The number of the older form a model was read in; None if it was read in the present one."""
    if shape.schema is None:
        return None
    number: int = getattr(model, shape.schema.field)
    return number if number != shape.schema.version else None


def _upcast(shape: EntitySpec, item: Mapping[str, Value]) -> Mapping[str, Value]:
    """An item in the present form; it keeps its number, so that a write knows the stored form."""
    if shape.schema is None:
        return item
    stored = shape.fields[shape.schema.field].stored
    number = int(item[stored]["N"]) if stored in item else 1
    if number > shape.schema.version:
        raise ValueError("the item has a form of a later design")
    if number == shape.schema.version:
        return item
    made = dict(item)
    for upcast in shape.schema.upcasts[number - 1 :]:
        made = upcast(made)
    return {**made, stored: {"N": str(number)}}


def size_of(shape: EntitySpec, model: BaseModel | None) -> int:
    """How many bytes a model takes when it is stored, as the service counts them."""
    return item_size(item_of(shape, model))


def model_of(shape: EntitySpec, item: Mapping[str, Value]) -> Any:
    """The model in an item; ItemUnreadable if it does not fit."""
    try:
        return shape.model.__pydantic_validator__.validate_python(
            decode_values(shape.model, _upcast(shape, item))
        )
    except ValidationError as error:
        fields = ", ".join(sorted({str(error["loc"][0]) for error in error.errors() if error["loc"]}))
        raise ItemUnreadable(shape.tag, key_in(shape, item), fields or shape.model.__name__) from None
    except (KeyError, ValueError, TypeError) as error:
        raise ItemUnreadable(shape.tag, key_in(shape, item), type(error).__name__) from None


def key_in(shape: EntitySpec, item: Mapping[str, Value]) -> dict[str, Value]:
    return {name: item[name] for name in shape.table.key_names if name in item}


def shape_of(shapes: Sequence[EntitySpec], item: Mapping[str, Value]) -> EntitySpec | None:
    """The entity an item belongs to, recognised by its key; None if it is not one of these."""
    return next((shape for shape in shapes if shape.recognises(item)), None)


def models_of(shapes: Sequence[EntitySpec], items: Iterable[Item]) -> Iterator[Any]:
    """The models of the items that belong to one of these entities."""
    only = shapes[0] if len(shapes) == 1 else None
    for item in items:
        shape = only or shape_of(shapes, item)
        if shape is not None:
            yield model_of(shape, item)


def is_expired(shape: EntitySpec, item: Mapping[str, Value], now: int) -> bool:
    """Whether the item's time is up, whatever the sweeper has reached."""
    if shape.expires is None or shape.table.ttl is None:
        return False
    ttl = item.get(shape.table.ttl)
    return ttl is not None and "N" in ttl and float(ttl["N"]) <= now


def is_deleted(shape: EntitySpec, item: Mapping[str, Value]) -> bool:
    """Whether the item counts as deleted."""
    if shape.soft_delete is None:
        return False
    flag = item.get(shape.fields[shape.soft_delete.field].stored)
    return flag is not None and flag.get("BOOL") is not shape.soft_delete.live


def shown(shape: EntitySpec, item: Item | None, now: Callable[[], int], deleted: bool) -> Item | None:
    """The item, or None if it has expired or, unless asked for, is deleted."""
    if item is None or (shape.expires is not None and is_expired(shape, item, now())):
        return None
    return None if not deleted and shape.soft_delete is not None and is_deleted(shape, item) else item


def is_visible(shapes: Sequence[EntitySpec], item: Mapping[str, Value], deleted: bool) -> bool:
    """Whether an item is of these entities and, unless asked for, not deleted."""
    shape = shape_of(shapes, item)
    return shape is not None and (deleted or not is_deleted(shape, item))


def needs_local_filter(query: Query[Any], deleted: bool) -> bool:
    """Whether the service's filter lets through what must not be shown: strangers, or a flag of two meanings."""
    return query.others or (not deleted and len(query.shapes) > 1 and not _flags(query.shapes)[1])


def _flags(shapes: Sequence[EntitySpec]) -> tuple[list[tuple[str, bool]], bool]:
    """The flags of soft delete that mean the same for all shapes, with their live value; whether those are all."""
    if not any(s.soft_delete for s in shapes):
        return [], True
    flags = [
        (s.fields[s.soft_delete.field].stored, s.soft_delete.live) if s.soft_delete else None for s in shapes
    ]
    meant = {flag for flag in flags if flag is not None}
    agreed = [
        flag
        for flag in sorted(meant)
        if all(own == flag for own, s in zip(flags, shapes, strict=True) if flag[0] in s.stored)
    ]
    return agreed, len(agreed) == len(meant)


def not_expired(shape: EntitySpec, now: int) -> Condition | None:
    """The condition that an item has not expired; None if items of this entity never expire."""
    ttl = shape.table.ttl
    if shape.expires is None or ttl is None:
        return None
    return Or((attribute_not_exists(ttl), Compare(">", (ttl,), {"N": str(now)})))


def visible_filter(shapes: Sequence[EntitySpec], now: int, deleted: bool) -> Condition | None:
    """The filter that hides expired items and, unless `deleted`, soft-deleted ones; None if nothing is hidden."""
    expiring = [shape for shape in shapes if shape.expires is not None]
    conditions = [not_expired(expiring[0], now)] if expiring else []
    if not deleted:
        conditions += [
            Or((attribute_not_exists(stored), equal(stored, {"BOOL": live})))
            for stored, live in _flags(shapes)[0]
        ]
    return all_of(*conditions)
