"""Tables and requests for the engine's own tests: the shortest way to say what is written and what is asked."""

from typing import Any

from tablewright import Engine

Json = dict[str, Any]


def definition(
    name: str = "pets", *, ranged: bool = False, indexes: tuple[str, ...] = (), local: tuple[str, ...] = ()
) -> Json:
    """A table with the key `pk` (and `sk`), and for each name an index of that name on the attribute of that name."""
    keys = ["pk", "sk"] if ranged else ["pk"]
    attributes = dict.fromkeys([*keys, *indexes, *local])
    request: Json = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in attributes],
        "KeySchema": schema(*keys),
    }
    if indexes:
        request["GlobalSecondaryIndexes"] = [index(one) for one in indexes]
    if local:
        request["LocalSecondaryIndexes"] = [index(one) | {"KeySchema": schema("pk", one)} for one in local]
    return request


def schema(partition: str, sort: str | None = None) -> list[Json]:
    first = {"AttributeName": partition, "KeyType": "HASH"}
    return [first] if sort is None else [first, {"AttributeName": sort, "KeyType": "RANGE"}]


def index(name: str, projection: str = "ALL") -> Json:
    return {"IndexName": name, "KeySchema": schema(name), "Projection": {"ProjectionType": projection}}


def create_index(name: str, table: str = "pets") -> Json:
    return {
        "TableName": table,
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index(name)}],
    }


def item(pk: str, **attributes: str | int) -> Json:
    """Texts as S, numbers as N."""
    values = {n: {"S": v} if isinstance(v, str) else {"N": str(v)} for n, v in attributes.items()}
    return {"pk": {"S": pk}, **values}


def put(pk: str, table: str = "pets", **attributes: str | int) -> Json:
    return {"TableName": table, "Item": item(pk, **attributes)}


def keyed(pk: str, table: str = "pets") -> Json:
    return {"TableName": table, "Key": item(pk)}


def add(pk: str, amount: int = 1, table: str = "pets") -> Json:
    return {
        **keyed(pk, table),
        "UpdateExpression": "ADD amount :n",
        "ExpressionAttributeValues": {":n": {"N": str(amount)}},
    }


def transaction(*actions: Json, token: str | None = None) -> Json:
    request: Json = {"TransactItems": list(actions)}
    return request if token is None else request | {"ClientRequestToken": token}


def found(engine: Engine, pk: str, table: str = "pets") -> Json | None:
    """The item, as everyone sees it."""
    got: Json | None = engine.call("GetItem", keyed(pk, table) | {"ConsistentRead": True}).get("Item")
    return got


def amount(engine: Engine, pk: str, table: str = "pets") -> int:
    got = found(engine, pk, table)
    return 0 if got is None else int(got["amount"]["N"])


def names(engine: Engine, index: str | None = None, table: str = "pets") -> list[str]:
    """The partition keys of all items of a table or an index."""
    request: Json = {"TableName": table} | ({} if index is None else {"IndexName": index})
    held: list[str] = []
    while True:
        page = engine.call("Scan", request)
        held += [one["pk"]["S"] for one in page["Items"]]
        if "LastEvaluatedKey" not in page:
            return sorted(held)
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def records(engine: Engine) -> list[tuple[int, int, int, int, bytes, bytes | None, bytes | None]]:
    """The journal."""
    with engine._storage.write_lock:  # the engine's own chores write too
        return list(engine._storage.writes.journal())
