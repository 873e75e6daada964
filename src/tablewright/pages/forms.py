"""Forms: typed values and their errors by field. Nothing typed is ever lost.

A page shows a Form; a handler takes one (`posted`), reads it into a model (`read`) or catches the domain's error
(`refused`), and shows the same Form again with the sentence beside its field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from tablewright.edge.errors import CallerError, problem_for
from tablewright.edge.field_errors import field_error
from tablewright.edge.problems import bad_request
from tablewright.pages.multipart import MOST_PARTS, FormPart, boundary_of, parts_of
from tablewright.pages.words import label

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Form:
    """Values as typed and errors, by field; and an error of the form as a whole; the files that were chosen."""

    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    files: Mapping[str, FormPart] = field(default_factory=dict)

    def get(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def is_ticked(self, name: str) -> bool:
        return name in self.values

    @property
    def is_wrong(self) -> bool:
        return bool(self.errors or self.error)

    def wrong(self, name: str, sentence: str) -> "Form":
        """The same form with an error beside a field."""
        return replace(self, errors={**self.errors, name: sentence})

    def refused(self, mistake: "FormWrong | CallerError") -> "Form":
        """The same form with its errors, or with the domain's error beside its field if the form has that field."""
        if isinstance(mistake, FormWrong):
            return replace(self, errors=mistake.form.errors, error=mistake.form.error)
        found, problem = self, problem_for(mistake)
        for each in problem.extra.get("errors", ()):
            if each.get("field") in self.values:
                found = found.wrong(each["field"], each["message"])
        if problem.field is not None and problem.field in self.values:
            return found.wrong(problem.field, problem.message)
        return found if found.errors else replace(found, error=problem.message)


class FormWrong(Exception):
    """The form has errors; `form` has them by field."""

    status = 422

    def __init__(self, form: Form) -> None:
        super().__init__("the form was filled in wrongly")
        self.form = form


def form_of(model: BaseModel | Mapping[str, Any]) -> Form:
    """A form filled in from a model; absent values stay empty."""
    given = model.model_dump(mode="json", by_alias=True) if isinstance(model, BaseModel) else model
    return Form(
        {name: _typed(value) for name, value in given.items() if value is not None and value is not False}
    )


def _typed(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "on" if value is True else str(value)


def read(form: Form, model: type[M], **others: Any) -> M:
    """The model made from the typed values; FormWrong has the errors. `others` are further values."""
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
        pairs, files = _sent(body, boundary_of(request.headers.get("content-type", "")))
    except ValueError:
        raise bad_request("BAD_FORM", "The request body is not a valid form.") from None
    values: dict[str, str] = {}
    for name, text in pairs:
        clean = text.replace("\r\n", "\n")
        values[name] = f"{values[name]}\n{clean}" if name in values else clean
    return Form(values, files=files)


def _sent(body: bytes, boundary: bytes | None) -> tuple[list[tuple[str, str]], dict[str, FormPart]]:
    """The fields and the files of a body; a file field that was left empty is neither."""
    if boundary is None:
        return parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_PARTS), {}
    parts = list(parts_of(body, boundary))
    files = {each.name: each for each in parts if each.filename}
    return [(each.name, each.content.decode()) for each in parts if each.filename is None], files


def asked(request: Request) -> Form:
    """A dependency: a form whose answers are in the address, so that the page can be shared."""
    return Form(dict(request.query_params.items()))


Posted = Annotated[Form, Depends(posted)]
Asked = Annotated[Form, Depends(asked)]
