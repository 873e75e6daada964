"""An access pattern as a form, and what was typed as a request of it.

The form is made from the pattern's signature; what is typed is read by the parameter's own type, so a mistake is
shown beside its field. Elsewhere: the pages (patterns.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from tablewright.design import Get, Plan, Query
from tablewright.design.arguments import Argument, arguments_of
from tablewright.design.attributes import without_none
from tablewright.design.errors import DesignMistake
from tablewright.design.patterns import bound, get, query
from tablewright.edge.field_errors import field_error
from tablewright.mapping import Meter
from tablewright.mapping.meter import Spent
from tablewright.pages.forms import Form, FormWrong
from tablewright.pages.words import label

_ASIDE = frozenset(("run", "after", "before", "deleted"))


@dataclass(frozen=True, slots=True)
class Asked:
    """One parameter as a field of a form."""

    name: str
    label: str
    input: str
    options: tuple[str, ...]
    required: bool
    help: str


def fields(plan: Plan) -> list[Asked]:
    """A field for each parameter."""
    return [_asked(argument) for argument in arguments_of(plan.signature, plan.shapes[0])]


def _asked(argument: Argument) -> Asked:
    options, form, words = _form_of(without_none(argument.annotation)[0])
    return Asked(argument.name, label(argument.name), form, options, argument.is_required, words)


def _form_of(kind: Any) -> tuple[tuple[str, ...], str, str]:
    if get_origin(kind) is Literal:
        return tuple(map(str, get_args(kind))), "select", ""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind), "select", ""
    if kind is bool:
        return ("true", "false"), "select", ""
    if kind is int:
        return (), "number", "a whole number"
    if kind is datetime:
        return (), "text", "a time such as 2026-01-31T09:30:00Z; without a zone it is UTC"
    name = getattr(kind, "__name__", "text")
    return (), "date" if name == "date" else "text", {"Decimal": "a number"}.get(name, "")


def typed(plan: Plan, form: Form) -> dict[str, Any]:
    """The arguments that were typed; FormWrong says what does not fit."""
    found: dict[str, Any] = {}
    wrong = form
    for argument in arguments_of(plan.signature, plan.shapes[0]):
        text, asked = form.get(argument.name).strip(), _asked(argument)
        if not text:
            if asked.required:
                wrong = wrong.wrong(argument.name, f"{asked.label} is required.")
            elif not argument.has_default:
                found[argument.name] = None
            continue
        try:
            found[argument.name] = argument.read(text)
        except ValidationError as mistakes:
            told = field_error({**mistakes.errors()[0], "loc": ("query", asked.label)})
            wrong = wrong.wrong(argument.name, told.message)
    if wrong.errors:
        raise FormWrong(wrong)
    return found


def request_of(plan: Plan, arguments: Mapping[str, Any], form: Form) -> Get[Any] | Query[Any]:
    """The request the pattern makes; FormWrong with the design's own sentence where a key cannot be made."""
    given = bound(plan.signature, (), arguments)
    try:
        return get(plan, given) if plan.kind == "get" else query(plan, given)
    except DesignMistake as mistake:
        raise FormWrong(Form(form.values, form.errors, f"{mistake}.")) from None


def is_asked(form: Form) -> bool:
    """Whether the form was sent, rather than opened."""
    return "run" in form.values or any(text for name, text in form.values.items() if name not in _ASIDE)


class RunMeter(Meter):
    """Counts for the pattern's own meter, and apart what this one run cost."""

    def __init__(self, main: Meter) -> None:
        super().__init__()
        self._main = main

    def count(self, name: str, verb: str, answer: Mapping[str, Any], calls: int = 1) -> float:
        self._main.count(name, verb, answer, calls)
        return super().count(name, verb, answer, calls)

    @property
    def total(self) -> Spent:
        return sum(self.spent().values(), Spent())
