"""The HTTP API as a page, made from its own OpenAPI description: no script, no CDN.

Elsewhere: schemas in words and examples (schema_words.py); the description itself is at /openapi.json.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response

from tablewright.app.schema_words import example_of, outline, type_of
from tablewright.edge.access import access_in
from tablewright.edge.problems import not_found
from tablewright.pages.layout import Console

_METHODS = ("get", "post", "put", "patch", "delete")
_HIDDEN_ANSWERS = frozenset(("4XX", "5XX"))


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    place: str
    type: str
    required: bool
    about: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path, ready to be shown."""

    id: str
    method: str
    path: str
    title: str
    about: str
    parameters: tuple[Parameter, ...]
    body: str
    answers: tuple[tuple[str, str, str], ...]
    curl: str
    access: str
    gives_token: bool


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    operations: tuple[Operation, ...]


def docs_router(console: Console, titles: Mapping[str, str]) -> APIRouter:
    router = console.router()

    # A server goes by few names; to make the sections takes a thousand times as long as to find them.
    @lru_cache(maxsize=4)
    def sections_at(app: FastAPI, base: str) -> list[Section]:
        return sections(app.openapi(), base)

    @router.get("/docs")
    def docs(request: Request) -> Response:
        base = str(request.base_url).rstrip("/")
        found = sections_at(request.app, base)
        tokens = [each for section in found for each in section.operations if each.gives_token]
        return console.page(
            request,
            "app/docs.html",
            title="API",
            sections=found,
            problem=_problem(),
            tokens=tokens,
            base=base,
        )

    # A page for each operation: all of them on one would weigh more than any other page of the console.
    @router.get("/docs/{id}")
    def operation(request: Request, id: str) -> Response:
        for section in sections_at(request.app, str(request.base_url).rstrip("/")):
            for each in section.operations:
                if each.id == id:
                    return console.page(
                        request, "app/operation.html", title=each.title, section=section, each=each
                    )
        raise not_found("NO_SUCH_OPERATION", "The API has no such operation, or it has been renamed.")

    return router


def sections(document: Mapping[str, Any], base: str) -> list[Section]:
    """The operations by tag, each tag in the order it first appears."""
    by_tag: dict[str, list[Operation]] = {}
    for tag, operation in _operations(document, base):
        by_tag.setdefault(tag, []).append(operation)
    return [Section(tag, tuple(operations)) for tag, operations in by_tag.items()]


def _operations(document: Mapping[str, Any], base: str) -> Iterator[tuple[str, Operation]]:
    known = document.get("components", {}).get("schemas", {})
    for path, methods in document.get("paths", {}).items():
        for method in _METHODS:
            if method in methods:
                told = methods[method]
                yield " · ".join(told.get("tags", ())) or "Other", _operation(path, method, told, known, base)


def _operation(
    path: str, method: str, told: Mapping[str, Any], known: Mapping[str, Any], base: str
) -> Operation:
    parameters = tuple(
        Parameter(
            each["name"],
            each["in"],
            type_of(each.get("schema", {}), known),
            bool(each.get("required")),
            each.get("description", ""),
        )
        for each in told.get("parameters", ())
    )
    body, access = _json_schema(told.get("requestBody", {})), access_in(told)
    answers = tuple(
        (
            status,
            answer.get("description", ""),
            outline(schema, known) if (schema := _json_schema(answer)) else "",
        )
        for status, answer in told.get("responses", {}).items()
        if status not in _HIDDEN_ANSWERS
    )
    return Operation(
        told["operationId"],
        method.upper(),
        path,
        told.get("summary", ""),
        told.get("description", ""),
        parameters,
        outline(body, known) if body else "",
        answers,
        _curl(method, base + path, parameters, example_of(body, known) if body else None, access is not None),
        access.words if access is not None else "no login",
        any(_has_token(answer, known) for answer in told.get("responses", {}).values()),
    )


def _has_token(answer: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    schema = _json_schema(answer)
    schema = known.get(schema.get("$ref", "").rpartition("/")[2], schema)
    return "token" in schema.get("properties", {})


def _json_schema(part: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = part.get("content", {}).get("application/json", {}).get("schema", {})
    return found


def _curl(method: str, url: str, parameters: tuple[Parameter, ...], body: Any, needs_login: bool) -> str:
    asked = "&".join(f"{each.name}=…" for each in parameters if each.place == "query" and each.required)
    verb = "curl" if method == "get" else f"curl -X {method.upper()}"
    parts = [f"{verb} '{url}{'?' + asked if asked else ''}'"]
    parts += [f"-H '{each.name}: …'" for each in parameters if each.place == "header" and each.required]
    if needs_login:
        parts.append('-H "Authorization: Bearer $TOKEN"')
    if body is not None:
        text = json.dumps(body, ensure_ascii=False).replace("'", "'\\''")
        parts += ["-H 'Content-Type: application/json'", f"-d '{text}'"]
    return " \\\n  ".join(parts)


def _problem() -> str:
    """What an error looks like: the same everywhere."""
    return json.dumps(
        {
            "type": "/problems/STALE",
            "title": "Stale",
            "status": 412,
            "detail": "It has changed since you read it. Read it again, then repeat your change.",
            "code": "STALE",
            "message": "It has changed since you read it. Read it again, then repeat your change.",
            "field": None,
            "requestId": "0b6c1f0e-8a55-4f0e-9d2b-6a1b7c3f9e10",
        },
        indent=2,
    )
