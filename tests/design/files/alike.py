"""What two designs must have in common to be the same design: what they send, what they cost, what is found in them."""

from collections.abc import Iterator
from typing import Any

from tablewright.design import Design, EntitySpec
from tablewright.design.attributes import encode_item, without_none
from tablewright.design.cost import cost_of
from tablewright.design.patterns import get, query
from tablewright.design.policies import roles
from tablewright.design.review import review
from tablewright.design.review.designs import facts_of
from tablewright.design.vectors import SearchPlan
from tablewright.mapping.deployment import deployment_of
from tablewright.mapping.load.samples import sample_arguments, sample_item
from tablewright.mapping.read_requests import get_request, query_request
from tablewright.mapping.tables import table_requests


def everything(design: Design) -> dict[str, Any]:
    """What a design means, as values that two designs can be compared by."""
    environments = [None, *design.environments.values()]
    return {
        "tables": [table_requests(design, each) for each in environments],
        "items": {shape.tag: list(_items(shape)) for shape in design.shapes},
        "reads": {plan.name: [_request(plan, number) for number in (3, 77)] for plan in design.plans},
        "searches": [_search(each) for each in design.searches],
        "costs": [sorted(map(repr, cost_of(design, each).lines)) for each in environments if each],
        "findings": sorted(map(repr, review(facts_of(design)))),
        "roles": [
            [(role.name, sorted(map(repr, role.statements))) for role in roles(deployment)]
            for each in environments if each
            for deployment in [deployment_of(design.name, (design,), each)]
        ],
        "settings": [design.environments, design.alarms, design.accepted, design.principals],
        "promises": {
            shape.tag: (
                shape.version, shape.expires, shape.soft_delete, shape.states, shape.copies, set(shape.immutable),
                shape.data, shape.retention, shape.load, shape.about, shape.unique, dict(shape.derived),
                shape.parameters, shape.schema and (shape.schema.field, shape.schema.version),
            )
            for shape in design.shapes
        },
        "plans": {
            plan.name: (plan.about, plan.kind, plan.index, plan.descending, plan.consistent, plan.page, plan.at_most,
                        plan.roles, plan.load, plan.others, sorted(plan.signature.parameters),
                        [[one.stored for one in each.attributes] for each in plan.shapes])
            for plan in design.plans
        },
    }  # fmt: skip


def _search(plan: SearchPlan) -> Any:
    asked = {
        each.name: (without_none(each.annotation), each.default)
        for each in plan.signature.parameters.values()
    }
    return plan.name, plan.about, plan.index, plan.top, plan.load, asked, list(plan.shape.model.model_fields)


def _items(shape: EntitySpec) -> Iterator[Any]:
    """Keys, derived attributes and guards of some items, and the attributes that are stored of them."""
    for number in (0, 41, 12345):
        item = sample_item(shape, number)
        values = item.__dict__
        guards = [guard.key(values) for guard in shape.guards]
        yield shape.key_of(values), shape.derive(values), guards, encode_item(item, shape.attributes)


def _request(plan: Any, number: int) -> Any:
    arguments = sample_arguments(plan, number)
    if plan.kind == "get":
        return get_request(get(plan, arguments), str, plan.consistent)
    asked = query(plan, arguments)
    return [query_request(asked, partition, str, 0) for partition in asked.partitions]
