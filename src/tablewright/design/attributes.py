"""Fields of a model as attributes of an item: which DynamoDB type, and the two ways between.

The stored name of a field is its serialization alias, so an item reads like the API's JSON. None is left out, never
stored as NULL; times are UTC of fixed width; money is Decimal; empty sets are left out, since DynamoDB has none.
Must hold: decode(encode(value)) == value, but for times finer than a millisecond, which are cut, and for an empty
set where None is allowed too, which comes back as None.
"""

import types
import typing
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, JsonValue

from tablewright.design.errors import NotStorable
from tablewright.design.key_codecs import microseconds, milliseconds
from tablewright.design.large import Large, decode_large, encode_large
from tablewright.values import Item, Value, float32

Encode: TypeAlias = Callable[[Any], Value | None]
Decode: TypeAlias = Callable[[Value], Any]
# More models than a process has: yet those of designs that are uploaded to be checked are forgotten in time.
_MODELS = 4096


@dataclass(frozen=True, slots=True)
class AttributeKind:
    """How values of one annotation are stored; `model` or `members` say what lies inside."""

    letter: str
    encode: Encode
    decode: Decode
    model: type[BaseModel] | None = None
    members: Any = None
    choices: tuple[str, ...] = ()
    plain: type | None = None


@dataclass(frozen=True, slots=True)
class Attribute:
    """A field and its place in the item. `given` is the name under which the model takes it."""

    field: str
    stored: str
    given: str
    annotation: Any
    optional: bool
    kind: AttributeKind


@lru_cache(_MODELS)
def attributes(model: type[BaseModel]) -> tuple[Attribute, ...]:
    """All fields of a model; NotStorable if one cannot be kept."""
    return _attributes(model, ())


def _attributes(model: type[BaseModel], above: tuple[type, ...]) -> tuple[Attribute, ...]:
    found: list[Attribute] = []
    for name, info in model.model_fields.items():
        bare, optional = without_none(info.annotation)
        where = f"{model.__name__}.{name}"
        stored = info.serialization_alias or info.alias or name
        given = info.validation_alias or info.alias or name
        if not isinstance(given, str):
            raise NotStorable(where, "its validation alias is not one plain name", "use a plain alias")
        twin = next((known.field for known in found if known.stored == stored), None)
        if twin is not None:
            raise NotStorable(where, f"it is stored as '{stored}', and so is '{twin}'", "rename one of them")
        # Any JSON may be null, and what is None is left out.
        optional = optional or bare is JsonValue
        # Only an entity's own fields: where objects are named is then known without a look inside.
        kind = LARGE if bare is Large and not above else kind_of(bare, where, (*above, model))
        found.append(Attribute(name, stored, given, bare, optional, kind))
    return tuple(found)


@lru_cache(_MODELS)
def by_field(model: type[BaseModel]) -> Mapping[str, Attribute]:
    return {attribute.field: attribute for attribute in attributes(model)}


def encode_item(model: BaseModel, stored_as: Sequence[Attribute] | None = None) -> Item:
    """The attributes of a model; what is None or an empty set is left out. An entity may store a field finer."""
    item: Item = {}
    values = model.__dict__
    for attribute in attributes(type(model)) if stored_as is None else stored_as:
        value = values[attribute.field]
        if value is not None:
            encoded = attribute.kind.encode(value)
            if encoded is not None:
                item[attribute.stored] = encoded
    return item


def decode_values(model: type[BaseModel], item: Mapping[str, Value]) -> dict[str, Any]:
    """What the model's constructor takes, from an item."""
    values: dict[str, Any] = {}
    for stored, given, letter, is_bare, decode, absent in _rows(model):
        wire = item.get(stored)
        if wire is None:
            # What was left out is said again: the default is what a newcomer gets, not what this item had.
            if absent is not None:
                values[given] = absent()
        elif is_bare and letter in wire:
            values[given] = wire[letter]
        else:
            values[given] = None if "NULL" in wire else decode(wire)
    return values


_Row: TypeAlias = tuple[str, str, str, bool, Decode, Callable[[], Any] | None]


@lru_cache(_MODELS)
def _rows(model: type[BaseModel]) -> tuple[_Row, ...]:
    """What decoding needs of each attribute, laid flat: its loop runs for every item that is read.

    The name stored and the name given; the type letter, and whether its content is the value itself; how to
    decode it otherwise; and what its absence stands for, if for anything.
    """
    return tuple(
        (
            attribute.stored,
            attribute.given,
            attribute.kind.letter,
            attribute.kind.plain in (str, bool)
            or (attribute.kind.letter == "S" and get_origin(attribute.annotation) is Literal),
            attribute.kind.decode,
            (lambda: None) if attribute.optional else set if attribute.kind.letter in _SETS else None,
        )
        for attribute in attributes(model)
    )


# --- one annotation ---


def without_none(annotation: Any) -> tuple[Any, bool]:
    """An annotation without Optional and Annotated, and whether None is allowed."""
    annotation = _unwrapped(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        inside = [member for member in get_args(annotation) if member is not type(None)]
        if len(inside) < len(get_args(annotation)) and len(inside) == 1:
            return _unwrapped(inside[0]), True
    return annotation, False


def _unwrapped(annotation: Any) -> Any:
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        else:
            return annotation


def kind_of(annotation: Any, where: str, above: tuple[type, ...] = ()) -> AttributeKind:
    """How an annotation is stored; NotStorable says why it cannot be. `above` are the models it lies in."""
    if annotation is JsonValue:
        return AttributeKind("M", _json_to_wire, _json_from_wire)
    if isinstance(annotation, type):
        return _SCALARS.get(annotation) or _class_kind(annotation, where, above)
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _choice_kind(inside, lambda text: text, where)
    if origin in (list, tuple, Sequence):
        if origin is tuple and (len(inside) != 2 or inside[1] is not Ellipsis):
            raise NotStorable(where, "a tuple of fixed length is not storable", "use list[T] or a model")
        if origin is tuple and inside[0] is float:
            return VECTOR
        return _list_kind(inside[0], where, above)
    if origin in (set, frozenset):
        return _set_kind(inside[0], where)
    if origin in (dict, Mapping):
        return _map_kind(inside[0], inside[1], where, above)
    raise NotStorable(
        where, f"the type {annotation} is not storable", "use one type, or a model with a tag field"
    )


def _encode_vector(values: Any) -> Value:
    return {"L": [{"N": float32.text_of(float32.rounded(number))} for number in values]}


# `tuple[float, ...]`: a vector, of 32-bit floats. Other numbers are Decimal or int.
VECTOR = AttributeKind(
    "L", _encode_vector, lambda wire: tuple(float32.rounded(float(each["N"])) for each in wire["L"])
)


# `Large`: bytes in the item, or in an object that the item names.
LARGE = AttributeKind("M", encode_large, decode_large, plain=Large)


def _class_kind(annotation: type, where: str, above: tuple[type, ...]) -> AttributeKind:
    if issubclass(annotation, BaseModel):
        model = annotation
        if model in above:
            raise NotStorable(where, f"{model.__name__} contains itself", "store the inner ones as items")
        _attributes(model, above)  # refuses here what it cannot hold
        return AttributeKind(
            "M", lambda value: {"M": encode_item(value)}, lambda wire: decode_values(model, wire["M"]), model
        )
    if issubclass(annotation, Enum):
        return _choice_kind([member.value for member in annotation], annotation, where)
    if issubclass(annotation, Large):
        raise NotStorable(where, "a Large is inside of another value", "make it a field of the entity itself")
    if issubclass(annotation, float):
        why = "float loses digits, and DynamoDB's numbers are decimal"
        raise NotStorable(where, why, "use Decimal or int; for a vector tuple[float, ...]")
    if issubclass(annotation, str):
        return _SCALARS[str]
    fix = "use text, numbers, times, lists, maps or models"
    raise NotStorable(where, f"{annotation.__name__} is not storable", fix)


def _choice_kind(values: Sequence[Any], back: Callable[[Any], Any], where: str) -> AttributeKind:
    if values and all(isinstance(value, str) for value in values):
        return AttributeKind(
            "S",
            lambda value: {"S": value.value if isinstance(value, Enum) else value},
            lambda wire: back(wire["S"]),
            choices=tuple(values),
        )
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return AttributeKind(
            "N",
            lambda value: {"N": str(value.value if isinstance(value, Enum) else value)},
            lambda wire: back(int(wire["N"])),
        )
    raise NotStorable(where, "its values are not all texts or all whole numbers", "give every choice a text")


_SETS = ("SS", "NS", "BS")


def _member(annotation: Any, where: str, above: tuple[type, ...]) -> tuple[Any, Encode, Decode]:
    """The type of a list's or map's members, and both ways. NULL stands for None there, or for an empty set."""
    bare, optional = without_none(annotation)
    inner = kind_of(bare, where, above)

    def decode(wire: Value) -> Any:
        if "NULL" in wire:
            return set() if inner.letter in _SETS and not optional else None
        return inner.decode(wire)

    return bare, inner.encode, decode


def _list_kind(member: Any, where: str, above: tuple[type, ...]) -> AttributeKind:
    bare, encode, decode = _member(member, where, above)

    def encoded(values: Any) -> Value:
        return {"L": [(None if each is None else encode(each)) or {"NULL": True} for each in values]}

    return AttributeKind("L", encoded, lambda wire: [decode(each) for each in wire["L"]], members=bare)


def _map_kind(key: Any, member: Any, where: str, above: tuple[type, ...]) -> AttributeKind:
    if without_none(key)[0] is not str and get_origin(without_none(key)[0]) is not Literal:
        raise NotStorable(where, "a map's keys must be texts", "use dict[str, T]")
    bare, encode, decode = _member(member, where, above)

    def encoded(values: Any) -> Value:
        found = values.items()
        return {"M": {k: (None if each is None else encode(each)) or {"NULL": True} for k, each in found}}

    return AttributeKind(
        "M", encoded, lambda wire: {name: decode(each) for name, each in wire["M"].items()}, members=bare
    )


def _set_kind(member: Any, where: str) -> AttributeKind:
    bare, _ = without_none(member)
    inner = kind_of(bare, where)
    if inner.letter not in ("S", "N", "B"):
        raise NotStorable(where, "a set holds texts, numbers or binaries only", "use a list")
    letter = inner.letter + "S"

    def encode(values: Any) -> Value | None:
        encoded = [inner.encode(value) for value in values]
        return {letter: sorted({each[inner.letter] for each in encoded if each})} if encoded else None

    def decode(wire: Value) -> set[Any]:
        return {inner.decode({inner.letter: each}) for each in wire[letter]}

    return AttributeKind(letter, encode, decode, members=bare)


def _json_to_wire(value: Any) -> Value:
    """Any JSON: for what has no shape of its own."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int() | float():
            return {"N": repr(value)}
        case list():
            return {"L": [_json_to_wire(each) for each in value]}
        case _:
            return {"M": {name: _json_to_wire(each) for name, each in value.items()}}


def _json_from_wire(wire: Value) -> Any:
    ((kind, content),) = wire.items()
    match kind:
        case "NULL":
            return None
        case "N":
            return int(content) if content.lstrip("-").isdigit() else float(content)
        case "L":
            return [_json_from_wire(each) for each in content]
        case "M":
            return {name: _json_from_wire(each) for name, each in content.items()}
        case _:
            return content


def _scalar(
    plain: type, letter: str, write: Callable[[Any], Any], read: Callable[[Any], Any]
) -> AttributeKind:
    return AttributeKind(
        letter, lambda value: {letter: write(value)}, lambda wire: read(wire[letter]), plain=plain
    )


# A time that stands in a key with six digits is stored with six, or the item would not find its own key.
FINE_TIME = _scalar(datetime, "S", microseconds, datetime.fromisoformat)
_SCALARS: dict[type, AttributeKind] = {
    str: AttributeKind("S", lambda value: {"S": str(value)}, lambda wire: wire["S"], plain=str),
    bool: AttributeKind("BOOL", lambda value: {"BOOL": value}, lambda wire: wire["BOOL"], plain=bool),
    int: _scalar(int, "N", str, int),
    Decimal: _scalar(Decimal, "N", str, Decimal),
    datetime: _scalar(datetime, "S", milliseconds, datetime.fromisoformat),
    date: _scalar(date, "S", lambda value: value.isoformat(), date.fromisoformat),
    UUID: _scalar(UUID, "S", str, UUID),
    bytes: _scalar(bytes, "B", lambda value: b64encode(value).decode(), b64decode),
}
