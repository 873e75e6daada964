"""ExecuteStatement: what each kind of statement does and answers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.statement_talk import NO_KEY, Refusal, Run, refuser, runner, said
from tests.conformance.talk import ONE_OF_EACH, Answered, Json, NewKey, Refused, Send


@pytest.fixture
def run(answered: Answered) -> Run:
    return runner(answered)


@pytest.fixture
def refusal(refused: Refused) -> Refusal:
    return refuser(refused)


def put(answered: Answered, table: str, **attributes: Json) -> Json:
    answered("PutItem", {"TableName": table, "Item": attributes})
    return attributes


def stored(answered: Answered, table: str, pk: str, sk: str | None = None) -> Json | None:
    key: Json = {"pk": {"S": pk}} | ({} if sk is None else {"sk": {"S": sk}})
    got = answered("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
    item: Json | None = got.get("Item")
    return item


# --- INSERT ---


def test_an_insert_writes_literals_of_every_type(
    answered: Answered, run: Run, hash_table: str, key: NewKey
) -> None:
    pk = key()
    text = (
        f"INSERT INTO \"{hash_table}\" VALUE {{'pk': '{pk}', 's': 'it''s', 'empty': '', 'n': -1.50e2, 'half': .5,"
        " 'most': 12345678901234567890123456789012345678, 'yes': TRUE, 'no': false, 'nothing': NULL,"
        " 'l': [1, 'two', [NULL]], 'm': {'in': {'deep': 1}}, 'ss': <<'b', 'a'>>, 'ns': <<2, 1.0>>,"
        " 'void': [], 'none': {}}"
    )
    assert run(text) == {"Items": []}
    assert stored(answered, hash_table, pk) == {
        "pk": {"S": pk},
        "s": {"S": "it's"},
        "empty": {"S": ""},
        "n": {"N": "-150"},
        "half": {"N": "0.5"},
        "most": {"N": "12345678901234567890123456789012345678"},
        "yes": {"BOOL": True},
        "no": {"BOOL": False},
        "nothing": {"NULL": True},
        "l": {"L": [{"N": "1"}, {"S": "two"}, {"L": [{"NULL": True}]}]},
        "m": {"M": {"in": {"M": {"deep": {"N": "1"}}}}},
        "ss": {"SS": ["a", "b"]},
        "ns": {"NS": ["1", "2"]},
        "void": {"L": []},
        "none": {"M": {}},
    }


@pytest.mark.parametrize("kind", sorted(ONE_OF_EACH))
def test_a_parameter_may_be_of_any_type(
    answered: Answered, run: Run, hash_table: str, key: NewKey, kind: str
) -> None:
    pk, value = key(), ONE_OF_EACH[kind]
    run(f"INSERT INTO \"{hash_table}\" VALUE {{'pk': ?, 'a': ?}}", {"S": pk}, value)
    assert stored(answered, hash_table, pk) == {"pk": {"S": pk}, "a": value}
    found = run(f'SELECT a FROM "{hash_table}" WHERE pk = ? AND a = ?', {"S": pk}, value)
    assert found["Items"] == [{"a": value}]


def test_an_insert_never_replaces_an_item(
    answered: Answered, refused: Refused, run: Run, hash_table: str, key: NewKey
) -> None:
    pk = key()
    run(f"INSERT INTO \"{hash_table}\" VALUE {{'pk': '{pk}', 'a': 1}}")
    second = said(
        f"INSERT INTO \"{hash_table}\" VALUE {{'pk': '{pk}', 'a': 2}}",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    code, message = refused("ExecuteStatement", second)
    assert (code, message) == ("DuplicateItemException", "Duplicate primary key exists in table")
    assert stored(answered, hash_table, pk) == {"pk": {"S": pk}, "a": {"N": "1"}}
    run(f"DELETE FROM \"{hash_table}\" WHERE pk = '{pk}'")
    run(f"INSERT INTO \"{hash_table}\" VALUE {{'pk': '{pk}', 'a': 3}}")
    assert stored(answered, hash_table, pk) == {"pk": {"S": pk}, "a": {"N": "3"}}


def test_a_key_that_is_missing_or_of_a_wrong_type_is_refused_as_in_a_put(
    refusal: Refusal, comp_table: str
) -> None:
    insert = f'INSERT INTO "{comp_table}" VALUE '
    missing = refusal(insert + "{'pk': 'x'}")
    assert missing == "One or more parameter values were invalid: Missing the key sk in the item"
    wrong = refusal(insert + "{'pk': 'x', 'sk': 1}")
    assert (
        wrong == "One or more parameter values were invalid: Type mismatch for key sk expected: S actual: N"
    )


def test_an_item_beyond_400_kb_is_refused_in_the_words_of_a_put_and_of_an_update(
    answered: Answered, run: Run, refusal: Refusal, hash_table: str, key: NewKey
) -> None:
    pk = key()
    room = 409_600 - len("pk") - len(pk) - len("p")
    insert = f"INSERT INTO \"{hash_table}\" VALUE {{'pk': ?, 'p': ?}}"
    over = refusal(insert, {"S": pk}, {"S": "x" * (room + 1)})
    assert over == "Item size has exceeded the maximum allowed size"
    run(insert, {"S": pk}, {"S": "x" * room})
    # An update in a statement is measured flat, where UpdateItem adds the cost of its actions.
    update = f'UPDATE "{hash_table}" SET p = ? WHERE pk = ?'
    run(update, {"S": "y" * room}, {"S": pk})
    over = refusal(update, {"S": "y" * (room + 1)}, {"S": pk})
    assert over == "Item size to update has exceeded the maximum allowed size"


# --- UPDATE ---


def test_an_update_sets_and_removes_as_many_times_as_it_likes(
    answered: Answered, run: Run, hash_table: str, key: NewKey
) -> None:
    pk = key()
    put(answered, hash_table, pk={"S": pk}, n={"N": "5"}, m={"M": {"a": {"N": "1"}}}, gone={"S": "x"},
        l={"L": [{"N": "1"}, {"N": "2"}]})  # fmt: skip
    run(
        f"UPDATE \"{hash_table}\" SET n = n + 100 SET m.b = [2020, 'x'] SET l = list_append(l, [3])"
        f" REMOVE gone REMOVE m.a SET copied = n, \"quoted name\" = 1 - n WHERE pk = '{pk}'"
    )
    assert stored(answered, hash_table, pk) == {
        "pk": {"S": pk},
        "n": {"N": "105"},
        "m": {"M": {"b": {"L": [{"N": "2020"}, {"S": "x"}]}}},
        "l": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}]},
        "copied": {"N": "5"},
        "quoted name": {"N": "-4"},
    }


def test_set_add_and_set_delete_change_the_set_they_are_assigned_to(
    answered: Answered, run: Run, hash_table: str, key: NewKey
) -> None:
    pk = key()
    put(answered, hash_table, pk={"S": pk}, ss={"SS": ["a", "b"]}, ns={"NS": ["1", "2"]}, bs={"BS": ["YQ=="]})
    where = f"WHERE pk = '{pk}'"
    run(
        f"UPDATE \"{hash_table}\" SET ss = set_add(ss, <<'c', 'a'>>) SET ns = SET_DELETE(ns, <<1, 7>>) {where}"
    )
    run(
        f'UPDATE "{hash_table}" SET bs = set_delete(bs, ?), fresh = set_add(fresh, <<1>>) {where}',
        {"BS": ["YQ=="]},
    )
    assert stored(answered, hash_table, pk) == {
        "pk": {"S": pk},
        "ss": {"SS": ["a", "b", "c"]},
        "ns": {"NS": ["2"]},
        "fresh": {"NS": ["1"]},
    }


def test_an_update_of_what_is_not_there_fails_its_condition_and_creates_nothing(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    pk = key()
    for condition in ("", " AND attribute_not_exists(pk)", " AND a IS MISSING"):
        text = f"UPDATE \"{hash_table}\" SET a = 1 WHERE pk = '{pk}'{condition}"
        code, message = refused("ExecuteStatement", said(text))
        assert (code, message) == ("ConditionalCheckFailedException", "The conditional request failed")
    assert stored(answered, hash_table, pk) is None


def test_what_else_the_where_says_is_a_condition_on_the_write(
    answered: Answered, send: Send, run: Run, hash_table: str, key: NewKey
) -> None:
    pk = key()
    before = put(answered, hash_table, pk={"S": pk}, n={"N": "1"})
    update = f"UPDATE \"{hash_table}\" SET n = 2 WHERE (pk = '{pk}' AND n > 5)"
    reply = send("ExecuteStatement", said(update, ReturnValuesOnConditionCheckFailure="ALL_OLD"))
    assert (reply.code, reply.body["Item"]) == ("ConditionalCheckFailedException", before)
    reply = send("ExecuteStatement", said(f"DELETE FROM \"{hash_table}\" WHERE pk = '{pk}' AND n = 2"))
    assert (reply.code, "Item" in reply.body) == ("ConditionalCheckFailedException", False)
    assert stored(answered, hash_table, pk) == before
    run(f"UPDATE \"{hash_table}\" SET n = 2 WHERE n = 1 AND '{pk}' = pk")
    run(f"DELETE FROM \"{hash_table}\" WHERE n = 2 AND pk = '{pk}'")
    assert stored(answered, hash_table, pk) is None


@pytest.mark.parametrize(
    ("returning", "shown"),
    [
        ("ALL OLD", [{"a": {"N": "1"}, "m": {"M": {"x": {"N": "1"}, "y": {"N": "2"}}}}]),
        ("ALL NEW", [{"a": {"N": "2"}, "m": {"M": {"x": {"N": "3"}, "y": {"N": "2"}}}}]),
        ("MODIFIED OLD", [{"a": {"N": "1"}, "m": {"M": {"x": {"N": "1"}}}}]),
        ("MODIFIED NEW", [{"a": {"N": "2"}, "m": {"M": {"x": {"N": "3"}}}}]),
    ],
)
def test_returning_shows_the_item_or_what_was_changed_of_it(
    answered: Answered, run: Run, hash_table: str, key: NewKey, returning: str, shown: list[Json]
) -> None:
    pk = key()
    put(answered, hash_table, pk={"S": pk}, a={"N": "1"}, m={"M": {"x": {"N": "1"}, "y": {"N": "2"}}})
    text = f"UPDATE \"{hash_table}\" SET a = 2, m.x = 3 WHERE pk = '{pk}' RETURNING {returning} *"
    whole = {"pk": {"S": pk}} if returning.startswith("ALL") else {}
    assert run(text)["Items"] == [whole | item for item in shown]


def test_what_was_removed_is_shown_as_it_was_and_as_nothing(
    answered: Answered, run: Run, hash_table: str, key: NewKey
) -> None:
    pk = key()
    put(answered, hash_table, pk={"S": pk}, a={"N": "1"}, b={"N": "2"})
    old = run(f"UPDATE \"{hash_table}\" REMOVE a WHERE pk = '{pk}' RETURNING MODIFIED OLD *")
    new = run(f"UPDATE \"{hash_table}\" REMOVE b WHERE pk = '{pk}' RETURNING MODIFIED NEW *")
    assert (old, new) == ({"Items": [{"a": {"N": "1"}}]}, {"Items": []})


def test_an_update_may_begin_with_from(
    answered: Answered, run: Run, refused: Refused, hash_table: str, key: NewKey
) -> None:
    pk = key()
    put(answered, hash_table, pk={"S": pk}, a={"N": "1"}, b={"N": "2"})
    shown = run(f'from "{hash_table}" where pk = ? and a = 1 set c = ? remove b RETURNING ALL NEW *',
                {"S": pk}, {"N": "3"})  # fmt: skip
    assert shown["Items"] == [{"pk": {"S": pk}, "a": {"N": "1"}, "c": {"N": "3"}}]
    code, _ = refused("ExecuteStatement", said(f"FROM \"{hash_table}\" WHERE pk = '{key()}' SET c = 1"))
    assert code == "ConditionalCheckFailedException"


def test_mistakes_that_only_the_item_shows_are_told_as_in_an_update(
    answered: Answered, refusal: Refusal, hash_table: str, key: NewKey
) -> None:
    pk = key()
    before = put(answered, hash_table, pk={"S": pk}, s={"S": "x"}, ss={"SS": ["a"]})
    for change in (
        "ss = set_add(ss, <<1>>)",
        "s = set_add(s, <<'x'>>)",
        "s = s + 1",
        "s = list_append(s, [1])",
    ):
        told = refusal(f"UPDATE \"{hash_table}\" SET {change} WHERE pk = '{pk}'")
        assert told == "An operand in the update expression has an incorrect data type"
    told = refusal(f"UPDATE \"{hash_table}\" SET z = nope WHERE pk = '{pk}'")
    assert told == "The provided expression refers to an attribute that does not exist in the item"
    told = refusal(f"UPDATE \"{hash_table}\" SET nope.x = 1 WHERE pk = '{pk}'")
    assert told == "The document path provided in the update expression is invalid for update"
    told = refusal(f"UPDATE \"{hash_table}\" SET pk = 'x' WHERE pk = '{pk}'")
    assert "Cannot update attribute pk. This attribute is part of the key" in told
    assert stored(answered, hash_table, pk) == before


# --- DELETE ---


def test_a_delete_removes_one_item_and_may_show_it(
    answered: Answered, run: Run, hash_table: str, key: NewKey
) -> None:
    pk = key()
    item = put(answered, hash_table, pk={"S": pk}, a={"N": "1"})
    delete = f"DELETE FROM \"{hash_table}\" WHERE pk = '{pk}'"
    assert run(delete + " RETURNING ALL OLD *") == {"Items": [item]}
    assert run(delete + " RETURNING ALL OLD *") == {"Items": []}
    assert run(delete) == {"Items": []}
    assert stored(answered, hash_table, pk) is None


@pytest.mark.parametrize(
    "where", ["", " WHERE pk = 'x'", " WHERE sk = 'x'", " WHERE pk = 'x' AND sk > 'a'", " WHERE a = 1",
              " WHERE pk = 'x' AND sk IN ['y']", " WHERE pk = 'x' OR sk = 'y'"]
)  # fmt: skip
def test_a_write_names_one_item_by_its_whole_key(refusal: Refusal, comp_table: str, where: str) -> None:
    assert refusal(f'UPDATE "{comp_table}" SET a = 1{where}') == NO_KEY
    assert refusal(f'DELETE FROM "{comp_table}"{where}') == NO_KEY


def test_a_key_asked_for_twice_is_one_item_or_none(
    answered: Answered, run: Run, refusal: Refusal, comp_table: str, key: NewKey
) -> None:
    pk = key()
    put(answered, comp_table, pk={"S": pk}, sk={"S": "1"})
    run(f"UPDATE \"{comp_table}\" SET a = 'x' WHERE pk = '{pk}' AND sk = '1' AND pk = '{pk}'")
    told = refusal(f"DELETE FROM \"{comp_table}\" WHERE pk = '{pk}' AND sk = '1' AND pk = 'other'")
    assert told == "Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported"
    assert stored(answered, comp_table, pk, "1") is not None


# --- capacity ---


def test_a_statement_costs_what_the_classic_verb_costs(
    answered: Answered, run: Run, comp_table: str, key: NewKey
) -> None:
    pk, big = key(), "x" * 3000

    def cost(text: str, *parameters: Json) -> Any:
        return run(text, *parameters, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]

    inserted = cost(
        f"INSERT INTO \"{comp_table}\" VALUE {{'pk': '{pk}', 'sk': '1', 'gpk': 'g', 'a': ?}}", {"S": big}
    )
    asked: Json = {"TableName": comp_table, "ReturnConsumedCapacity": "INDEXES"}
    whole = {"pk": {"S": pk}, "sk": {"S": "2"}, "gpk": {"S": "g"}, "a": {"S": big}}
    assert inserted == answered("PutItem", asked | {"Item": whole})["ConsumedCapacity"]
    assert inserted["Table"]["CapacityUnits"] == 3.0
    queried = cost(f"SELECT sk FROM \"{comp_table}\" WHERE pk = '{pk}'")
    query = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": pk}}}
    assert queried == answered("Query", asked | query)["ConsumedCapacity"]
    deleted = cost(f"DELETE FROM \"{comp_table}\" WHERE pk = '{pk}' AND sk = '1'")
    twin = {"Key": {"pk": {"S": pk}, "sk": {"S": "2"}}}
    assert deleted == answered("DeleteItem", asked | twin)["ConsumedCapacity"]


def test_a_consistent_read_costs_twice_an_eventual_one(
    answered: Answered, run: Run, hash_table: str, key: NewKey
) -> None:
    pk = key()
    put(answered, hash_table, pk={"S": pk})
    text = f"SELECT * FROM \"{hash_table}\" WHERE pk = '{pk}'"
    units = [
        run(text, ConsistentRead=flag, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]["CapacityUnits"]
        for flag in (False, True)
    ]
    assert units == [0.5, 1.0]


def test_an_sdk_knows_the_answers_and_the_refusals(client: Any, hash_table: str, key: NewKey) -> None:
    pk = key()
    insert = f"INSERT INTO \"{hash_table}\" VALUE {{'pk': ?, 'n': 1}}"
    client.execute_statement(Statement=insert, Parameters=[{"S": pk}])
    with pytest.raises(
        client.exceptions.DuplicateItemException, match="Duplicate primary key exists in table"
    ):
        client.execute_statement(Statement=insert, Parameters=[{"S": pk}])
    found = client.execute_statement(Statement=f"SELECT n FROM \"{hash_table}\" WHERE pk = '{pk}'")
    assert found["Items"] == [{"n": {"N": "1"}}]
    twice = [{"Statement": insert, "Parameters": [{"S": text}]} for text in (key(), pk)]
    with pytest.raises(client.exceptions.TransactionCanceledException) as refusal:
        client.execute_transaction(TransactStatements=twice)
    assert [one["Code"] for one in refusal.value.response["CancellationReasons"]] == ["None", "DuplicateItem"]
    members = client.batch_execute_statement(Statements=twice)["Responses"]
    assert [one.get("Error", {}).get("Code") for one in members] == [None, "DuplicateItem"]
