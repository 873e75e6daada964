"""A design: tables, indexes, entities, patterns, environments, said once.

`build()` refuses a design that cannot work and closes it; everything else (mapping, cost, Terraform, docs, the
console) reads the built value.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload

from pydantic import BaseModel

from tablewright.design.alarms import Alarm
from tablewright.design.attributes import attributes
from tablewright.design.check import findings
from tablewright.design.entities import Entity, Readable
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.environments import Environment
from tablewright.design.errors import DesignClosed, DesignRefused, Finding, NotStorable
from tablewright.design.patterns import GetPattern, Pattern, Plan, Sort
from tablewright.design.rule_names import RULE_NAMES, RuleUnknown
from tablewright.design.tables import Index, Keys, Names, Projection, Table, names
from tablewright.design.templates import BadTemplate, parse
from tablewright.design.traits import (
    Acceptance,
    Copy,
    Data,
    Expires,
    Load,
    Retention,
    Schema,
    SoftDelete,
    States,
    Unique,
)
from tablewright.design.vectors import Distance, SearchPattern, SearchPlan, VectorIndex

E = TypeVar("E", bound=BaseModel)
A = TypeVar("A", bound=BaseModel)
B = TypeVar("B", bound=BaseModel)
C = TypeVar("C", bound=BaseModel)
D = TypeVar("D", bound=BaseModel)
K = ParamSpec("K")
P = ParamSpec("P")


class Design:
    """What one system stores, and how it is read."""

    def __init__(self, name: str, *, version: int = 1, about: str = "") -> None:
        self.name, self.version, self.about = name, version, about
        self.tables: dict[str, Table] = {}
        self.indexes: list[Index] = []
        self.shapes: list[EntitySpec] = []
        self.plans: list[Plan] = []
        self.vectors: list[VectorIndex] = []
        self.searches: list[SearchPlan] = []
        self.environments: dict[str, Environment] = {}
        self.alarms: list[Alarm] = []
        self.principals: dict[str, Mapping[str, str]] = {}
        self.accepted: list[Acceptance] = []
        self.is_built = False
        self._early: list[Finding] = []

    def __repr__(self) -> str:
        return f"<design {self.name} version {self.version}>"

    # --- what it is made of ---

    def table(
        self,
        name: str,
        *,
        pk: str,
        sk: str | None = None,
        ttl: str | None = None,
        stream: Literal["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] | None = None,
        about: str = "",
        followed: bool = False,
        whole: bool = False,
        discriminator: str = "",
        schema: Schema | None = None,
    ) -> "DesignTable":
        """A table. `discriminator` is the attribute in which each item has its entity's tag; `schema` is the default
        for its entities."""
        self._refuse_closed()
        table = Table(self.name, name, pk, sk, ttl, stream, about, followed, whole)
        if name in self.tables:
            self._note("K016", name, "two tables have this name", "name one of them differently")
        self.tables[name] = table
        return DesignTable(self, table, discriminator, schema)

    def environment(self, environment: Environment) -> Environment:
        self._refuse_closed()
        self.environments[environment.name] = environment
        return environment

    def alarm(self, alarm: Alarm) -> Alarm:
        self._refuse_closed()
        self.alarms.append(alarm)
        return alarm

    def principal(self, role: str, **tags: str) -> None:
        """A principal with this role reads only partitions in which these fields equal its tags, by their names:
        `principal("parent", family_id="familyId")`."""
        self._refuse_closed()
        self.principals[role] = tags

    def accept(self, rule: str, reason: str, *where: str) -> None:
        """Accept what a rule of the design checker finds at these places, or at each of them, and record the reason.

        Raises RuleUnknown."""
        self._refuse_closed()
        if rule not in RULE_NAMES:
            raise RuleUnknown(rule)
        self.accepted += [Acceptance(rule, reason, place) for place in where or ("",)]

    @overload
    def query(
        self, one: Readable[A], /, *, pk: Names, sk: Sort | Sequence[Sort] | None = ..., on: Index | None = ...,
        descending: bool = ..., consistent: bool = ..., page: int = ..., at_most: int = ...,
        roles: Sequence[str] = ..., load: Load | None = ..., others: bool = ...,
    ) -> Callable[[Callable[P, None]], Pattern[P, A]]: ...  # fmt: skip
    @overload
    def query(
        self, one: Readable[A], two: Readable[B], /, *, pk: Names, sk: Sort | Sequence[Sort] | None = ...,
        on: Index | None = ..., descending: bool = ..., consistent: bool = ..., page: int = ...,
        at_most: int = ..., roles: Sequence[str] = ..., load: Load | None = ..., others: bool = ...,
    ) -> Callable[[Callable[P, None]], Pattern[P, A | B]]: ...  # fmt: skip
    @overload
    def query(
        self, one: Readable[A], two: Readable[B], three: Readable[C], /, *, pk: Names,
        sk: Sort | Sequence[Sort] | None = ..., on: Index | None = ..., descending: bool = ...,
        consistent: bool = ..., page: int = ..., at_most: int = ..., roles: Sequence[str] = ...,
        load: Load | None = ..., others: bool = ...,
    ) -> Callable[[Callable[P, None]], Pattern[P, A | B | C]]: ...  # fmt: skip
    @overload
    def query(
        self, one: Readable[A], two: Readable[B], three: Readable[C], four: Readable[D], /, *, pk: Names,
        sk: Sort | Sequence[Sort] | None = ..., on: Index | None = ..., descending: bool = ...,
        consistent: bool = ..., page: int = ..., at_most: int = ..., roles: Sequence[str] = ...,
        load: Load | None = ..., others: bool = ...,
    ) -> Callable[[Callable[P, None]], Pattern[P, A | B | C | D]]: ...  # fmt: skip
    def query(
        self,
        *of: Readable[Any],
        pk: Names,
        sk: Sort | Sequence[Sort] | None = None,
        on: Index | None = None,
        descending: bool = False,
        consistent: bool = False,
        page: int = 50,
        at_most: int = 1000,
        roles: Sequence[str] = (),
        load: Load | None = None,
        others: bool = False,
    ) -> Callable[[Callable[P, None]], Pattern[P, Any]]:
        """A pattern that reads a range. `others=True` passes over items of other entities in the range."""
        shapes = tuple(readable.shape for readable in of)
        sorts = (sk,) if isinstance(sk, Sort) else tuple(sk or ())

        def declare(function: Callable[P, None]) -> Pattern[P, Any]:
            where = f"{self.name}.{function.__name__}"
            templates = self._templates(where, *names(pk))
            self._templates(where, *(text for sort in sorts for text in sort.texts))
            plan = Plan(
                function.__name__, inspect.getdoc(function) or "", "query", shapes[0].table, on, shapes,
                inspect.signature(function), templates, sorts, descending, consistent, page, at_most,
                tuple(roles), load, others,
            )  # fmt: skip
            self._add_plan(plan)
            return Pattern(plan)

        return declare

    def get(
        self,
        of: Entity[A, Any],
        /,
        *,
        consistent: bool = False,
        roles: Sequence[str] = (),
        load: Load | None = None,
    ) -> Callable[[Callable[P, None]], GetPattern[P, A]]:
        """A pattern that reads one item by its key."""
        shape = of.shape

        def declare(function: Callable[P, None]) -> GetPattern[P, A]:
            plan = Plan(
                function.__name__, inspect.getdoc(function) or "", "get", shape.table, None, (shape,),
                inspect.signature(function), (shape.pk,), (), consistent=consistent, roles=tuple(roles), load=load,
            )  # fmt: skip
            self._add_plan(plan)
            return GetPattern(plan)

        return declare

    def search(
        self, of: Readable[A], /, *, on: VectorIndex, top: int = 10, load: Load | None = None
    ) -> Callable[[Callable[P, None]], SearchPattern[P, A]]:
        """A search in a vector index. Of `load`, `items` is how many vectors one search compares."""

        def declare(function: Callable[P, None]) -> SearchPattern[P, A]:
            self._refuse_closed()
            name = function.__name__
            about, signature = inspect.getdoc(function) or "", inspect.signature(function)
            plan = SearchPlan(name, about, on, of.shape, signature, top, load)
            if name in {*(plan.name for plan in self.plans), *(plan.name for plan in self.searches)}:
                self._note("P011", name, "two patterns have this name", "name one of them differently")
            self.searches.append(plan)
            return SearchPattern(plan)

        return declare

    # --- the end ---

    def build(self) -> "Design":
        """Check everything; DesignRefused lists all that is wrong. Nothing can be added afterwards."""
        found = self._early or findings(self)
        if found:
            raise DesignRefused(self.name, found)
        self.is_built = True
        return self

    def shape(self, tag: str) -> EntitySpec:
        return next(shape for shape in self.shapes if shape.tag == tag)

    def plan(self, name: str) -> Plan:
        return next(plan for plan in self.plans if plan.name == name)

    @property
    def entities(self) -> Mapping[str, Entity[Any, ...]]:
        """The entities by their tags, as of a design that was loaded from a file: `design.entities["order"].get(...)`.

        What is declared in Python has its own name there, with the types of its key.
        """
        return {shape.tag: Entity(shape, shape.model) for shape in self.shapes}

    @property
    def patterns(self) -> Mapping[str, Callable[..., Any]]:
        """The patterns by name; a call makes a Query or a Get: `design.patterns["orders_of"](customer="c1")`."""
        made: dict[str, Callable[..., Any]] = {}
        for plan in self.plans:
            made[plan.name] = GetPattern[..., Any](plan) if plan.kind == "get" else Pattern[..., Any](plan)
        return made

    # --- parts ---

    def _add_plan(self, plan: Plan) -> None:
        self._refuse_closed()
        if any(known.name == plan.name for known in self.plans):
            self._note("P011", plan.name, "two patterns have this name", "name one of them differently")
        self.plans.append(plan)

    def _templates(self, where: str, *texts: str) -> tuple[Any, ...]:
        """Parsed, or noted as a mistake and stood in for."""
        found = []
        for text in texts:
            try:
                found.append(parse(text))
            except BadTemplate as error:
                self._note("K001", where, str(error).partition(". Fix:")[0], error.fix, whole=True)
                found.append(parse("UNREADABLE"))
        return tuple(found)

    def _note(self, rule: str, where: str, why: str, fix: str, *, whole: bool = False) -> None:
        self._early.append(Finding(rule, where if whole else f"{self.name}.{where}", why, fix))

    def _refuse_closed(self) -> None:
        if self.is_built:
            raise DesignClosed(f"the design '{self.name}' is built; add to it before build()")


class DesignTable:
    """A table in a design that is being written: the place to add indexes and entities."""

    def __init__(
        self, design: Design, table: Table, discriminator: str = "", schema: Schema | None = None
    ) -> None:
        self._design, self.table = design, table
        self._discriminator, self._schema = discriminator, schema

    def gsi(
        self,
        name: str,
        *,
        pk: Names,
        sk: Names | None = None,
        project: Projection = "ALL",
        aliases: Sequence[str] = (),
    ) -> Index:
        """A global index. `aliases` are other names the same index answers to in documents."""
        return self._index(Index(self.table, name, names(pk), names(sk), project, False, tuple(aliases)))

    def lsi(self, name: str, *, sk: str, project: Projection = "ALL") -> Index:
        """A local index: the table's partition in another order; only when the table is made."""
        return self._index(Index(self.table, name, (self.table.pk,), (sk,), project, True))

    def vectors(
        self,
        name: str,
        *,
        of: str,
        dimensions: int,
        distance: Distance = "COSINE",
        partition: str | None = None,
        filters: Sequence[str] = (),
        project: Projection = "ALL",
    ) -> VectorIndex:
        """A vector index of the attribute `of`. A search names the partition, if there is one, and may filter."""
        self._design._refuse_closed()
        index = VectorIndex(self.table, name, of, dimensions, distance, partition, tuple(filters), project)
        self._design.vectors.append(index)
        return index

    def _index(self, index: Index) -> Index:
        self._design._refuse_closed()
        self._design.indexes.append(index)
        return index

    def entity(
        self,
        model: type[E],
        key: Callable[K, object],
        *,
        tag: str,
        pk: str,
        sk: str | None = None,
        on: Mapping[Index, Keys] | None = None,
        derived: Mapping[str, str] | None = None,
        unique: Sequence[Unique] = (),
        version: str | None = None,
        expires: str | Expires | None = None,
        soft_delete: str | SoftDelete | None = None,
        states: States | None = None,
        copies: Sequence[Copy] = (),
        immutable: Sequence[str] = (),
        data: Mapping[str, Data] | None = None,
        retention: Retention | None = None,
        load: Mapping[str, Load] | None = None,
        about: str = "",
        schema: Schema | None = None,
    ) -> Entity[E, K]:
        """A model in this table. `key` is a function or class whose parameters are the key's fields."""
        design = self._design
        design._refuse_closed()
        where = f"{design.name}.{tag}"
        tagged = {self._discriminator: tag} if self._discriminator else {}
        key_templates = design._templates(where, *(text for text in (pk, sk) if text is not None))
        shape = EntitySpec(
            tag, self.table, model, inspect.signature(key), key_templates[0],
            key_templates[1] if len(key_templates) > 1 else None,
            dict(on or {}), {**tagged, **(derived or {})}, tuple(unique), version,
            Expires(expires) if isinstance(expires, str) else expires,
            SoftDelete(soft_delete) if isinstance(soft_delete, str) else soft_delete,
            states, tuple(copies), tuple(immutable), dict(data or {}), retention, dict(load or {}),
            about or inspect.cleandoc(model.__dict__.get("__doc__") or ""), schema=schema or self._schema,
        )  # fmt: skip
        design._templates(where, *(text for _, text in shape.texts))
        try:
            attributes(model)
        except NotStorable as error:
            design._early.append(Finding("K010", f"{design.name}.{error.where}", error.why, error.fix))
        if any(known.tag == tag for known in design.shapes):
            design._note("K016", tag, "two entities have this tag", "name one of them differently")
        design.shapes.append(shape)
        return Entity(shape, model)
