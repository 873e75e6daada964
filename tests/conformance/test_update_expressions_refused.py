"""Update expressions that are wrong whatever the item is: refused before the table is looked up.

Elsewhere: what fails only on the item at hand (test_update_item.py).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.conformance.talk import ONE_OF_EACH, Json, NewKey, Refused

WRONG = "Invalid UpdateExpression: "
OPERAND = WRONG + "Incorrect operand type for operator or function; "

Update = Callable[..., Json]


@pytest.fixture
def request_for(hash_table: str, key: NewKey) -> Update:
    """request_for(expression, values) -> an UpdateItem request for an item that is not there."""

    def make(expression: str, values: Json | None = None) -> Json:
        made = {"TableName": hash_table, "Key": {"pk": {"S": key()}}, "UpdateExpression": expression}
        return {**made, "ExpressionAttributeValues": values} if values else made

    return make


STATIC = [
    ("", None, WRONG + "The expression can not be empty;"),
    ("INVALID SYNTAX HERE", None, WRONG + 'Syntax error; token: "INVALID", near: "INVALID SYNTAX"'),
    ("SET a = :v b = :v", "S", WRONG + 'Syntax error; token: "b", near: ":v b ="'),
    ("SET a = a + :v + :v", "N", WRONG + 'Syntax error; token: "+", near: ":v + :v"'),
    ("ADD a cnt", None, WRONG + 'Syntax error; token: "cnt", near: "a cnt"'),
    ("SET", None, WRONG + 'Syntax error; token: "<EOF>", near: "SET"'),
    ("SET a = foo(a)", None, WRONG + "Invalid function name; function: foo"),
    ("SET a = size(a)", None, WRONG + "The function is not allowed in an update expression; function: size"),
    (
        "SET a = if_not_exists(:v, :v)",
        "N",
        WRONG + "Operator or function requires a document path; operator or function: if_not_exists",
    ),
    (
        "SET a = if_not_exists(b)",
        None,
        WRONG + "Incorrect number of operands for operator or function; operator or function: if_not_exists, "
        "number of operands: 1",
    ),
    (
        "SET a = list_append(b)",
        None,
        WRONG + "Incorrect number of operands for operator or function; operator or function: list_append, "
        "number of operands: 1",
    ),
    (
        "SET status = :v",
        "S",
        WRONG + "Attribute name is a reserved keyword; reserved keyword: status",
    ),
    ("SET size = :v", "S", WRONG + "Attribute name is a reserved keyword; reserved keyword: size"),
    ("REMOVE m.Absolute", None, WRONG + "Attribute name is a reserved keyword; reserved keyword: Absolute"),
    (
        "SET a = :nope",
        None,
        WRONG + "An expression attribute value used in expression is not defined; attribute value: :nope",
    ),
    (
        "SET #nope = :v",
        "S",
        WRONG
        + "An expression attribute name used in the document path is not defined; attribute name: #nope",
    ),
    ("REMOVE a", "S", "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"),
]


@pytest.mark.parametrize(("expression", "kind", "message"), STATIC, ids=lambda part: str(part)[:50])
def test_a_wrong_expression_is_refused_before_the_table_is_looked_up(
    refused: Refused, request_for: Update, key: NewKey, expression: str, kind: str | None, message: str
) -> None:
    request = request_for(expression, {":v": ONE_OF_EACH[kind]} if kind else None)
    assert refused("UpdateItem", request) == ("ValidationException", message)
    assert refused("UpdateItem", {**request, "TableName": key()}) == ("ValidationException", message)


@pytest.mark.parametrize(
    "expression",
    [
        "set a",
        "add a",
        "delete a",
        "set a=set",
        "remove a = b",
        "add a = b",
        "delete a b",
        "remove a b",
        "set a b",
        "set :a = b",
        "remove :a",
        "set a = b / c",
        "set a = b * c",
        "set a = -b",
        'set a[1] = "eight"',
        "set a[1] = 1",
        "SET if_not_exists(a, b) = a",
        "set (a = (b + c))",
        "set a = (b.c).d + e",
        "set a = b + c + d",
        "set a = b,",
        "set a == b",
    ],
)
def test_the_grammar_allows_nothing_more(refused: Refused, request_for: Update, expression: str) -> None:
    code, message = refused("UpdateItem", request_for(expression))
    assert code == "ValidationException"
    assert message.startswith(WRONG + "Syntax error; ")


@pytest.mark.parametrize("operator", ["+", "-"])
@pytest.mark.parametrize("kind", [kind for kind in ONE_OF_EACH if kind != "N"])
def test_arithmetic_takes_numbers_only(
    refused: Refused, request_for: Update, operator: str, kind: str
) -> None:
    request = request_for(f"SET a = a {operator} :v", {":v": ONE_OF_EACH[kind]})
    message = f"{OPERAND}operator or function: {operator}, operand type: {kind}"
    assert refused("UpdateItem", request) == ("ValidationException", message)


@pytest.mark.parametrize("kind", [kind for kind in ONE_OF_EACH if kind != "L"])
def test_list_append_takes_lists_only(refused: Refused, request_for: Update, kind: str) -> None:
    request = request_for("SET a = list_append(a, :v)", {":v": ONE_OF_EACH[kind]})
    message = f"{OPERAND}operator or function: list_append, operand type: {kind}"
    assert refused("UpdateItem", request) == ("ValidationException", message)


LONG_NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
}


@pytest.mark.parametrize(
    ("clause", "kind"),
    [(clause, kind) for clause in ("ADD", "DELETE") for kind in LONG_NAMES if (clause, kind) != ("ADD", "N")],
)
def test_add_and_delete_name_the_type_they_do_not_take(
    refused: Refused, request_for: Update, clause: str, kind: str
) -> None:
    request = request_for(f"{clause} a :v", {":v": ONE_OF_EACH[kind]})
    allowed = f"typeSet: ALLOWED_FOR_{clause}_OPERAND"
    message = f"{OPERAND}operator: {clause}, operand type: {LONG_NAMES[kind]}, {allowed}"
    assert refused("UpdateItem", request) == ("ValidationException", message)


@pytest.mark.parametrize(
    ("expression", "section"),
    [
        ("SET a = :v SET b = :v", "SET"),
        ("REMOVE a SET b = :v REMOVE c", "REMOVE"),
        ("ADD a :v SET b = :v ADD c :v", "ADD"),
        ("DELETE a :v SET b = :v DELETE c :v", "DELETE"),
    ],
)
def test_a_section_stands_once(refused: Refused, request_for: Update, expression: str, section: str) -> None:
    message = f'{WRONG}The "{section}" section can only be used once in an update expression;'
    reply = refused("UpdateItem", request_for(expression, {":v": ONE_OF_EACH["NS"]}))
    assert reply == ("ValidationException", message)


@pytest.mark.parametrize(
    ("expression", "how", "one", "two"),
    [
        ("SET a = :v, a = :v", "overlap", "[a]", "[a]"),
        ("SET m = :v, m.x = :v", "overlap", "[m]", "[m, x]"),
        ("SET m.x = :v REMOVE m", "overlap", "[m, x]", "[m]"),
        ("SET l[1] = :v REMOVE l[1].x", "overlap", "[l, [1]]", "[l, [1], x]"),
        ("SET a = :v ADD a :v", "overlap", "[a]", "[a]"),
        ("SET q.x = :v, q[1] = :v", "conflict", "[q, x]", "[q, [1]]"),
        ("SET q[0] = :v REMOVE q.x", "conflict", "[q, [0]]", "[q, x]"),
    ],
)
def test_two_actions_may_not_touch_one_place(
    refused: Refused, request_for: Update, expression: str, how: str, one: str, two: str
) -> None:
    message = (
        f"{WRONG}Two document paths {how} with each other; must remove or rewrite one of these paths; "
        f"path one: {one}, path two: {two}"
    )
    reply = refused("UpdateItem", request_for(expression, {":v": ONE_OF_EACH["N"]}))
    assert reply == ("ValidationException", message)
