"""The condition that an item is still exactly what was read: nothing changed, nothing gone, nothing new.

The service has no word for "the whole item", so every attribute that the item could have is named: those it has with
their values, the others as absent. Which those are, the design says. Must hold: what cannot be said exactly is
refused (NotExact), never guessed. Pure.
"""

from typing import Any

from tablewright.mapping.migrate.errors import NotExact
from tablewright.mapping.migrate.migration import Form, Key
from tablewright.mapping.wording import Wording
from tablewright.values import Item

# The service's limits of an expression: 4096 bytes and 300 operators.
_BYTES, _OPERATORS = 4096, 300


def still(form: Form, key: Key, item: Item | None) -> dict[str, Any]:
    """The members of a request that make it hold only while the key has this item; None: while it has none."""
    wording = Wording()
    if item is None:
        text = f"attribute_not_exists({wording.name(form.table.pk)})"
        return {"ConditionExpression": text, **wording.placeholders()}
    known = form.attributes(item)
    names = [name for name in sorted(known) if name not in key]
    # The key itself is how the item was found; that it is there at all has to be said.
    texts = [f"attribute_exists({wording.name(form.table.pk)})"]
    for name in names:
        if name in item:
            texts.append(f"{wording.name(name)}={wording.value(item[name])}")
        else:
            texts.append(f"attribute_not_exists({wording.name(name)})")
    text = " AND ".join(texts)
    if len(text) > _BYTES or 2 * len(texts) > _OPERATORS:
        raise NotExact(form.called, "an item", many=len(known))
    return {"ConditionExpression": text, **wording.placeholders()}
