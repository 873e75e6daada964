"""A design file as a Design: the same calls that a design in Python makes, in the order of the file.

Must hold: every mistake is refused by its place in the file. Elsewhere: the places of what `build()` finds (places.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import Any

from tablewright.design.alarms import Alarm
from tablewright.design.design import Design, DesignTable
from tablewright.design.entities import Entity, Readable
from tablewright.design.environments import Environment, OnDemand, Provisioned
from tablewright.design.errors import DesignMistake, DesignRefused
from tablewright.design.files.document import (
    DesignDocument,
    EntityDocument,
    IndexDocument,
    PatternDocument,
    SchemaDocument,
    SearchDocument,
    SortDocument,
    TableDocument,
    UniqueDocument,
    ViewDocument,
)
from tablewright.design.files.durations import duration
from tablewright.design.files.errors import WHOLE, DesignFileRefused, problem
from tablewright.design.files.field_types import ParameterOrType
from tablewright.design.files.models import Models
from tablewright.design.files.places import refuse_templates
from tablewright.design.files.settings_document import EnvironmentDocument, LoadDocument, values_of
from tablewright.design.patterns import Bound, Sort
from tablewright.design.tables import Index, Keys
from tablewright.design.templates import BadTemplate, parse
from tablewright.design.traits import (
    Copy,
    Data,
    Expires,
    Load,
    Refresh,
    Retention,
    Schema,
    SoftDelete,
    Unique,
    Upcast,
)
from tablewright.design.vectors import VectorIndex
from tablewright.values import Item

_SIGNS: Mapping[str, Bound] = {
    "equals": "=",
    "begins": "begins",
    "between": "between",
    "at_least": ">=",
    "at_most": "<=",
    "above": ">",
    "below": "<",
}


def design_of(document: DesignDocument) -> Design:
    """The design that a document describes, built; DesignFileRefused or DesignRefused say what is wrong."""
    refuse_templates(document)
    with _placed(WHOLE):
        return _Reader(document).read().build()


@contextmanager
def _placed(place: str) -> Iterator[None]:
    """What the design language refuses, by the place of the part that it refused."""
    try:
        yield
    except (DesignFileRefused, DesignRefused):
        raise
    except (DesignMistake, BadTemplate, OverflowError) as error:
        raise problem(place, str(error)) from None


class _Reader:
    """What was declared so far, by the names under which later parts refer to it."""

    def __init__(self, document: DesignDocument) -> None:
        self.document = document
        self.models = Models(document.types)
        self.design = Design(document.name, version=document.version, about=document.about)
        self.tables: dict[str, DesignTable] = {}
        self.indexes: dict[tuple[str, str], Index] = {}
        self.vectors: dict[tuple[str, str], VectorIndex] = {}
        self.entities: dict[str, Entity[Any, Any]] = {}

    def read(self) -> Design:
        document, design = self.document, self.design
        for at, environment in enumerate(document.environments):
            with _placed(place := f"environments[{at}]"):
                design.environment(_environment(environment, place))
        for at, alarm in enumerate(document.alarms):
            with _placed(f"alarms[{at}]"):
                design.alarm(Alarm(**values_of(alarm)))
        # A guard may be in a table that comes later: all tables first.
        for at, table in enumerate(document.tables):
            with _placed(f"tables[{at}]"):
                self._table(table)
        for at, table in enumerate(document.tables):
            for number, entity in enumerate(table.entities):
                with _placed(place := f"tables[{at}].entities[{number}]"):
                    self._entity(table, entity, place)
        for at, pattern in enumerate(document.patterns):
            with _placed(place := f"patterns[{at}]"):
                self._pattern(pattern, place)
        for at, search in enumerate(document.searches):
            with _placed(place := f"searches[{at}]"):
                self._search(search, place)
        for role, tags in document.principals.items():
            design.principal(role, **tags)
        for at, each in enumerate(document.accepted):
            with _placed(f"accepted[{at}].rule"):
                design.accept(each.rule, each.reason, each.where)
        return design

    def _table(self, said: TableDocument) -> None:
        made = self.design.table(
            said.name, pk=said.pk, sk=said.sk, ttl=said.ttl, stream=said.stream, about=said.about,
            followed=said.followed, whole=said.whole, discriminator=said.discriminator,
            schema=_schema(said.forms, said.name),
        )  # fmt: skip
        self.tables[said.name] = made
        for index in said.indexes:
            self.indexes[said.name, index.name] = _index(made, index)
        for vector in said.vectors:
            self.vectors[said.name, vector.name] = made.vectors(vector.name, **_without(vector, "name"))

    def _entity(self, table: TableDocument, said: EntityDocument, place: str) -> None:
        model = self.models.model(said.tag, said.about, said.fields, f"{place}.fields")
        texts = [said.pk] if said.sk is None else [said.pk, said.sk]
        key = said.key if said.key is not None else [name for text in texts for name in parse(text).fields]
        fields = model.model_fields
        _refuse_parameters(key, f"{place}.key")
        kinds = {name: fields[name].annotation if name in fields else Parameter.empty for name in key}
        on = {
            self._index_named(table.name, name, f"{place}.indexes.{name}"): Keys(keys.pk, keys.sk)
            for name, keys in said.indexes.items()
        }
        expires, deleted = said.expires, said.soft_delete
        self.entities[said.tag] = self.tables[table.name].entity(
            model,
            _function(said.tag, "", [_parameter(name, kind) for name, kind in kinds.items()]),
            tag=said.tag,
            pk=said.pk,
            sk=said.sk,
            on=on,
            derived=said.derived,
            unique=[self._unique(each, f"{place}.unique[{at}]") for at, each in enumerate(said.unique)],
            version=said.version,
            expires=expires if expires is None or isinstance(expires, str)
            else Expires(expires.field, duration(expires.after)),
            soft_delete=deleted if deleted is None or isinstance(deleted, str)
            else SoftDelete(deleted.field, deleted.live),
            states=said.states,
            copies=[Copy(one.field, one.of, one.source, Refresh[one.refresh.upper()]) for one in said.copies],
            immutable=said.immutable,
            data={name: Data[kind.upper()] for name, kind in said.data.items()},
            retention=None if said.retention is None else Retention(
                None if said.retention.period is None else duration(said.retention.period),
                said.retention.purpose, said.retention.then,
            ),
            load={verb: Load(**values_of(load)) for verb, load in said.load.items()},
            about=said.about,
            schema=_schema(said.forms, said.tag),
        )  # fmt: skip

    def _unique(self, said: UniqueDocument, place: str) -> Unique:
        if said.table is not None and said.table not in self.tables:
            raise problem(f"{place}.table", f"there is no table '{said.table}'")
        table = None if said.table is None else self.tables[said.table].table
        return Unique(said.name, said.value, said.pk, said.sk, said.keep, table)

    def _pattern(self, said: PatternDocument, place: str) -> None:
        of = [self._readable(each, f"{place}.of[{at}]") for at, each in enumerate(said.of)]
        function = self._declared(said.name, said.about, said.parameters, place)
        load = _load(said.load)
        if said.kind == "get":
            entity = of[0]
            if not isinstance(entity, Entity):
                raise problem(f"{place}.of[0]", "a get returns the whole item; name the entity alone")
            self.design.get(entity, consistent=said.consistent, roles=said.roles, load=load)(function)
            return
        table = of[0].shape.table.name
        self.design.query(
            *of,
            pk=said.pk or "",
            sk=_sorts(said),
            on=None if said.index is None else self._index_named(table, said.index, f"{place}.index"),
            load=load,
            **_only(said, "descending", "consistent", "page", "at_most", "roles", "others"),
        )(function)

    def _search(self, said: SearchDocument, place: str) -> None:
        of = self._readable(said.of, f"{place}.of")
        found = self.vectors.get((of.shape.table.name, said.index))
        if found is None:
            raise problem(f"{place}.index", f"{of.shape.table.name} has no vector index '{said.index}'")
        function = self._declared(said.name, said.about, said.parameters, place)
        self.design.search(of, on=found, top=said.top, load=_load(said.load))(function)

    def _readable(self, said: str | ViewDocument, place: str) -> Readable[Any]:
        tag = said if isinstance(said, str) else said.entity
        if tag not in self.entities:
            known = ", ".join(self.entities) or "none"
            raise problem(place, f"there is no entity '{tag}'; there are {known}")
        entity = self.entities[tag]
        if isinstance(said, str):
            return entity
        return entity.view(self.models.view(said.view, f"{place}.view"))

    def _index_named(self, table: str, name: str, place: str) -> Index:
        if (table, name) not in self.indexes:
            known = ", ".join(index for owner, index in self.indexes if owner == table) or "none"
            raise problem(place, f"the table {table} has no index '{name}'; it has {known}")
        return self.indexes[table, name]

    def _declared(
        self, name: str, about: str, parameters: Mapping[str, ParameterOrType], place: str
    ) -> Callable[..., None]:
        found = []
        _refuse_parameters(parameters, f"{place}.parameters")
        for each, said in parameters.items():
            kind, default = self.models.parameter(said, f"{place}.parameters.{each}")
            found.append(_parameter(each, kind, default, Parameter.KEYWORD_ONLY))
        return _function(name, about, found)


def _index(table: DesignTable, said: IndexDocument) -> Index:
    if said.local:
        return table.lsi(said.name, sk=str(said.sk), project=said.project)
    return table.gsi(said.name, pk=said.pk, sk=said.sk, project=said.project, aliases=said.aliases)


def _sorts(said: PatternDocument) -> tuple[Sort, ...]:
    given = said.sk if isinstance(said.sk, tuple) else () if said.sk is None else (said.sk,)
    return tuple(_sort(each) for each in given)


def _sort(said: str | SortDocument) -> Sort:
    if isinstance(said, str):
        return Sort("=", (said,))
    (name,) = said.model_fields_set
    texts = getattr(said, name)
    return Sort(_SIGNS[name], (texts,) if isinstance(texts, str) else texts)


def _load(said: LoadDocument | None) -> Load | None:
    return None if said is None else Load(**values_of(said))


def _environment(said: EnvironmentDocument, place: str) -> Environment:
    def capacity(given: str | Provisioned) -> OnDemand | Provisioned:
        return given if isinstance(given, Provisioned) else OnDemand()

    values = values_of(said)
    values["capacity"] = capacity(said.capacity)
    values["of_tables"] = {name: capacity(given) for name, given in said.of_tables.items()}
    made = Environment(**values)
    try:
        made.physical("table")
    except (KeyError, IndexError, ValueError):
        raise problem(f"{place}.table_name", "may have {table} and {env} in it, and nothing else") from None
    return made


# --- upcasts ---


def _schema(said: SchemaDocument | None, where: str) -> Schema | None:
    if said is None:
        return None
    return Schema(said.field, tuple(_no_upcast(where, number) for number in range(1, said.version)))


def _no_upcast(where: str, number: int) -> Upcast:
    def no_upcast(item: Item) -> Item:
        why = f"an item of {where} is of form {number}, and its upcast is not in the design file"
        raise problem("schema", f"{why}: read it with the design in Python")

    return no_upcast


# --- functions, of which a design reads names and parameters ---


def _refuse_parameters(names: Iterable[str], place: str) -> None:
    for name in names:
        if not name.isidentifier() or iskeyword(name):
            raise problem(place, f"'{name}' is not a name for a parameter; use letters, digits and _")


def _parameter(
    name: str, kind: Any, default: Any = ..., how: Any = Parameter.POSITIONAL_OR_KEYWORD
) -> Parameter:
    return Parameter(
        name,
        how,
        annotation=Parameter.empty if kind is ... else kind,
        default=Parameter.empty if default is ... else default,
    )


def _function(name: str, about: str, parameters: list[Parameter]) -> Callable[..., None]:
    def function(*args: object, **kwargs: object) -> None: ...

    function.__name__, function.__doc__ = name, about
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # inspect.signature reads it
    return function


def _only(part: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(part, name) for name in names}


def _without(part: Any, *names: str) -> dict[str, Any]:
    return {name: value for name, value in values_of(part).items() if name not in names}
