"""What is wrong with a design file, by its place and line: `line 12: tables[0].entities[2].sk: ...`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from tablewright.design.errors import DesignMistake
from tablewright.design.files.document import names_at
from tablewright.design.files.field_types import TAG
from tablewright.design.files.value_errors import NUMBERS, UNKNOWN_KEYS, why_of
from tablewright.design.near_names import near_name

WHOLE = "the file"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `line` is 0 as long as it is not known; `instead` is the name that an unknown key is
    meant to be, if there is one."""

    place: str
    why: str
    line: int = 0
    instead: str = ""

    def __str__(self) -> str:
        return f"{f'line {self.line}: ' if self.line else ''}{self.place}: {self.why}"


class DesignFileRefused(DesignMistake):
    """A file that does not say what a design is; `problems` are all that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, problems)))

    def at_lines(self, lines: Mapping[str, int]) -> "DesignFileRefused":
        """The same with lines, each that of the innermost part that is there."""
        found = [
            each if each.line else replace(each, line=line_of(each.place, lines)) for each in self.problems
        ]
        return DesignFileRefused(sorted(found, key=lambda each: each.line))


def problem(place: str, why: str, line: int = 0) -> DesignFileRefused:
    return DesignFileRefused([Problem(place or WHOLE, why, line)])


def line_of(place: str, lines: Mapping[str, int]) -> int:
    """The line of a place, or of the nearest part around it; what is missing at the top belongs on the first line."""
    while place not in lines:
        end = max(place.rfind("."), place.rfind("["))
        if end < 0:
            return min(1, lines.get("", 0))
        place = place[:end]
    return lines[place]


def place_of(steps: Sequence[str | int]) -> str:
    """`tables[0].pk`, of the steps from the top of the document; names of a union's members are left out."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not step.startswith(TAG):
            text += f".{step}" if text else step
    return text


def refused(error: ValidationError) -> DesignFileRefused:
    """Every problem that pydantic found, each place once."""
    found: dict[str, Problem] = {}
    for each in error.errors():
        # The two forms of a number are two errors, each with its type as the last step.
        steps = (
            each["loc"][:-1]
            if each["type"] in NUMBERS and each["loc"][-1] in ("int", "float")
            else each["loc"]
        )
        place = place_of(steps) or WHOLE
        kind = "float_type" if steps != each["loc"] else each["type"]
        why = why_of(kind, each["msg"], steps, each["input"], each.get("ctx", {}))
        is_key = each["type"] in UNKNOWN_KEYS
        # A name that is known elsewhere in the same object, as in a type, is not misspelt.
        known = [name for name in names_at(steps[:-1]) if name != steps[-1]]
        instead = near_name(str(steps[-1]), known) if is_key and steps[-1] != "optional" else ""
        found.setdefault(f"{place} {why}", Problem(place, why, instead=instead))
    return DesignFileRefused(list(found.values()))
