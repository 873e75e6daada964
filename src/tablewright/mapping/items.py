"""Models to items and back; what is hidden, and from whom."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tablewright.design.attributes import decode_values, encode_item
from tablewright.design.requests import Query
from tablewright.design.shape import Shape
from tablewright.mapping.errors import ItemUnreadable
from tablewright.mapping.wording import Wording, all_of
from tablewright.values import Item, Value, item_size

E = TypeVar("E", bound=BaseModel)


def item_of(shape: Shape, model: BaseModel | None) -> Item:
    """Everything that is stored of a model: its fields, its key, the attributes made from fields."""
    assert model is not None
    values = model.__dict__
    item = {**encode_item(model, shape.attributes), **shape.key_of(values), **shape.derive(values)}
    if shape.schema is not None:
        item[shape.fields[shape.schema.field].stored] = {"N": str(shape.schema.version)}
    return item


def form_of(shape: Shape, model: BaseModel) -> int | None:
    """The number of the older form a model was read in; None if it was read in the present one."""
    if shape.schema is None:
        return None
    number: int = getattr(model, shape.schema.field)
    return number if number != shape.schema.version else None


def _upcast(shape: Shape, item: Mapping[str, Value]) -> Mapping[str, Value]:
    """An item in the present form; its number stays, so that whoever writes it knows."""
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


def size_of(shape: Shape, model: BaseModel | None) -> int:
    """How many bytes a model takes when it is stored, as the service counts them."""
    return item_size(item_of(shape, model))


def model_of(shape: Shape, item: Mapping[str, Value]) -> Any:
    """The model in an item; ItemUnreadable if it does not fit."""
    try:
        return shape.model.__pydantic_validator__.validate_python(
            decode_values(shape.model, _upcast(shape, item))
        )
    except ValidationError as mistake:
        fields = ", ".join(sorted({str(error["loc"][0]) for error in mistake.errors() if error["loc"]}))
        raise ItemUnreadable(shape.tag, key_in(shape, item), fields or shape.model.__name__) from None
    except (KeyError, ValueError, TypeError) as mistake:
        raise ItemUnreadable(shape.tag, key_in(shape, item), type(mistake).__name__) from None


def key_in(shape: Shape, item: Mapping[str, Value]) -> dict[str, Value]:
    return {name: item[name] for name in shape.table.key_names if name in item}


def shape_of(shapes: Sequence[Shape], item: Mapping[str, Value]) -> Shape | None:
    """Whose item this is, told by its key; None for a stranger."""
    return next((shape for shape in shapes if shape.recognises(item)), None)


def is_expired(shape: Shape, item: Mapping[str, Value], now: int) -> bool:
    """Whether the item's time is up, whatever the sweeper has reached."""
    if shape.expires is None or shape.table.ttl is None:
        return False
    ttl = item.get(shape.table.ttl)
    return ttl is not None and "N" in ttl and float(ttl["N"]) <= now


def is_deleted(shape: Shape, item: Mapping[str, Value]) -> bool:
    """Whether the item counts as deleted."""
    if shape.soft_delete is None:
        return False
    flag = item.get(shape.fields[shape.soft_delete.field].stored)
    return flag is not None and flag.get("BOOL") is not shape.soft_delete.live


def is_shown(shapes: Sequence[Shape], item: Mapping[str, Value], deleted: bool) -> bool:
    """Whether an item is of these entities and, unless asked for, not deleted."""
    shape = shape_of(shapes, item)
    return shape is not None and (deleted or not is_deleted(shape, item))


def is_sieved(query: Query[Any], deleted: bool) -> bool:
    """Whether the service's filter lets through what must not be shown: strangers, or a flag of two meanings."""
    return query.others or (not deleted and len(query.shapes) > 1 and not _flags(query.shapes)[1])


def _flags(shapes: Sequence[Shape]) -> tuple[list[tuple[str, bool]], bool]:
    """The flags of soft delete that mean the same for all shapes, with their live value; whether those are all."""
    if not any(s.soft_delete for s in shapes):
        return [], True
    meant = {(s.fields[s.soft_delete.field].stored, s.soft_delete.live) for s in shapes if s.soft_delete}
    agreed = [
        (stored, live)
        for stored, live in sorted(meant)
        for others in [[s for s in shapes if stored in s.stored]]
        if all(
            s.soft_delete is not None
            and s.fields[s.soft_delete.field].stored == stored
            and s.soft_delete.live is live
            for s in others
        )
    ]
    return agreed, len(agreed) == len(meant)


def alive(shape: Shape, wording: Wording, now: int) -> str:
    """The condition that an item has not expired; empty where nothing expires."""
    if shape.expires is None or shape.table.ttl is None:
        return ""
    name = wording.name(shape.table.ttl)
    return f"attribute_not_exists({name}) OR {name} > {wording.value({'N': str(now)})}"


def visible(shapes: Sequence[Shape], wording: Wording, now: int, deleted: bool) -> str:
    """The filter that hides what has expired and, unless asked for, what is deleted."""
    expiring = [shape for shape in shapes if shape.expires is not None]
    texts = [alive(expiring[0], wording, now)] if expiring else []
    if not deleted:
        for stored, live in _flags(shapes)[0]:
            name = wording.name(stored)
            texts.append(f"attribute_not_exists({name}) OR {name} = {wording.value({'BOOL': live})}")
    return all_of(*texts)
