"""The workloads: one table with two GSIs, items of 1 KB, a table with a vector index, and a request template for each.

Must hold: every write changes data (SQLite skips a row written twice alike), puts never meet an existing key,
reads are spread over the whole seed, and every server is sent the same bytes.
Elsewhere: slots and their digits (templates.py), sending (load.c), the order of runs (speed.py).
"""

from collections.abc import Callable

from benchmarks.templates import Draft, Json, Template

TABLE = "orders"
IN_PARTITION = 50  # items of one customer
CATEGORIES = 200  # partitions of each GSI
SMALL = 10_000  # items in the seed
FRESH = 10**11  # serials from here on are for items that are not in the seed
RUN = 10**8  # serials one run may use: more than any run sends
SCATTER = 2_654_435_761  # a prime: serial * SCATTER visits every partition, out of order


def schema() -> Json:
    def keys(prefix: str) -> list[dict[str, str]]:
        return [
            {"AttributeName": f"{prefix}pk", "KeyType": "HASH"},
            {"AttributeName": f"{prefix}sk", "KeyType": "RANGE"},
        ]

    names = ("pk", "sk", "gsi1pk", "gsi1sk", "gsi2pk", "gsi2sk")
    return {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
        "KeySchema": keys(""),
        "GlobalSecondaryIndexes": [
            {"IndexName": name, "KeySchema": keys(name), "Projection": {"ProjectionType": "ALL"}}
            for name in ("gsi1", "gsi2")
        ],
    }


FILLER = "Whoever reads an order sees what was bought, by whom, for how much, and where it has to go. " * 8


def _item(draft: Draft, pk: str, sk: str, delta: int) -> Json:
    """An order of 1 KB (1024 bytes as DynamoDB counts)."""
    serial = draft.digits(12, delta=delta)
    return {
        "pk": {"S": pk},
        "sk": {"S": sk},
        "gsi1pk": {"S": "CATEGORY#" + draft.digits(5, modulo=CATEGORIES, delta=delta)},
        "gsi1sk": {"S": "2025-01-01T00:00:00#" + draft.digits(12, delta=delta)},
        "gsi2pk": {"S": "STATUS#" + draft.digits(5, modulo=CATEGORIES, delta=delta, multiply=7)},
        "gsi2sk": {"S": "PRICE#" + draft.digits(12, delta=delta)},
        "type": {"S": "order"},
        "name": {"S": f"Customer {serial}"},
        "email": {"S": f"customer{draft.digits(12, delta=delta)}@example.com"},
        "quantity": {"N": "1" + draft.digits(5, modulo=17, delta=delta)},
        "price": {"N": "7" + draft.digits(5, modulo=997, delta=delta) + ".25"},
        "changes": {"N": "0"},
        "paid": {"BOOL": True},
        "tags": {"L": [{"S": "red"}, {"S": "green"}]},
        "address": {"M": {"street": {"S": "1 Main Street"}, "city": {"S": "Springfield"}}},
        "text": {"S": FILLER[:711]},
    }


def _seeded_item(draft: Draft, delta: int) -> Json:
    pk = "CUSTOMER#0" + draft.digits(8, divide=IN_PARTITION, modulo=10**8, delta=delta)
    return _item(draft, pk, "ORDER#" + draft.digits(12, modulo=IN_PARTITION, delta=delta), delta)


def _fresh_item(draft: Draft, delta: int) -> Json:
    """New for every serial and spread over the key space, since customers do not order alphabetically."""
    pk = "CUSTOMER#9" + draft.digits(8, multiply=SCATTER, modulo=99_991, delta=delta)
    return _item(draft, pk, "ORDER#" + draft.digits(12, delta=delta), delta)


def _some_partition(draft: Draft, items: int, delta: int) -> str:
    return "CUSTOMER#0" + draft.digits(8, multiply=SCATTER, modulo=items // IN_PARTITION, delta=delta)


def _some_key(draft: Draft, items: int, delta: int = 0) -> Json:
    row = draft.digits(12, divide=items // IN_PARTITION, modulo=IN_PARTITION, delta=delta)
    return {"pk": {"S": _some_partition(draft, items, delta)}, "sk": {"S": f"ORDER#{row}"}}


def _put(items: int) -> Template:
    draft = Draft()
    return draft.template("PutItem", {"TableName": TABLE, "Item": _fresh_item(draft, 0)})


def _get(items: int) -> Template:
    draft = Draft()
    return draft.template("GetItem", {"TableName": TABLE, "Key": _some_key(draft, items)})


def _change(draft: Draft, items: int) -> Json:
    return {
        "TableName": TABLE,
        "Key": _some_key(draft, items),
        "UpdateExpression": "SET changed_by = :who ADD changes :one",
        "ConditionExpression": "attribute_exists(pk) AND changes < :most",
        "ExpressionAttributeValues": {
            ":who": {"S": "clerk " + draft.digits(12)},
            ":one": {"N": "1"},
            ":most": {"N": "1000000000"},
        },
    }


def _update(items: int) -> Template:
    draft = Draft()
    return draft.template("UpdateItem", _change(draft, items))


def _query(items: int) -> Template:
    draft = Draft()
    request: Json = {
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :pk AND begins_with(sk, :sk)",
        "ExpressionAttributeValues": {":pk": {"S": _some_partition(draft, items, 0)}, ":sk": {"S": "ORDER#"}},
        "Limit": 20,
    }
    return draft.template("Query", request)


def _gsi_query(items: int) -> Template:
    draft = Draft()
    category = draft.digits(5, multiply=SCATTER, modulo=CATEGORIES)
    request: Json = {
        "TableName": TABLE,
        "IndexName": "gsi1",
        "KeyConditionExpression": "gsi1pk = :pk AND gsi1sk > :sk",
        "ExpressionAttributeValues": {":pk": {"S": f"CATEGORY#{category}"}, ":sk": {"S": "2024"}},
        "Limit": 20,
    }
    return draft.template("Query", request)


def _batch(make: Callable[[Draft, int], Json], table: str = TABLE) -> Template:
    draft = Draft()
    puts = [{"PutRequest": {"Item": make(draft, delta)}} for delta in range(25)]
    return draft.template("BatchWriteItem", {"RequestItems": {table: puts}}, stride=25)


def _batch_write(items: int) -> Template:
    return _batch(_fresh_item)


def _transaction(items: int) -> Template:
    draft = Draft()
    check: Json = {
        "TableName": TABLE,
        "Key": _some_key(draft, items, delta=1),  # the partition after the updated one: never the same item
        "ConditionExpression": "attribute_exists(pk)",
    }
    actions = [
        {"Put": {"TableName": TABLE, "Item": _fresh_item(draft, 0)}},
        {"Put": {"TableName": TABLE, "Item": _fresh_item(draft, 1)}},
        {"Update": _change(draft, items)},
        {"ConditionCheck": check},
    ]
    return draft.template("TransactWriteItems", {"TransactItems": actions}, stride=2)


NOTES = "notes"
VECTORS = 1_000  # notes, each with a vector
DIMENSIONS = 64
TOP = 10


def vector_schema() -> Json:
    return {
        "TableName": NOTES,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "VectorIndexes": [
            {
                "IndexName": "near",
                "VectorAttribute": {"AttributeName": "v"},
                "Projection": {"ProjectionType": "ALL"},
                "Dimensions": DIMENSIONS,
                "DistanceFunction": "COSINE",
            }
        ],
    }


def _vector(draft: Draft, delta: int) -> list[Json]:
    """A vector of pseudo-random numbers below 1; the prime powers keep its members apart."""
    return [
        {"N": "0." + draft.digits(6, modulo=999_983, multiply=pow(7, 3 * place + 1, 999_983), delta=delta)}
        for place in range(DIMENSIONS)
    ]


def _note(draft: Draft, delta: int) -> Json:
    return {
        "pk": {"S": "NOTE#" + draft.digits(12, delta=delta)},
        "text": {"S": FILLER[:200]},
        "v": {"L": _vector(draft, delta)},
    }


def _search(items: int) -> Template:
    draft = Draft()
    request: Json = {
        "TableName": NOTES,
        "IndexName": "near",
        "SearchVector": _vector(draft, 0),
        "TopK": TOP,
    }
    return draft.template("SearchVectors", request)


WORKLOADS: dict[str, Callable[[int], Template]] = {
    "put": _put,
    "get": _get,
    "update": _update,
    "query": _query,
    "gsi-query": _gsi_query,
    "batch": _batch_write,
    "transaction": _transaction,
    "search": _search,
}
SEED = _batch(_seeded_item)
VECTOR_SEED = _batch(_note, NOTES)


# Bytes below which an answer cannot hold what was asked for: an item of 1 KB, twenty of them.
SMALLEST = {"get": 1_000, "query": 20_000, "gsi-query": 20_000, "search": 2_000}


def proves(workload: str, answer: Json) -> bool:
    """Whether an answer shows the work was done: a server that is fast at doing nothing must not win."""
    match workload:
        case "get":
            return "Item" in answer
        case "query" | "gsi-query":
            return answer.get("Count") == 20 and "LastEvaluatedKey" in answer
        case "search":
            found = answer.get("SearchResults")
            return isinstance(found, list) and len(found) == TOP
        case "batch":
            return answer.get("UnprocessedItems") == {}
        case _:
            return True
