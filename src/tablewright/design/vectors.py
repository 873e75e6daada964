"""Vector indexes of a design, and searches: signatures whose parameters are the partition and the filters.

    near = notes_table.vectors("near", of="embedding", dimensions=384, partition="tenant", filters=("kind",))

    @design.search(notes, on=near, top=10)
    def notes_like(*, tenant: str, kind: Kind | None = None) -> None: ...

    notes_like(vector, tenant="t1")        # a Search; Db.search runs it

A filter whose argument is None does not filter. Must hold: a Search has a vector of its index's dimensions, and a value
for the partition. The field of the vector is `tuple[float, ...] | None`: an index does not return it.
Elsewhere: the rules (check/vectors.py), the request (mapping/read_requests.py), what it costs (cost/vectors.py).
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, ParamSpec, TypeAlias, TypeVar

from pydantic import BaseModel

from tablewright.design.attributes import VECTOR
from tablewright.design.entity_spec import EntitySpec, native_value
from tablewright.design.errors import KeyPartUnusable, VectorMisfit
from tablewright.design.patterns import bound
from tablewright.design.tables import Projection, Table
from tablewright.design.traits import Load
from tablewright.values import Value

E = TypeVar("E", bound=BaseModel)
E_co = TypeVar("E_co", bound=BaseModel, covariant=True)
P = ParamSpec("P")

Distance: TypeAlias = Literal["COSINE", "EUCLIDEAN", "DOT_PRODUCT"]
MOST_RESULTS = 100


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """A vector index: the attribute it indexes, and those by which it is partitioned and filtered."""

    table: Table
    name: str
    of: str
    dimensions: int
    distance: Distance
    partition: str | None
    filters: tuple[str, ...]
    project: Projection

    @property
    def searched(self) -> tuple[str, ...]:
        """The attributes of its SearchSchema."""
        return (*(() if self.partition is None else (self.partition,)), *self.filters)

    @property
    def vector_bytes(self) -> int:
        """The vector of an entry, in 32-bit floats."""
        return 4 * self.dimensions


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search as data: what checks, docs and cost read."""

    name: str
    about: str
    index: VectorIndex
    shape: EntitySpec
    signature: inspect.Signature
    top: int
    load: Load | None = None


@dataclass(frozen=True, slots=True)
class Search(Generic[E_co]):
    """The items of an index nearest to a vector. `equal` are the values of its partition and filters."""

    name: str
    index: VectorIndex
    shape: EntitySpec
    vector: tuple[float, ...]
    equal: tuple[tuple[str, Value], ...]
    top: int

    def best(self, top: int) -> "Search[E_co]":
        """As many of them, 1 to 100."""
        if not 1 <= top <= MOST_RESULTS:
            raise VectorMisfit(f"{self.name}: a search returns 1 to {MOST_RESULTS} items, not {top}")
        return replace(self, top=top)


class SearchPattern(Generic[P, E]):
    """A named search."""

    def __init__(self, plan: SearchPlan) -> None:
        self.plan = plan
        self.__doc__ = plan.about

    def __repr__(self) -> str:
        return f"<search {self.plan.index.table.design}.{self.plan.name}>"

    def __call__(self, vector: Sequence[float], /, *args: P.args, **kwargs: P.kwargs) -> Search[E]:
        return search(self.plan, vector, bound(self.plan.signature, args, kwargs))


def search(plan: SearchPlan, vector: Sequence[float], arguments: Mapping[str, Any]) -> Search[Any]:
    """The request that a search makes of its arguments."""
    index = plan.index
    if len(vector) != index.dimensions:
        why = f"the vector has {len(vector)} dimensions, and {index.name} has {index.dimensions}"
        raise VectorMisfit(f"{plan.name}: {why}")
    try:
        VECTOR.encode(vector)
    except (OverflowError, TypeError, ValueError) as error:
        raise VectorMisfit(f"{plan.name}: the vector is not of 32-bit numbers: {error}") from None
    equal = []
    for name in index.searched:
        value = _value(plan.shape, name, arguments)
        if value is not None:
            equal.append((name, value))
        elif name == index.partition:
            raise KeyPartUnusable(f"{plan.name}: the partition {name} needs a value")
    return Search(plan.name, index, plan.shape, tuple(map(float, vector)), tuple(equal), plan.top)


def _value(shape: EntitySpec, name: str, arguments: Mapping[str, Any]) -> Value | None:
    """What an attribute is compared with: a field's own value, or the text of its template."""
    stored = shape.stored.get(name)
    if stored is not None:
        return native_value(stored, stored.field, arguments.get(stored.field))
    template = shape.derivations[name]
    if any(arguments.get(field) is None for field in template.fields):
        return None
    text = template.render(arguments)
    return None if text is None else {"S": text}


def parameters_of(shape: EntitySpec, name: str) -> tuple[str, ...]:
    """The fields an attribute of a SearchSchema is made of; none for an attribute that the entity does not have."""
    stored = shape.stored.get(name)
    if stored is not None:
        return (stored.field,)
    template = shape.derivations.get(name)
    return () if template is None else template.fields


def letter_of(shapes: Sequence[EntitySpec], name: str) -> str:
    """The type of an attribute of a SearchSchema."""
    return next((shape.stored[name].kind.letter for shape in shapes if name in shape.stored), "S")


def projection(index: VectorIndex, shapes: Sequence[EntitySpec]) -> tuple[str, list[str]]:
    """What an index carries: the kind, and the names where it is some. What hides an item goes along."""
    if isinstance(index.project, str):
        return index.project, []
    here = [shape for shape in shapes if index.of in shape.stored]
    hiding = [shape.table.ttl for shape in here if shape.expires and shape.table.ttl]
    hiding += [shape.fields[shape.soft_delete.field].stored for shape in here if shape.soft_delete]
    carried = {*index.table.key_names, *index.searched}
    listed = [name for name in dict.fromkeys((*index.project, *hiding)) if name not in carried]
    return ("INCLUDE", listed) if listed else ("KEYS_ONLY", [])
