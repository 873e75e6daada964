"""Values as bytes that sort as DynamoDB sorts, and comparison of two values.

Must hold: no key part is a prefix of another, so parts can be joined and the joined bytes still sort
part by part. Text and binary end in 00 00, and a 00 inside them is written 00 FF.
"""

from base64 import b64decode
from decimal import Decimal

from tablewright.values.codec import Value
from tablewright.values.numbers import sort_key

ORDERED = frozenset("SNB")


def key_part(value: Value) -> bytes:
    """The whole of a key attribute, ready to be joined with the next."""
    text: str | None = value.get("S")
    if text is not None:
        return text.encode().replace(b"\0", b"\0\xff") + b"\0\0"
    if "N" in value:
        return sort_key(value["N"])
    return b64decode(value["B"]).replace(b"\0", b"\0\xff") + b"\0\0"


def key_prefix(value: Value) -> bytes:
    """What the key parts of all values beginning with `value` (text or binary) begin with."""
    return key_part(value)[:-2]


def compare(left: Value, right: Value) -> int | None:
    """Less than, equal to or more than 0; None where the two cannot be ordered."""
    ((kind, a),) = left.items()
    ((other, b),) = right.items()
    if kind != other or kind not in ORDERED:
        return None
    if a == b:
        return 0
    if kind == "S":
        # Code points sort as their UTF-8 bytes do.
        return -1 if a < b else 1
    if kind == "N":
        return -1 if Decimal(a) < Decimal(b) else 1
    return -1 if b64decode(a) < b64decode(b) else 1
