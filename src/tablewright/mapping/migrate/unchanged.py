"""The condition that an item is still exactly as it was read: nothing changed, nothing removed, nothing added. Pure.

DynamoDB has no condition on a whole item, so every attribute that the item could have is named: those it has with their
values, the others as absent. The design says which attributes these are. Must hold: where this cannot be expressed
exactly, NotExact is raised; nothing is guessed.
"""

from typing import Any

from tablewright.expressions import PlaceholderAllocator, render
from tablewright.expressions.build import all_of, attribute_exists, attribute_not_exists, equal
from tablewright.mapping.migrate.errors import NotExact
from tablewright.mapping.migrate.migration import Key, TableVersion
from tablewright.values import Item

# The service's limits of an expression: 4096 bytes and 300 operators.
_BYTES, _OPERATORS = 4096, 300


def unchanged_condition(version: TableVersion, key: Key, item: Item | None) -> dict[str, Any]:
    """The members of a request that make it hold only while the key has this item; None: while it has none."""
    placeholders = PlaceholderAllocator()
    if item is None:
        text = render(attribute_not_exists(version.table.pk), placeholders)
        return {"ConditionExpression": text, **placeholders.members()}
    known = version.attributes(item)
    names = [name for name in sorted(known) if name not in key]
    # The key itself is how the item was found; that it is there at all has to be said.
    condition = all_of(attribute_exists(version.table.pk), *(equal(name, item.get(name)) for name in names))
    assert condition is not None
    text = render(condition, placeholders)
    if len(text) > _BYTES or 2 * (len(names) + 1) > _OPERATORS:
        raise NotExact(version.called, "an item", many=len(known))
    return {"ConditionExpression": text, **placeholders.members()}
