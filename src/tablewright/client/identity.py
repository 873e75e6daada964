"""Which item a key means: equal places, same item, however its numbers are spelled.

Used to find an item that is named twice before the service refuses the whole request for it.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tablewright.values import admit_item


def place_of(table: str, key: Mapping[str, Any]) -> tuple[str, str]:
    """1, 1.0 and 1E0 are one place. What is no key at all is left for the service to refuse."""
    try:
        # Text has one spelling, and most keys are nothing but text.
        return table, repr(sorted([(str(name), value["S"]) for name, value in key.items()]))
    except (KeyError, TypeError):
        pass
    attributes = dict(key)
    with suppress(ValueError):
        attributes, _ = admit_item(attributes)
    return table, repr(sorted(attributes.items(), key=lambda attribute: str(attribute[0])))
