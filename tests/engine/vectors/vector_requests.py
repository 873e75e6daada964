"""Vector indexes for the engine's own tests: the shortest way to define, write and search them."""

from typing import Any

from tests.engine.tables import definition

from tablewright import Engine

Json = dict[str, Any]


def numbers(*values: float) -> list[Json]:
    return [{"N": str(value)} for value in values]


def vector_index(name: str = "near", **rest: Any) -> Json:
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": "v"},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": 2,
        "DistanceFunction": "COSINE",
        **rest,
    }


def by_owner(name: str = "owned") -> Json:
    """An index in partitions by owner, with a filter by colour."""
    schema = [("owner", "HASH"), ("colour", "INLINE_FILTER")]
    elements = [{"AttributeName": one, "SearchSchemaElementType": kind} for one, kind in schema]
    return vector_index(name, SearchSchema=elements)


def searched(name: str = "pets", **rest: Any) -> Json:
    """The definition of a table with both indexes."""
    attributes = [{"AttributeName": one, "AttributeType": "S"} for one in ("pk", "owner", "colour")]
    return {
        **definition(name),
        "AttributeDefinitions": attributes,
        "VectorIndexes": [vector_index(), by_owner()],
        **rest,
    }


def put_vector(engine: Engine, pk: str, x: float, y: float, table: str = "pets", **others: str) -> None:
    texts = {name: {"S": text} for name, text in {"owner": "ann", **others}.items()}
    item = {"pk": {"S": pk}, **texts, "v": {"L": numbers(x, y)}}
    engine.call("PutItem", {"TableName": table, "Item": item})


def near(engine: Engine, table: str = "pets", name: str = "near", top: int = 100, **rest: Any) -> list[str]:
    """The keys of the items nearest to (1, 0)."""
    asked = {"TableName": table, "IndexName": name, "SearchVector": numbers(1, 0), "TopK": top, **rest}
    return [result["Item"]["pk"]["S"] for result in engine.call("SearchVectors", asked)["SearchResults"]]


def owned(engine: Engine, owner: str = "ann", table: str = "pets", colour: str | None = None) -> list[str]:
    condition, values = "#o = :o", {":o": {"S": owner}}
    if colour is not None:
        condition, values = "#o = :o AND colour = :c", {**values, ":c": {"S": colour}}
    return near(
        engine,
        table,
        "owned",
        SearchConditionExpression=condition,
        ExpressionAttributeNames={"#o": "owner"},
        ExpressionAttributeValues=values,
    )


def described(engine: Engine, table: str = "pets") -> dict[str, Json]:
    """The vector indexes of a table by their names."""
    shown = engine.call("DescribeTable", {"TableName": table})["Table"]
    return {index["IndexName"]: index for index in shown.get("VectorIndexes", [])}
