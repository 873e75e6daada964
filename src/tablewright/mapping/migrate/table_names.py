"""The tables a request names; the same request with other names, its answer with those that were asked for. Pure."""

from collections.abc import Mapping
from typing import Any

_BY_TABLE = ("Responses", "UnprocessedKeys", "UnprocessedItems", "ItemCollectionMetrics")


def names_in(request: Mapping[str, Any]) -> frozenset[str]:
    """Every table that a request names as a table."""
    bodies = [request, *(body for action in _actions(request) for body in action.values())]
    found = [body.get("TableName") for body in bodies if isinstance(body, Mapping)]
    if isinstance(request.get("RequestItems"), Mapping):
        found += request["RequestItems"]
    return frozenset(name for name in found if isinstance(name, str))


def table_of(arn: str) -> str:
    """The name of the table that an ARN is of."""
    return arn.partition(":table/")[2].partition("/")[0]


def _actions(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    actions = request.get("TransactItems")
    return [one for one in actions if isinstance(one, Mapping)] if isinstance(actions, list | tuple) else []


def renamed(request: Mapping[str, Any], routes: Mapping[str, str]) -> Mapping[str, Any]:
    """The request, about the tables that its names lead to."""
    if all(name == end for name, end in routes.items()):
        return request
    made: dict[str, Any] = _about(request, routes)
    if isinstance(made.get("RequestItems"), Mapping):
        made["RequestItems"] = {routes.get(name, name): one for name, one in made["RequestItems"].items()}
    if _actions(request):
        made["TransactItems"] = [
            {verb: _about(body, routes) for verb, body in one.items()} for one in made["TransactItems"]
        ]
    return made


def _about(body: Any, names: Mapping[str, str]) -> Any:
    """An object with a TableName, about the table that the name leads to."""
    if not isinstance(body, Mapping):
        return body
    table = body.get("TableName")
    return {**body, "TableName": names.get(table, table)} if isinstance(table, str) else dict(body)


def restored(answer: dict[str, Any], routes: Mapping[str, str]) -> dict[str, Any]:
    """The answer, about the tables that were asked for."""
    names = {end: name for name, end in routes.items() if name != end}
    if not names:
        return answer
    made = dict(answer)
    for member in _BY_TABLE:
        if isinstance(made.get(member), dict):
            made[member] = {names.get(table, table): one for table, one in made[member].items()}
    spent = made.get("ConsumedCapacity")
    if spent is not None:
        made["ConsumedCapacity"] = (
            [_about(one, names) for one in spent] if isinstance(spent, list) else _about(spent, names)
        )
    return made
