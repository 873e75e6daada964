"""BatchExecuteStatement: up to 25 statements, all reads or all writes, each for itself."""

from __future__ import annotations

import pytest
from tests.conformance.statement_talk import NOT_WELL_FORMED, batch, said
from tests.conformance.talk import Answered, Json, NewKey, Refused

KEY_NEEDED = (
    "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
)


def put(answered: Answered, table: str, **attributes: Json) -> Json:
    answered("PutItem", {"TableName": table, "Item": attributes})
    return attributes


def stored(answered: Answered, table: str, pk: str) -> Json | None:
    got = answered("GetItem", {"TableName": table, "Key": {"pk": {"S": pk}}, "ConsistentRead": True})
    item: Json | None = got.get("Item")
    return item


def test_reads_are_answered_in_their_places(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    flat = put(answered, hash_table, pk={"S": key()}, n={"N": "1"}, m={"M": {"k": {"S": "deep"}}})
    ranged = put(answered, comp_table, pk={"S": key()}, sk={"S": "1"})
    responses = answered(
        "BatchExecuteStatement",
        batch(
            said(f'SELECT * FROM "{comp_table}" WHERE sk = ? AND pk = ?', {"S": "1"}, ranged["pk"]),
            said(f'SELECT * FROM "{hash_table}" WHERE pk = ?', {"S": key()}),
            said(f'SELECT n, m.k FROM "{hash_table}" WHERE pk IN [?]', flat["pk"]),
        ),
    )["Responses"]
    assert responses == [
        {"TableName": comp_table, "Item": ranged},
        {"TableName": hash_table},
        {"TableName": hash_table, "Item": {"n": {"N": "1"}, "k": {"S": "deep"}}},
    ]


def test_a_read_names_its_item_by_the_key_and_nothing_else(
    answered: Answered, comp_table: str, key: NewKey
) -> None:
    table, pk = f'"{comp_table}"', key()
    bad = (
        f"SELECT * FROM {table} WHERE a = 1",
        f"SELECT * FROM {table} WHERE pk = '{pk}'",
        f"SELECT * FROM {table} WHERE pk = '{pk}' AND sk = '1' AND a = 1",
        f"SELECT * FROM {table} WHERE pk = '{pk}' AND sk = '1' AND pk = 'other'",
        f"SELECT * FROM {table}.gsi1 WHERE gpk = 'x'",
        f"SELECT * FROM {table}.gsi1 WHERE pk = '{pk}' AND sk = '1' AND gpk = 'x'",
        f"SELECT * FROM {table}",
    )
    asked = batch(*(said(text) for text in bad))
    refused = {"Error": {"Code": "ValidationError", "Message": KEY_NEEDED}}
    assert answered("BatchExecuteStatement", asked)["Responses"] == [refused] * len(bad)


def test_writes_run_each_for_itself(answered: Answered, hash_table: str, key: NewKey) -> None:
    inserted, updated, deleted, there = key(), key(), key(), key()
    for pk in (updated, deleted, there):
        put(answered, hash_table, pk={"S": pk}, a={"N": "1"})
    table = f'"{hash_table}"'
    responses = answered(
        "BatchExecuteStatement",
        batch(
            said(f"INSERT INTO {table} VALUE {{'pk': ?}}", {"S": inserted}),
            said(f"INSERT INTO {table} VALUE {{'pk': ?}}", {"S": there}),
            said(f"UPDATE {table} SET a = 2 WHERE pk = ? AND a = 5", {"S": key()},
                 ReturnValuesOnConditionCheckFailure="ALL_OLD"),
            said(f"UPDATE {table} SET a = a + 1 WHERE pk = ? RETURNING MODIFIED NEW *", {"S": updated}),
            said(f"DELETE FROM {table} WHERE pk = ? RETURNING ALL OLD *", {"S": deleted}),
            said("SLECT"),
            said("DELETE FROM nowhere WHERE pk = 'x'"),
            said(f"UPDATE {table} SET a = 1 WHERE a = 1"),
            said(f"UPDATE {table} SET b = a + 's' WHERE pk = 'x'"),
        ),
    )["Responses"]  # fmt: skip
    named = {"TableName": hash_table}
    failed = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
    assert responses[:5] == [
        named,
        named | {"Error": {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}},
        named | {"Error": failed},
        named | {"Item": {"a": {"N": "2"}}},
        named | {"Item": {"pk": {"S": deleted}, "a": {"N": "1"}}},
    ]
    assert [response["Error"]["Code"] for response in responses[5:]] == [
        "ValidationError", "ResourceNotFound", "ValidationError", "ValidationError"
    ]  # fmt: skip
    assert responses[5]["Error"]["Message"] == f"{NOT_WELL_FORMED}Expected data manipulation"
    assert stored(answered, hash_table, inserted) is not None
    assert stored(answered, hash_table, deleted) is None
    assert stored(answered, hash_table, updated) == {"pk": {"S": updated}, "a": {"N": "2"}}


def test_a_mistake_only_the_item_shows_names_its_table(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    pk = key()
    put(answered, hash_table, pk={"S": pk}, s={"S": "x"})
    asked = batch(said(f'UPDATE "{hash_table}" SET s = s + 1 WHERE pk = ?', {"S": pk}))
    assert answered("BatchExecuteStatement", asked)["Responses"] == [
        {
            "TableName": hash_table,
            "Error": {
                "Code": "ValidationError",
                "Message": "An operand in the update expression has an incorrect data type",
            },
        }
    ]


def test_what_shows_nothing_has_no_item(answered: Answered, hash_table: str, key: NewKey) -> None:
    pk = key()
    put(answered, hash_table, pk={"S": pk}, a={"N": "1"})
    asked = batch(said(f"UPDATE \"{hash_table}\" REMOVE a WHERE pk = '{pk}' RETURNING MODIFIED NEW *"))
    assert answered("BatchExecuteStatement", asked)["Responses"] == [{"TableName": hash_table}]


def test_reads_and_writes_do_not_mix_and_nothing_runs(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    pk = key()
    asked = batch(
        said(f"INSERT INTO \"{hash_table}\" VALUE {{'pk': '{pk}'}}"),
        said("SLECT"),
        said(f"SELECT * FROM \"{hash_table}\" WHERE pk = 'x'"),
    )
    assert refused("BatchExecuteStatement", asked) == (
        "ValidationException",
        "Read and write requests together in the same batch is not supported.",
    )
    assert stored(answered, hash_table, pk) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("INSERT INTO {} VALUE {{'pk': '{}'}}", "DELETE FROM {} WHERE pk = '{}'"),
        ("SELECT * FROM {} WHERE pk = '{}'", "SELECT a FROM {} WHERE pk = '{}'"),
    ],
)
def test_an_item_is_named_once(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey, first: str, second: str
) -> None:
    pk, table = key(), f'"{hash_table}"'
    asked = batch(said(first.format(table, pk)), said(second.format(table, pk)))
    assert refused("BatchExecuteStatement", asked) == (
        "ValidationException",
        "Provided list of item keys contains duplicates",
    )
    assert stored(answered, hash_table, pk) is None


def test_each_member_pays_by_its_own_consistency(answered: Answered, hash_table: str, key: NewKey) -> None:
    pks = [key(), key()]
    for pk in pks:
        put(answered, hash_table, pk={"S": pk})
    asked = batch(
        *(
            said(f'SELECT * FROM "{hash_table}" WHERE pk = ?', {"S": pk}, ConsistentRead=pk == pks[0])
            for pk in pks
        ),
        ReturnConsumedCapacity="TOTAL",
    )
    capacity = answered("BatchExecuteStatement", asked)["ConsumedCapacity"]
    assert capacity == [{"TableName": hash_table, "CapacityUnits": 1.5}]


def test_there_are_1_to_25_statements(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    assert refused("BatchExecuteStatement", batch())[0] == "ValidationException"
    some = [said(f"INSERT INTO \"{hash_table}\" VALUE {{'pk': '{key()}'}}") for _ in range(26)]
    code, message = refused("BatchExecuteStatement", batch(*some))
    assert (code, "length less than or equal to 25" in message) == ("ValidationException", True)
    assert len(answered("BatchExecuteStatement", batch(*some[:25]))["Responses"]) == 25


def test_exists_is_for_transactions(answered: Answered, hash_table: str) -> None:
    asked = batch(said(f"EXISTS(SELECT * FROM \"{hash_table}\" WHERE pk = 'x' AND a = 1)"))
    (response,) = answered("BatchExecuteStatement", asked)["Responses"]
    assert response["Error"]["Message"] == "EXISTS can only be used in ExecuteTransaction write requests."
