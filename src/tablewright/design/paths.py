"""Lambdas that a type checker reads as Python and we read as paths and conditions.

`lambda v: v.times` is a path; `lambda v: (v.used < 5) & (v.status == "open")` a condition. They are run once on
a tracer that notes what is touched. Must hold: anything a tracer cannot note is refused, never guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as member
from datetime import datetime
from decimal import Decimal
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

from pydantic import BaseModel

from tablewright.design.attributes import Attribute, Kind, by_field, kind_of, without_none
from tablewright.design.mistakes import NotAPath, UnknownField
from tablewright.values import Value

V = TypeVar("V")
MAX_CHOICES = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A resolved path: the stored names (or list positions) down to a value, and how that value is stored.

    Equal steps, same place: kinds hold functions, of which no two are equal.
    """

    steps: tuple[str | int, ...]
    field: str
    kind: Kind = member(compare=False)
    optional: bool = member(default=True, compare=False)

    def __str__(self) -> str:
        text = ""
        for step in self.steps:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text


@dataclass(frozen=True, slots=True)
class Compare:
    """`op` is one of = <> < <= > >= begins_with contains; `sized` compares the size instead of the value."""

    op: str
    place: Place
    value: Value | Place
    sized: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    place: Place


@dataclass(frozen=True, slots=True)
class OneOf:
    place: Place
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple["Test", ...]


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple["Test", ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: "Test"


Test: TypeAlias = Compare | Exists | OneOf | All | Either | Not


class _Noted:
    """A condition in the making; `&`, `|` and `~` join them."""

    def __init__(self, test: Test) -> None:
        self.test = test

    def __and__(self, other: object) -> "_Noted":
        return _Noted(All((self.test, _noted(other))))

    def __or__(self, other: object) -> "_Noted":
        return _Noted(Either((self.test, _noted(other))))

    def __invert__(self) -> "_Noted":
        return _Noted(Not(self.test))

    def __bool__(self) -> NoReturn:
        raise NotAPath(
            "conditions are joined with & and |, each side in parentheses: not with and, or, not, a < b < c"
        )


class _Tracer:
    """Stands in for an item and notes which fields are read."""

    __slots__ = ("_place", "_sized", "_where")

    def __init__(self, place: Place, where: str, sized: bool = False) -> None:
        self._place, self._where, self._sized = place, where, sized

    def __getattr__(self, name: str) -> "_Tracer":
        model = self._place.kind.model
        if model is None:
            raise UnknownField(f"{self._where}: '{self._place}' has no fields to read '{name}' from")
        return _Tracer(
            _field(by_field(model), model.__name__, name, self._place.steps, self._place.field, self._where),
            self._where,
        )

    def __getitem__(self, at: object) -> "_Tracer":
        kind = self._place.kind
        named = kind.letter == "M" and isinstance(at, str)
        numbered = kind.letter == "L" and isinstance(at, int) and at >= 0
        if kind.members is not None and (named or numbered):
            inner = kind_of(without_none(kind.members)[0], self._where)
            step = cast(str | int, at)
            return _Tracer(Place((*self._place.steps, step), self._place.field, inner), self._where)
        raise NotAPath(f"{self._where}: '{self._place}' has no entry {at!r}")

    # Python would walk along __getitem__ for ever.
    def __iter__(self) -> NoReturn:
        raise NotAPath(f"{self._where}: '{self._place}' cannot be walked along; ask contains() or one_of()")

    def __contains__(self, other: object) -> NoReturn:
        raise NotAPath(f"{self._where}: write contains(v.{self._place.field}, ...) instead of `in`")

    def __len__(self) -> NoReturn:
        raise NotAPath(f"{self._where}: write size(v.{self._place.field}) instead of len()")

    def _compare(self, op: str, other: object) -> _Noted:
        if isinstance(other, _Tracer):
            if other._sized and self._sized:
                raise NotAPath(f"{self._where}: two sizes cannot be compared with each other")
            if other._sized:
                return other._compare(_SWAPPED[op], self)
            return _Noted(Compare(op, self._place, other._place, self._sized))
        if self._sized:
            if not isinstance(other, int) or isinstance(other, bool):
                raise NotAPath(f"{self._where}: a size is compared with a whole number, not {other!r}")
            return _Noted(Compare(op, self._place, {"N": str(other)}, sized=True))
        return _Noted(Compare(op, self._place, encoded(self._place, other, self._where)))

    def __eq__(self, other: object) -> Any:
        if other is None and not self._sized:
            return _Noted(Not(Exists(self._place)))
        return self._compare("=", other)

    def __ne__(self, other: object) -> Any:
        if other is None and not self._sized:
            return _Noted(Exists(self._place))
        return self._compare("<>", other)

    def __lt__(self, other: object) -> _Noted:
        return self._compare("<", other)

    def __le__(self, other: object) -> _Noted:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> _Noted:
        return self._compare(">", other)

    def __ge__(self, other: object) -> _Noted:
        return self._compare(">=", other)

    def __bool__(self) -> NoReturn:
        raise NotAPath(f"{self._where}: write `v.{self._place.field} == True`; a bare field cannot be noted")

    __hash__ = None  # type: ignore[assignment]  # equality notes instead of comparing


_SWAPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def encoded(place: Place, value: object, where: str) -> Value:
    """A value as it is stored at a place."""
    if not _is_of(place.kind, value):
        raise NotAPath(f"{where}: {value!r} is not a value of '{place}'")
    try:
        wire = place.kind.encode(value)
    except (AttributeError, TypeError, ValueError) as mistake:
        raise NotAPath(f"{where}: {type(value).__name__} does not fit '{place}': {mistake}") from None
    if wire is None:
        raise NotAPath(f"{where}: an empty value cannot be stored at '{place}'")
    return wire


def _is_of(kind: Kind, value: object) -> bool:
    """Whether a plain value is what the model would hold: the encoders trust it to be."""
    if kind.plain in (int, Decimal):
        return isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite()
    if kind.plain is not None:
        # A time is a date to Python, and would be stored in the form of a time.
        return isinstance(value, kind.plain) and (kind.plain is datetime or not isinstance(value, datetime))
    if kind.choices:
        return getattr(value, "value", value) in kind.choices
    return kind.model is None or isinstance(value, kind.model)


def _field(
    known: Mapping[str, Attribute], of: str, name: str, above: tuple[str | int, ...], top: str, where: str
) -> Place:
    if name not in known:
        raise UnknownField(f"{where}: {of} has no field '{name}'; it has {', '.join(known)}")
    attribute = known[name]
    return Place((*above, attribute.stored), top or name, attribute.kind, attribute.optional)


class _Item:
    """The tracer's first step: the item itself."""

    __slots__ = ("_fields", "_name", "_where")

    def __init__(self, of: "Fields", where: str) -> None:
        self._fields = by_field(of) if isinstance(of, type) else of
        self._name, self._where = of.__name__ if isinstance(of, type) else "the entity", where

    def __getattr__(self, name: str) -> _Tracer:
        return _Tracer(_field(self._fields, self._name, name, (), "", self._where), self._where)


# A model, or the fields of one as an entity stores them.
Fields: TypeAlias = type[BaseModel] | Mapping[str, Attribute]


def place(of: Fields, path: Callable[[Any], object], where: str) -> Place:
    """What a lambda such as `lambda v: v.times` points at."""
    found = path(_Item(of, where))
    if not isinstance(found, _Tracer) or found._sized:
        raise NotAPath(f"{where}: a path only reads fields, such as lambda v: v.note")
    return found._place


def test(of: Fields, condition: Callable[[Any], object], where: str) -> Test:
    """What a lambda such as `lambda v: v.times < 5` asks."""
    return _noted(condition(_Item(of, where)), where)


def _noted(found: object, where: str = "a condition") -> Test:
    if not isinstance(found, _Noted):
        raise NotAPath(f"{where}: a condition compares fields, such as lambda v: v.times < 5")
    return found.test


# --- what operators cannot say; inside conditions only ---


def _traced(value: object, name: str) -> _Tracer:
    if not isinstance(value, _Tracer):
        raise NotAPath(f"{name}() belongs inside a condition, as in lambda v: {name}(v.field, ...)")
    return value


def exists(field: object) -> bool:
    """Whether the item has the field at all."""
    return cast(bool, _Noted(Exists(_traced(field, "exists")._place)))


def absent(field: object) -> bool:
    """Whether the item does not have the field, or is not there at all."""
    return cast(bool, _Noted(Not(Exists(_traced(field, "absent")._place))))


def one_of(field: V, values: Sequence[V]) -> bool:
    """Whether the field is one of up to a hundred values."""
    traced = _traced(field, "one_of")
    if not 1 <= len(values) <= MAX_CHOICES:
        raise NotAPath(f"one_of takes 1 to {MAX_CHOICES} values, not {len(values)}")
    wires = tuple(encoded(traced._place, value, "one_of") for value in values)
    return cast(bool, _Noted(OneOf(traced._place, wires)))


def begins_with(field: str | None, prefix: str) -> bool:
    traced = _traced(field, "begins_with")
    if traced._place.kind.letter != "S":
        raise NotAPath(f"begins_with: '{traced._place}' is not text")
    return cast(bool, _Noted(Compare("begins_with", traced._place, {"S": prefix})))


def contains(field: object, value: object) -> bool:
    """Whether a text has this part, or a list or set this member."""
    traced = _traced(field, "contains")
    kind = traced._place.kind
    if kind.letter == "S":
        inner = kind_of(str, "contains")
    elif kind.letter in ("L", "SS", "NS", "BS"):
        inner = kind_of(kind.members, "contains")
    else:
        raise NotAPath(f"contains: '{traced._place}' is no text, list or set")
    wire = encoded(replace(traced._place, kind=inner), value, "contains")
    return cast(bool, _Noted(Compare("contains", traced._place, wire)))


def size(field: object) -> int:
    """The length of a text, list, set or map, to be compared with a number."""
    traced = _traced(field, "size")
    if traced._place.kind.letter in ("N", "BOOL"):
        raise NotAPath(f"size: '{traced._place}' has none; compare it directly")
    return cast(int, _Tracer(traced._place, traced._where, sized=True))
