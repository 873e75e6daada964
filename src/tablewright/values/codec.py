"""The gate every attribute value passes: is it well formed, what is its one spelling, what does it weigh.

Must hold: `admit` never changes what it was given; a value that is already canonical is returned as it
is, so the common case copies nothing. What passes is at most 31 containers deep.
Elsewhere: the weight of values that are already inside (sizes.py).
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from typing import Any, TypeAlias

from tablewright.values.numbers import BadValue, sort_key, weigh

# One attribute value in wire form. Exactly one member; `Any` because the wire is not ours to type.
Value: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, Value]

MAX_CONTAINERS = 31
MAX_NAME_BYTES = 65535
KINDS = frozenset(("S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"))

_INVALID = "One or more parameter values were invalid: "
EMPTY_VALUE = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
TWO_KINDS = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
NULL_IS_TRUE = _INVALID + "Null attribute value types must have the value of true"
NOT_UTF8 = "Invalid UTF-8: the text holds half of a surrogate pair"
_UNEXPECTED_MAP = "Start of structure or map found where not expected"
EMPTY_NAME = "Empty attribute name"
LONG_NAME = "Attribute name is too large, must be at most 65535 bytes"
EMPTY_SETS = {
    "SS": _INVALID + "An string set  may not be empty",
    "NS": _INVALID + "An number set  may not be empty",
    "BS": _INVALID + "Binary sets should not be empty",
}


class WrongJson(ValueError):
    """A JSON type where another is expected; the service calls this a SerializationException."""


def admit_item(item: Item) -> tuple[Item, int]:
    """The canonical item and its size in bytes."""
    return _admit_members(item, 0, 0)


def _admit_members(members: dict[str, Any], depth: int, overhead: int) -> tuple[Item, int]:
    """The attributes of an item or a map; `overhead` is what each costs besides name and value."""
    names = "".join(members)
    plain = names.isascii() and len(names) <= MAX_NAME_BYTES and "" not in members
    size = overhead * len(members) + (len(names) if plain else 0)
    changed: Item | None = None
    for name, value in members.items():
        if not plain:
            size += name_size(name)
        # Most attributes are plain texts or numbers: this is `admit` for them without the call.
        if type(value) is dict and len(value) == 1:
            if "S" in value:
                text = value["S"]
                if type(text) is str and text.isascii():
                    size += len(text)
                    continue
            elif "N" in value:
                text = value["N"]
                if type(text) is str:
                    canonical, weight = weigh(text)
                    size += weight
                    if canonical != text:
                        changed = dict(members) if changed is None else changed
                        changed[name] = {"N": canonical}
                    continue
            elif "BOOL" in value and type(value["BOOL"]) is bool:
                size += 1
                continue
        new, weight = admit(value, depth)
        size += weight
        if new is not value:
            changed = dict(members) if changed is None else changed
            changed[name] = new
    return (members if changed is None else changed), size


def admit(value: Any, depth: int = 0) -> tuple[Value, int]:
    """The canonical value and its size in bytes."""
    if type(value) is not dict:
        raise WrongJson(wrong_value(value))
    if len(value) != 1:
        value = _only_known(value)
    for kind, content in value.items():
        if kind == "S":
            if type(content) is not str:
                raise _wrong(content, wrong_scalar(content, "String"))
            return value, (len(content) if content.isascii() else len(_utf8(content)))
        if kind == "N":
            if type(content) is not str:
                raise _wrong(content, wrong_scalar(content, "String"))
            text, size = weigh(content)
            return (value if text == content else {"N": text}), size
        if kind == "M":
            return _admit_map(value, content, depth + 1)
        if kind == "L":
            return _admit_list(value, content, depth + 1)
        if kind == "BOOL" or kind == "NULL":
            return _admit_flag(value, kind, content)
        if kind == "B":
            encoded, length = _binary(content)
            return (value if encoded == content else {"B": encoded}), length
        if kind in EMPTY_SETS:
            return _admit_set(value, kind, content)
    return admit(_only_known(value), depth)


def _only_known(value: Value) -> Value:
    """The value without members the service does not know and without nulls, which it does not see."""
    known = {kind: content for kind, content in value.items() if kind in KINDS and content is not None}
    if not known:
        raise BadValue(EMPTY_VALUE)
    if len(known) > 1:
        raise BadValue(TWO_KINDS)
    return known


def _admit_map(value: Value, content: Any, depth: int) -> tuple[Value, int]:
    if type(content) is not dict:
        raise _wrong(content, wrong_map(content))
    if depth > MAX_CONTAINERS:
        raise BadValue(TOO_DEEP)
    members, size = _admit_members(content, depth, 1)
    return (value if members is content else {"M": members}), size + 3


def _admit_list(value: Value, content: Any, depth: int) -> tuple[Value, int]:
    if type(content) is not list:
        raise _wrong(content, wrong_list(content))
    if depth > MAX_CONTAINERS:
        raise BadValue(TOO_DEEP)
    size = 3
    changed: list[Value] | None = None
    for place, member in enumerate(content):
        if type(member) is dict and len(member) == 1 and "S" in member:
            text = member["S"]
            if type(text) is str and text.isascii():
                size += 1 + len(text)
                continue
        new, weight = admit(member, depth)
        size += 1 + weight
        if new is not member:
            changed = list(content) if changed is None else changed
            changed[place] = new
    return (value if changed is None else {"L": changed}), size


def _admit_flag(value: Value, kind: str, content: Any) -> tuple[Value, int]:
    if type(content) is not bool:
        raise _wrong(content, wrong_scalar(content, "Boolean"))
    if kind == "NULL" and not content:
        raise BadValue(NULL_IS_TRUE)
    return value, 1


def _admit_set(value: Value, kind: str, content: Any) -> tuple[Value, int]:
    if type(content) is not list:
        raise _wrong(content, wrong_list(content))
    if not content:
        raise BadValue(EMPTY_SETS[kind])
    if kind == "BS":
        binaries = [_binary(member) for member in content]
        members, size = [encoded for encoded, _ in binaries], sum(length for _, length in binaries)
    else:
        for member in content:
            if type(member) is not str:
                raise WrongJson(wrong_scalar(member, "String"))
        weighed = [weigh(m) for m in content] if kind == "NS" else [(m, len(_utf8(m))) for m in content]
        members, size = [member for member, _ in weighed], sum(weight for _, weight in weighed)
    if len(set(members)) != len(members):
        raise BadValue(_duplicates(kind, content), _quoted_duplicates(kind, content, members))
    ordered = sorted(members, key=_SET_ORDER[kind])
    return (value if ordered == content else {kind: ordered}), size


_SET_ORDER: dict[str, Callable[[str], Any]] = {"SS": str, "NS": sort_key, "BS": b64decode}


def _duplicates(kind: str, content: list[str]) -> str:
    if kind == "SS":
        return f"{_INVALID}Input collection [{', '.join(content)}] contains duplicates."
    if kind == "BS":
        return f"{_INVALID}Input collection [{', '.join(content)}]of type BS contains duplicates."
    return "Input collection contains duplicates"


def _quoted_duplicates(kind: str, content: list[str], members: list[str]) -> str:
    """The same since 2026: sorted up to the first member that is repeated, and from there as it was sent."""
    if kind == "NS":
        return f"{_INVALID}Input collection contains duplicates."
    first = next(place for place, member in enumerate(members) if member in members[:place])
    shown = [*sorted(content[:first], key=_SET_ORDER[kind]), *content[first:]]
    quoted = [f'"{member}"' for member in shown]
    if kind == "SS":
        return f"{_INVALID}Input collection [{', '.join(quoted)}] contains duplicates."
    return f"{_INVALID}Input collection [{','.join(quoted)}]of type BS contains duplicates."


def _binary(content: Any) -> tuple[str, int]:
    if type(content) is not str:
        raise _wrong(content, _wrong_binary(content))
    try:
        raw = b64decode(content.encode("ascii"), validate=True)
    except (NotBase64, UnicodeEncodeError):
        raise WrongJson(f"Invalid Base64 text: {content[:40]}") from None
    return b64encode(raw).decode(), len(raw)


def name_size(name: str) -> int:
    """The bytes of an attribute name; refuses one that no item can have."""
    if not name:
        raise BadValue(EMPTY_NAME)
    size = len(name) if name.isascii() else len(_utf8(name))
    if size > MAX_NAME_BYTES:
        raise BadValue(LONG_NAME)
    return size


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise WrongJson(NOT_UTF8) from None


def _wrong(content: Any, words: str) -> ValueError:
    # A null member is a member that was not sent.
    return BadValue(EMPTY_VALUE) if content is None else WrongJson(words)


def wrong_scalar(content: Any, wanted: str) -> str:
    """The service's words for a JSON value that should have been a String, Boolean, Integer, Long..."""
    if isinstance(content, bool):
        return f"{str(content).upper()}_VALUE cannot be converted to {wanted}"
    if isinstance(content, str):
        if wanted == "Boolean":
            return "Unexpected token received from parser"
        return f"STRING_VALUE cannot be converted to {wanted}"
    if isinstance(content, int):
        return f"NUMBER_VALUE cannot be converted to {wanted}"
    if isinstance(content, float):
        return f"DECIMAL_VALUE cannot be converted to {wanted}"
    if isinstance(content, list):
        return f"Unrecognized collection type class java.lang.{wanted}"
    return _UNEXPECTED_MAP


def _wrong_binary(content: Any) -> str:
    if isinstance(content, list):
        return "Unrecognized collection type class java.nio.ByteBuffer"
    if isinstance(content, dict):
        return _UNEXPECTED_MAP
    return "only base-64-encoded strings are convertible to bytes"


def wrong_list(content: Any) -> str:
    return _UNEXPECTED_MAP if isinstance(content, dict) else "Unexpected field type"


def wrong_map(content: Any) -> str:
    if isinstance(content, list):
        return (
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>"
        )
    return "Unexpected field type"


def wrong_value(content: Any) -> str:
    if isinstance(content, list):
        return "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"
    return "Unexpected value type in payload"


def wrong_structure(content: Any, shape: str) -> str:
    if isinstance(content, list):
        return f"Unrecognized collection type class {shape}"
    return "Unexpected field type"
