"""Lambdas as paths and conditions: a type checker checks them as Python, a tracer records what they do.

`lambda v: v.times` is a path; `lambda v: (v.used < 5) & (v.status == "open")` is a condition. A lambda is called once,
with a tracer in place of the item; the result is a FieldPath, or a resolved condition of `tablewright.expressions`.
Must hold: an operation that a tracer cannot record raises NotAPath; nothing is guessed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as member
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from types import CodeType
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

from tablewright.design.attributes import Attribute, AttributeKind, by_field, kind_of, without_none
from tablewright.design.errors import NotAPath, UnknownField
from tablewright.expressions.nodes import And, Call, Compare, Condition, In, Not, Operand, Or
from tablewright.values import Value

V = TypeVar("V")
MAX_CHOICES = 100
# More lambdas than a program writes.
_LAMBDAS = 4096


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A path to a value in an item: the stored names or list positions, and how the value is stored.

    Equality compares the steps and the field only: a Kind holds functions, which never compare equal.
    """

    steps: tuple[str | int, ...]
    field: str
    kind: AttributeKind = member(compare=False)
    optional: bool = member(default=True, compare=False)

    def __str__(self) -> str:
        text = ""
        for step in self.steps:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text


# The fields of an entity or a nested model, by name, as paths.
Fields: TypeAlias = Mapping[str, FieldPath]


def field_paths(attributes: Mapping[str, Attribute]) -> Fields:
    """The paths of an entity's fields."""
    return {
        name: FieldPath((attribute.stored,), name, attribute.kind, attribute.optional)
        for name, attribute in attributes.items()
    }


class _ConditionTracer:
    """A recorded condition; `&`, `|` and `~` join them."""

    __slots__ = ("condition",)

    def __init__(self, condition: Condition) -> None:
        self.condition = condition

    def __and__(self, other: object) -> "_ConditionTracer":
        return _ConditionTracer(And((self.condition, _recorded(other))))

    def __or__(self, other: object) -> "_ConditionTracer":
        return _ConditionTracer(Or((self.condition, _recorded(other))))

    def __invert__(self) -> "_ConditionTracer":
        return _ConditionTracer(Not(self.condition))

    def __bool__(self) -> NoReturn:
        raise NotAPath(
            "join conditions with & and |, each side in parentheses; and, or, not and a < b < c cannot be recorded"
        )


class _FieldTracer:
    """Stands in for a value of an item and records which fields are read."""

    __slots__ = ("_path", "_sized", "_where")

    def __init__(self, path: FieldPath, where: str, sized: bool = False) -> None:
        self._path, self._where, self._sized = path, where, sized

    def __getattr__(self, name: str) -> "_FieldTracer":
        model = self._path.kind.model
        if model is None:
            raise UnknownField(f"{self._where}: '{self._path}' has no fields to read '{name}' from")
        attribute = by_field(model).get(name)
        if attribute is None:
            raise _unknown(self._where, model.__name__, name, by_field(model))
        steps = (*self._path.steps, attribute.stored)
        return _FieldTracer(
            FieldPath(steps, self._path.field, attribute.kind, attribute.optional), self._where
        )

    def __getitem__(self, at: object) -> "_FieldTracer":
        kind = self._path.kind
        named = kind.letter == "M" and isinstance(at, str)
        numbered = kind.letter == "L" and isinstance(at, int) and at >= 0
        if kind.members is not None and (named or numbered):
            inner = kind_of(without_none(kind.members)[0], self._where)
            step = cast(str | int, at)
            return _FieldTracer(FieldPath((*self._path.steps, step), self._path.field, inner), self._where)
        raise NotAPath(f"{self._where}: '{self._path}' has no entry {at!r}")

    # Without this, Python would iterate with __getitem__ and never end.
    def __iter__(self) -> NoReturn:
        raise NotAPath(f"{self._where}: '{self._path}' cannot be iterated over; use contains() or one_of()")

    def __contains__(self, other: object) -> NoReturn:
        raise NotAPath(f"{self._where}: write contains(v.{self._path.field}, ...) instead of `in`")

    def __len__(self) -> NoReturn:
        raise NotAPath(f"{self._where}: write size(v.{self._path.field}) instead of len()")

    @property
    def _operand(self) -> Operand:
        return Call("size", (self._path.steps,)) if self._sized else self._path.steps

    def _compare(self, op: str, other: object) -> _ConditionTracer:
        if isinstance(other, _FieldTracer):
            if other._sized and self._sized:
                raise NotAPath(f"{self._where}: two sizes cannot be compared with each other")
            if other._sized:
                return other._compare(_SWAPPED[op], self)
            return _ConditionTracer(Compare(op, self._operand, other._operand))
        if self._sized:
            if not isinstance(other, int) or isinstance(other, bool):
                raise NotAPath(f"{self._where}: a size is compared with a whole number, not {other!r}")
            return _ConditionTracer(Compare(op, self._operand, {"N": str(other)}))
        return _ConditionTracer(Compare(op, self._operand, encoded(self._path, other, self._where)))

    def __eq__(self, other: object) -> Any:
        if other is None and not self._sized:
            return _ConditionTracer(Call("attribute_not_exists", (self._path.steps,)))
        return self._compare("=", other)

    def __ne__(self, other: object) -> Any:
        if other is None and not self._sized:
            return _ConditionTracer(Call("attribute_exists", (self._path.steps,)))
        return self._compare("<>", other)

    def __lt__(self, other: object) -> _ConditionTracer:
        return self._compare("<", other)

    def __le__(self, other: object) -> _ConditionTracer:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> _ConditionTracer:
        return self._compare(">", other)

    def __ge__(self, other: object) -> _ConditionTracer:
        return self._compare(">=", other)

    def __bool__(self) -> NoReturn:
        raise NotAPath(
            f"{self._where}: write `v.{self._path.field} == True`; a condition cannot be a field alone"
        )

    __hash__ = None  # type: ignore[assignment]  # __eq__ records a condition instead of comparing


_SWAPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def encoded(path: FieldPath, value: object, where: object) -> Value:
    """A value as it is stored at a path; NotAPath if its type does not fit. `where` is printed in an error alone."""
    if not _is_of(path.kind, value):
        raise NotAPath(f"{where}: {value!r} is not a value of '{path}'")
    try:
        wire = path.kind.encode(value)
    except (AttributeError, TypeError, ValueError) as error:
        raise NotAPath(f"{where}: {type(value).__name__} does not fit '{path}': {error}") from None
    if wire is None:
        raise NotAPath(f"{where}: an empty value cannot be stored at '{path}'")
    return wire


def _is_of(kind: AttributeKind, value: object) -> bool:
    """Whether a plain value has the type the model would hold: the encoders do not check it."""
    if type(value) is kind.plain and kind.plain is not Decimal:
        return True  # nearly all values
    if kind.plain in (int, Decimal):
        return isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite()
    if kind.plain is not None:
        # A datetime is a date to isinstance, and would be stored as a time.
        return isinstance(value, kind.plain) and (kind.plain is datetime or not isinstance(value, datetime))
    if kind.choices:
        return getattr(value, "value", value) in kind.choices
    return kind.model is None or isinstance(value, kind.model)


def _unknown(where: str, of: str, name: str, known: Iterable[str]) -> UnknownField:
    return UnknownField(f"{where}: {of} has no field '{name}'; it has {', '.join(known)}")


class _ItemTracer:
    """The tracer that a lambda gets: it stands in for the whole item."""

    __slots__ = ("_fields", "_where")

    def __init__(self, fields: Fields, where: str) -> None:
        self._fields, self._where = fields, where

    def __getattr__(self, name: str) -> _FieldTracer:
        path = self._fields.get(name)
        if path is None:
            raise _unknown(self._where, "the entity", name, self._fields)
        return _FieldTracer(path, self._where)


# A lambda that reads one field is the code of any other that does: only the name differs.
_READS_ONE = (lambda v: v.field).__code__.co_code


@lru_cache(_LAMBDAS)
def _only_name(code: CodeType) -> str:
    """The name of the field that a lambda with this code reads and does nothing else; empty if it is another one."""
    return code.co_names[0] if code.co_code == _READS_ONE and code.co_argcount == 1 else ""


def known_path(fields: Fields, path: Callable[[Any], object]) -> FieldPath | None:
    """`field_path` without a tracer, for a lambda that reads one field: most of them."""
    code = getattr(path, "__code__", None)
    return None if code is None else fields.get(_only_name(code))


def field_path(fields: Fields, path: Callable[[Any], object], where: str) -> FieldPath:
    """The path that a lambda such as `lambda v: v.times` reads."""
    found = path(_ItemTracer(fields, where))
    if not isinstance(found, _FieldTracer) or found._sized:
        raise NotAPath(f"{where}: a path only reads fields, such as lambda v: v.note")
    return found._path


def condition(fields: Fields, function: Callable[[Any], object], where: str) -> Condition:
    """The condition that a lambda such as `lambda v: v.times < 5` stands for, resolved."""
    return _recorded(function(_ItemTracer(fields, where)), where)


def _recorded(found: object, where: str = "a condition") -> Condition:
    if not isinstance(found, _ConditionTracer):
        raise NotAPath(f"{where}: a condition compares fields, such as lambda v: v.times < 5")
    return found.condition


# --- functions for conditions, where Python has no operator ---


def _traced(value: object, name: str) -> _FieldTracer:
    if not isinstance(value, _FieldTracer):
        raise NotAPath(f"{name}() belongs inside a condition, as in lambda v: {name}(v.field, ...)")
    return value


def _called(name: str, traced: _FieldTracer, *values: Value) -> bool:
    """A call that is recorded; to a type checker it is what the lambda returns."""
    return cast(bool, _ConditionTracer(Call(name, (traced._path.steps, *values))))


def exists(field: object) -> bool:
    """Whether the item has the field."""
    return _called("attribute_exists", _traced(field, "exists"))


def absent(field: object) -> bool:
    """Whether the item does not have the field, or there is no item."""
    return _called("attribute_not_exists", _traced(field, "absent"))


def one_of(field: V, values: Sequence[V]) -> bool:
    """Whether the field is one of up to a hundred values."""
    traced = _traced(field, "one_of")
    if not 1 <= len(values) <= MAX_CHOICES:
        raise NotAPath(f"one_of takes 1 to {MAX_CHOICES} values, not {len(values)}")
    wires = tuple(encoded(traced._path, value, "one_of") for value in values)
    return cast(bool, _ConditionTracer(In(traced._path.steps, wires)))


def begins_with(field: str | None, prefix: str) -> bool:
    traced = _traced(field, "begins_with")
    if traced._path.kind.letter != "S":
        raise NotAPath(f"begins_with: '{traced._path}' is not text")
    return _called("begins_with", traced, {"S": prefix})


def contains(field: object, value: object) -> bool:
    """Whether a text has this part, or a list or set this member."""
    traced = _traced(field, "contains")
    kind = traced._path.kind
    if kind.letter == "S":
        inner = kind_of(str, "contains")
    elif kind.letter in ("L", "SS", "NS", "BS"):
        inner = kind_of(kind.members, "contains")
    else:
        raise NotAPath(f"contains: '{traced._path}' is not a text, a list or a set")
    return _called("contains", traced, encoded(replace(traced._path, kind=inner), value, "contains"))


def size(field: object) -> int:
    """The length of a text, list, set or map, to be compared with a number."""
    traced = _traced(field, "size")
    if traced._path.kind.letter in ("N", "BOOL"):
        raise NotAPath(f"size: '{traced._path}' has none; compare it directly")
    return cast(int, _FieldTracer(traced._path, traced._where, sized=True))
