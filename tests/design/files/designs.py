"""Designs that hypothesis makes: tables with and without sort keys, indexes, typed fields, guarantees, patterns."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal
from uuid import UUID

from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue, create_model

from tablewright.design import (
    Alarm,
    Budget,
    Data,
    Design,
    DesignRefused,
    Environment,
    Expires,
    Keys,
    Load,
    Provisioned,
    Retention,
    States,
    Unique,
    at_least,
    begins,
    between,
)


class Colour(Enum):
    RED = "red"
    GREEN = "no"


class Place(BaseModel):
    """Where something is."""

    street: Annotated[str, Field(max_length=40)]
    number: int = 1
    since: date | None = None


# Types with defaults of theirs; None for no default.
PLAIN: list[tuple[Any, tuple[Any, ...]]] = [
    (str, ("", "on", "12:30", "1e3", "null", "é\n b", "0x1F", " x ")),
    (int, (0, -7)),
    (Decimal, (Decimal("1.50"), Decimal(10), Decimal("0.1"))),
    (bool, (True, False)),
    (datetime, (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),)),
    (date, (date(2026, 1, 31),)),
    (UUID, (UUID(int=5),)),
    (bytes, ()),
    (JsonValue, ({"a": [1, None]},)),
    (Colour, (Colour.GREEN,)),
    (Literal["a", "no", "3"], ("no",)),
    (Place, (Place(street="x"),)),
    (list[str], ([], ["a"])),
    (list[Place], ([],)),
    (dict[str, int | None], ({}, {"on": 1})),
    (set[int], ()),
    (tuple[float, ...], ()),
]
# What may be in a key, with the codecs it takes there.
IN_KEYS: list[tuple[Any, tuple[str, ...]]] = [
    (str, ("", ":lower", ":hash", ":shard.4")),
    (int, (":12",)),
    (datetime, (":ms", ":us", ":day")),
    (date, ("",)),
    (Colour, ("",)),
    (UUID, ("",)),
]
LOADS = st.builds(
    Load,
    per_month=st.sampled_from([0, 100, 2.5]),
    items=st.sampled_from([1, 20]),
    item_bytes=st.integers(1, 5000),
    transaction=st.booleans(),
)


@st.composite
def designs(draw: st.DrawFn) -> Design | None:
    """A built design; None where what was drawn does not make one."""
    design = Design(draw(st.sampled_from(["shop", "no"])), version=draw(st.integers(1, 3)), about=draw(TEXTS))
    for name in draw(st.lists(st.sampled_from(["dev", "prod"]), unique=True)):
        design.environment(draw(environments(name)))
    if draw(st.booleans()):
        design.alarm(
            Alarm("slow", "SuccessfulRequestLatency", draw(st.decimals(1, 99, places=2)), 5, "Average")
        )
    if draw(st.booleans()):
        design.accept("IDX-LOWCARD", draw(TEXTS) or "why", "shop.a")
    for at in range(draw(st.integers(1, 2))):
        _table(draw, design, f"table{at}")
    try:
        return design.build()
    except DesignRefused:
        return None


TEXTS = st.sampled_from(["", "Plain.", "two\n\nlines", "yes", "a: b # c", "'q'", "ünï", "- x"])


@st.composite
def environments(draw: st.DrawFn, name: str) -> Environment:
    units = st.builds(
        Provisioned, st.integers(1, 9), st.integers(1, 9), st.none() | st.integers(10, 20), st.none()
    )
    budget = st.builds(Budget, st.decimals(10, 20, places=2), st.sampled_from([Decimal(5), Decimal("5.0")]))
    return Environment(
        name,
        draw(st.sampled_from(["us-east-1", "eu-west-1"])),
        capacity=draw(units) if draw(st.booleans()) else Environment("x", "y").capacity,
        pitr_days=draw(st.integers(0, 35)),
        deletion_protection=draw(st.booleans()),
        tags=draw(st.dictionaries(st.sampled_from(["on", "team"]), st.sampled_from(["1", "no", "x"]))),
        budget=draw(st.none() | budget),
        table_name=draw(st.sampled_from(["{table}", "{env}-{table}"])),
    )


def _table(draw: st.DrawFn, design: Design, name: str) -> None:
    has_sort = draw(st.booleans())
    table = design.table(
        name, pk="PK", sk="SK" if has_sort else None, ttl="ttl", about=draw(TEXTS), whole=draw(st.booleans()),
        stream=draw(st.sampled_from([None, "KEYS_ONLY"])), discriminator=draw(st.sampled_from(["", "kind"])),
    )  # fmt: skip
    project: Any = draw(st.sampled_from(["ALL", "KEYS_ONLY", ("extra0",)]))
    index = table.gsi("by-two", pk="GPK", sk="GSK", project=project) if draw(st.booleans()) else None
    for at in range(draw(st.integers(1, 2))):
        _entity(draw, design, table, index, f"{name}e{at}", has_sort)


def _entity(draw: st.DrawFn, design: Design, table: Any, index: Any, tag: str, has_sort: bool) -> None:
    (kind, codecs), (other, other_codecs) = draw(st.sampled_from(IN_KEYS)), draw(st.sampled_from(IN_KEYS))
    one, two = f"{{one{draw(st.sampled_from(codecs))}}}", f"{{two{draw(st.sampled_from(other_codecs))}}}"
    fields: dict[str, Any] = {"one": (kind, ...), "two": (other, ...)}
    fields |= {"at": (datetime | None, None), "state": (Literal["open", "closed"], "open")}
    for at in range(draw(st.integers(0, 4))):
        fields[f"extra{at}"] = draw(_fields(at))
    model = create_model("Thing", __doc__=draw(TEXTS), **fields)
    pk, sk = f"{tag}#{one}", f"{tag}#{two}" if has_sort else None
    named = {"one": kind, "two": other} if has_sort else {"one": kind}
    order = draw(st.permutations(list(named)))
    optional: dict[str, Any] = {}
    # An index of keys only cannot tell what has expired, and does not carry what a pattern returns.
    if draw(st.booleans()) and (index is None or index.project != "KEYS_ONLY"):
        optional["expires"] = Expires("at", draw(st.timedeltas(timedelta(0), timedelta(days=900))))
        optional["retention"] = Retention(draw(st.none() | st.just(timedelta(days=3))), "why")
    if draw(st.booleans()):
        optional["states"] = States("state", "open", {"open": {"closed": ("on", "staff")}}, ("admin",))
    if draw(st.booleans()):
        optional["unique"] = [Unique("two", two, keep={"one": one})]
        optional["data"] = {"two": Data.CHILD}
    entity = table.entity(
        model, _function("key", {name: named[name] for name in order}), tag=tag, pk=pk, sk=sk,
        on={index: Keys(f"{tag}#{two}", "A#{at:ms}")} if index else {}, load={"create": draw(LOADS)}, **optional,
    )  # fmt: skip
    roles, load = draw(st.sampled_from([(), ("public",)])), draw(st.none() | LOADS)
    design.get(entity, consistent=draw(st.booleans()), roles=roles)(_function(f"{tag}_get", named))
    if index and index.project == "ALL":
        sort = draw(
            st.sampled_from([None, between("A#{since:ms}", "A#{until:ms}"), at_least("A#{since:ms}")])
        )
        given: dict[str, Any] = {"two": other}
        for name in () if sort is None else ("since", "until")[: len(sort.texts)]:
            given[name] = datetime | None
        design.query(
            entity, on=index, pk=f"{tag}#{two}", sk=sort, descending=draw(st.booleans()), page=7, load=load
        )(_function(f"{tag}_by", given))
    elif has_sort:
        design.query(entity, pk=pk, sk=begins(f"{tag}#"), at_most=draw(st.integers(50, 99)), others=True)(
            _function(f"{tag}_of", {"one": kind})
        )


@st.composite
def _fields(draw: st.DrawFn, at: int) -> tuple[Any, Any]:
    kind, defaults = draw(st.sampled_from(PLAIN))
    more: dict[str, Any] = draw(
        st.sampled_from([{}, {"alias": f"stored{at}"}, {"description": "What it is: no."}])
    )
    if draw(st.booleans()):
        kind = kind | None
        default = draw(st.sampled_from([None, ..., *defaults]))
    else:
        default = draw(st.sampled_from([..., *defaults]))
    return kind, Field(default, **more)


def _function(name: str, parameters: dict[str, Any]) -> Any:
    def function(*args: object, **kwargs: object) -> None: ...

    function.__name__, function.__doc__ = name, f"About {name}."
    made = [
        Parameter(each, Parameter.KEYWORD_ONLY if "_" in name else Parameter.POSITIONAL_OR_KEYWORD, annotation=kind,
                  default=None if each in ("since", "until") else Parameter.empty)
        for each, kind in parameters.items()
    ]  # fmt: skip
    function.__signature__ = Signature(made)  # type: ignore[attr-defined]  # inspect.signature reads it
    return function
