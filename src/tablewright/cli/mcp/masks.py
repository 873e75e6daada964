"""Masks what a design says is about people, or secret, before an item is shown to a model. Pure.

Must hold: without `--personal` the value of a field marked PERSONAL, CHILD or SECRET, or copied from one that is, is in
no answer. Elsewhere: what is marked (each design's `data`).
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel

from tablewright.design import Data, Design, EntitySpec

MASKED = (Data.PERSONAL, Data.CHILD, Data.SECRET)
_MASKS = {data: f"[masked: {data.value}]" for data in MASKED}
Show: TypeAlias = Callable[[EntitySpec, BaseModel], dict[str, Any]]


def plain(shape: EntitySpec, item: BaseModel) -> dict[str, Any]:
    """An item as JSON, with everything in it."""
    return {"entity": shape.tag, "item": item.model_dump(mode="json", by_alias=True)}


def masked_by(design: Design) -> Show:
    """The same with masks, by what the design says of each field."""

    def show(shape: EntitySpec, item: BaseModel) -> dict[str, Any]:
        marks = marks_of(design, shape)
        hidden = {each.stored: _MASKS[marks[each.field]] for each in shape.attributes if each.field in marks}
        # Masked values are left out of the dump, so that none can be in a message about it.
        names = {each.field for each in shape.attributes if each.stored in hidden}
        dumped = item.model_dump(mode="json", by_alias=True, exclude=names)
        masks = {
            each.stored: None if getattr(item, each.field) is None else hidden[each.stored]
            for each in shape.attributes
            if each.stored in hidden
        }
        return {"entity": shape.tag, "item": dumped | masks}

    return show


def marks_of(design: Design, shape: EntitySpec) -> Mapping[str, Data]:
    """The fields to mask, by name. A copy is what its source is."""
    entities = {each.tag: each for each in design.shapes}
    copied = {
        copy.field: entities[copy.of].data[copy.source]
        for copy in shape.copies
        if copy.of in entities and copy.source in entities[copy.of].data
    }
    marks = copied | dict(shape.data)
    return {name: data for name, data in marks.items() if data in MASKED}


def has_mask(value: Any) -> bool:
    """Whether a mask is anywhere in a value: writing it would replace what it hides."""
    if isinstance(value, str):
        return value in _MASKS.values()
    if isinstance(value, Mapping):
        return any(map(has_mask, value.values()))
    return isinstance(value, list | tuple | set) and any(map(has_mask, value))
