"""Conditions and filters that are refused before any item is read: grammar, types, placeholders, limits.

Elsewhere: what conditions mean (test_expressions_in_conditions.py); update and projection expressions
(test_update_expressions_refused.py, test_get_item.py).
"""

from __future__ import annotations

import pytest
from tests.conformance.talk import ONE_OF_EACH, Answered, Json, NewKey, NewTable, Refused

NOT_ORDERED = ("BOOL", "NULL", "SS", "NS", "BS", "L", "M")
TYPE = "Incorrect operand type for operator or function; operator or function: {}, operand type: {}"
COUNT = (
    "Incorrect number of operands for operator or function; operator or function: {}, number of operands: {}"
)
DISTINCT = (
    "The first operand must be distinct from the remaining operands for this operator or function; "
    "operator: {}, first operand: {}"
)
PATH = "Operator or function requires a document path; operator or function: {}"
THIS_WAY = "The function is not allowed to be used this way in an expression; function: {}"
RESERVED = "Attribute name is a reserved keyword; reserved keyword: {}"
BOUNDS = (
    "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
    "lower bound operand: AttributeValue: {{{}}}, upper bound operand: AttributeValue: {{{}}}"
)
SAME_TYPE = (
    "The BETWEEN operator requires same data type for lower and upper bounds; "
    "lower bound operand: AttributeValue: {{{}}}, upper bound operand: AttributeValue: {{{}}}"
)

REFUSED: list[tuple[str, Json, str]] = [
    ("", {}, "The expression can not be empty;"),
    ("a ==", {}, 'Syntax error; token: "=", near: "=="'),
    ("a != :v", {":v": ONE_OF_EACH["S"]}, 'Syntax error; token: "!", near: "a !="'),
    ("a IN ()", {}, 'Syntax error; token: ")", near: "()"'),
    ("a[-1] = :v", {":v": ONE_OF_EACH["S"]}, 'Syntax error; token: "-", near: "[-1"'),
    ("1a = :v", {":v": ONE_OF_EACH["S"]}, 'Syntax error; token: "1", near: "1a"'),
    ("a-b = :v", {":v": ONE_OF_EACH["S"]}, 'Syntax error; token: "-", near: "a-b"'),
    ("_a = :v", {":v": ONE_OF_EACH["S"]}, 'Syntax error; token: "_", near: "_a"'),
    (
        "a[99999999999] = :v",
        {":v": ONE_OF_EACH["S"]},
        "List index is not within the allowable range; index: [99999999999]",
    ),
    ("foo(a)", {}, "Invalid function name; function: foo"),
    ("ATTRIBUTE_EXISTS(a)", {}, "Invalid function name; function: ATTRIBUTE_EXISTS"),
    ("Size(a) = :v", {":v": ONE_OF_EACH["N"]}, "Invalid function name; function: Size"),
    ("size(a)", {}, THIS_WAY.format("size")),
    ("attribute_exists(a) = :v", {":v": ONE_OF_EACH["BOOL"]}, THIS_WAY.format("attribute_exists")),
    ("contains(a, :v) = :v", {":v": ONE_OF_EACH["S"]}, THIS_WAY.format("contains")),
    ("attribute_exists(:v)", {":v": ONE_OF_EACH["S"]}, PATH.format("attribute_exists")),
    ("attribute_not_exists(:v)", {":v": ONE_OF_EACH["S"]}, PATH.format("attribute_not_exists")),
    ("attribute_exists(a, b)", {}, COUNT.format("attribute_exists", 2)),
    ("contains(a)", {}, COUNT.format("contains", 1)),
    ("begins_with(a)", {}, COUNT.format("begins_with", 1)),
    ("attribute_type(a)", {}, COUNT.format("attribute_type", 1)),
    ("size(a, b) = :v", {":v": ONE_OF_EACH["N"]}, COUNT.format("size", 2)),
    (
        "attribute_type(a, :v)",
        {":v": ONE_OF_EACH["S"]},
        "Invalid attribute type name found; type: x, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}",
    ),
    *(
        ("begins_with(a, :v)", {":v": ONE_OF_EACH[k]}, TYPE.format("begins_with", k))
        for k in ONE_OF_EACH
        if k not in "SB"
    ),
    *(
        ("attribute_type(a, :v)", {":v": ONE_OF_EACH[k]}, TYPE.format("attribute_type", k))
        for k in ("N", "L")
    ),
    *((f"a {op} :v", {":v": ONE_OF_EACH["L"]}, TYPE.format(op, "L")) for op in ("<", "<=", ">", ">=")),
    *(("a < :v", {":v": ONE_OF_EACH[kind]}, TYPE.format("<", kind)) for kind in NOT_ORDERED),
    *(
        ("a BETWEEN :v AND :v", {":v": ONE_OF_EACH[kind]}, TYPE.format("BETWEEN", kind))
        for kind in NOT_ORDERED
    ),
    *((f"a {op} a", {}, DISTINCT.format(op, "[a]")) for op in ("=", "<>", "<", "<=", ">", ">=")),
    ("m.x = m.x", {}, DISTINCT.format("=", "[m, x]")),
    ("l[1] = l[1]", {}, DISTINCT.format("=", "[l, [1]]")),
    ("begins_with(a, a)", {}, DISTINCT.format("begins_with", "[a]")),
    ("contains(a, a)", {}, DISTINCT.format("contains", "[a]")),
    ("a IN (a, :v)", {":v": ONE_OF_EACH["N"]}, DISTINCT.format("IN", "[a]")),
    ("a BETWEEN :w AND :v", {":v": {"N": "1"}, ":w": {"N": "2"}}, BOUNDS.format("N:2", "N:1")),
    ("a BETWEEN :w AND :v", {":v": {"S": "a"}, ":w": {"S": "b"}}, BOUNDS.format("S:b", "S:a")),
    ("a BETWEEN :v AND :w", {":v": {"N": "1"}, ":w": {"S": "x"}}, SAME_TYPE.format("N:1", "S:x")),
    ("((a = :v))", {":v": ONE_OF_EACH["S"]}, "The expression has redundant parentheses;"),
    ("(a = :v) AND ((b = :v))", {":v": ONE_OF_EACH["S"]}, "The expression has redundant parentheses;"),
    ("((a = :v) AND ((b = :v)))", {":v": ONE_OF_EACH["S"]}, "The expression has redundant parentheses;"),
    ("status = :v", {":v": ONE_OF_EACH["S"]}, RESERVED.format("status")),
    ("a.NAME = :v", {":v": ONE_OF_EACH["S"]}, RESERVED.format("NAME")),
    ("a[0].Year = :v", {":v": ONE_OF_EACH["S"]}, RESERVED.format("Year")),
    ("attribute_exists(user)", {}, RESERVED.format("user")),
    ("size = :v", {":v": ONE_OF_EACH["S"]}, RESERVED.format("size")),
    ("convert = :v", {":v": ONE_OF_EACH["S"]}, RESERVED.format("convert")),
    (
        "a = :nope",
        {},
        "An expression attribute value used in expression is not defined; attribute value: :nope",
    ),
    (
        "#nope = :v",
        {":v": ONE_OF_EACH["S"]},
        "An expression attribute name used in the document path is not defined; attribute name: #nope",
    ),
]


@pytest.mark.parametrize(("expression", "values", "message"), REFUSED, ids=lambda part: str(part)[:60])
def test_a_wrong_expression_is_refused_wherever_it_stands(
    refused: Refused, comp_table: str, key: NewKey, expression: str, values: Json, message: str
) -> None:
    given = {"ExpressionAttributeValues": values} if values else {}
    where = {"pk": {"S": key()}, "sk": {"S": "1"}}
    query_values = {"ExpressionAttributeValues": {**values, ":pk": where["pk"]}}
    asked: list[tuple[str, str, Json]] = [
        ("PutItem", "ConditionExpression", {"Item": where, **given}),
        ("DeleteItem", "ConditionExpression", {"Key": where, **given}),
        ("UpdateItem", "ConditionExpression", {"Key": where, **given}),
        ("Scan", "FilterExpression", given),
        ("Query", "FilterExpression", {"KeyConditionExpression": "pk = :pk", **query_values}),
    ]
    for verb, kind, request in asked:
        got = refused(verb, {"TableName": comp_table, kind: expression, **request})
        assert got == ("ValidationException", f"Invalid {kind}: {message}"), verb


@pytest.mark.parametrize("verb", ["PutItem", "UpdateItem", "DeleteItem", "Scan"])
def test_an_expression_is_judged_before_the_table_is_looked_up(
    refused: Refused, key: NewKey, verb: str
) -> None:
    places: dict[str, Json] = {"PutItem": {"Item": {"pk": {"S": "a"}}}, "Scan": {}}
    place = places.get(verb, {"Key": {"pk": {"S": "a"}}})
    kind = "FilterExpression" if verb == "Scan" else "ConditionExpression"
    got = refused(verb, {"TableName": key(), kind: "a ==", **place})
    assert got == ("ValidationException", f'Invalid {kind}: Syntax error; token: "=", near: "=="')


@pytest.mark.parametrize("word", ["AND", "or", "Not", "IN", "between", "SET", "REMOVE", "ADD", "DELETE"])
def test_a_keyword_of_the_language_is_a_syntax_error_as_a_name(
    refused: Refused, hash_table: str, key: NewKey, word: str
) -> None:
    request = {
        "TableName": hash_table,
        "Item": {"pk": {"S": key()}},
        "ConditionExpression": f"attribute_exists({word})",
    }
    code, message = refused("PutItem", request)
    assert code == "ValidationException"
    assert message.startswith("Invalid ConditionExpression: Syntax error; ")


# Names and values

UNUSED = "Value provided in ExpressionAttribute{} unused in expressions: keys: {}"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"ExpressionAttributeValues": {":v": {"S": "x"}}}, UNUSED.format("Values", "{:v}")),
        ({"ExpressionAttributeNames": {"#u": "x"}}, UNUSED.format("Names", "{#u}")),
        (
            {"ExpressionAttributeNames": {"#u": "x"}, "ExpressionAttributeValues": {":v": {"S": "x"}}},
            UNUSED.format("Names", "{#u}"),
        ),
        ({"ExpressionAttributeValues": {}}, "ExpressionAttributeValues must not be empty"),
        ({"ExpressionAttributeNames": {}}, "ExpressionAttributeNames must not be empty"),
        (
            {"ExpressionAttributeValues": {"v": {"S": "x"}}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"',
        ),
        (
            {"ExpressionAttributeNames": {"u": "x"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "u"',
        ),
        (
            {"ExpressionAttributeNames": {"#u": ""}},
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #u",
        ),
        (
            {"ExpressionAttributeValues": {":e": {}}},
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
        (
            {"ExpressionAttributeValues": {":e": {"SS": []}}},
            "One or more parameter values were invalid: An string set  may not be empty",
        ),
        (
            {"ExpressionAttributeValues": {":e": {"N": "b"}}},
            "The parameter cannot be converted to a numeric value: b",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("verb", ["PutItem", "DeleteItem", "UpdateItem"])
def test_placeholders_must_be_well_formed_and_used(
    refused: Refused, hash_table: str, key: NewKey, verb: str, more: Json, message: str
) -> None:
    place = {"Item" if verb == "PutItem" else "Key": {"pk": {"S": key()}}}
    request = {"TableName": hash_table, "ConditionExpression": "attribute_exists(pk)", **place, **more}
    assert refused(verb, request) == ("ValidationException", message)


@pytest.mark.parametrize("verb", ["PutItem", "DeleteItem"])
def test_placeholders_need_an_expression(refused: Refused, hash_table: str, key: NewKey, verb: str) -> None:
    place = {"Item" if verb == "PutItem" else "Key": {"pk": {"S": key()}}}
    request = {"TableName": hash_table, **place}
    assert refused(verb, {**request, "ExpressionAttributeNames": {"#a": "a"}}) == (
        "ValidationException",
        "ExpressionAttributeNames can only be specified when using expressions",
    )
    assert refused(verb, {**request, "ExpressionAttributeValues": {":a": {"N": "1"}}}) == (
        "ValidationException",
        "ExpressionAttributeValues can only be specified when using expressions",
    )


def test_any_attribute_can_be_reached_through_a_placeholder(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    awkward = ["status", "_a", "1a", "a-b", "a.b", "a b", "😀", "SET", "#x", ":y", "[0]"]
    where = {"pk": {"S": key()}}
    answered(
        "PutItem", {"TableName": hash_table, "Item": {**where, **{name: {"N": "1"} for name in awkward}}}
    )
    names = {f"#n{place}": name for place, name in enumerate(awkward)}
    request = {
        "TableName": hash_table,
        "Item": where,
        "ConditionExpression": " AND ".join(f"{alias} = :one" for alias in names),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    assert answered("PutItem", request) == {}


# Limits


def condition(table: str, key: str, text: str, **values: Json) -> Json:
    """A put that would only happen if the condition held, which none here does."""
    given = {f":{name}": value for name, value in values.items()}
    made = {"TableName": table, "Item": {"pk": {"S": key}}, "ConditionExpression": text}
    return {**made, "ExpressionAttributeValues": given} if given else made


FAILED = "ConditionalCheckFailedException"


@pytest.mark.parametrize(
    ("allowed", "one_more", "message"),
    [
        (
            "a = :v".ljust(4096),
            "a = :v".ljust(4097),
            "Expression size has exceeded the maximum allowed size; expression size: 4097",
        ),
        (
            " AND ".join(["a=:v"] * 150),
            " AND ".join(["a=:v"] * 151),
            "The expression contains too many operators; operator count: 301",
        ),
        (
            ".".join("a" * 32) + " = :v",
            ".".join("a" * 33) + " = :v",
            "The document path has too many nesting levels; nesting levels: 33",
        ),
        (
            f"a IN ({', '.join([':v'] * 100)})",
            f"a IN ({', '.join([':v'] * 101)})",
            "The IN operator is provided with too many operands; number of operands: 101",
        ),
    ],
    ids=["4096 bytes", "300 operators", "32 path elements", "100 operands of IN"],
)
def test_an_expression_reaches_its_limit_and_no_further(
    refused: Refused, hash_table: str, key: NewKey, allowed: str, one_more: str, message: str
) -> None:
    value: Json = {"S": "x"}
    assert refused("PutItem", condition(hash_table, key(), allowed, v=value))[0] == FAILED
    assert refused("PutItem", condition(hash_table, key(), one_more, v=value)) == (
        "ValidationException",
        "Invalid ConditionExpression: " + message,
    )


def test_a_placeholder_may_have_255_bytes(refused: Refused, hash_table: str, key: NewKey) -> None:
    value: Json = {"S": "x"}
    for length, code in ((254, FAILED), (256, "ValidationException")):
        name = "v" * length
        request = condition(hash_table, key(), f"a = :{name}", **{name: value})
        assert refused("PutItem", request)[0] == code


def test_the_values_of_a_request_have_a_limit_of_two_megabytes(
    refused: Refused, hash_table: str, key: NewKey
) -> None:
    request = condition(hash_table, key(), "a = :v", v={"S": "x" * (2 * 1024 * 1024)})
    assert refused("PutItem", request) == (
        "ValidationException",
        "ExpressionAttributeValues exceeds max size",
    )


def test_an_update_may_have_300_operators(
    answered: Answered, refused: Refused, new_table: NewTable, key: NewKey
) -> None:
    table = new_table()

    def additions(count: int) -> Json:
        text = "SET " + ",".join(f"a{place}=:v+:v" for place in range(count))
        return {
            "TableName": table,
            "Key": {"pk": {"S": key()}},
            "UpdateExpression": text,
            "ExpressionAttributeValues": {":v": {"N": "1"}},
        }

    answered("UpdateItem", additions(300))
    assert refused("UpdateItem", additions(301)) == (
        "ValidationException",
        "Invalid UpdateExpression: The expression contains too many operators; operator count: 301",
    )
