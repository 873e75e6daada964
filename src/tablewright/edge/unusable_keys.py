"""Values that cannot be a key in the store, because they are empty or too long: an error of the caller.

In a path it names something that cannot exist: 404. In the query or the body it is a field to correct: 422, with the
field's name. Must hold: the response never repeats the value.
"""

import json
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI, Request, Response

from tablewright.edge.field_errors import field_path
from tablewright.edge.problems import Problem, answer, not_found, unprocessable
from tablewright.edge.request_bodies import body_of

_LONG = 512  # shorter texts do not make a key too long


def refuse_unusable_values(app: FastAPI, kinds: tuple[type[Exception], ...]) -> None:
    """Answer these errors of the store. Their `value` is the text that was refused; without it, it was too long."""

    async def on_unusable(request: Request, error: Exception) -> Response:
        return answer(unusable_value(request, error), request.scope)

    app.state.unusable = kinds
    for kind in kinds:
        app.add_exception_handler(kind, on_unusable)


def unusable_value(request: Request, error: Exception) -> Problem:
    """The problem, by where the value is in the request."""
    value: str | None = getattr(error, "value", None)
    if any(_is_refused(given, value) for given in request.path_params.values()):
        return not_found("NOT_FOUND", "There is nothing with this id.")
    fields = [*request.query_params.multi_items(), *_texts_in_body(request)]
    field = next((name for name, given in fields if _is_refused(given, value)), None)
    why = "must not be empty" if value is not None else "is too long"
    return unprocessable("INVALID_FIELD", f"{field or 'A field'} {why}.", field)


def _is_refused(given: object, value: str | None) -> bool:
    if not isinstance(given, str):
        return False
    return len(given) > _LONG if value is None else given.strip() == value.strip()


def _texts_in_body(request: Request) -> Iterator[tuple[str | None, str]]:
    try:
        yield from _texts(json.loads(body_of(request.scope)), ())
    except ValueError:
        return  # a form, or nothing


def _texts(part: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | None, str]]:
    if isinstance(part, str):
        yield field_path(path), part
    elif isinstance(part, dict):
        for name, inner in part.items():
            yield from _texts(inner, (*path, name))
    elif isinstance(part, list):
        for at, inner in enumerate(part):
            yield from _texts(inner, (*path, at))
