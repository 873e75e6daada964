"""Request shapes as data, and the service's messages for requests that do not fit them.

Two kinds of error, in the service's order: a wrong JSON type (SerializationException, the first one only), then
constraints (ValidationException, all of them in one message).
A member that the service has and this engine does not support is `refused`; a member that the shape does not have is
ignored, as on the service. Must hold: a verb gets only members of its shape; checking a request that fits takes one
pass and no allocation.
Elsewhere: attribute values (values.admit); rules between members (the verbs).
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import orjson

from tablewright.engine.errors import invalid, not_supported, serialization
from tablewright.values import BadValue, admit
from tablewright.values.codec import (
    NOT_UTF8,
    wrong_list,
    wrong_map,
    wrong_scalar,
    wrong_structure,
    wrong_value,
)

Request: TypeAlias = dict[str, Any]
Answer: TypeAlias = dict[str, Any]

_MOST_REPORTED = 10
ARN_LENGTH = 1024
# The years 1 to 9999, in seconds.
_MOMENTS = (-62_135_596_800, 253_402_300_799)
JAVA_MOST = {"Integer": 2**31 - 1, "Long": 2**63 - 1}
_PACKAGE = "com.amazonaws.dynamodb.v20120810."


class Wording(NamedTuple):
    """How a verb reports errors whose validation the service has replaced in 2026 (PutItem, GetItem, Query...).

    `counts`: each message begins with `1 validation error detected: `, those about values and expressions too.
    `joins`: an enum that is wrong is reported with the other constraints; otherwise it is reported alone.
    """

    counts: bool
    joins: bool = False


COUNTED = "1 validation error detected: "


@dataclass(frozen=True, slots=True)
class Text:
    """`restated` is how verbs with a newer wording print `one_of`."""

    least: int | None = None
    most: int | None = None
    pattern: str | None = None
    one_of: tuple[str, ...] | None = None
    or_arn: bool = False
    restated: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number; `java` is the service's name of its type. `terse`: see _violations."""

    least: int | None = None
    most: int | None = None
    java: str = "Integer"
    terse: bool = False


@dataclass(frozen=True, slots=True)
class Flag:
    pass


@dataclass(frozen=True, slots=True)
class Moment:
    """A time: seconds since 1970, with or without a fraction."""


@dataclass(frozen=True, slots=True)
class ListOf:
    member: "Shape"
    least: int | None = None
    most: int | None = None
    terse: bool = False


@dataclass(frozen=True, slots=True)
class MapOf:
    """`values` has the allowed lengths of its members where the service reports them on the whole map."""

    member: "Shape"
    least: int | None = None
    most: int | None = None
    key: Text | None = None
    values: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class AttributeValue:
    """Checked by values.admit, except that it must be a JSON object."""


@dataclass(frozen=True, slots=True)
class Struct:
    name: str
    members: Mapping[str, "Shape"]
    required: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    wording: Wording | None = None


Shape: TypeAlias = Text | Whole | Flag | Moment | ListOf | MapOf | AttributeValue | Struct
Fits: TypeAlias = Callable[[Any], bool]
_DICTS, _TEXTS = frozenset((dict,)), frozenset((str,))


def check(shape: Struct, request: Any) -> Request:
    """A request that does not fit by `predicate`, without members that its shape does not have.

    Raises what the service would for a request that does not fit its shape.
    """
    _raise_wrong_type(shape, request)
    # If a required member is missing, the service reports all constraints as before 2026.
    is_newer = shape.wording is not None and all(request.get(name) is not None for name in shape.required)
    if is_newer:
        _raise_alone(shape, request)
    mistakes = list(_violations(shape, request, "", "", is_newer))
    if mistakes:
        count = len(mistakes)
        reported = "; ".join(mistakes[:_MOST_REPORTED])
        raise invalid(f"{count} validation error{'s' if count > 1 else ''} detected: {reported}")
    _raise_refused(shape, request)
    known: Request = _known(shape, request)
    return known


def _raise_alone(shape: Struct, request: Request) -> None:
    """The errors that verbs with a newer wording report before all others, and alone."""
    for name in ("TableName", "RequestItems"):
        if name in shape.members and request.get(name) in ("", {}):
            raise invalid(
                f"{COUNTED}Value at '{name}' failed to satisfy constraint: "
                "Member must have length greater than or equal to 1"
            )
    wording = shape.wording
    if wording is not None and not wording.joins:
        for name, member in shape.members.items():
            value = request.get(name)
            if (
                isinstance(member, Text)
                and member.restated
                and value is not None
                and any(_constraints(member, value))
            ):
                raise invalid((COUNTED if wording.counts else "") + _restated(member))


def _restated(shape: Text) -> str:
    values = ", ".join(shape.restated or ())
    return f"Failed to satisfy constraint: Member must satisfy enum value set: [{values}]"


def _known(shape: Shape, content: Any) -> Any:
    """What fits the shape, without the members of structures that the shape does not have."""
    match shape:
        case Struct(_, members):
            return {
                name: None if value is None else _known(members[name], value)
                for name, value in content.items()
                if name in members
            }
        case ListOf(member):
            return [_known(member, value) for value in content]
        case MapOf(member):
            return {name: _known(member, value) for name, value in content.items()}
        case _:
            return content


def predicate(shape: Shape) -> Fits:
    """A fast check of the shape. False is not final: `check` then looks for the error."""
    match shape:
        case Struct():
            return _struct_fits(shape)
        case Text():
            return _text_fits(shape)
        case Flag():
            return lambda content: type(content) is bool
        case Whole(least, most):
            low = -JAVA_MOST[shape.java] if least is None else least
            high = JAVA_MOST[shape.java] if most is None else most
            return lambda content: type(content) is int and low <= content <= high
        case Moment():
            return _is_moment
        case AttributeValue():
            # The content is checked by values.admit.
            return lambda content: type(content) is dict
        case MapOf(AttributeValue()):
            return lambda content: type(content) is dict and _DICTS.issuperset(map(type, content.values()))
        case MapOf(Text(None, int() as longest, None, None), None, None, None, None):
            # Names of a few characters: together they are shorter than one may be.
            return lambda content: (
                type(content) is dict
                and _TEXTS.issuperset(map(type, content.values()))
                and (
                    len("".join(content.values())) <= longest
                    or all([len(value) <= longest for value in content.values()])
                )
            )
        case MapOf(member, least, most):
            inside = predicate(member)
            return lambda content: (
                type(content) is dict
                and _length_fits(content, least, most)
                and not any(_map_constraints(shape, content))
                and all([inside(value) for value in content.values()])
            )
        case ListOf(member, least, most):
            inside = predicate(member)
            return lambda content: (
                type(content) is list
                and _length_fits(content, least, most)
                and all([inside(value) for value in content])
            )


def _struct_fits(shape: Struct) -> Fits:
    members = {name: predicate(member) for name, member in shape.members.items()}
    required = shape.required

    def fits(content: Any) -> bool:
        if type(content) is not dict:
            return False
        for name, value in content.items():
            inside = members.get(name)
            if inside is None or (value is not None and not inside(value)):
                return False
        for name in required:  # noqa: SIM110 (making the generator for all() takes longer than this loop)
            if content.get(name) is None:
                return False
        return True

    return fits


def _text_fits(shape: Text) -> Fits:
    if shape.one_of is not None:
        known = frozenset(shape.one_of)
        return lambda content: type(content) is str and content in known
    least, most = shape.least, shape.most
    if shape.pattern is not None and shape.pattern.endswith("]+"):
        # One character class, repeated: the pattern checks the length as well.
        sized = re.compile(f"{shape.pattern[:-1]}{{{least or 1},{most or ''}}}").fullmatch
        return lambda content: type(content) is str and sized(content) is not None
    if shape.pattern is None and least is None:
        longest = sys.maxsize if most is None else most
        return lambda content: type(content) is str and len(content) <= longest
    matches = re.compile(shape.pattern).fullmatch if shape.pattern is not None else None
    return lambda content: (
        type(content) is str
        and _length_fits(content, least, most)
        and (matches is None or matches(content) is not None)
    )


def _is_moment(content: Any) -> bool:
    return type(content) in (int, float) and _MOMENTS[0] <= content <= _MOMENTS[1]


def _length_fits(content: Any, least: int | None, most: int | None) -> bool:
    return (least is None or len(content) >= least) and (most is None or len(content) <= most)


def _raise_wrong_type(shape: Shape, content: Any) -> None:
    """The first JSON value of the wrong type, depth first, in the order sent."""
    words = _wrong_type(shape, content)
    if words is not None:
        raise serialization(words)
    if isinstance(shape, AttributeValue):
        # Only JSON types are checked here; a bad value of the right types is refused later.
        with suppress(BadValue):
            admit(content)
    for member, value in _inside(shape, content):
        _raise_wrong_type(member, value)


def _inside(shape: Shape, content: Any) -> list[tuple[Shape, Any]]:
    """What stands directly inside, in the order sent: its shape and its value."""
    match shape:
        case Struct(_, members):
            inside = [(members[name], value) for name, value in content.items() if name in members]
        case MapOf(member):
            inside = [(member, value) for value in content.values()]
        case ListOf(member):
            inside = [(member, value) for value in content]
        case _:
            return []
    return [(member, value) for member, value in inside if value is not None]


def _wrong_type(shape: Shape, content: Any) -> str | None:
    match shape:
        case Text():
            return None if type(content) is str else wrong_scalar(content, "String")
        case Whole(java=java):
            fits = type(content) in (int, float) and abs(content) <= JAVA_MOST[java]
            return None if fits else wrong_scalar(content, java)
        case Flag():
            return None if type(content) is bool else wrong_scalar(content, "Boolean")
        case Moment():
            return None if _is_moment(content) else wrong_scalar(content, "Date")
        case ListOf():
            return None if type(content) is list else wrong_list(content)
        case MapOf():
            return None if type(content) is dict else wrong_map(content)
        case AttributeValue():
            return None if type(content) is dict else wrong_value(content)
        case Struct(name):
            return None if type(content) is dict else wrong_structure(content, _PACKAGE + name)


def _violations(
    shape: Shape, content: Any, path: str, plain_path: str, is_newer: bool = False
) -> Iterator[str]:
    """Each violated constraint as a message, outer before inner.

    A few members have a second validator on the service, which prints no value and the member's own spelling.
    """
    for constraint in _constraints(shape, content):
        if isinstance(shape, (Whole, ListOf)) and shape.terse:
            yield f"Value at '{plain_path}' failed to satisfy constraint: {constraint}"
        elif is_newer and isinstance(shape, Text) and shape.restated:
            yield _restated(shape)
        elif is_newer and isinstance(shape, MapOf):
            yield f"Value '{_json(content)}' at '{path}' failed to satisfy constraint: {constraint}"
        else:
            yield f"Value '{_java(shape, content)}' at '{path}' failed to satisfy constraint: {constraint}"
    for place, plain_place, member, value in _members(shape, content, path, plain_path):
        if value is None:
            yield f"Value null at '{place}' failed to satisfy constraint: Member must not be null"
        else:
            yield from _violations(member, value, place, plain_place, is_newer)


def _json(content: Any) -> str:
    try:
        return orjson.dumps(content).decode()
    except orjson.JSONEncodeError:
        raise serialization(NOT_UTF8) from None


def _members(shape: Shape, content: Any, path: str, plain: str) -> Iterator[tuple[str, str, Shape, Any]]:
    """The members: path in camel case, path as spelled, shape, value (None: required and missing)."""
    match shape:
        case Struct(_, members, required):
            dot = "." if path else ""
            for name, member in members.items():
                if content.get(name) is not None or name in required:
                    yield f"{path}{dot}{_camel(name)}", f"{plain}{dot}{name}", member, content.get(name)
        case ListOf(member):
            for number, value in enumerate(content, 1):
                yield f"{path}.{number}.member", f"{plain}.{number}.member", member, value
        case MapOf(member) if not isinstance(member, AttributeValue):
            for name, value in content.items():
                yield f"{path}.{name}.member", f"{plain}.{name}.member", member, value


def _constraints(shape: Shape, content: Any) -> Iterator[str]:
    match shape:
        case Text(least, most, pattern, one_of, or_arn):
            if one_of is not None:
                if content not in one_of:
                    yield f"Member must satisfy enum value set: [{', '.join(one_of)}]"
                return
            if or_arn and content.startswith("arn:"):
                yield from _length(content, 1, ARN_LENGTH)
                return
            if pattern is not None and not re.fullmatch(pattern, content):
                yield f"Member must satisfy regular expression pattern: {pattern}"
            yield from _length(content, least, most)
        case Whole(least, most):
            if least is not None and content < least:
                yield f"Member must have value greater than or equal to {least}"
            if most is not None and content > most:
                yield f"Member must have value less than or equal to {most}"
        case ListOf(_, least, most):
            yield from _length(content, least, most)
        case MapOf(_, least, most):
            yield from _length(content, least, most)
            yield from _map_constraints(shape, content)


def _map_constraints(shape: MapOf, content: Any) -> Iterator[str]:
    key = shape.key
    if key is not None and any(any(_constraints(key, name)) for name in content):
        yield (
            f"Map keys must satisfy constraint: [Member must have length less than or equal to {key.most}, "
            f"Member must have length greater than or equal to {key.least}, "
            f"Member must satisfy regular expression pattern: {key.pattern}]"
        )
    if shape.values is not None:
        least, most = shape.values
        if not all(isinstance(value, list) and least <= len(value) <= most for value in content.values()):
            yield (
                f"Map value must satisfy constraint: [Member must have length less than or equal to {most}, "
                f"Member must have length greater than or equal to {least}]"
            )


def _length(content: Any, least: int | None, most: int | None) -> Iterator[str]:
    if most is not None and len(content) > most:
        yield f"Member must have length less than or equal to {most}"
    if least is not None and len(content) < least:
        yield f"Member must have length greater than or equal to {least}"


def _java(shape: Shape, content: Any) -> str:
    """How the service prints a value: Java's toString."""
    if content is None:
        return "null"
    match shape:
        case Struct(name, members):
            inside = ", ".join(
                f"{_camel(key)}={_java(members[key], content[key])}"
                for key in members
                if content.get(key) is not None
            )
            return f"{name}({inside})"
        case ListOf(member):
            return f"[{', '.join(_java(member, value) for value in content)}]"
        case MapOf(member):
            return "{" + ", ".join(f"{key}={_java(member, value)}" for key, value in content.items()) + "}"
        case _:
            return str(content)


def _raise_refused(shape: Shape, content: Any) -> None:
    for name in shape.refused if isinstance(shape, Struct) else ():
        if content.get(name) is not None:
            raise not_supported(name)
    for member, value in _inside(shape, content):
        _raise_refused(member, value)


def _camel(name: str) -> str:
    return name[0].lower() + name[1:]
