"""The tables a request names; the same request with other names, its answer with those that were asked for. Pure."""

from collections.abc import Mapping
from typing import Any

_BY_TABLE = ("Responses", "UnprocessedKeys", "UnprocessedItems", "ItemCollectionMetrics")


def names_in(request: Mapping[str, Any]) -> frozenset[str]:
    """Every table that a request names as a table."""
    found = {request["TableName"]} if isinstance(request.get("TableName"), str) else set[str]()
    if isinstance(request.get("RequestItems"), Mapping):
        found |= {name for name in request["RequestItems"] if isinstance(name, str)}
    for one in _actions(request):
        found |= {
            body["TableName"]
            for body in one.values()
            if isinstance(body, Mapping) and isinstance(body.get("TableName"), str)
        }
    return frozenset(found)


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
    made = dict(request)
    if "TableName" in made:
        made["TableName"] = routes.get(made["TableName"], made["TableName"])
    if isinstance(made.get("RequestItems"), Mapping):
        made["RequestItems"] = {routes.get(name, name): one for name, one in made["RequestItems"].items()}
    if _actions(request):
        made["TransactItems"] = [_action(one, routes) for one in made["TransactItems"]]
    return made


def _action(action: Mapping[str, Any], routes: Mapping[str, str]) -> dict[str, Any]:
    return {
        verb: {**body, "TableName": routes.get(body["TableName"], body["TableName"])}
        if isinstance(body, Mapping) and "TableName" in body
        else body
        for verb, body in action.items()
    }


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
    if isinstance(spent, dict):
        made["ConsumedCapacity"] = _spent(spent, names)
    elif isinstance(spent, list):
        made["ConsumedCapacity"] = [_spent(one, names) for one in spent]
    return made


def _spent(spent: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    table = spent.get("TableName")
    return {**spent, "TableName": names.get(table, table)} if isinstance(table, str) else dict(spent)
