"""What a canonical value costs in bytes: the figure behind the 400 KB limit, capacity and paging.

Elsewhere: the same figures taken in passing while a value is admitted (codec.py).
"""

from collections.abc import Iterable

from tablewright.values.codec import Item, Value
from tablewright.values.numbers import stored_size

CONTAINER = 3
MEMBER = 1


def text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def binary_size(encoded: str) -> int:
    return len(encoded) // 4 * 3 - encoded.count("=", -2)


def size_of(value: Value) -> int:
    text = value.get("S")
    if text is not None:  # most values
        return len(text) if text.isascii() else len(text.encode())
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return stored_size(content)
        case "B":
            return binary_size(content)
        case "M":
            return CONTAINER + sum(MEMBER + text_size(k) + size_of(v) for k, v in content.items())
        case "L":
            return CONTAINER + sum(MEMBER + size_of(v) for v in content)
        case "SS":
            return sum(map(text_size, content))
        case "NS":
            return sum(map(stored_size, content))
        case "BS":
            return sum(map(binary_size, content))
        case _:
            return 1


def resized(old: Item, old_size: int, new: Item, names: Iterable[str]) -> int:
    """The size of `new`, which differs from `old`, of known size, in the attributes with these names at most."""
    size = old_size
    for name in names:
        before, after = old.get(name), new.get(name)
        if before is after:
            continue
        if before is not None and after is not None:
            size += size_of(after) - size_of(before)
        elif before is not None:
            size -= text_size(name) + size_of(before)
        elif after is not None:
            size += text_size(name) + size_of(after)
    return size


def item_size(item: Item) -> int:
    size = text_size("".join(item))
    for value in item.values():
        size += size_of(value)
    return size
