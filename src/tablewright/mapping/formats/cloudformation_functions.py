"""Functions of CloudFormation templates, with the defaults of their parameters. Pure.

    resolved({"Fn::Sub": "chat-${Stage}"}, template_of(template), "Chat", notes)  # "chat-prod"

Must hold: what cannot be known without a deployment (a resource, the account, a parameter without a default) is never
guessed: it is left out, and `notes` name it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_UNKNOWN, _OMITTED = object(), object()
_HOLE = re.compile(r"\$\{([^!}][^}]*)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """What functions refer to, by name. `conditions` are as they are written."""

    defaults: Mapping[str, Any]
    mappings: Mapping[str, Any]
    conditions: Mapping[str, Any]


def template_of(template: Mapping[str, Any]) -> Template:
    defaults = {
        name: said["Default"]
        for name, said in (template.get("Parameters") or {}).items()
        if isinstance(said, dict) and "Default" in said
    }
    return Template(defaults, template.get("Mappings") or {}, template.get("Conditions") or {})


def resolved(value: Any, template: Template, place: str, notes: list[str]) -> Any:
    """A value without functions; members that are not known are left out, and named in `notes`."""
    if isinstance(value, list):
        every = [resolved(each, template, f"{place}[{at}]", notes) for at, each in enumerate(value)]
        return [each for each in every if not _is_left_out(each)]
    if not isinstance(value, dict):
        return value
    if _is_function(value):
        name = next(iter(value))
        found = _called(name, value[name], template)
        if found is not _UNKNOWN:
            # What `Fn::If` chooses may have functions of its own.
            return resolved(found, template, place, notes) if name == "Fn::If" else found
        # A key of one's own is there, whatever its address.
        if place.endswith(".KMSMasterKeyId"):
            return ""
        notes.append(f"{place}: {name} is not resolved; the property is left out.")
        return found
    members = {name: resolved(each, template, f"{place}.{name}", notes) for name, each in value.items()}
    return {name: each for name, each in members.items() if not _is_left_out(each)}


def _is_left_out(value: Any) -> bool:
    return value is _UNKNOWN or value is _OMITTED


def _is_function(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and (next(iter(value)) == "Ref" or next(iter(value)).startswith("Fn::"))


def _known(value: Any, template: Template) -> Any:
    """An argument of a function; _UNKNOWN if any part of it is."""
    notes: list[str] = []
    found = resolved(value, template, "", notes)
    return _UNKNOWN if notes else found


def _called(name: str, given: Any, template: Template) -> Any:
    match name, given:
        case "Ref", "AWS::NoValue":
            return _OMITTED
        case "Ref", str():
            return template.defaults.get(given, _UNKNOWN)
        case "Fn::Sub", str():
            return _filled(given, template.defaults)
        case "Fn::Sub", [str() as text, dict() as more]:
            own = {hole: _known(each, template) for hole, each in more.items()}
            return _filled(text, {**template.defaults, **own})
        case "Fn::Join", [separator, list() as parts]:
            every = _known(parts, template)
            return every if every is _UNKNOWN else str(separator).join(map(_text, every))
        case "Fn::FindInMap", [_, _, _]:
            return _found_in_map(_known(given, template), template.mappings)
        case "Fn::If", [condition, yes, no]:
            is_true = _holds({"Condition": condition}, template)
            return _UNKNOWN if is_true is None else yes if is_true else no
    return _UNKNOWN


def _filled(text: str, values: Mapping[str, Any]) -> Any:
    if any(values.get(hole, _UNKNOWN) is _UNKNOWN for hole in _HOLE.findall(text)):
        return _UNKNOWN
    return _HOLE.sub(lambda hole: _text(values[hole[1]]), text)


def _found_in_map(names: Any, mappings: Mapping[str, Any]) -> Any:
    found: Any = _UNKNOWN if names is _UNKNOWN else mappings
    for name in () if names is _UNKNOWN else names:
        found = found.get(_text(name), _UNKNOWN) if isinstance(found, Mapping) else _UNKNOWN
    return found


def _text(value: Any) -> str:
    """A value as CloudFormation compares and joins it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- conditions ---


def _holds(condition: Any, template: Template, inside: Sequence[str] = ()) -> bool | None:
    """Whether a condition is true; None if that is not known. One that refers to itself is not."""
    if not isinstance(condition, dict) or len(condition) != 1:
        return None
    ((name, given),) = condition.items()
    if name == "Condition":
        known = isinstance(given, str) and given in template.conditions and given not in inside
        return _holds(template.conditions[given], template, (*inside, given)) if known else None
    if name == "Fn::Equals":
        both = _known(given, template)
        if both is _UNKNOWN or not isinstance(both, list) or len(both) != 2:
            return None
        return _text(both[0]) == _text(both[1])
    parts = [_holds(each, template, inside) for each in given] if isinstance(given, list) else []
    if name == "Fn::Not" and len(parts) == 1:
        return None if parts[0] is None else not parts[0]
    if name not in ("Fn::And", "Fn::Or") or not parts:
        return None
    decides: bool = name == "Fn::Or"
    if decides in parts:
        return decides
    return None if None in parts else not decides
