"""Forms: what was typed, what is wrong with it and where. Nothing typed is ever lost.

A page shows a Form; a handler takes one (`posted`), reads it into a model (`read`) or catches the domain's refusal
(`refused`), and shows the same Form again with the sentence beside the field it is about.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, ValidationError

from tablewright.edge.field_errors import field_error
from tablewright.edge.problems import Problem, bad_request
from tablewright.pages.words import label

M = TypeVar("M", bound=BaseModel)
_MOST_FIELDS = 500


@dataclass(frozen=True, slots=True)
class Form:
    """Values as typed, by field; mistakes by field; and what is wrong with the whole."""

    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    def get(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def is_ticked(self, name: str) -> bool:
        return name in self.values

    @property
    def is_wrong(self) -> bool:
        return bool(self.errors or self.error)

    def wrong(self, name: str, sentence: str) -> "Form":
        """The same form with a mistake beside a field."""
        return replace(self, errors={**self.errors, name: sentence})

    def refused(self, problem: Problem) -> "Form":
        """The same form with the server's refusal, beside its field where it names one that was typed."""
        found = self
        for each in problem.extra.get("errors", ()):
            if each.get("field") in self.values:
                found = found.wrong(each["field"], each["message"])
        if problem.field is not None and problem.field in self.values:
            return found.wrong(problem.field, problem.message)
        return found if found.errors else replace(found, error=problem.message)


class FormWrong(Exception):
    """What was typed does not fit; `form` says where."""

    def __init__(self, form: Form) -> None:
        super().__init__("the form was filled in wrongly")
        self.form = form


def form_of(model: BaseModel | Mapping[str, Any]) -> Form:
    """A form filled in with what there is; what is absent stays empty."""
    given = model.model_dump(mode="json", by_alias=True) if isinstance(model, BaseModel) else model
    return Form(
        {name: _typed(value) for name, value in given.items() if value is not None and value is not False}
    )


def _typed(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "on" if value is True else str(value)


def read(form: Form, model: type[M], **others: Any) -> M:
    """The model that was typed; FormWrong says what does not fit. `others` are values nobody types."""
    typed = {name: text for name, text in form.values.items() if text.strip()}
    try:
        return model.model_validate({**typed, **others})
    except ValidationError as mistakes:
        found = form
        for error in mistakes.errors():
            mistake = field_error({**error, "loc": ("body", *error["loc"])})
            name = mistake.field or ""
            sentence = mistake.message.replace(name, label(name), 1) if name else mistake.message
            found = found.wrong(name, sentence) if name else replace(found, error=sentence)
        raise FormWrong(found) from None


async def posted(request: Request) -> Form:
    """A dependency: the form a browser sent. Of a field sent twice, the lines are joined."""
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except (UnicodeDecodeError, ValueError):
        raise bad_request("BAD_FORM", "This is not a form as browsers send it.") from None
    values: dict[str, str] = {}
    for name, text in pairs:
        clean = text.replace("\r\n", "\n")
        values[name] = f"{values[name]}\n{clean}" if name in values else clean
    return Form(values)


def asked(request: Request) -> Form:
    """A dependency: a form whose answers are in the address, so that the page can be shared."""
    return Form(dict(request.query_params.items()))
