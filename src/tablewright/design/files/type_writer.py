"""Annotations and models of Python as types and fields of a design file.

Models inside of entities, and views, become named types; enumerations become choices. Must hold: two models of one name
get two names.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from inspect import Parameter
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from annotated_types import Ge, Gt, Le, Len, Lt, MaxLen, MinLen
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from tablewright.design.attributes import by_field, without_none
from tablewright.design.files.field_types import OPTIONAL, SCALARS
from tablewright.design.files.settings_writer import number

_NAMES = {annotation: name for name, annotation in SCALARS.items() if isinstance(annotation, type)}
# Names in annotations that are still text (`from __future__ import annotations`).
_TEXTS = {kind.__name__: name for kind, name in _NAMES.items()}
_EMPTY = (list, dict, set, frozenset, tuple)
_NOT_PLAIN = object()


class TypeWriter:
    """The named types that were needed so far, and what was dropped."""

    def __init__(self) -> None:
        self.types: dict[str, Any] = {}
        self.dropped: list[str] = []
        self._names: dict[type[BaseModel], str] = {}

    def fields(self, model: type[BaseModel], place: str) -> dict[str, Any]:
        """The fields of a model; its validators are dropped by name."""
        decorators = model.__pydantic_decorators__
        for kind in ("validators", "field_validators", "root_validators", "model_validators"):
            for name in getattr(decorators, kind, ()):
                self.dropped.append(f"{place}: the validator {name} of {model.__name__}")
        return {
            name: self._field(model, name, info, f"{place}.{name}")
            for name, info in model.model_fields.items()
        }

    def name_of(self, model: type[BaseModel], place: str) -> str:
        """The name of a model among the types."""
        if model not in self._names:
            name, count = model.__name__, 1
            while name in self.types or name in SCALARS:
                count += 1
                name = f"{model.__name__}{count}"
            self._names[model] = name
            self.types[name] = {}  # holds the name while its fields are written
            about = {"about": model.__dict__["__doc__"]} if model.__dict__.get("__doc__") else {}
            self.types[name] = {**about, "fields": self.fields(model, f"types.{name}.fields")}
        return self._names[model]

    def type_of(self, annotation: Any, place: str) -> Any:
        """A type; null is part of it."""
        if annotation is JsonValue:
            return "json"
        bare, optional = without_none(annotation)
        said = self._bare(bare, place)
        if not optional:
            return said
        return f"{said}{OPTIONAL}" if isinstance(said, str) else {**said, "optional": True}

    def parameter(self, annotation: Any, place: str) -> tuple[Any, bool]:
        """The type of a parameter and whether it may be None; no type where the annotation does not say one."""
        if isinstance(annotation, str):
            text = annotation.replace(" ", "")
            name = _TEXTS.get(text.removesuffix("|None"))
            if name is None:
                self.dropped.append(f"{place}: its type '{annotation}'")
                return None, False
            optional = text.endswith("|None")
            return f"{name}{OPTIONAL if optional else ''}", optional
        if annotation is Parameter.empty:
            return None, False
        return self.type_of(annotation, place), without_none(annotation)[1]

    def default(self, value: Any) -> Any:
        """A default as JSON has it; `is_plain` says whether it has."""
        match value:
            case Enum():
                return self.default(value.value)
            case None | bool() | int() | float() | str():
                return value
            case Decimal():
                return number(value)
            case datetime() | date():
                return value.isoformat()
            case UUID():
                return str(value)
            case BaseModel():
                return _all_plain(
                    {name: self.default(getattr(value, name)) for name in type(value).model_fields}
                )
            case Mapping():
                return _all_plain({str(name): self.default(each) for name, each in value.items()})
            case list() | tuple():
                return _list(self.default(each) for each in value)
            case set() | frozenset():
                return _list(sorted((self.default(each) for each in value), key=str))
            case _:
                return _NOT_PLAIN

    def _bare(self, annotation: Any, place: str) -> Any:
        if annotation is JsonValue:
            return "json"
        if isinstance(annotation, type):
            if annotation in _NAMES:
                return _NAMES[annotation]
            if issubclass(annotation, BaseModel):
                return self.name_of(annotation, place)
            if issubclass(annotation, Enum):
                return {"choice": [member.value for member in annotation]}
            return "string"  # a text of a class of its own
        origin, inside = get_origin(annotation), get_args(annotation)
        if origin is Literal:
            return {"choice": list(inside)}
        if origin in (set, frozenset):
            return {"set": self.type_of(inside[0], place)}
        if origin in (dict, Mapping):
            keys = without_none(inside[0])[0]
            chosen = {"keys": list(get_args(keys))} if get_origin(keys) is Literal else {}
            return {"map": self.type_of(inside[1], place), **chosen}
        if origin is tuple and inside[0] is float:
            return "vector"
        if origin in (list, tuple, Sequence):
            return {"list": self.type_of(inside[0], place)}
        raise AssertionError(f"{place}: {annotation}")  # a built design has nothing that is not storable

    def _field(self, model: type[BaseModel], name: str, info: FieldInfo, place: str) -> Any:
        attribute = by_field(model)[name]
        said: dict[str, Any] = {"type": self.type_of(info.annotation, place)}
        said |= self._default_of(info, attribute.optional and attribute.annotation is not JsonValue, place)
        if attribute.stored != name:
            said["stored"] = attribute.stored
        if info.description:
            said["about"] = info.description
        for each in info.metadata:
            said |= self._limits(each, place)
        return said["type"] if list(said) == ["type"] else said

    def _default_of(self, info: FieldInfo, optional: bool, place: str) -> dict[str, Any]:
        value = info.default
        if info.default_factory is not None:
            made: Any = info.default_factory
            is_known = made in _EMPTY or (isinstance(made, type) and issubclass(made, BaseModel))
            value = made() if is_known else _NOT_PLAIN
        if value is PydanticUndefined:
            return {"required": True} if optional else {}
        if value is None and optional:
            return {}
        default = self.default(value)
        if is_plain(default):
            return {"default": default}
        self.dropped.append(f"{place}: its default, which is computed or binary")
        return {}

    def _limits(self, metadata: Any, place: str) -> dict[str, Any]:
        """What a rule of a field is in a file."""
        match metadata:
            case MaxLen():
                return {"max_length": metadata.max_length}
            case MinLen():
                return {"min_length": metadata.min_length}
            case Len():
                least = {"min_length": metadata.min_length} if metadata.min_length else {}
                return least | ({} if metadata.max_length is None else {"max_length": metadata.max_length})
            case Ge() | Gt() | Le() | Lt():
                name = type(metadata).__name__.lower()
                bound = getattr(metadata, name)
                found = number(bound) if isinstance(bound, Decimal) else bound
                if isinstance(found, int | float):
                    return {name: found}
        pattern = getattr(metadata, "pattern", None)
        if isinstance(pattern, str):
            return {"pattern": pattern}
        self.dropped.append(
            f"{place}: the rule {getattr(metadata, '__name__', None) or type(metadata).__name__}"
        )
        return {}


def is_plain(value: Any) -> bool:
    return value is not _NOT_PLAIN


def _list(values: Any) -> Any:
    found = list(values)
    return _NOT_PLAIN if any(each is _NOT_PLAIN for each in found) else found


def _all_plain(values: dict[str, Any]) -> Any:
    return _NOT_PLAIN if any(each is _NOT_PLAIN for each in values.values()) else values
