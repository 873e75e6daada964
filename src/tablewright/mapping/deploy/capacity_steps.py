"""Steps for units: on demand or reserved, of a table and its global indexes, all in one UpdateTable. Pure.

Must hold: units that are scaled stay what they are; a call never sets units that are so already, which is refused.
"""

from collections.abc import Iterator
from typing import Any

from tablewright.design.prices import Prices
from tablewright.mapping.deploy import requests
from tablewright.mapping.deploy.costs import capacity_cost
from tablewright.mapping.deploy.states import TableState, Units
from tablewright.mapping.deploy.steps import Step


def capacity_steps(wanted: TableState, live: TableState, prices: Prices | None) -> Iterator[Step]:
    sides = [str(live.units or "on demand"), str(wanted.units or "on demand")]
    have = {name: index.units for name, index in live.indexes.items() if not index.local}
    changes: dict[str, Any] = {}
    if wanted.units is None:
        changes = requests.billing(None) if live.units is not None else {}
    elif live.units is None:
        units = {name: _units_of(wanted, name, wanted.units) for name in have}
        changes = requests.billing(wanted.units) | requests.index_units(units)
    else:
        aim = _aim(wanted, "", live.units, wanted.units)
        if aim != live.units:
            changes["ProvisionedThroughput"] = requests.throughput(aim)
        aims = {
            name: _aim(wanted, name, units, _units_of(wanted, name, wanted.units))
            for name, units in have.items()
            if name in wanted.indexes
        }
        others = {name: units for name, units in aims.items() if units != have[name]}
        changes |= requests.index_units(others)
        sides = [
            ", ".join([sides[0], *(f"{name}: {have[name]}" for name in others)]),
            ", ".join([sides[1], *(f"{name}: {units}" for name, units in others.items())]),
        ]
    if changes:
        call = requests.update_table(wanted.name, **changes)
        yield Step(
            wanted.name, "change", "capacity", sides[0], sides[1], (call,), cost=capacity_cost(wanted, prices)
        )


def _units_of(wanted: TableState, index: str, otherwise: Units) -> Units:
    """What an index is to have; one that is to go has what its table has, until it does."""
    found = wanted.indexes[index].units if index in wanted.indexes else None
    return found or otherwise


def _aim(wanted: TableState, index: str, live: Units | None, units: Units) -> Units:
    """The units to set: those that are scaled stay what they are."""
    if live is None:
        return units
    scaled = wanted.scaling or {}
    read = live.read if (index, "Read") in scaled else units.read
    write = live.write if (index, "Write") in scaled else units.write
    return Units(read, write)
