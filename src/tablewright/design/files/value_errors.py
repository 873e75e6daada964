"""What is wrong with one value of a design file: what was found there, and what to write instead. Pure.

Must hold: no sentence of pydantic is shown as it is where a form of the file is known: durations, names, truths,
numbers, lists, objects, one of several texts.
Elsewhere: places and lines (errors.py).
"""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from tablewright.design.files.document import DURATION, NAME, names_at

_QUOTES = "write it in quotes, as text"
_PATTERNS = {
    DURATION: "write a number and days, hours, minutes or seconds, such as '90 days' or '15 minutes'",
    NAME: "write a name of letters, digits and _, such as orders_of",
}
_DURATIONS = ("period", "after")
_WANTED = {
    "bool": "true or false",
    "int": "a whole number, such as 35",
    "float": "a number, such as 2.5",
    "decimal": "a number, such as 2.5",
    "string": "a text",
    "list": "a list, such as [a, b]",
    "tuple": "a list, such as [a, b]",
}
_OBJECTS = ("model_type", "model_attributes_type", "dataclass_type", "dict_type")
UNKNOWN_KEYS = ("extra_forbidden", "unexpected_keyword_argument")
NUMBERS = ("int_type", "int_from_float", "float_type")


def why_of(
    kind: str, message: str, steps: Sequence[str | int], given: object, facts: Mapping[str, Any]
) -> str:
    """The sentence for an error of pydantic: `found 'soon'; write a number and days, ...`."""
    match kind:
        case "extra_forbidden" if steps[-1] == "optional":
            return "is a part of the type: write `type: string?`, or `type: {list: string, optional: true}`"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"is not known here; {_known(str(steps[-1]), names_at(steps[:-1]))}"
        case "missing" | "missing_argument":
            return f"is missing; write `{steps[-1]}: ...`"
        case "string_type" if steps[-1] in _DURATIONS and isinstance(given, int | float):
            return _found(given, _PATTERNS[DURATION])
        case "string_type" if isinstance(given, int | float):
            return f"is text, not {'a truth' if isinstance(given, bool) else 'a number'}: {_QUOTES}"
        case "string_type" if isinstance(given, dict) and len(given) == 1:
            # YAML: `pk: {user_id}` is an object, `pk: "{user_id}"` a template.
            return f"is text, not an object: {_QUOTES}"
        case "string_pattern_mismatch":
            return _found(given, _PATTERNS.get(facts["pattern"], "write a name without spaces"))
        case "literal_error":
            return _found(given, f"{_near(given, facts['expected'])}write {facts['expected']}")
        case "too_short" | "string_too_short":
            return "is empty; write at least one" if kind == "too_short" else "is empty; write a text"
        case "greater_than_equal":
            return _found(given, f"write at least {facts['ge']}")
    if kind in _OBJECTS:
        names = names_at(steps)
        return _found(given, f"write an object{' with ' if names else ''}{', '.join(names)}")
    wanted = _WANTED.get(kind.partition("_")[0])
    return message.removeprefix("Value error, ") if wanted is None else _found(given, f"write {wanted}")


def _found(given: object, write: str) -> str:
    return f"found {_shown(given)}; {write}"


def _shown(given: object) -> str:
    if isinstance(given, list | tuple | dict):
        return "an object" if isinstance(given, dict) else "a list"
    if given is None:
        return "nothing"
    text = json.dumps(given, ensure_ascii=False, default=str) if not isinstance(given, str) else f"'{given}'"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _near(given: object, expected: str) -> str:
    options = [each.strip("' ") for each in expected.replace(" or ", ", ").split(",")]
    near = get_close_matches(str(given), options, 1) if len(options) > 1 else []
    return f"did you mean '{near[0]}'? " if near else ""


def _known(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"did you mean '{near[0]}'?" if near else f"there may be {', '.join(known)}"
