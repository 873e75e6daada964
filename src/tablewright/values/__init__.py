"""Attribute values in their wire form, `{"S": "text"}`, from the outside world to sorted bytes.

`admit` is the one gate: what has passed it is canonical (numbers in plain decimal, sets sorted and
without duplicates, binaries in standard base64), so everywhere behind it two values are equal when
their dicts are equal.
"""

from tablewright.values.codec import Item, Value, WrongJson, admit, admit_item
from tablewright.values.numbers import BadValue
from tablewright.values.ordering import compare, key_part, key_prefix
from tablewright.values.sizes import item_size, resized, size_of

__all__ = [
    "BadValue",
    "Item",
    "Value",
    "WrongJson",
    "admit",
    "admit_item",
    "compare",
    "item_size",
    "key_part",
    "key_prefix",
    "resized",
    "size_of",
]
