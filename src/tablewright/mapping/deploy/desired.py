"""The tables of a deployment as the design and the environment want them: what Terraform is printed from, as states."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tablewright.design.deployment import Deployment, label
from tablewright.design.table_settings import capacity_of, recovery_days_of, stream_of
from tablewright.design.tables import Table
from tablewright.mapping.deploy.states import DIMENSIONS, Bounds, Dimension, TableState, Units, table_state
from tablewright.mapping.tables import create_table


def desired_tables(deployment: Deployment) -> tuple[TableState, ...]:
    """Every table: the designs' own, and those that running them needs."""
    return tuple(_table(deployment, table) for table in deployment.tables)


def _table(deployment: Deployment, table: Table) -> TableState:
    environment = deployment.environment
    owner = next((one for one in deployment.every_design if table in one.tables.values()), None)
    if owner is None:
        key = (("pk", table.pk, "HASH"), ("sk", table.sk, "RANGE"))
        pairs = tuple((name, kind) for _, name, kind in key if name is not None)
        state = TableState(environment.physical(table.name), pairs, {name: "S" for name, _ in pairs})
    else:
        state = table_state(create_table(owner, table, environment))
    found = capacity_of(deployment, table)
    units = Units(found.read, found.write) if found else None
    return replace(
        state,
        indexes={
            name: replace(index, units=None if index.local else units)
            for name, index in state.indexes.items()
        },
        units=units,
        stream=stream_of(deployment, table),
        ttl=table.ttl,
        recovery_days=recovery_days_of(deployment, table),
        is_protected=environment.deletion_protection,
        encryption=environment.encryption,
        tags=dict(environment.tags),
        replicas=frozenset(environment.replicas),
        scaling=_scaling(deployment, table),
    )


def _scaling(deployment: Deployment, table: Table) -> Mapping[Dimension, Bounds]:
    return dict(_bounds(deployment, table))


def _bounds(deployment: Deployment, table: Table) -> Iterator[tuple[Dimension, Bounds]]:
    units = capacity_of(deployment, table)
    if units is None:
        return
    highs = {"Read": (units.read, units.max_read), "Write": (units.write, units.max_write)}
    for index in ("", *(one.name for one in deployment.indexes(table) if not one.local)):
        for what in DIMENSIONS:
            low, high = highs[what]
            if high:
                # The name that Terraform gives it, so that either replaces the other's.
                name = "_".join(label(part) for part in (table.name, index, what) if part)
                yield (index, what), Bounds(low, high, units.target, name)
