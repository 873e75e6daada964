"""ExecuteStatement with a SELECT: which items it finds, what it shows of them, in which order and pages."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.statement_talk import OVERLAPPING, Refusal, Run, refuser, runner
from tests.conformance.talk import Answered, Json, NewKey, NewTable, Refused, attribute, index, key_schema

SEVERAL = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
    "or multi-attribute RANGE keys."
)


@pytest.fixture
def run(answered: Answered) -> Run:
    return runner(answered)


@pytest.fixture
def refusal(refused: Refused) -> Refusal:
    return refuser(refused)


def rows(answered: Answered, table: str, pk: str, count: int, **attributes: Json) -> None:
    """Items '0', '1', ... of one partition, with their number in n and lsk."""
    for n in range(count):
        number = {"N": str(n)}
        item = {"pk": {"S": pk}, "sk": {"S": str(n)}, "n": number, "lsk": number, **attributes}
        answered("PutItem", {"TableName": table, "Item": item})


def sorts(answer: Json) -> list[str]:
    return [item["sk"]["S"] for item in answer["Items"]]


def pages(run: Run, text: str, *parameters: Json, **rest: Any) -> list[list[Json]]:
    found, more = [], dict(rest)
    while True:
        page = run(text, *parameters, **more)
        found.append(page["Items"])
        if "NextToken" not in page:
            return found
        more["NextToken"] = page["NextToken"]
        assert len(found) < 100


# --- conditions ---

ITEM: Json = {
    "s": {"S": "hello"},
    "n": {"N": "5"},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "m": {"M": {"a.b": {"S": "x"}, "l": {"L": [{"N": "1"}, {"S": "two"}]}}},
    "ss": {"SS": ["a", "b"]},
    "b": {"B": "YWJj"},
}
HOLDS = """
s = 'hello' | 'hello' = s | s <> 'x' | s != 'x' | n > 4 | n >= 5 | n < 6 | n <= 5 | n BETWEEN 5 AND 6 | n = 5.0 | n=- -5
n IN [4, 5] | n IN (5) | n NOT IN [1] | n NOT BETWEEN 6 AND 9 | NOT n = 6 | NOT (n = 6 OR s = 'x') | nope <> 1
n = 5 AND s = 'hello' | n = 6 OR s = 'hello' | n = 6 AND n = 7 OR n = 5 | (n = 5) | ((n = 5)) | n > -/* c */-4
nope IS MISSING | s IS NOT MISSING | nothing IS NULL | s IS NOT NULL | nope IS NOT NULL | yes IS BOOL | s IS STRING
m IS STRUCT | m IS TUPLE | n IS NUMERIC | m.l IS LIST | b IS BLOB | s IS NOT LIST | m.l[0] = 1 | m['l'][1] = 'two'
m."a.b" = 'x' | "s" = 'hello' | "m"."l"[1] = 'two' | begins_with(s, 'he') | BEGINS_WITH("s", 'h') | contains(s, 'ell')
contains(ss, 'a') | attribute_type(n, 'N') | size(s) = 5 | size(m) > 1 | Size(ss) < 3 | attribute_exists(m.l[1])
ATTRIBUTE_NOT_EXISTS(m.nope) | NOT attribute_exists(nope) | ss = <<'b', 'a'>> | m.l = [1, 'two'] | yes = TRUE
nothing = null
attribute_exists(n) = true | attribute_exists(nope) = false | true = attribute_exists(n) | attribute_exists(n) <> 1
(n BETWEEN 0 AND 5) = true | (n = 5 OR s = 'x') <> false | attribute_exists(nope) IN [true, false]
attribute_exists(n) = attribute_exists(s) | attribute_exists(n) = yes | n = n2 OR n = 5 | s > 'hallo' AND s < 'hi'
"""
FAILS = """
s = 'x' | n > 5 | n < 'a' | nope = 1 | nope < 1 | NOT s <> 'x' | n IN [1, 2] | s IS MISSING | s IS NULL | nope IS NULL
s IS BOOL | begins_with(n2, 'h') | attribute_exists(nope) | size(n) = 1 | yes = FALSE | attribute_exists(n) = 1
NOT attribute_exists(n) = true | (attribute_exists(n) = true) = false | attribute_exists(n) = s | m.l[7] = 1 | s = n
"""


def listed(text: str) -> list[str]:
    return [one.strip() for line in text.strip().splitlines() for one in line.split("|")]


@pytest.fixture(scope="module")
def kept(answered: Answered, hash_table: str) -> str:
    answered("PutItem", {"TableName": hash_table, "Item": {"pk": {"S": "select-kept"}, **ITEM}})
    return "select-kept"


@pytest.mark.parametrize("condition", listed(HOLDS))
def test_a_condition_holds_for_the_item(run: Run, hash_table: str, kept: str, condition: str) -> None:
    assert len(run(f"SELECT pk FROM \"{hash_table}\" WHERE pk = '{kept}' AND ({condition})")["Items"]) == 1


@pytest.mark.parametrize("condition", listed(FAILS))
def test_a_condition_does_not_hold_for_the_item(run: Run, hash_table: str, kept: str, condition: str) -> None:
    assert run(f"SELECT pk FROM \"{hash_table}\" WHERE pk = '{kept}' AND ({condition})")["Items"] == []


def test_comments_and_a_semicolon_are_as_good_as_blanks(run: Run, hash_table: str, kept: str) -> None:
    text = (
        f"-- a note\nSELECT/**/pk FROM \"{hash_table}\" -- all\nWHERE pk /* the ' key */ = '{kept}'; -- done"
    )
    assert run(text)["Items"] == [{"pk": {"S": kept}}]


# --- columns ---


def test_a_column_is_called_by_the_last_name_of_its_path(run: Run, hash_table: str, kept: str) -> None:
    text = f'SELECT pk, m.l[1], m."a.b", m.l, nope, m.nope FROM "{hash_table}" WHERE pk = \'{kept}\''
    assert run(text)["Items"] == [
        {"pk": {"S": kept}, "l[1]": {"S": "two"}, "a.b": {"S": "x"}, "l": {"L": [{"N": "1"}, {"S": "two"}]}}
    ]


def test_an_item_with_none_of_the_columns_is_still_found(run: Run, hash_table: str, kept: str) -> None:
    assert run(f"SELECT nope FROM \"{hash_table}\" WHERE pk = '{kept}'")["Items"] == [{}]


# --- which items ---


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("", "0123"),
        ("AND sk = '1'", "1"),
        ("AND sk > '1'", "23"),
        ("AND sk >= '1' AND sk < '3'", "12"),
        ("AND sk BETWEEN '1' AND '2'", "12"),
        ("AND begins_with(sk, '2')", "2"),
        ("AND sk IN ['3', '1', '9']", "31"),
        ("AND (sk = '3' OR sk = '0')", "30"),
        ("AND (sk < '1' OR sk > '1' OR sk = '1')", "0231"),
        ("AND sk = '1' AND sk > '0'", "1"),
        ("AND sk = '1' AND sk > '1'", ""),
        ("AND sk <> '1'", "023"),
        ("AND NOT sk = '1'", "023"),
        ("AND n = 2", "2"),
        ("AND (n = 2 OR n = 3)", "23"),
        ("AND sk > '0' AND sk <> '2' AND n < 3", "1"),
        ("AND attribute_exists(pk)", "0123"),
    ],
)
def test_conditions_on_the_sort_key_and_others_narrow_a_partition(
    answered: Answered, run: Run, comp_table: str, key: NewKey, where: str, found: str
) -> None:
    pk = key()
    rows(answered, comp_table, pk, 4)
    answer = run(f"SELECT sk FROM \"{comp_table}\" WHERE pk = '{pk}' {where}")
    assert sorts(answer) == list(found)


def test_several_partitions_are_read_one_after_the_other(
    answered: Answered, run: Run, comp_table: str, key: NewKey
) -> None:
    first, second = key(), key()
    rows(answered, comp_table, first, 2)
    rows(answered, comp_table, second, 2)
    for where in (
        f"pk IN ['{second}', '{first}', '{key()}']",
        f"pk = '{second}' OR pk = '{first}'",
        f"(pk = '{second}' OR pk = '{first}') AND n < 2",
        f"pk = '{second}' AND sk < '5' OR pk = '{first}' AND n >= 0",
    ):
        answer = run(f'SELECT * FROM "{comp_table}" WHERE {where}')
        assert [(item["pk"]["S"], item["sk"]["S"]) for item in answer["Items"]] == [
            (second, "0"), (second, "1"), (first, "0"), (first, "1")
        ]  # fmt: skip


def test_a_where_that_fixes_no_partition_looks_through_the_whole_table(
    answered: Answered, run: Run, new_table: NewTable
) -> None:
    table = new_table(
        AttributeDefinitions=[attribute("pk", "S"), attribute("sk", "S")], KeySchema=key_schema("pk", "sk")
    )
    for pk in ("a", "b", "c"):
        rows(answered, table, pk, 3)
    for where, count in (
        ("", 9),
        ("WHERE n = 1", 3),
        ("WHERE pk = 'a' OR n = 1", 5),
        ("WHERE pk > 'a'", 6),
        ("WHERE pk > 1", 0),
        ("WHERE sk = '1' AND NOT pk = 'b'", 2),
    ):
        found = sum(len(page) for page in pages(run, f'SELECT * FROM "{table}" {where}', Limit=4))
        assert (where, found) == (where, count)


@pytest.mark.parametrize(
    "where",
    [
        "pk IN ['x', 'x']",
        "pk = 'x' OR pk = 'x'",
        "pk = 'x' AND (sk > '0' OR sk < '5')",
        "pk = 'x' AND (sk = '1' OR n = 2)",
        "pk = 'x' AND n = 1 OR pk = 'x' AND sk = '2'",
        "pk = 'x' AND n <> 1 OR pk = 'x' AND sk = '2'",
    ],
)
def test_alternatives_that_overlap_are_refused(refusal: Refusal, comp_table: str, where: str) -> None:
    assert refusal(f'SELECT * FROM "{comp_table}" WHERE {where}') == OVERLAPPING


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("NOT sk = '1'", "023"),
        ("sk <> '1'", "023"),
        ("NOT begins_with(sk, 'x')", "0123"),
        ("NOT sk IN ['1', '3']", "02"),
        ("NOT (sk = '1')", "023"),
    ],
)
def test_alternatives_that_deny_something_of_the_sort_key_may_overlap_and_find_nothing_twice(
    answered: Answered, run: Run, comp_table: str, key: NewKey, first: str, found: str
) -> None:
    pk = key()
    rows(answered, comp_table, pk, 4)
    text = f"SELECT sk FROM \"{comp_table}\" WHERE pk = '{pk}' AND {first} OR pk = '{pk}' AND sk = '2'"
    assert sorted(sorts(run(text))) == list(found)


def test_a_key_is_asked_for_in_its_own_type(refusal: Refusal, comp_table: str) -> None:
    words = "Key attribute's data type should match its data type in table's schema: Key "
    assert refusal(f'SELECT * FROM "{comp_table}" WHERE pk = 1') == words + "pk"
    assert refusal(f"SELECT * FROM \"{comp_table}\" WHERE pk = 1 OR pk = 'x'") == words + "pk"
    assert refusal(f"SELECT * FROM \"{comp_table}\" WHERE pk = 'x' AND sk IN ['1', 2]") == words + "sk"


def test_too_many_alternatives_are_refused(run: Run, refusal: Refusal, comp_table: str) -> None:
    def some(count: int) -> str:
        return "[" + ", ".join(f"'v{n}'" for n in range(count)) + "]"

    select = f'SELECT sk FROM "{comp_table}" WHERE '
    for where in (
        f"pk IN {some(51)}",
        f"pk = 'x' AND sk IN {some(51)}",
        f"pk IN {some(26)} AND sk IN ['1', '2']",
    ):
        assert refusal(select + where) == "Too many decomposed read operations for a given query."
    told = refusal(select + f"pk = 'x' AND n IN {some(101)}")
    assert told == "The IN operator is provided with too many operands; number of operands: 101"
    run(select + f"pk IN {some(50)} AND n IN {some(100)}")
    run(select + f"pk IN {some(51)} OR n = 1", Limit=1)


# --- order ---


def test_order_by_the_sort_key_goes_up_or_down(
    answered: Answered, run: Run, comp_table: str, key: NewKey
) -> None:
    pk = key()
    rows(answered, comp_table, pk, 4)
    select = f"SELECT sk FROM \"{comp_table}\" WHERE pk = '{pk}'"
    assert sorts(run(select + " ORDER BY sk")) == list("0123")
    assert sorts(run(select + " ORDER BY sk ASC")) == list("0123")
    assert sorts(run(select + " ORDER BY sk DESC")) == list("3210")
    assert sorts(run(select + " AND sk IN ['1', '3', '0'] ORDER BY sk DESC")) == list("310")
    # Without a term of its own the sort key descends.
    assert sorts(run(select + " ORDER BY pk ASC")) == list("3210")


def test_several_partitions_are_ordered_by_the_hash_key_first(
    answered: Answered, run: Run, refusal: Refusal, comp_table: str, key: NewKey
) -> None:
    first, second = sorted((key(), key()))
    rows(answered, comp_table, first, 2)
    rows(answered, comp_table, second, 2)
    select = f"SELECT pk, sk FROM \"{comp_table}\" WHERE pk IN ['{second}', '{first}'] ORDER BY "
    found = run(select + "pk DESC, sk ASC")["Items"]
    assert [(item["pk"]["S"], item["sk"]["S"]) for item in found] == [
        (second, "0"), (second, "1"), (first, "0"), (first, "1")
    ]  # fmt: skip
    assert refusal(select + "sk") == (
        "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause."
    )


def test_an_order_needs_a_partition_and_a_key(refusal: Refusal, comp_table: str) -> None:
    select = f'SELECT * FROM "{comp_table}" '
    assert (
        refusal(select + "ORDER BY sk")
        == "Must have WHERE clause in the statement when using ORDER BY clause."
    )
    for where in ("WHERE n = 1", "WHERE pk > 'a'", "WHERE pk = 'a' OR n = 1"):
        assert refusal(f"{select}{where} ORDER BY sk") == (
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
        )
    told = refusal(select + "WHERE pk = 'a' ORDER BY n")
    assert told == "Attribute n in ORDER BY clause must be part of the primary key"


# --- pages ---


@pytest.mark.parametrize("order", ["", " ORDER BY sk DESC", " ORDER BY sk ASC"])
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_together_hold_everything_once(
    answered: Answered, run: Run, comp_table: str, key: NewKey, limit: int, order: str
) -> None:
    pk = key()
    rows(answered, comp_table, pk, 7)
    text = f'SELECT sk FROM "{comp_table}" WHERE pk = ? AND n <> 3{order}'
    found = pages(run, text, {"S": pk}, Limit=limit)
    assert all(len(page) <= limit for page in found)
    names = [item["sk"]["S"] for page in found for item in page]
    assert names == (list("654210") if "DESC" in order else list("012456"))


def test_a_limit_counts_what_is_looked_at_before_the_filter(
    answered: Answered, run: Run, comp_table: str, key: NewKey
) -> None:
    pk = key()
    rows(answered, comp_table, pk, 3)
    page = run(f"SELECT sk FROM \"{comp_table}\" WHERE pk = '{pk}' AND n = 2", Limit=2)
    assert page["Items"] == []
    assert "NextToken" in page
    assert page["LastEvaluatedKey"] == {"pk": {"S": pk}, "sk": {"S": "1"}}


def test_a_list_of_keys_is_answered_in_pages_of_ten(
    answered: Answered, run: Run, comp_table: str, key: NewKey
) -> None:
    pk = key()
    rows(answered, comp_table, pk, 25)
    options = ", ".join(f"'{n}'" for n in range(25))
    found = pages(run, f"SELECT sk FROM \"{comp_table}\" WHERE pk = '{pk}' AND sk IN [{options}]")
    assert [len(page) for page in found] == [10, 10, 5]
    found = pages(run, f"SELECT sk FROM \"{comp_table}\" WHERE pk = '{pk}' AND sk IN [{options}]", Limit=4)
    assert [item["sk"]["S"] for page in found for item in page] == [str(n) for n in range(25)]


def test_a_page_ends_at_a_megabyte(answered: Answered, run: Run, comp_table: str, key: NewKey) -> None:
    pk = key()
    rows(answered, comp_table, pk, 8, big={"S": "x" * 150_000})
    found = pages(run, f"SELECT sk FROM \"{comp_table}\" WHERE pk = '{pk}'")
    assert [len(page) for page in found] == [7, 1]


def test_a_token_is_good_for_its_own_statement_only(
    answered: Answered, run: Run, refusal: Refusal, comp_table: str, key: NewKey
) -> None:
    pk = key()
    rows(answered, comp_table, pk, 3)
    text = f'SELECT sk FROM "{comp_table}" WHERE pk = ?'
    token = run(text, {"S": pk}, Limit=1)["NextToken"]
    assert sorts(run(text, {"S": pk}, NextToken=token, Limit=9, ConsistentRead=True)) == ["1", "2"]
    foreign = "NextToken does not match request"
    assert refusal(text, {"S": "other"}, NextToken=token) == foreign
    assert refusal(text + " ", {"S": pk}, NextToken=token) == foreign
    assert (
        refusal(f'SELECT sk FROM "{comp_table}"."lsi1" WHERE pk = ?', {"S": pk}, NextToken=token) == foreign
    )
    assert refusal(f"DELETE FROM \"{comp_table}\" WHERE pk = 'x' AND sk = 'y'", NextToken=token) == foreign
    for forged in (
        "x",
        "é",
        token[:-4],
        token[:-8] + "AAAAAAAA",
        "A" * len(token),
        token[4:],
        "!" + token[1:],
    ):
        assert refusal(text, {"S": pk}, NextToken=forged) == "Invalid NextToken"


# --- indexes ---


@pytest.fixture(scope="module")
def indexed(answered: Answered, comp_table: str) -> str:
    """A hash value of gsi1, gsik and gsii, and the pk of its items; item 3 is in none of them."""
    for n in range(3):
        item = {"pk": {"S": "select-indexed"}, "sk": {"S": str(n)}, "gpk": {"S": "select-indexed"},
                "gsk": {"N": str(-n)},
                "lsk": {"N": str(n)}, "a": {"S": "shown"}, "b": {"S": "hidden"}}  # fmt: skip
        answered("PutItem", {"TableName": comp_table, "Item": item})
    bare = {"pk": {"S": "select-indexed"}, "sk": {"S": "3"}, "b": {"S": "hidden"}}
    answered("PutItem", {"TableName": comp_table, "Item": bare})
    return "select-indexed"


def test_an_index_gives_its_own_items_in_its_own_order(run: Run, comp_table: str, indexed: str) -> None:
    select = f'SELECT sk FROM "{comp_table}"."gsi1" WHERE gpk = \'{indexed}\''
    assert sorts(run(select)) == ["2", "1", "0"]
    assert sorts(run(select + " AND gsk >= -1")) == ["1", "0"]
    assert sorts(run(select + " ORDER BY gsk DESC")) == ["0", "1", "2"]
    assert sorts(run(f"SELECT sk FROM \"{comp_table}\".lsi1 WHERE pk = '{indexed}'")) == ["0", "1", "2"]
    assert [item["sk"]["S"] for page in pages(run, select, Limit=1) for item in page] == ["2", "1", "0"]


def test_a_star_shows_what_the_index_holds(run: Run, comp_table: str, indexed: str) -> None:
    keys = run(f"SELECT * FROM \"{comp_table}\".gsik WHERE gpk = '{indexed}'")["Items"]
    assert {frozenset(item) for item in keys} == {frozenset(("gpk", "pk", "sk"))}
    some = run(f"SELECT * FROM \"{comp_table}\".gsii WHERE gpk = '{indexed}' AND sk = '1'")["Items"]
    assert [sorted(item) for item in some] == [["a", "gpk", "pk", "sk"]]


def test_only_a_local_index_reaches_for_what_it_does_not_hold(
    run: Run, refusal: Refusal, comp_table: str, indexed: str
) -> None:
    told = refusal(f"SELECT b, a FROM \"{comp_table}\".gsik WHERE gpk = '{indexed}'")
    assert (
        told
        == "One or more parameter values were invalid: Global secondary index gsik does not project [b, a]"
    )
    local = run(
        f"SELECT b FROM \"{comp_table}\".lsi1 WHERE pk = '{indexed}'", ReturnConsumedCapacity="INDEXES"
    )
    assert local["Items"] == [{"b": {"S": "hidden"}}] * 3
    assert local["ConsumedCapacity"]["Table"]["CapacityUnits"] == 1.5


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ("gsik", "gpk = '{}' AND b = 'x'"),
        ("gsik", "gpk = '{}' AND NOT b = 'x'"),
        ("gsik", "gpk IN ['{}', 'z'] AND b = 'x'"),
        ("gsik", "gpk = '{}' AND b IS MISSING"),
        ("lsi1", "pk = '{}' AND b = 'x'"),
        ("lsi1", "pk = '{}' AND lsk > 0 AND b = 'x'"),
    ],
)
def test_a_filter_on_what_the_index_does_not_hold_is_refused_beside_its_key(
    refusal: Refusal, comp_table: str, indexed: str, source: str, where: str
) -> None:
    told = refusal(f'SELECT pk FROM "{comp_table}"."{source}" WHERE {where.format(indexed)}')
    assert told == (
        f"One or more parameter values were invalid: Secondary index {source} does not project "
        "one or more filter attributes: [b]"
    )


def test_without_its_key_an_index_is_looked_through_as_it_stands(
    answered: Answered, run: Run, new_table: NewTable
) -> None:
    table = new_table(
        AttributeDefinitions=[attribute("pk", "S"), attribute("g", "S")],
        KeySchema=key_schema("pk"),
        GlobalSecondaryIndexes=[index("keys", ("g",), "KEYS_ONLY")],
    )
    for pk in ("1", "2"):
        answered("PutItem", {"TableName": table, "Item": {"pk": {"S": pk}, "g": {"S": pk}, "b": {"S": "x"}}})
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "3"}, "b": {"S": "y"}}})
    assert run(f"SELECT pk FROM \"{table}\".keys WHERE b = 'x'")["Items"] == []
    assert len(run(f"SELECT pk FROM \"{table}\".keys WHERE NOT b = 'x'")["Items"]) == 2
    assert run(f"SELECT pk FROM \"{table}\".keys WHERE pk = '1'")["Items"] == [{"pk": {"S": "1"}}]
    either = run(f"SELECT pk FROM \"{table}\".keys WHERE (g = '1' AND b = 'x') OR g = '2'")
    assert either["Items"] == [{"pk": {"S": "2"}}]


def test_a_source_must_be_there_and_fit_the_question(refusal: Refusal, comp_table: str) -> None:
    assert (
        refusal(f"SELECT * FROM \"{comp_table}\".nope WHERE pk = 'x'")
        == "The table does not have the specified index"
    )
    told = refusal(f"SELECT * FROM \"{comp_table}\".gsi1 WHERE gpk = 'x'", ConsistentRead=True)
    assert told == "Strongly consistent read is not supported on Global Secondary Indexes"


def test_an_index_on_several_attributes_is_not_for_statements(
    answered: Answered, run: Run, refusal: Refusal, new_table: NewTable
) -> None:
    keys = [
        {"AttributeName": name, "KeyType": kind}
        for name, kind in (("g", "HASH"), ("h", "HASH"), ("r", "RANGE"))
    ]
    table = new_table(
        AttributeDefinitions=[attribute(name, "S") for name in ("pk", "g", "h", "r")],
        KeySchema=key_schema("pk"),
        GlobalSecondaryIndexes=[
            {"IndexName": "many", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
        ],
    )
    assert refusal(f"SELECT * FROM \"{table}\".many WHERE g = 'a' AND h = 'b'") == SEVERAL
    run(f"INSERT INTO \"{table}\" VALUE {{'pk': '1', 'g': 'a'}}")
    assert len(run(f"SELECT * FROM \"{table}\" WHERE pk = '1'")["Items"]) == 1


def test_a_table_that_is_not_there_is_not_found(refused: Refused) -> None:
    for text in ("SELECT * FROM nowhere WHERE pk = 'x'", "INSERT INTO nowhere VALUE {'pk': 'x'}",
                 "UPDATE nowhere SET a = 1 WHERE pk = 'x'", "DELETE FROM nowhere WHERE pk = 'x'"):  # fmt: skip
        code, message = refused("ExecuteStatement", {"Statement": text})
        assert (code, message) == ("ResourceNotFoundException", "Requested resource not found")
