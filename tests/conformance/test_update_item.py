"""UpdateItem: SET, REMOVE, ADD and DELETE, what they return, and what stops them.

Must hold: every right-hand side and every list index sees the item as it was before the update.
Elsewhere: expressions no item could make right (test_update_expressions_refused.py), conditions
(test_expressions_in_conditions.py), AttributeUpdates (test_legacy_updates_and_keys.py), keys of the wrong
shape (test_get_item.py), sizes (test_numbers_and_sizes.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.talk import ONE_OF_EACH, Answered, Json, NewKey, Refused, Send

INVALID = "One or more parameter values were invalid: "
BAD_PATH = (
    "ValidationException",
    "The document path provided in the update expression is invalid for update",
)
BAD_TYPE = ("ValidationException", "An operand in the update expression has an incorrect data type")
NOT_THERE = (
    "ValidationException",
    "The provided expression refers to an attribute that does not exist in the item",
)
CONDITION_FAILED = ("ConditionalCheckFailedException", "The conditional request failed")

Update = Callable[..., Json]


def numbers(*values: int) -> Json:
    return {"L": [{"N": str(value)} for value in values]}


@pytest.fixture
def where(key: NewKey) -> Json:
    return {"pk": {"S": key()}}


@pytest.fixture
def request_for(hash_table: str, where: Json) -> Callable[..., Json]:
    """request_for(expression, values) -> an UpdateItem request for this test's item."""

    def make(expression: str, values: Json | None = None, **more: Any) -> Json:
        made = {"TableName": hash_table, "Key": where, "UpdateExpression": expression, **more}
        return {**made, "ExpressionAttributeValues": values} if values else made

    return make


@pytest.fixture
def given(answered: Answered, hash_table: str, where: Json) -> Callable[[Json], None]:
    """given(attributes): this test's item is there, with these attributes."""

    def put(attributes: Json) -> None:
        answered("PutItem", {"TableName": hash_table, "Item": {**where, **attributes}})

    return put


@pytest.fixture
def updated(answered: Answered, request_for: Callable[..., Json]) -> Callable[..., Json]:
    """updated(expression, values) -> the item's attributes after the update, without the key."""

    def update(expression: str, values: Json | None = None) -> Json:
        answer = answered("UpdateItem", request_for(expression, values, ReturnValues="ALL_NEW"))
        return {name: value for name, value in answer["Attributes"].items() if name != "pk"}

    return update


def current(answered: Answered, table: str, where: Json) -> Json:
    return answered("GetItem", {"TableName": table, "Key": where, "ConsistentRead": True})


# Making and leaving items


def test_an_update_of_nothing_makes_the_item(
    answered: Answered, request_for: Update, hash_table: str, where: Json
) -> None:
    answered("UpdateItem", request_for("SET a = :v", {":v": {"N": "1"}}))
    assert current(answered, hash_table, where) == {"Item": {**where, "a": {"N": "1"}}}


def test_an_update_answers_nothing_unless_asked(answered: Answered, request_for: Update) -> None:
    assert answered("UpdateItem", request_for("SET a = :v", {":v": {"N": "1"}})) == {}


def test_an_update_without_an_expression_makes_an_item_of_its_key(
    answered: Answered, hash_table: str, where: Json
) -> None:
    answered("UpdateItem", {"TableName": hash_table, "Key": where})
    assert current(answered, hash_table, where) == {"Item": where}


def test_an_update_without_an_expression_leaves_an_item_as_it_was(
    answered: Answered, given: Callable[[Json], None], hash_table: str, where: Json
) -> None:
    given({"a": {"N": "1"}})
    answered("UpdateItem", {"TableName": hash_table, "Key": where})
    assert current(answered, hash_table, where) == {"Item": {**where, "a": {"N": "1"}}}


@pytest.mark.parametrize(
    "expression",
    ["SET b = pk", "SET b = if_not_exists(b, pk)", "SET b = pk REMOVE c, d.e", "SET b = pk ADD n :n"],
)
def test_an_update_that_makes_the_item_reads_its_key(
    answered: Answered, request_for: Update, hash_table: str, where: Json, expression: str
) -> None:
    values = {":n": {"N": "1"}} if ":n" in expression else None
    more = {"n": {"N": "1"}} if values else {}
    asked = request_for(
        expression, values, ConditionExpression="attribute_not_exists(pk)", ReturnValues="ALL_NEW"
    )
    made = {**where, "b": where["pk"], **more}
    assert answered("UpdateItem", asked) == {"Attributes": made}
    assert current(answered, hash_table, where) == {"Item": made}


def test_an_update_in_a_transaction_reads_the_key_of_what_it_makes(
    answered: Answered, request_for: Update, hash_table: str, where: Json
) -> None:
    answered("TransactWriteItems", {"TransactItems": [{"Update": request_for("SET b = pk")}]})
    assert current(answered, hash_table, where) == {"Item": {**where, "b": where["pk"]}}


def test_an_update_that_only_removes_makes_no_item(
    answered: Answered, request_for: Update, hash_table: str, where: Json
) -> None:
    answer = answered("UpdateItem", request_for("REMOVE a", ReturnValues="ALL_NEW"))
    assert "Attributes" not in answer
    assert current(answered, hash_table, where) == {}


# What an update does

BEFORE: Json = {
    "n": {"N": "5"},
    "s": {"S": "text"},
    "t": {"BOOL": True},
    "l": numbers(0, 1, 2, 3),
    "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"N": "2"}}}, "l": numbers(7, 8)}},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
}

CHANGES: list[tuple[str, Json, Json]] = [
    ("SET n = :v", {":v": {"S": "x"}}, {"n": {"S": "x"}}),
    ("SET n = :v, fresh = n", {":v": {"N": "9"}}, {"n": {"N": "9"}, "fresh": {"N": "5"}}),
    ("SET n = s, s = n", {}, {"n": {"S": "text"}, "s": {"N": "5"}}),
    ("SET kept = n REMOVE n", {}, {"kept": {"N": "5"}, "n": None}),
    ("SET kept = l[2], l[2] = :v", {":v": {"N": "9"}}, {"kept": {"N": "2"}, "l": numbers(0, 1, 9, 3)}),
    ("SET m.x = :v", {":v": {"N": "3"}}, {"m": {"M": {**BEFORE["m"]["M"], "x": {"N": "3"}}}}),
    (
        "SET m.y.w = m.x",
        {},
        {"m": {"M": {**BEFORE["m"]["M"], "y": {"M": {"z": {"N": "2"}, "w": {"N": "1"}}}}}},
    ),
    ("SET m.l[0] = m.l[1], m.l[1] = m.l[0]", {}, {"m": {"M": {**BEFORE["m"]["M"], "l": numbers(8, 7)}}}),
    ("SET n = n + :v", {":v": {"N": "1"}}, {"n": {"N": "6"}}),
    ("SET n = :v - n", {":v": {"N": "1"}}, {"n": {"N": "-4"}}),
    ("SET n = n + m.x", {}, {"n": {"N": "6"}}),
    ("SET n = (n - :v)", {":v": {"N": "0.5"}}, {"n": {"N": "4.5"}}),
    ("SET n = (n + :v) + :v", {":v": {"N": "1"}}, {"n": {"N": "7"}}),
    ("SET n = if_not_exists(n, :v)", {":v": {"N": "1"}}, {"n": {"N": "5"}}),
    ("SET q = if_not_exists(q, :v)", {":v": {"N": "1"}}, {"q": {"N": "1"}}),
    ("SET q = if_not_exists(q, :z) + :v", {":v": {"N": "1"}, ":z": {"N": "0"}}, {"q": {"N": "1"}}),
    ("SET q = if_not_exists(q, if_not_exists(m.x, :v))", {":v": {"N": "9"}}, {"q": {"N": "1"}}),
    ("SET l = list_append(l, :v)", {":v": numbers(4, 5)}, {"l": numbers(0, 1, 2, 3, 4, 5)}),
    ("SET l = list_append(:v, l)", {":v": numbers(4)}, {"l": numbers(4, 0, 1, 2, 3)}),
    ("SET l = list_append(l, l)", {}, {"l": numbers(0, 1, 2, 3, 0, 1, 2, 3)}),
    ("SET q = list_append(if_not_exists(q, :e), :v)", {":e": {"L": []}, ":v": numbers(1)}, {"q": numbers(1)}),
    ("REMOVE n, m.x", {}, {"n": None, "m": {"M": {k: v for k, v in BEFORE["m"]["M"].items() if k != "x"}}}),
    ("REMOVE nope, l[9]", {}, {}),
    ("ADD n :v", {":v": {"N": "-7"}}, {"n": {"N": "-2"}}),
    ("ADD q :v", {":v": {"N": "7"}}, {"q": {"N": "7"}}),
    ("ADD m.x :v", {":v": {"N": "1"}}, {"m": {"M": {**BEFORE["m"]["M"], "x": {"N": "2"}}}}),
    ("ADD l[1] :v", {":v": {"N": "10"}}, {"l": numbers(0, 11, 2, 3)}),
    ("ADD ss :v", {":v": {"SS": ["b", "c"]}}, {"ss": {"SS": ["a", "b", "c"]}}),
    ("ADD q :v", {":v": {"SS": ["z"]}}, {"q": {"SS": ["z"]}}),
    ("ADD ns :v", {":v": {"NS": ["2.0", "3"]}}, {"ns": {"NS": ["1", "2", "3"]}}),
    ("DELETE ss :v", {":v": {"SS": ["a", "z"]}}, {"ss": {"SS": ["b"]}}),
    ("DELETE ss :v", {":v": {"SS": ["a", "b"]}}, {"ss": None}),
    ("DELETE ns :v", {":v": {"NS": ["1.00"]}}, {"ns": {"NS": ["2"]}}),
    ("DELETE nope :v", {":v": {"SS": ["a"]}}, {}),
    (
        "REMOVE s SET n = :v DELETE ss :a ADD q :v",
        {":v": {"N": "1"}, ":a": {"SS": ["a"]}},
        {"s": None, "n": {"N": "1"}, "ss": {"SS": ["b"]}, "q": {"N": "1"}},
    ),
    ("set n = :v remove s", {":v": {"N": "1"}}, {"n": {"N": "1"}, "s": None}),
    ("SET\n\tn=:v,q=:v", {":v": {"N": "1"}}, {"n": {"N": "1"}, "q": {"N": "1"}}),
]


def without_set_order(item: Json) -> Json:
    return {
        name: {kind: sorted(members) if kind in ("SS", "NS") else members for kind, members in value.items()}
        for name, value in item.items()
    }


@pytest.mark.parametrize(("expression", "values", "change"), CHANGES, ids=lambda part: str(part)[:60])
def test_an_update_changes_exactly_what_it_says(
    given: Callable[[Json], None], updated: Update, expression: str, values: Json, change: Json
) -> None:
    given(BEFORE)
    wanted = {name: value for name, value in {**BEFORE, **change}.items() if value is not None}
    assert without_set_order(updated(expression, values)) == without_set_order(wanted)


@pytest.mark.parametrize(
    ("expression", "after"),
    [
        ("SET l[1] = :v", [0, 99, 2, 3]),
        ("SET l[4] = :v", [0, 1, 2, 3, 99]),
        ("SET l[50] = :v", [0, 1, 2, 3, 99]),
        ("SET l[50] = :v, l[40] = :w, l[0] = :w", [98, 1, 2, 3, 98, 99]),
        ("REMOVE l[0], l[2]", [1, 3]),
        ("REMOVE l[2], l[0]", [1, 3]),
        ("REMOVE l[0], l[1], l[2], l[3]", []),
        ("SET l[1] = :v REMOVE l[0], l[3]", [99, 2]),
        ("SET l[9] = :v REMOVE l[0]", [1, 2, 3, 99]),
        ("SET l[0] = l[3], l[3] = l[0]", [3, 1, 2, 0]),
    ],
)
def test_list_indexes_refer_to_the_list_as_it_was(
    given: Callable[[Json], None], updated: Update, expression: str, after: list[int]
) -> None:
    given(BEFORE)
    known = {":v": {"N": "99"}, ":w": {"N": "98"}}
    values = {name: value for name, value in known.items() if name in expression}
    assert updated(expression, values)["l"] == numbers(*after)


# What an update returns


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("NONE", None),
        ("ALL_OLD", {"a": {"N": "1"}, "b": {"N": "2"}, "c": {"N": "3"}}),
        ("ALL_NEW", {"a": {"N": "9"}, "c": {"N": "3"}, "d": {"N": "9"}}),
        ("UPDATED_OLD", {"a": {"N": "1"}, "b": {"N": "2"}}),
        ("UPDATED_NEW", {"a": {"N": "9"}, "d": {"N": "9"}}),
    ],
)
def test_each_of_the_five_forms_returns_its_part(
    answered: Answered,
    given: Callable[[Json], None],
    request_for: Update,
    where: Json,
    form: str,
    expected: Json | None,
) -> None:
    given({"a": {"N": "1"}, "b": {"N": "2"}, "c": {"N": "3"}})
    request = request_for("SET a = :v, d = :v REMOVE b", {":v": {"N": "9"}}, ReturnValues=form)
    key_too = where if form.startswith("ALL") else {}
    wanted = None if expected is None else {**key_too, **expected}
    assert answered("UpdateItem", request).get("Attributes") == wanted


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("NONE", None),
        ("ALL_OLD", None),
        ("UPDATED_OLD", None),
        ("UPDATED_NEW", {"a": {"N": "9"}}),
    ],
)
def test_a_new_item_has_nothing_old_to_return(
    answered: Answered, request_for: Update, form: str, expected: Json | None
) -> None:
    request = request_for("SET a = :v", {":v": {"N": "9"}}, ReturnValues=form)
    assert answered("UpdateItem", request).get("Attributes") == expected


@pytest.mark.parametrize(
    ("expression", "values", "old", "new"),
    [
        (
            "SET m.x = :v",
            {":v": {"N": "9"}},
            {"m": {"M": {"x": {"N": "1"}}}},
            {"m": {"M": {"x": {"N": "9"}}}},
        ),
        (
            "SET m.y.z = :v, m.x = :v",
            {":v": {"N": "9"}},
            {"m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"N": "2"}}}}}},
            {"m": {"M": {"x": {"N": "9"}, "y": {"M": {"z": {"N": "9"}}}}}},
        ),
        ("SET m.fresh = :v", {":v": {"N": "9"}}, None, {"m": {"M": {"fresh": {"N": "9"}}}}),
        ("SET l[1] = :v", {":v": {"N": "9"}}, {"l": numbers(1)}, {"l": numbers(9)}),
        ("SET l[1] = :v, l[3] = :v", {":v": {"N": "9"}}, {"l": numbers(1, 3)}, {"l": numbers(9, 9)}),
        # The paths are looked up in the new item: nothing is at [50], and what moved into [1] is there.
        ("SET l[50] = :v", {":v": {"N": "9"}}, None, None),
        ("REMOVE l[1], l[9]", {}, {"l": numbers(1)}, {"l": numbers(2)}),
        ("SET n = n", {}, {"n": {"N": "5"}}, {"n": {"N": "5"}}),
        ("REMOVE n", {}, {"n": {"N": "5"}}, None),
        ("REMOVE m.x", {}, {"m": {"M": {"x": {"N": "1"}}}}, None),
        ("REMOVE nope", {}, None, None),
        ("ADD n :v", {":v": {"N": "1"}}, {"n": {"N": "5"}}, {"n": {"N": "6"}}),
        ("ADD m.x :v", {":v": {"N": "1"}}, {"m": {"M": {"x": {"N": "1"}}}}, {"m": {"M": {"x": {"N": "2"}}}}),
        ("DELETE ss :v", {":v": {"SS": ["a"]}}, {"ss": {"SS": ["a", "b"]}}, {"ss": {"SS": ["b"]}}),
        ("DELETE ss :v", {":v": {"SS": ["a", "b"]}}, {"ss": {"SS": ["a", "b"]}}, None),
    ],
    ids=lambda part: str(part)[:50],
)
def test_the_updated_forms_return_only_the_changed_fragments(
    answered: Answered,
    given: Callable[[Json], None],
    request_for: Update,
    expression: str,
    values: Json,
    old: Json | None,
    new: Json | None,
) -> None:
    for form, fragments in (("UPDATED_OLD", old), ("UPDATED_NEW", new)):
        given(BEFORE)
        answer = answered("UpdateItem", request_for(expression, values, ReturnValues=form))
        assert ("Attributes" in answer) == (fragments is not None), form
        assert without_set_order(answer.get("Attributes", {})) == without_set_order(fragments or {}), form


# What stops an update


@pytest.mark.parametrize(
    ("expression", "kind", "reply"),
    [
        ("SET zz.x = :v", "N", BAD_PATH),
        ("SET s.x = :v", "N", BAD_PATH),
        ("SET zz[0] = :v", "N", BAD_PATH),
        ("SET m[0] = :v", "N", BAD_PATH),
        ("SET l.x = :v", "N", BAD_PATH),
        ("SET m.nope.x = :v", "N", BAD_PATH),
        ("ADD zz.x :v", "N", BAD_PATH),
        ("SET q = nope", None, NOT_THERE),
        ("SET q = nope + :v", "N", NOT_THERE),
        ("SET q = m.nope", None, NOT_THERE),
        ("SET q = l[9]", None, NOT_THERE),
        ("SET q = list_append(nope, :v)", "L", NOT_THERE),
        ("SET q = s + :v", "N", BAD_TYPE),
        ("SET q = list_append(s, :v)", "L", BAD_TYPE),
        ("ADD s :v", "N", BAD_TYPE),
        ("ADD ns :v", "SS", BAD_TYPE),
        ("ADD ns :v", "N", BAD_TYPE),
        ("ADD n :v", "NS", BAD_TYPE),
        ("DELETE ns :v", "SS", BAD_TYPE),
        ("DELETE n :v", "NS", BAD_TYPE),
    ],
)
def test_an_update_that_does_not_fit_the_item_changes_nothing(
    answered: Answered,
    refused: Refused,
    given: Callable[[Json], None],
    request_for: Update,
    hash_table: str,
    where: Json,
    expression: str,
    kind: str | None,
    reply: tuple[str, str],
) -> None:
    given(BEFORE)
    expression += " REMOVE t"
    assert (
        refused("UpdateItem", request_for(expression, {":v": ONE_OF_EACH[kind]} if kind else None)) == reply
    )
    got = current(answered, hash_table, where)["Item"]
    assert without_set_order(got) == without_set_order({**where, **BEFORE})


@pytest.mark.parametrize(
    ("expression", "kind", "name"),
    [
        ("SET pk = :v", "S", "pk"),
        ("REMOVE sk", None, "sk"),
        ("ADD pk :v", "N", "pk"),
        ("DELETE sk :v", "SS", "sk"),
        ("SET a = :v, sk = :v", "S", "sk"),
    ],
)
def test_a_key_attribute_cannot_be_updated(
    refused: Refused, comp_table: str, key: NewKey, expression: str, kind: str | None, name: str
) -> None:
    request = {
        "TableName": comp_table,
        "Key": {"pk": {"S": key()}, "sk": {"S": "1"}},
        "UpdateExpression": expression,
        **({"ExpressionAttributeValues": {":v": ONE_OF_EACH[kind]}} if kind else {}),
    }
    message = f"{INVALID}Cannot update attribute {name}. This attribute is part of the key"
    assert refused("UpdateItem", request) == ("ValidationException", message)


def update_index_key(table: str, where: Json, value: Json) -> Json:
    return {
        "TableName": table,
        "Key": where,
        "UpdateExpression": "SET gpk = :v",
        "ExpressionAttributeValues": {":v": value},
    }


def test_an_index_key_cannot_become_empty_or_change_its_type(
    answered: Answered, refused: Refused, comp_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}, "sk": {"S": "1"}}
    answered("PutItem", {"TableName": comp_table, "Item": {**where, "gpk": {"S": "g"}, "gsk": {"N": "1"}}})
    assert refused("UpdateItem", update_index_key(comp_table, where, {"S": ""})) == (
        "ValidationException",
        "One or more parameter values are not valid. The update expression attempted to update a secondary "
        "index key to a value that is not supported. The AttributeValue for a key attribute cannot contain "
        "an empty string value.",
    )
    assert refused("UpdateItem", update_index_key(comp_table, where, {"N": "1"})) == (
        "ValidationException",
        INVALID + "Type mismatch for Index Key gpk Expected: S Actual: N IndexName: gsi1",
    )


def test_an_index_key_can_be_changed_and_removed(answered: Answered, comp_table: str, key: NewKey) -> None:
    where = {"pk": {"S": key()}, "sk": {"S": "1"}}
    answered("UpdateItem", update_index_key(comp_table, where, {"S": key()}))
    remove = {
        "TableName": comp_table,
        "Key": where,
        "UpdateExpression": "REMOVE gpk",
        "ReturnValues": "ALL_NEW",
    }
    assert answered("UpdateItem", remove)["Attributes"] == where


# Conditions and choices


def test_a_condition_sees_the_item_before_the_update_makes_it(
    answered: Answered, refused: Refused, request_for: Update, hash_table: str, where: Json
) -> None:
    values = {":v": {"N": "1"}}
    exists = request_for("SET a = :v", values, ConditionExpression="attribute_exists(pk)")
    assert refused("UpdateItem", exists) == CONDITION_FAILED
    assert current(answered, hash_table, where) == {}
    missing = request_for("SET a = :v", values, ConditionExpression="attribute_not_exists(pk)")
    answered("UpdateItem", missing)
    assert current(answered, hash_table, where) == {"Item": {**where, "a": {"N": "1"}}}


def test_a_failed_condition_leaves_the_item_and_shows_it_when_asked(
    answered: Answered,
    send: Send,
    given: Callable[[Json], None],
    request_for: Update,
    hash_table: str,
    where: Json,
) -> None:
    given({"a": {"N": "1"}})
    request = request_for("SET a = :v", {":v": {"N": "2"}}, ConditionExpression="a > :v")
    hidden = send("UpdateItem", request)
    assert ((hidden.code, hidden.message), "Item" in hidden.body) == (CONDITION_FAILED, False)
    shown = send("UpdateItem", {**request, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
    item = {**where, "a": {"N": "1"}}
    assert ((shown.code, shown.message), shown.body.get("Item")) == (CONDITION_FAILED, item)
    assert current(answered, hash_table, where) == {"Item": item}


def test_a_failed_condition_comes_before_an_update_that_does_not_fit(
    refused: Refused, given: Callable[[Json], None], request_for: Update
) -> None:
    given(BEFORE)
    request = request_for("SET zz.x = :v", {":v": {"N": "2"}}, ConditionExpression="n = :v")
    assert refused("UpdateItem", request) == CONDITION_FAILED


def test_names_and_values_serve_both_expressions(
    answered: Answered, given: Callable[[Json], None], request_for: Update
) -> None:
    given({"a": {"N": "1"}})
    request = request_for(
        "SET #a = #a + :one",
        {":one": {"N": "1"}},
        ConditionExpression="#a = :one",
        ExpressionAttributeNames={"#a": "a"},
        ReturnValues="UPDATED_NEW",
    )
    assert answered("UpdateItem", request)["Attributes"] == {"a": {"N": "2"}}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeValues": {":v": {"N": "1"}}},
            "ExpressionAttributeValues can only be specified when using expressions",
        ),
        (
            {"ReturnValues": "hi"},
            "Failed to satisfy constraint: "
            "Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
        ),
    ],
    ids=str,
)
def test_what_belongs_to_no_expression_is_refused(
    refused: Refused, hash_table: str, where: Json, more: Json, message: str
) -> None:
    request = {"TableName": hash_table, "Key": where, **more}
    assert refused("UpdateItem", request) == ("ValidationException", message)
