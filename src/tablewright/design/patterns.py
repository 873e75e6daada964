"""Access patterns: ordinary function signatures whose parameters fill the holes of key templates.

    @travel.query(visits, pk="USER#{user_id}", sk=begins("VISIT#{kind}#"))
    def visits_of_kind(*, user_id: str, kind: Kind) -> None: ...

Calling one makes a Query; a type checker refuses a wrong or missing parameter. Must hold: bounds of a range include
everything that begins with a whole part, so `between("AT#{start:ms}", "AT#{end:ms}")` has no off-by-one at its end.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product, takewhile
from typing import Any, Generic, Literal, ParamSpec, TypeAlias, TypeVar

from pydantic import BaseModel

from tablewright.design.entity_spec import EntitySpec, KeyAttribute, native_value
from tablewright.design.errors import KeyPartUnusable
from tablewright.design.key_codecs import BEHIND_DELIMITER, DELIMITER, shard_name
from tablewright.design.requests import Get, Query, SortTest
from tablewright.design.tables import Index, Table
from tablewright.design.templates import Part, Template, parse
from tablewright.design.traits import Load
from tablewright.values import Value, compare

E = TypeVar("E", bound=BaseModel)
P = ParamSpec("P")

Bound: TypeAlias = Literal["=", "begins", "between", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Sort:
    """A condition on a sort key: templates over the pattern's parameters."""

    op: Bound
    texts: tuple[str, ...]


def equals(text: str) -> Sort:
    return Sort("=", (text,))


def begins(prefix: str) -> Sort:
    return Sort("begins", (prefix,))


def between(low: str, high: str) -> Sort:
    """Both ends included. An end whose parameter is None is open."""
    return Sort("between", (low, high))


def at_least(low: str) -> Sort:
    return Sort(">=", (low,))


def at_most(high: str) -> Sort:
    return Sort("<=", (high,))


def above(low: str) -> Sort:
    return Sort(">", (low,))


def below(high: str) -> Sort:
    return Sort("<", (high,))


@dataclass(frozen=True)
class Plan:
    """A pattern as data: what checks, docs, cost and the console read."""

    name: str
    about: str
    kind: Literal["query", "get"]
    table: Table
    index: Index | None
    shapes: tuple[EntitySpec, ...]
    signature: inspect.Signature
    pk: tuple[Template, ...]
    sk: tuple[Sort, ...]
    descending: bool = False
    consistent: bool = False
    page: int = 50
    at_most: int = 1000
    roles: tuple[str, ...] = ()
    load: Load | None = None
    others: bool = False

    @cached_property
    def shards(self) -> tuple[tuple[str, int], ...]:
        """Holes filled with every shard, because no parameter names one."""
        parts = (part for template in self.pk for part in template.parts)
        given = self.signature.parameters
        return tuple(
            (part.field, part.codec.shards) for part in parts if part.codec.shards and part.field not in given
        )

    @cached_property
    def choices(self) -> tuple[Mapping[str, str], ...]:
        """The shards to read, by hole; one empty choice where nothing is sharded."""
        names = [[(field, shard_name(n, count)) for n in range(count)] for field, count in self.shards]
        return tuple(dict(choice) for choice in product(*names))

    @cached_property
    def key_attributes(self) -> tuple[KeyAttribute, ...]:
        return self.keys_of(self.shapes[0])

    def keys_of(self, shape: EntitySpec) -> tuple[KeyAttribute, ...]:
        """The key attributes of an entity where the pattern reads: the table's, or those of its index."""
        return shape.primary if self.index is None else shape.index_keys[self.index.name]


class _NamedPlan:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.__doc__ = plan.about

    def __repr__(self) -> str:
        return f"<pattern {self.plan.table.design}.{self.plan.name}>"


class Pattern(_NamedPlan, Generic[P, E]):
    """A named way to read many items."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Query[E]:
        return query(self.plan, bound(self.plan.signature, args, kwargs))


class GetPattern(_NamedPlan, Generic[P, E]):
    """A named way to read one item."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Get[E]:
        return get(self.plan, bound(self.plan.signature, args, kwargs))


def bound(signature: inspect.Signature, args: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, with the defaults of those not given."""
    if (
        not args
        and len(kwargs) == len(signature.parameters)
        and all(map(signature.parameters.__contains__, kwargs))
    ):
        return dict(kwargs)
    given = signature.bind(*args, **kwargs)
    given.apply_defaults()
    return dict(given.arguments)


def get(plan: Plan, arguments: Mapping[str, Any]) -> Get[Any]:
    shape = plan.shapes[0]
    return Get(plan.name, shape, shape.key_of(arguments), plan.consistent)


def query(plan: Plan, arguments: Mapping[str, Any]) -> Query[Any]:
    """The request a pattern makes of its arguments."""
    keys = plan.key_attributes
    hashes, ranges = keys[: len(plan.pk)], keys[len(plan.pk) :]
    partitions = tuple(_partition(plan, hashes, arguments, shards) for shards in plan.choices)
    sort = []
    for key, condition in zip(ranges, plan.sk, strict=False):
        found = sort_test(key, condition, arguments)
        if found is None:
            break
        sort.append((key.name, found))
    return Query(
        plan.name, plan.table, plan.index, plan.shapes, partitions, tuple(sort), plan.descending,
        plan.consistent, plan.page, plan.at_most, arguments, others=plan.others,
    )  # fmt: skip


def _partition(
    plan: Plan, keys: tuple[KeyAttribute, ...], values: Mapping[str, Any], shards: Mapping[str, str]
) -> tuple[Value, ...]:
    found = []
    for key, template in zip(keys, plan.pk, strict=True):
        value = _render(key, _in_shards(template, shards) if shards else template, values)
        if value is None:
            fields = ", ".join(template.fields)
            raise KeyPartUnusable(f"{plan.name}: the partition needs {fields}, none of them None")
        found.append(value)
    return tuple(found)


def _in_shards(template: Template, shards: Mapping[str, str]) -> Template:
    """The template with the shards that were chosen instead of the parts that would choose one."""
    pieces = (
        p if isinstance(p, str) else shards.get(p.field, p) if p.codec.shards else p for p in template.pieces
    )
    return Template(template.text, tuple(pieces))


def _render(key: KeyAttribute, template: Template, values: Mapping[str, Any]) -> Value | None:
    """One bound: the field's own form where the key is a field, text otherwise."""
    if key.native is not None and (name := template.only_field) is not None:
        return native_value(key.native, name, values[name])
    text = template.render(values)
    return None if text is None else {"S": text}


def sort_test(key: KeyAttribute, sort: Sort, arguments: Mapping[str, Any]) -> SortTest | None:
    """The sort condition with its bounds filled in; None if every end is open."""
    templates = [parse(text) for text in sort.texts]
    bounds = [_render(key, template, arguments) for template in templates]
    if sort.op == "between":
        first, last = ("" if key.native is not None else _head(each, arguments) for each in templates)
        low, high = bounds[0], _end(key, templates[1], bounds[1])
        # An open end stays within what the range begins with: other entities, or others of the same, sort beyond it.
        if low is None and high is None:
            return SortTest("begins_with", ({"S": first},)) if first else None
        if first and last:
            low = low or {"S": first}
            high = high or {"S": _behind(last)}
        if low is not None and high is not None:
            if (compare(low, high) or 0) > 0:
                raise KeyPartUnusable("the range ends before it begins")
            return SortTest("BETWEEN", (low, high))
        return SortTest("<=", (high,)) if high is not None else SortTest(">=", (low or {},))
    only = bounds[0]
    if only is None and sort.op in ("=", "begins"):
        fields = ", ".join(templates[0].fields)
        raise KeyPartUnusable(f"'{templates[0].text}' needs {fields}, none of them None")
    if only is None:
        return None
    if sort.op == "begins":
        return SortTest("begins_with", (only,))
    bound = _end(key, templates[0], only) if sort.op in ("<=", ">") else only
    return SortTest(sort.op, (bound or only,))


def _head(template: Template, values: Mapping[str, Any]) -> str:
    """What a template begins with: its pieces up to the first part without a value."""

    def is_open(piece: str | Part) -> bool:
        return not isinstance(piece, str) and values.get(piece.field) is None

    known = tuple(takewhile(lambda piece: not is_open(piece), template.pieces))
    return Template(template.text, known).render(values) or ""


def _behind(head: str) -> str:
    """Sorts directly behind everything that begins so."""
    last = ord(head[-1])
    return head[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)


def _end(key: KeyAttribute, template: Template, value: Value | None) -> Value | None:
    """An upper bound that takes in everything beginning with it: 'AT#t' must include 'AT#t#user'."""
    if value is None or key.native is not None or len(template.segments) >= len(key.template.segments):
        return value
    return {"S": value["S"].removesuffix(DELIMITER) + BEHIND_DELIMITER}
