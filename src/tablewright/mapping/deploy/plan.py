"""What makes live tables those of the design: steps in an order in which DynamoDB takes them. Pure.

Vector indexes go before units are reserved, which they exclude; units change while every index is still there; indexes
go before others come that may have their name, one at a time. Must hold: the plan of what it has made is empty, but for
steps that cannot run here; units that are scaled are not compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tablewright.design.prices import Prices
from tablewright.mapping.deploy import requests
from tablewright.mapping.deploy.capacity_steps import capacity_steps
from tablewright.mapping.deploy.costs import capacity_cost, index_cost, vector_cost
from tablewright.mapping.deploy.scaling_steps import start_scaling, stop_scaling
from tablewright.mapping.deploy.setting_steps import setting_steps
from tablewright.mapping.deploy.states import IndexState, TableState, VectorState
from tablewright.mapping.deploy.steps import Cost, Request, Step

ABSENT = "absent"
_MIGRATE = "write a migration to a new table and run it: tablewright migrate plan NAME"


def plan(
    desired: Sequence[TableState],
    live: Mapping[str, TableState | None],
    prices: Prices | None = None,
    *,
    has_scaling: bool = False,
) -> tuple[Step, ...]:
    """The steps from `live` to `desired`. Tables that no design names are left alone. `prices`: of the region."""
    return tuple(
        step
        for table in desired
        for step in _table_steps(table, live.get(table.name), prices, has_scaling=has_scaling)
    )


def _table_steps(
    wanted: TableState, live: TableState | None, prices: Prices | None, *, has_scaling: bool
) -> Iterator[Step]:
    if live is None:
        yield _create(wanted, prices)
        live = _created(wanted, has_scaling=has_scaling)
    elif (live.key, live.types) != (wanted.key, wanted.types):
        # What else differs does not matter: the table has to be another one.
        yield Step(
            wanted.name, "replace", "key", live.key_text, wanted.key_text, needs="new table", advice=_MIGRATE
        )
        return
    yield from stop_scaling(wanted, live)
    yield from _local_indexes(wanted, live)
    yield from _gone_vectors(wanted, live)
    yield from capacity_steps(wanted, live, prices)
    yield from _indexes(wanted, live, prices)
    yield from setting_steps(wanted, live, prices)
    yield from start_scaling(wanted, live)


def _create(wanted: TableState, prices: Prices | None) -> Step:
    indexes = [*wanted.indexes, *wanted.vectors]
    design = wanted.key_text + (f", with {', '.join(indexes)}" if indexes else "")
    cost = capacity_cost(wanted, prices)
    return Step(wanted.name, "create", "table", ABSENT, design, (requests.create_request(wanted),), cost=cost)


def _created(wanted: TableState, *, has_scaling: bool) -> TableState:
    """What CreateTable leaves to be done."""
    return replace(
        wanted,
        ttl=None,
        recovery_days=0,
        scaling={} if has_scaling else None,
        replicas=frozenset(),
        encryption="owned" if wanted.encryption == "customer" else wanted.encryption,
    )


# --- indexes ---


def _local_indexes(wanted: TableState, live: TableState) -> Iterator[Step]:
    """A local index comes and goes with its table."""
    have, want = _local(live), _local(wanted)
    for name in dict.fromkeys((*have, *want)):
        if have.get(name) != want.get(name):
            yield Step(
                wanted.name,
                "replace",
                f"local index {name}",
                str(have.get(name, ABSENT)),
                str(want.get(name, ABSENT)),
                needs="new table",
                advice=_MIGRATE,
            )


def _indexes(wanted: TableState, live: TableState, prices: Prices | None) -> Iterator[Step]:
    have, want = _global(live), _global(wanted)
    kept = {name: index for name, index in have.items() if want.get(name) == index}
    for name, index in have.items():
        if name not in kept:
            yield _delete(wanted.name, f"index {name}", index, str(want.get(name, ABSENT)))
    vectors = {name: one for name, one in live.vectors.items() if wanted.vectors.get(name) == one}
    types = dict(replace(live, indexes=_local(live) | kept, vectors=vectors).all_types)
    yield from _new_indexes(wanted, live, types, prices)
    yield from _new_vectors(wanted, live, types, prices)


def _new_indexes(
    wanted: TableState, live: TableState, types: dict[str, str], prices: Prices | None
) -> Iterator[Step]:
    """`types` are those of what stays, and grow with each index."""
    fixed = replace(live, indexes=_local(live), vectors={}).all_types
    for name, index in _global(wanted).items():
        subject, before = f"index {name}", str(live.indexes.get(name, ABSENT))
        if index == live.indexes.get(name) or name in _local(live):
            continue
        if any(fixed.get(attribute, letter) != letter for attribute, letter in index.types.items()):
            yield _impossible(wanted.name, subject, before, str(index))
            continue
        types |= index.types
        call = requests.create_index(wanted.name, index, dict(types))
        yield _backfill(wanted.name, subject, before, str(index), call, index_cost(live, index.units, prices))


def _new_vectors(
    wanted: TableState, live: TableState, types: dict[str, str], prices: Prices | None
) -> Iterator[Step]:
    for name, index in wanted.vectors.items():
        if index == live.vectors.get(name):
            continue
        before = str(live.vectors.get(name, ABSENT))
        types |= index.types
        call = requests.create_vector_index(wanted.name, index, dict(types))
        cost = vector_cost(live, index.dimensions, prices)
        yield _backfill(wanted.name, f"vector index {name}", before, str(index), call, cost)


def _gone_vectors(wanted: TableState, live: TableState) -> Iterator[Step]:
    for name, index in live.vectors.items():
        if wanted.vectors.get(name) != index:
            yield _delete(wanted.name, f"vector index {name}", index, str(wanted.vectors.get(name, ABSENT)))


def _delete(table: str, subject: str, index: IndexState | VectorState, design: str) -> Step:
    loses = "requests to it are refused" + ("" if design == ABSENT else " until it is filled again")
    call = requests.delete_index(table, index)
    return Step(table, "delete", subject, str(index), design, (call,), loses=f"the index; {loses}")


def _backfill(table: str, subject: str, live: str, design: str, call: Request, cost: Cost) -> Step:
    return Step(table, "create", subject, live, design, (call,), "backfill", cost=cost)


def _impossible(table: str, subject: str, live: str, design: str) -> Step:
    return Step(table, "replace", subject, live, design, needs="new table", advice=_MIGRATE)


def _global(table: TableState) -> dict[str, IndexState]:
    return {name: index for name, index in table.indexes.items() if not index.local}


def _local(table: TableState) -> dict[str, IndexState]:
    return {name: index for name, index in table.indexes.items() if index.local}
