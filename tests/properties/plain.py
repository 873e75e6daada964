"""Attribute values in plain Python, for the model: their one spelling, their order, their size.

Must hold: nothing here comes from tablewright.values; the two are compared, so they must not share code.
"""

from base64 import b64decode
from decimal import Context, Decimal
from typing import Any

Value = dict[str, Any]
Item = dict[str, Value]

MOST_DIGITS = 38
# Python's own context would round to 28 digits.
_EXACT = Context(prec=400)


def settled(value: Value) -> Value:
    """The value as the engine must give it back."""
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return {"N": plain(Decimal(content))}
        case "NS":
            return {"NS": [plain(n) for n in sorted(Decimal(n) for n in content)]}
        case "SS":
            return {"SS": sorted(content)}
        case "BS":
            return {"BS": sorted(content, key=b64decode)}
        case "L":
            return {"L": [settled(member) for member in content]}
        case "M":
            return {"M": settled_item(content)}
        case _:
            return value


def settled_item(item: Item) -> Item:
    return {name: settled(value) for name, value in item.items()}


def plain(number: Decimal) -> str:
    text = format(number.normalize(_EXACT), "f")
    return "0" if number == 0 else text


def added(left: str, right: str, sign: int = 1) -> str | None:
    """left + right in plain decimal; None where DynamoDB cannot keep the sum."""
    total = _EXACT.add(Decimal(left), _EXACT.multiply(Decimal(sign), Decimal(right))).normalize(_EXACT)
    if total == 0:
        return "0"
    fits = len(total.as_tuple().digits) <= MOST_DIGITS and -130 <= total.adjusted() <= 125
    return plain(total) if fits else None


def order(value: Value) -> Any:
    """What S, N and B values sort by, each among its own kind."""
    ((kind, content),) = value.items()
    if kind == "N":
        return Decimal(content)
    return b64decode(content) if kind == "B" else content.encode()


def length(value: Value) -> int | None:
    """What size() says; None where it says nothing."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode("utf-16-le")) // 2
        case "B":
            return len(b64decode(content))
        case "SS" | "NS" | "BS" | "L" | "M":
            return len(content)
        case _:
            return None


def size(value: Value) -> int:
    """Bytes, by the recipe of the fact sheet."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return len(b64decode(content))
        case "N":
            return number_size(Decimal(content))
        case "SS":
            return sum(len(member.encode()) for member in content)
        case "NS":
            return sum(number_size(Decimal(member)) for member in content)
        case "BS":
            return sum(len(b64decode(member)) for member in content)
        case "L":
            return 3 + sum(1 + size(member) for member in content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + size(member) for name, member in content.items())
        case _:
            return 1


def item_size(item: Item) -> int:
    return sum(len(name.encode()) + size(value) for name, value in item.items())


def number_size(number: Decimal) -> int:
    """One byte, one per base-100 digit between the first and the last that is not zero, one for a minus."""
    if number == 0:
        return 1
    sign, digits, exponent = number.normalize(_EXACT).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)) + "0" * (exponent % 2)
    return min(1 + (len(text) + 1) // 2 + sign, 21)
