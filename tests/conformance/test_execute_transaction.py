"""ExecuteTransaction: up to a hundred statements, all or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.statement_talk import NOT_WELL_FORMED, said, together
from tests.conformance.talk import Answered, Json, NewKey, Refused, Send

KEY_NEEDED = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
NO_MATCH = "The provided key element does not match the schema"


def put(answered: Answered, table: str, **attributes: Json) -> Json:
    answered("PutItem", {"TableName": table, "Item": attributes})
    return attributes


def stored(answered: Answered, table: str, **key: str) -> Json | None:
    asked = {"TableName": table, "Key": {name: {"S": text} for name, text in key.items()}}
    item: Json | None = answered("GetItem", asked | {"ConsistentRead": True}).get("Item")
    return item


def reasons(send: Send, *members: Json, **rest: Any) -> list[Json]:
    reply = send("ExecuteTransaction", together(*members, **rest))
    assert reply.code == "TransactionCanceledException", reply.raw
    told: list[Json] = reply.body["CancellationReasons"]
    codes = ", ".join(reason["Code"] for reason in told)
    assert (
        reply.message
        == f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    )
    return told


def test_writes_happen_together_and_answer_nothing(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    fresh, old, gone, checked = key(), key(), key(), key()
    put(answered, hash_table, pk={"S": old}, n={"N": "1"})
    put(answered, hash_table, pk={"S": gone})
    put(answered, comp_table, pk={"S": checked}, sk={"S": "1"}, n={"N": "7"})
    table = f'"{hash_table}"'
    asked = together(
        said(f"INSERT INTO {table} VALUE {{'pk': ?, 'n': 0}}", {"S": fresh}),
        said(f"UPDATE {table} SET n = n + 1 WHERE pk = ? AND n = 1", {"S": old}),
        said(f"DELETE FROM {table} WHERE pk = ?", {"S": gone}),
        said(f"EXISTS(SELECT * FROM \"{comp_table}\" WHERE pk = '{checked}' AND sk = '1' AND n = 7)"),
    )
    assert answered("ExecuteTransaction", asked) == {"Responses": []}
    assert stored(answered, hash_table, pk=fresh) == {"pk": {"S": fresh}, "n": {"N": "0"}}
    assert stored(answered, hash_table, pk=old) == {"pk": {"S": old}, "n": {"N": "2"}}
    assert stored(answered, hash_table, pk=gone) is None


def test_one_failure_undoes_all_and_says_where(
    answered: Answered, send: Send, hash_table: str, key: NewKey
) -> None:
    there, fresh = key(), key()
    item = put(answered, hash_table, pk={"S": there}, n={"N": "1"})
    table = f'"{hash_table}"'
    told = reasons(
        send,
        said(f"INSERT INTO {table} VALUE {{'pk': '{fresh}'}}"),
        said(f"INSERT INTO {table} VALUE {{'pk': '{there}'}}"),
        said(f"UPDATE {table} SET n = 1 WHERE pk = '{key()}'"),
    )
    assert told == [
        {"Code": "None"},
        {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"},
        {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"},
    ]
    assert stored(answered, hash_table, pk=fresh) is None
    failing = said(
        f"DELETE FROM {table} WHERE pk = '{there}' AND n = 2", ReturnValuesOnConditionCheckFailure="ALL_OLD"
    )
    (reason,) = reasons(send, failing)
    assert (reason["Code"], reason["Item"]) == ("ConditionalCheckFailed", item)


def test_a_check_that_does_not_hold_cancels(
    answered: Answered, send: Send, comp_table: str, key: NewKey
) -> None:
    pk = key()
    put(answered, comp_table, pk={"S": pk}, sk={"S": "1"}, n={"N": "7"})
    insert = said(f"INSERT INTO \"{comp_table}\" VALUE {{'pk': '{pk}', 'sk': '2'}}")
    for condition in ("n = 8", "n IS MISSING", "pk = 'other'"):
        check = f"EXISTS(SELECT * FROM \"{comp_table}\" WHERE pk = '{pk}' AND sk = '1' AND {condition})"
        told = reasons(send, said(check), insert)
        assert [reason["Code"] for reason in told] == ["ConditionalCheckFailed", "None"]
    check = f"EXISTS(SELECT * FROM \"{comp_table}\" WHERE (pk = '{pk}' AND sk = '1') AND nope IS MISSING)"
    answered("ExecuteTransaction", together(said(check), insert))


@pytest.mark.parametrize(
    "where", ["pk = 'x' AND sk = '1'", "pk = 'x' AND n = 1", "pk IN ['x'] AND sk = '1' AND n = 1", "n = 1"]
)
def test_a_check_names_one_item_and_a_condition(refused: Refused, comp_table: str, where: str) -> None:
    asked = together(said(f'EXISTS(SELECT * FROM "{comp_table}" WHERE {where})'))
    assert refused("ExecuteTransaction", asked) == (
        "ValidationException",
        "Validation failed in TransactStatements[0]: "
        "EXISTS() must contain a single item read with additional condition",
    )


def test_reads_are_answered_in_their_places(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    flat = put(answered, hash_table, pk={"S": key()}, m={"M": {"k": {"L": [{"S": "deep"}]}}}, b={"N": "1"})
    ranged = put(answered, comp_table, pk={"S": key()}, sk={"S": "1"})
    asked = together(
        said(f'SELECT m.k[0], b FROM "{hash_table}" WHERE pk = ?', flat["pk"]),
        said(f'SELECT * FROM "{hash_table}" WHERE pk = ?', {"S": key()}),
        said(
            f"SELECT * FROM \"{comp_table}\" WHERE (sk = '1') AND pk IN [?] AND pk = ?",
            ranged["pk"],
            ranged["pk"],
        ),
        ReturnConsumedCapacity="TOTAL",
    )
    answer = answered("ExecuteTransaction", asked)
    assert answer["Responses"] == [{"Item": {"k[0]": {"S": "deep"}, "b": {"N": "1"}}}, {}, {"Item": ranged}]
    units = {one["TableName"]: one["ReadCapacityUnits"] for one in answer["ConsumedCapacity"]}
    assert units == {hash_table: 4.0, comp_table: 2.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT * FROM {} WHERE", f"{NOT_WELL_FORMED}Unexpected term"),
        ("SELECT * FROM {} WHERE pk = 'x'", KEY_NEEDED),
        ("SELECT * FROM {} WHERE pk = 'x' AND sk = '1' AND n = 1", KEY_NEEDED),
        ("SELECT * FROM {} WHERE pk = 'x' AND sk = '1' AND pk = 'y'", KEY_NEEDED),
        ("SELECT * FROM {}.gsi1 WHERE gpk = 'x'", "Reads on indices are not supported within transactions."),
        ("SELECT COUNT(*) FROM {}", "Unexpected path component at 1:8:5"),
        (
            "UPDATE {} SET a = 1 WHERE pk = 'x' AND sk = '1' RETURNING ALL NEW *",
            "RETURNING clause is not supported in ExecuteTransaction.",
        ),
        (
            "UPDATE {} SET a = b + [1] WHERE pk = 'x' AND sk = '1'",
            "Incorrect operand type for operator or function; operator or function: +, operand type: L",
        ),
    ],
)
def test_a_bad_statement_refuses_the_call_and_is_pointed_out(
    refused: Refused, comp_table: str, text: str, words: str
) -> None:
    good = "SELECT * FROM {} WHERE pk = 'x' AND sk = '2'"
    good = good if text.startswith("SELECT") else "DELETE FROM {} WHERE pk = 'x' AND sk = '2'"
    asked = together(*(said(one.format(f'"{comp_table}"')) for one in (good, text)))
    assert refused("ExecuteTransaction", asked) == (
        "ValidationException",
        f"Validation failed in TransactStatements[1]: {words}",
    )


def test_a_write_that_does_not_name_one_item_cancels(send: Send, comp_table: str) -> None:
    update = f'UPDATE "{comp_table}" SET a = 1 WHERE '
    missing = "One or more parameter values were invalid: Missing the key sk in the item"
    wrong = [
        (said(update + "pk = 'x'"), NO_MATCH),
        (said(update + "pk IN ['x'] AND sk = '1'"), NO_MATCH),
        (said(update + "pk = 'x' AND sk = '1' AND pk = 'y'"), NO_MATCH),
        (said(update + "pk = 'x' AND sk = 1"), NO_MATCH),
        (said(f"INSERT INTO \"{comp_table}\" VALUE {{'pk': 'x'}}"), missing),
    ]
    right = said(f"DELETE FROM \"{comp_table}\" WHERE pk = 'x' AND sk = '9'")
    for one, message in wrong:
        told = reasons(send, right, one, wrong[0][0])
        assert told == [{"Code": "None"}, {"Code": "ValidationError", "Message": message}, {"Code": "None"}]
    (reason,) = reasons(send, said(f"SELECT * FROM \"{comp_table}\" WHERE pk = 'x' AND sk = 1"))
    assert reason == {"Code": "ValidationError", "Message": NO_MATCH}


def test_a_missing_table_cancels_unless_something_else_is_wrong(
    send: Send, refused: Refused, hash_table: str
) -> None:
    missing = said("UPDATE nowhere SET a = 1 WHERE pk = 'x'")
    not_found = {"Code": "ResourceNotFound", "Message": "Requested resource not found"}
    assert reasons(send, missing, said(f"DELETE FROM \"{hash_table}\" WHERE pk = 'x'")) == [
        not_found,
        {"Code": "None"},
    ]
    returning = said(f"DELETE FROM \"{hash_table}\" WHERE pk = 'x' RETURNING ALL OLD *")
    _, message = refused("ExecuteTransaction", together(missing, returning))
    assert message == (
        "Validation failed in TransactStatements[1]: RETURNING clause is not supported in ExecuteTransaction."
    )


def test_reads_and_writes_do_not_mix_and_no_item_comes_twice(
    refused: Refused, hash_table: str, key: NewKey
) -> None:
    pk = key()
    read = said(f"SELECT * FROM \"{hash_table}\" WHERE pk = '{pk}'")
    write = said(f"INSERT INTO \"{hash_table}\" VALUE {{'pk': '{pk}'}}")
    check = said(f"EXISTS(SELECT * FROM \"{hash_table}\" WHERE pk = '{pk}' AND a = 1)")
    code, message = refused("ExecuteTransaction", together(read, write))
    assert (code, "Read and write requests together" in message) == ("ValidationException", True)
    once = ("ValidationException", "Transaction request cannot include multiple operations on one item")
    for both in ((read, read), (write, write), (check, write)):
        assert refused("ExecuteTransaction", together(*both)) == once


def test_the_same_token_does_it_once_and_costs_a_read(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    pk, token = key(), key()[:36]
    put(answered, hash_table, pk={"S": pk}, n={"N": "0"})
    add = said(f"UPDATE \"{hash_table}\" SET n = n + 1 WHERE pk = '{pk}'")
    asked = together(add, ClientRequestToken=token, ReturnConsumedCapacity="INDEXES")
    (first,) = answered("ExecuteTransaction", asked)["ConsumedCapacity"]
    again = answered("ExecuteTransaction", asked)
    assert again["Responses"] == []
    (second,) = again["ConsumedCapacity"]
    assert (first["WriteCapacityUnits"], "ReadCapacityUnits" in first) == (2.0, False)
    assert (second["ReadCapacityUnits"], "WriteCapacityUnits" in second) == (2.0, False)
    assert stored(answered, hash_table, pk=pk) == {"pk": {"S": pk}, "n": {"N": "1"}}
    other = together(said(f"DELETE FROM \"{hash_table}\" WHERE pk = '{pk}'"), ClientRequestToken=token)
    assert refused("ExecuteTransaction", other)[0] == "IdempotentParameterMismatchException"
    # Another verb's token is another token.
    put_again = {"Put": {"TableName": hash_table, "Item": {"pk": {"S": pk}}}}
    answered("TransactWriteItems", {"TransactItems": [put_again], "ClientRequestToken": token})


def test_there_are_1_to_100_statements(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    assert refused("ExecuteTransaction", together())[0] == "ValidationException"
    some = [said(f"INSERT INTO \"{hash_table}\" VALUE {{'pk': '{key()}'}}") for _ in range(101)]
    code, message = refused("ExecuteTransaction", together(*some))
    assert (code, "length less than or equal to 100" in message) == ("ValidationException", True)
    answered("ExecuteTransaction", together(*some[:100]))
