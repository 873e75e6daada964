"""Figures of tables and indexes, for the rules: writes to each key, and what a change of an attribute takes. Pure.

Must hold: they are those of `tablewright scale` and of `tablewright design cost`, which compute them.
"""

from collections.abc import Iterable
from decimal import Decimal
from operator import itemgetter
from typing import TypeAlias

from tablewright.design.attributes import Attribute
from tablewright.design.cost.calls import change_of
from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.partitions import key_uses
from tablewright.design.review.facts import schema
from tablewright.design.tables import names

# A table, an index or an empty text, and the template of its partition key.
IndexKey: TypeAlias = tuple[str, str, str]


def writes_by_key(design: Design) -> dict[IndexKey, float]:
    """The writes in a second to the keys of each template, as `tablewright scale` counts them."""
    return {
        (use.table, use.index, use.template.text): float(use.requests)
        for use in key_uses(design)
        if use.kind == "write"
    }


def change_units(
    shape: EntitySpec, attribute: Attribute, verbs: Iterable[str]
) -> tuple[float, tuple[schema.IndexUnits, ...]]:
    """What the dearest write that changes an attribute takes, without the indexes that have it, and what those take."""
    found: list[tuple[Decimal, Decimal, tuple[schema.IndexUnits, ...]]] = []
    for verb in verbs:
        call, holders = change_of(shape, verb, attribute.field), _holders(shape, attribute)
        taken = tuple(
            schema.IndexUnits(index=use.index, units=float(use.units), moves=holders[use.index])
            for use in call.uses
            if use.index in holders
        )
        rest = sum((use.units for use in call.uses if use.index not in holders), Decimal())
        found.append((call.units, rest, taken))
    _, units, taken = max(found, key=itemgetter(0), default=(Decimal(), Decimal(1), ()))
    return float(units), taken


def _holders(shape: EntitySpec, attribute: Attribute) -> dict[str, bool]:
    """The indexes that have an attribute, and whether it is in the key there."""
    keyed = {
        index: attribute.field
        in (name for key in shape.index_keys[index.name] for name in key.template.fields)
        for index in shape.on
    }
    return {
        index.name: moves
        for index, moves in keyed.items()
        if moves or index.project == "ALL" or attribute.stored in names(index.project)
    }
