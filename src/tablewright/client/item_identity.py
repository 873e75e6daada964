"""The identity of an item by its key: equal for the same item, however its numbers are written.

Used to find an item that a request names twice before the service refuses the whole request for it.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tablewright.values import admit_item


def identity_of(table: str, key: Mapping[str, Any]) -> tuple[str, str]:
    """The table and the key in one spelling: 1, 1.0 and 1E0 are equal. The service refuses an invalid key."""
    try:
        # Text has one spelling, and most keys are only text.
        return table, repr(sorted([(str(name), value["S"]) for name, value in key.items()]))
    except (KeyError, TypeError):
        pass
    attributes = dict(key)
    with suppress(ValueError):
        attributes, _ = admit_item(attributes)
    return table, repr(sorted(attributes.items(), key=lambda attribute: str(attribute[0])))
