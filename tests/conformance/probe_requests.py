"""The requests of probes.json that are too long to write down: each is made by the function of its name.

Must hold: table names carry the mark `@`, as in probes.json; test_messages.py puts the run's prefix there.
"""

from collections.abc import Callable

from tests.conformance.talk import HASH_TABLE, Json, index

TOO_BIG = "a" * (400 * 1024)


def put(item: Json, table: str = "@hash") -> Json:
    return {"TableName": table, "Item": item}


def twenty_one_indexes() -> Json:
    indexes = [index(f"gsi{number}", ("pk",), "ALL") for number in range(21)]
    return {
        "TableName": "@ct_probe",
        **HASH_TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": indexes,
    }


def hash_key_of_2049_bytes() -> Json:
    return put({"pk": {"S": "a" * 2049}})


def hash_key_of_2048_bytes() -> Json:
    return put({"pk": {"S": "a" * 2048}})


def name_of_65536_bytes() -> Json:
    return put({"pk": {"S": "a"}, "n" * 65536: {"S": "x"}})


def name_of_65535_bytes() -> Json:
    return put({"pk": {"S": "a"}, "n" * 65535: {"S": "x"}})


def item_over_400_kb() -> Json:
    return put({"pk": {"S": "a"}, "x": {"S": TOO_BIG}})


def index_key_of_2049_bytes() -> Json:
    return put({"pk": {"S": "a"}, "sk": {"S": "1"}, "gpk": {"S": "g" * 2049}}, table="@comp")


def membership(operands: int) -> Json:
    names = [f":v{number}" for number in range(operands)]
    return {
        **put({"pk": {"S": "c"}}),
        "ConditionExpression": f"a IN ({','.join(names)})",
        "ExpressionAttributeValues": {name: {"S": name} for name in names},
    }


def in_with_101_operands() -> Json:
    return membership(101)


def in_with_100_operands() -> Json:
    return membership(100)


def padded(size: int) -> Json:
    return {
        **put({"pk": {"S": "c"}}),
        "ConditionExpression": "a = :v".ljust(size),
        "ExpressionAttributeValues": {":v": {"S": "x"}},
    }


def expression_of_4097_bytes() -> Json:
    return padded(4097)


def expression_of_4096_bytes() -> Json:
    return padded(4096)


def update_over_400_kb() -> Json:
    return {
        "TableName": "@hash",
        "Key": {"pk": {"S": "u"}},
        "UpdateExpression": "SET big = :v",
        "ExpressionAttributeValues": {":v": {"S": TOO_BIG}},
    }


def get_of_101_keys() -> Json:
    return {"RequestItems": {"@hash": {"Keys": [{"pk": {"S": str(number)}} for number in range(101)]}}}


def batch_put_over_400_kb() -> Json:
    item = {"pk": {"S": "a"}, "x": {"S": TOO_BIG}}
    return {"RequestItems": {"@hash": [{"PutRequest": {"Item": item}}]}}


def transaction_of_101_writes() -> Json:
    return {"TransactItems": [{"Put": put({"pk": {"S": str(number)}})} for number in range(101)]}


def transaction_put_over_400_kb() -> Json:
    return {"TransactItems": [{"Put": put({"pk": {"S": "big"}, "x": {"S": TOO_BIG}})}]}


def transaction_over_4_mb() -> Json:
    items = [{"pk": {"S": f"agg{number}"}, "x": {"S": "a" * 400_000}} for number in range(11)]
    return {"TransactItems": [{"Put": put(item)} for item in items]}


def transaction_of_101_gets() -> Json:
    keys = [{"pk": {"S": str(number)}} for number in range(101)]
    return {"TransactItems": [{"Get": {"TableName": "@hash", "Key": key}} for key in keys]}


MADE: dict[str, Callable[[], Json]] = {
    make.__name__: make
    for make in (
        twenty_one_indexes,
        hash_key_of_2049_bytes,
        hash_key_of_2048_bytes,
        name_of_65536_bytes,
        name_of_65535_bytes,
        item_over_400_kb,
        index_key_of_2049_bytes,
        in_with_101_operands,
        in_with_100_operands,
        expression_of_4097_bytes,
        expression_of_4096_bytes,
        update_over_400_kb,
        get_of_101_keys,
        batch_put_over_400_kb,
        transaction_of_101_writes,
        transaction_put_over_400_kb,
        transaction_over_4_mb,
        transaction_of_101_gets,
    )
}
