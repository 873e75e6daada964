import pytest

from tablewright.expressions import (
    BadExpression,
    KeyPlan,
    KeyTest,
    Placeholders,
    condition,
    key_tests,
    plan_keys,
)
from tablewright.values import Value

A: Value = {"S": "a"}
B: Value = {"S": "b"}
C: Value = {"S": "c"}
VALUES = {":a": A, ":b": B, ":c": C, ":n": {"N": "1"}, ":e": {"S": ""}}

TABLE = (("pk",), ("sk",), {"pk": "S", "sk": "S"})
HASH_ONLY = (("pk",), (), {"pk": "S"})
WIDE = (("h", "r"), ("x", "y", "z"), dict.fromkeys("hrxyz", "S"))
TALL = (("h",), ("x", "y", "z"), dict.fromkeys("hxyz", "S"))


def read(text: str) -> tuple[KeyTest, ...]:
    return key_tests(condition(text, "KeyConditionExpression", Placeholders(None, VALUES)))


def plan(text: str, schema: tuple[tuple[str, ...], tuple[str, ...], dict[str, str]] = TABLE) -> KeyPlan:
    return plan_keys(read(text), *schema)


def refusal(text: str, schema: tuple[tuple[str, ...], tuple[str, ...], dict[str, str]] = TABLE) -> str:
    with pytest.raises(BadExpression) as refused:
        plan(text, schema)
    return str(refused.value)


# From the condition


def test_every_simple_condition_is_one_test() -> None:
    assert read("pk = :a AND sk BETWEEN :a AND :b") == (
        KeyTest("pk", "=", (A,)),
        KeyTest("sk", "BETWEEN", (A, B)),
    )
    assert read("(begins_with(sk, :b)) AND (pk = :a)") == (
        KeyTest("sk", "begins_with", (B,)),
        KeyTest("pk", "=", (A,)),
    )


@pytest.mark.parametrize(
    ("written", "meant"), [("=", "="), ("<", ">"), ("<=", ">="), (">", "<"), (">=", "<=")]
)
def test_a_value_may_stand_first(written: str, meant: str) -> None:
    assert read(f":a {written} sk") == (KeyTest("sk", meant, (A,)),)


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("pk = :a OR sk = :b", "OR"),
        ("pk = :a AND NOT sk = :b", "NOT"),
        ("pk IN (:a)", "IN"),
        ("pk <> :a", "<>"),
        ("contains(pk, :a)", "contains"),
        ("attribute_not_exists(pk)", "attribute_not_exists"),
        ("pk = :a AND size(sk) > :n OR sk = :a", "OR"),
    ],
)
def test_a_key_takes_no_such_operator(text: str, operator: str) -> None:
    assert refusal(text) == f"Invalid operator used in KeyConditionExpression: {operator}"


def test_a_test_is_of_one_whole_attribute_against_values() -> None:
    invalid = "Invalid condition in KeyConditionExpression: "
    assert refusal("pk > b.c") == invalid + "Multiple attribute names used in one condition"
    assert refusal("begins_with(pk, sk)") == invalid + "Multiple attribute names used in one condition"
    assert refusal(":a > :b AND pk = :a") == invalid + "No key attribute specified"
    first = " operator must have the key attribute as its first operand"
    assert refusal(":a BETWEEN size(b) AND :b") == f"{invalid}BETWEEN{first}"
    assert refusal("begins_with(:a, pk)") == f"{invalid}begins_with{first}"
    assert refusal("pk > size(b.c)") == "KeyConditionExpressions cannot contain nested operations"
    assert refusal("pk[0] = :a") == (
        "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes"
    )


def test_a_key_is_tested_once() -> None:
    assert refusal("(pk = :a AND sk > :a) AND (sk < :b AND x = :a)") == (
        "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
    )


# To the plan


def test_a_plan_pins_the_partition_and_tests_the_sort_key() -> None:
    assert plan("pk = :a") == KeyPlan((A,), (), None)
    assert plan("sk = :b AND pk = :a") == KeyPlan((A,), (B,), None)
    assert plan("pk = :a AND :b <= sk") == KeyPlan((A,), (), KeyTest("sk", ">=", (B,)))


def test_the_partition_key_must_be_there_and_equal() -> None:
    assert refusal("sk = :a") == "Query condition missed key schema element: pk"
    assert refusal("pk > :a AND sk = :a") == "Query key condition not supported"
    assert refusal("begins_with(pk, :a)") == "Query key condition not supported"


def test_a_second_test_must_be_of_the_sort_key() -> None:
    assert refusal("pk = :a AND zz = :a") == "Query condition missed key schema element: sk"


def test_there_are_no_more_tests_than_key_attributes() -> None:
    too_many = (
        "The number of query conditions ({}) exceeds the number of key attributes defined in the schema ({})"
    )
    assert refusal("pk = :a AND sk = :a AND zz = :a") == too_many.format(3, 2)
    assert refusal("x = :a AND y = :a", HASH_ONLY) == too_many.format(2, 1)


def test_values_are_of_the_types_of_their_keys() -> None:
    wrong = "One or more parameter values were invalid: Condition parameter type does not match schema type"
    assert refusal("pk = :n") == wrong
    assert refusal("pk = :a AND sk > :n") == wrong


def test_no_key_is_empty() -> None:
    empty = (
        "One or more parameter values are not valid. "
        "The AttributeValue for a key attribute cannot contain an empty {} value. Key: {}"
    )
    assert refusal("pk = :e") == empty.format("string", "pk")
    assert refusal("pk = :a AND sk BETWEEN :e AND :b") == empty.format("string", "sk")
    with pytest.raises(BadExpression) as refused:
        plan_keys([KeyTest("pk", "=", ({"B": ""},))], ("pk",), (), {"pk": "B"})
    assert str(refused.value) == empty.format("binary", "pk")


def test_zero_is_not_empty() -> None:
    zero = {"N": "0"}
    assert plan_keys([KeyTest("pk", "=", (zero,))], ("pk",), (), {"pk": "N"}) == KeyPlan((zero,), (), None)


# Keys of several attributes


def test_a_wide_partition_needs_every_attribute() -> None:
    assert plan("r = :b AND h = :a", WIDE) == KeyPlan((A, B), (), None)
    must = "must have equality conditions specified in the query"
    assert refusal("h = :a", WIDE) == f"HASH key attributes r {must}"
    assert refusal("h = :a AND r > :a", WIDE) == f"HASH key attributes r {must}"
    assert refusal("x = :a", WIDE) == f"HASH key attributes h, r {must}"


def test_sort_attributes_are_taken_from_the_left_and_only_the_last_is_open() -> None:
    assert plan("h = :a AND x = :b", TALL) == KeyPlan((A,), (B,), None)
    assert plan("y = :c AND h = :a AND x = :b", TALL) == KeyPlan((A,), (B, C), None)
    assert plan("h = :a AND x = :b AND begins_with(y, :c)", TALL) == KeyPlan(
        (A,), (B,), KeyTest("y", "begins_with", (C,))
    )
    assert plan("h = :a AND x = :a AND y = :b AND z = :c", TALL) == KeyPlan((A,), (A, B, C), None)


@pytest.mark.parametrize(
    ("text", "loose", "present"),
    [
        ("h = :a AND y = :a", "x", "y"),
        ("h = :a AND x = :a AND z = :a", "y", "z"),
        ("h = :a AND x > :a AND y = :a", "x", "y"),
        ("h = :a AND z = :a", "x, y", "z"),
    ],
)
def test_sort_attributes_have_no_gap(text: str, loose: str, present: str) -> None:
    assert refusal(text, TALL) == (
        f"RANGE key attributes {loose} must have equality conditions specified in the query "
        f"because a condition is present on key attribute {present}"
    )
