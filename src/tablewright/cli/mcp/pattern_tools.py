"""Each access pattern, vector search and entity of a design as a tool that reads.

An answer is a page: `items`, each with its entity, and `next`, the token of the next page or null.
Must hold: nothing is written; a page has at most MOST_ITEMS.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from tablewright.cli.mcp.masks import Show
from tablewright.cli.mcp.tools import Answer, Tool, of_parameters, optional, required, title_of, tool_name
from tablewright.design import Design, Entity, EntitySpec, Get, Plan, SearchPlan
from tablewright.design.arguments import arguments_of
from tablewright.design.patterns import bound, get, query
from tablewright.design.vectors import search
from tablewright.mapping import Db

MOST_ITEMS = 100
USUAL_ITEMS = 20
PAGE_SIZE, PAGE_TOKEN = "page_size", "page_token"


def read_tools(design: Design, db: Db, show: Show) -> Iterator[Tool]:
    """A tool for each pattern, each search, and each entity by its key."""
    for plan in design.plans:
        yield _get_tool(design, plan, db, show) if plan.kind == "get" else _query_tool(design, plan, db, show)
    for searched in design.searches:
        yield _search_tool(design, searched, db, show)
    for shape in design.shapes:
        yield _entity_tool(design, shape, db, show)


def _query_tool(design: Design, plan: Plan, db: Db, show: Show) -> Tool:
    most = min(plan.at_most, MOST_ITEMS)
    usual = min(plan.page, USUAL_ITEMS, most)
    shapes = {shape.model: shape for shape in plan.shapes}

    def request(given: Mapping[str, Any]) -> Any:
        return query(plan, bound(plan.signature, (), _without_pages(given)))

    def run(given: Mapping[str, Any]) -> Answer:
        page = db.page(request(given), size=given.get(PAGE_SIZE, usual), after=given.get(PAGE_TOKEN))
        items = [show(shapes[type(item)], item) for item in page.items]
        return Answer({"items": items, "next": page.next, "readUnits": page.read_units})

    size = optional(PAGE_SIZE, Annotated[int, Field(ge=1, le=most)], f"How many items; {usual} if left out.")
    token = optional(PAGE_TOKEN, str, "`next` of the page before, with the same other arguments.")
    return Tool(
        tool_name(design.name, plan.name),
        title_of(plan.name),
        _about(plan, f"A page of {_tags(plan)}{', last first' if plan.descending else ''}"),
        (*_parameters(plan), size, token),
        run,
        explain=lambda given: db.explain(request(given)),
    )


def _without_pages(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in (PAGE_SIZE, PAGE_TOKEN)}


def _get_tool(design: Design, plan: Plan, db: Db, show: Show) -> Tool:
    def request(given: Mapping[str, Any]) -> Get[Any]:
        return get(plan, bound(plan.signature, (), given))

    return Tool(
        tool_name(design.name, plan.name),
        title_of(plan.name),
        _about(plan, f"One {_tags(plan)}"),
        _parameters(plan),
        _one(db, show, plan.shapes[0], request),
        explain=lambda given: db.explain(request(given)),
    )


def _entity_tool(design: Design, shape: EntitySpec, db: Db, show: Show) -> Tool:
    entity: Entity[Any, Any] = Entity(shape, shape.model)

    def request(given: Mapping[str, Any]) -> Get[Any]:
        return entity.get(**given)

    about = f"{_sentence(shape.about)}One {shape.tag} of {design.name} by its key."
    return Tool(
        tool_name(design.name, shape.tag, "get"),
        f"{title_of(shape.tag)} by key",
        about,
        of_parameters(arguments_of(shape.key, shape), shape.key.parameters),
        _one(db, show, shape, request),
        explain=lambda given: db.explain(request(given)),
    )


def _one(
    db: Db, show: Show, shape: EntitySpec, request: Callable[[Mapping[str, Any]], Get[Any]]
) -> Callable[[Mapping[str, Any]], Answer]:
    def run(given: Mapping[str, Any]) -> Answer:
        item = db.one(request(given))
        return Answer({"items": [] if item is None else [show(shape, item)], "next": None})

    return run


def _search_tool(design: Design, plan: SearchPlan, db: Db, show: Show) -> Tool:
    size = plan.index.dimensions
    vector = Annotated[list[float], Field(min_length=size, max_length=size)]

    def request(given: Mapping[str, Any]) -> Any:
        arguments = {name: value for name, value in given.items() if name != "vector"}
        return search(plan, given["vector"], bound(plan.signature, (), arguments))

    def run(given: Mapping[str, Any]) -> Answer:
        found = db.search(request(given))
        return Answer(
            {"items": [show(plan.shape, each.item) | {"score": each.score} for each in found], "next": None}
        )

    about = f"{_sentence(plan.about)}The {plan.top} {plan.shape.tag} of {design.name} nearest to a vector."
    parameters = of_parameters(arguments_of(plan.signature, plan.shape), plan.signature.parameters)
    return Tool(
        tool_name(design.name, plan.name),
        title_of(plan.name),
        about,
        (required("vector", vector, f"{size} numbers"), *parameters),
        run,
        explain=lambda given: db.explain(request(given)),
    )


def _parameters(plan: Plan) -> tuple[Any, ...]:
    return of_parameters(arguments_of(plan.signature, plan.shapes[0]), plan.signature.parameters)


def _tags(plan: Plan) -> str:
    return " and ".join(shape.tag for shape in plan.shapes)


def _about(plan: Plan, what: str) -> str:
    where = (
        f"index {plan.index.name} of table {plan.table.name}" if plan.index else f"table {plan.table.name}"
    )
    return f"{_sentence(plan.about)}{what}, from {where}."


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return f"{text.rstrip('.')}. " if text else ""
