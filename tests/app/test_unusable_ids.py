"""Ids that cannot exist: every route of every system answers them with 4xx, to every role, in every place of a request.

The requests are made from the description of the API and from the routes of the console, so that a new route is in
here without being named. Every value is tried until somebody was let in; who comes after that tries one of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from tests.app.browsing import Enter, browsers
from tests.app.crawler import Crawler, crawling_as
from tests.app.small import SMALL

from tablewright.app.runtime import open_app
from tablewright.app.serve import app_of
from tablewright.edge import RateLimiter, serving_app
from tablewright.edge.rate_limit import Decision, RateLimit
from tablewright.edge.routes import query_names

UNUSABLE = {"none": "", "blank": " ", "long": "x" * 3000, "foreign": "zoë/🗺\u0000", "half": "\ud83d"}
ALL, ONE = tuple(UNUSABLE.values()), (UNUSABLE["foreign"],)
# What was sent may not have been looked at: to who may not, some routes say that there is nothing.
NOT_LOOKED_AT = (401, 403, 404)
PEOPLE = {
    "portal": ("admin_thandi", "support_sipho", "tenant"),
    "parental": ("parent_anna", "operator_olga", "support_sam", "gateway_east"),
    "campus": ("student_lin", "prof_brandt", "admin_kaya"),
    "travel": ("traveller_maya", "admin_ines"),
    "designs": ("engineer_rosa",),
}
PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
ID_FIELD = re.compile(r"(id|Id|phone|name|subject|code|sku|key|token|email|address|number)$")


@pytest.fixture(scope="module")
def app() -> Iterator[FastAPI]:
    with pytest.MonkeyPatch.context() as patch, open_app(memory=True, systems=SMALL, jobs=False) as runtime:
        patch.setattr(RateLimiter, "take", lambda self, key, pace: Decision(True, RateLimit(1, 1).burst, 0))
        yield app_of(runtime)


@pytest.fixture(scope="module")
def url(app: FastAPI) -> Iterator[str]:
    with serving_app(app) as served:
        yield served


@pytest.fixture(scope="module")
def enter(url: str) -> Iterator[Enter]:
    with browsers(url) as entered:
        yield entered


def signed_in(app: FastAPI, enter: Enter, system: str) -> Iterator[Crawler]:
    """One of each kind of person of a system, and one who is not signed in."""
    subjects = [person.subject for person in app.state.console.people]
    wanted = [next(one for one in subjects if one.startswith(start)) for start in PEOPLE[system]]
    for person in (*wanted, None):
        with crawling_as(enter(person, follow=False)) as crawler:
            yield crawler


def known_values(ask: Crawler, paths: Mapping[str, Any]) -> dict[str, str]:
    """A value for each parameter that the person can see one of: by the path of the list it is in, and by its name."""
    found: dict[str, str] = {}
    for path in sorted(paths, key=len):
        if "get" not in paths[path] or (filled := fill(path, found)) is None:
            continue
        answered = ask("GET", filled, headers={"Accept": "application/json"})
        if answered.status == 200 and "content-type: application/json" in answered.headers:
            for item in items_in(json.loads(answered.text)):
                found = named_in(item) | found
                for longer in paths:
                    hole = PARAMETER.match(longer, len(path) + 1) if longer.startswith(f"{path}/") else None
                    value = item.get(hole[1], item.get("id")) if hole else None
                    if hole and isinstance(value, str):
                        found.setdefault(longer[: hole.end()], value)
    return found


def named_in(item: Mapping[str, Any]) -> dict[str, str]:
    """The item's ids by the names of parameters: `fileId` is `file_id`."""
    names = {name: re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name) for name in item}
    return {names[key]: value for key, value in item.items() if key.endswith("Id") and isinstance(value, str)}


def items_in(answer: Any) -> list[dict[str, Any]]:
    lists = [answer] if isinstance(answer, list) else [v for v in answer.values() if isinstance(v, list)]
    return [item for each in lists for item in each if isinstance(item, dict)]


def fill(path: str, known: Mapping[str, str], changed: str = "", to: str = "") -> str | None:
    """The path with values for its parameters; `changed` is the one that becomes `to`."""
    filled, end = "", 0
    for hole in PARAMETER.finditer(path):
        is_changed = path[: hole.end()] == changed
        usable = known.get(path[: hole.end()], known.get(hole[1]))
        if not is_changed and usable is None and not changed:
            return None
        value = to if is_changed else usable or "unknown"
        filled += path[end : hole.start()] + quote(value, safe="", errors="surrogatepass")
        end = hole.end()
    return filled + path[end:]


def ids_in(schema: Mapping[str, Any], document: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """A body with an example for each required field and for each one that is an id."""
    schema = resolved(schema, document)
    if "properties" not in schema or depth > 3:
        return {}
    required = schema.get("required", ())
    return {
        name: example(part, document, depth + 1)
        for name, part in schema["properties"].items()
        if name in required or ID_FIELD.search(name)
    }


def resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema or "anyOf" in schema or "oneOf" in schema or "allOf" in schema:
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        else:
            schema = next(schema[name] for name in ("anyOf", "oneOf", "allOf") if name in schema)[0]
    return schema


def example(schema: Mapping[str, Any], document: Mapping[str, Any], depth: int) -> Any:
    schema = resolved(schema, document)
    if "enum" in schema or "const" in schema or "default" in schema:
        return schema.get("const", schema.get("default", (schema.get("enum") or [None])[0]))
    match schema.get("type"):
        case "object":
            return ids_in(schema, document, depth)
        case "array":
            return [example(schema.get("items", {}), document, depth)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
    examples = {"date": "2026-11-01", "date-time": "2026-11-01T10:00:00Z", "email": "a@b.example"}
    return examples.get(schema.get("format", ""), "x" * max(1, schema.get("minLength", 1)))


def with_each_text(body: Any, value: str) -> Iterator[Any]:
    """The body with one of its texts replaced, for each of them."""
    pairs: Any = body.items() if isinstance(body, dict) else enumerate(body)
    for name, part in list(pairs):
        changed = [value] if isinstance(part, str) else []
        if isinstance(part, dict | list):
            changed = list(with_each_text(part, value))
        for other in changed:
            yield {**body, name: other} if isinstance(body, dict) else [other]


def requests_of(
    path: str,
    method: str,
    operation: Mapping[str, Any],
    document: Mapping[str, Any],
    known: dict[str, str],
    values: Sequence[str],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every request to this operation with an unusable value in one place."""
    holes = [path[: hole.end()] for hole in PARAMETER.finditer(path)]
    queries = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    body = ids_in(content.get("schema", {}), document) if content else None
    given = sent(body)
    for value in values:
        for hole in holes:
            yield fill(path, known, hole, value) or "", given
    unknown = {hole[1]: "unknown" for hole in PARAMETER.finditer(path)}
    filled = fill(path, unknown | known) or ""
    for value in values:
        for name in queries:
            yield f"{filled}?{name}={quote(value, safe='', errors='surrogatepass')}", given
        for changed in with_each_text(body, value) if body and method != "delete" else ():
            yield filled, sent(changed)


def sent(body: Any) -> dict[str, Any]:
    headers = {"Idempotency-Key": "unusable-ids", "If-Match": "*", "Content-Type": "application/json"}
    return {"headers": headers} | ({"content": json.dumps(body)} if body is not None else {})


@pytest.mark.parametrize("system", ["portal", "parental", "campus", "travel"])
def test_no_route_of_the_api_takes_an_id_that_cannot_exist_for_a_fault_of_ours(
    app: FastAPI, enter: Enter, system: str
) -> None:
    document = app.openapi()
    paths = {path: one for path, one in document["paths"].items() if path.startswith(f"/{system}/")}
    broken: set[tuple[str, str, int]] = set()
    let_in: set[tuple[str, str]] = set()
    count = 0
    for ask in signed_in(app, enter, system):
        known = known_values(ask, paths)
        for path, operations in paths.items():
            for method, operation in operations.items():
                values = ONE if (method, path) in let_in else ALL
                for target, given in requests_of(path, method, operation, document, known, values):
                    answered = ask(method.upper(), target, **given)
                    count += 1
                    if answered.status == 401:
                        break
                    if answered.status not in NOT_LOOKED_AT:
                        let_in.add((method, path))
                    if answered.status >= 500 and "APPLE_UNAVAILABLE" not in answered.text:
                        broken.add((method, path, answered.status))
    assert broken == set()
    assert count > 500


def pages_of(app: FastAPI, system: str) -> Iterator[tuple[str, str, list[str]]]:
    """Method, path and query parameters of the console's routes below a system's path."""
    for route in iter_route_contexts(app.routes):
        path = route.path or ""
        if isinstance(route.original_route, APIRoute) and path.startswith(f"/console/{system}"):
            queries = sorted(query_names(route.dependant))
            for method in route.methods or ():
                yield method, path, queries if method == "GET" else []


def targets_of(path: str, queries: list[str], values: Sequence[str]) -> Iterator[str]:
    """The page's address with an unusable value in one place."""
    holes = [path[: hole.end()] for hole in PARAMETER.finditer(path)]
    filled = fill(path, dict.fromkeys(holes, "unknown"))
    for value in values:
        for hole in holes:
            yield fill(path, {}, hole, value) or ""
        for name in queries:
            yield f"{filled}?{name}={quote(value, safe='', errors='surrogatepass')}"


@pytest.mark.parametrize("system", ["portal", "parental", "campus", "travel", "designs"])
def test_no_page_takes_an_id_that_cannot_exist_for_a_fault_of_ours(
    app: FastAPI, enter: Enter, system: str
) -> None:
    broken: set[tuple[str, str, int]] = set()
    let_in: set[tuple[str, str]] = set()
    count = 0
    for ask in signed_in(app, enter, system):
        for method, path, queries in pages_of(app, system):
            for target in targets_of(path, queries, ONE if (method, path) in let_in else ALL):
                status = ask(method, target).status
                count += 1
                if status not in (303, *NOT_LOOKED_AT):
                    let_in.add((method, path))
                if status >= 500:
                    broken.add((method, path, status))
    assert broken == set()
    assert count > 50
