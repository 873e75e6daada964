"""ListTables: every name once, in byte order, in pages of at most a hundred.

Other tests create and delete tables meanwhile, so these look only at names of their own.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from tests.conformance.talk import Answered, Json, NewTable, Refused


def violation(value: str, where: str, rule: str) -> str:
    return f"Value '{value}' at '{where}' failed to satisfy constraint: {rule}"


def pages(answered: Answered, limit: int, start: str) -> Iterator[list[str]]:
    asked: Json = {"Limit": limit, "ExclusiveStartTableName": start}
    while True:
        answer = answered("ListTables", asked)
        yield answer["TableNames"]
        if "LastEvaluatedTableName" not in answer:
            return
        assert answer["LastEvaluatedTableName"] == answer["TableNames"][-1]
        asked["ExclusiveStartTableName"] = answer["LastEvaluatedTableName"]


@pytest.fixture
def names(new_table: NewTable) -> list[str]:
    """Five tables next to each other in the list, in byte order: '-' '.' digits, upper case, '_', lower."""
    stem = f"conf-list-{uuid.uuid4().hex}"
    made = [stem + end for end in ("-x", ".x", "1x", "Zx", "_x", "ax")]
    for name in reversed(made):
        new_table(TableName=name)
    return made


def test_names_come_in_byte_order(answered: Answered, names: list[str]) -> None:
    stem = names[0][:-2]
    asked = {"ExclusiveStartTableName": stem, "Limit": len(names)}
    assert answered("ListTables", asked)["TableNames"] == names


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_pages_show_every_name_once(answered: Answered, names: list[str], limit: int) -> None:
    listed = []
    for page in pages(answered, limit, names[0][:-2]):
        assert len(page) <= limit
        listed += page
        if page and page[-1] > names[-1]:
            break
    assert [name for name in listed if name in names] == names
    assert listed == sorted(listed)


def test_a_page_starts_after_the_name_given(answered: Answered, names: list[str]) -> None:
    answer = answered("ListTables", {"ExclusiveStartTableName": names[1], "Limit": 1})
    assert answer["TableNames"] == [names[2]]
    assert answer["LastEvaluatedTableName"] == names[2]


def test_the_name_to_start_after_need_not_exist(answered: Answered, names: list[str]) -> None:
    answer = answered("ListTables", {"ExclusiveStartTableName": names[3] + "no", "Limit": 1})
    assert answer["TableNames"] == [names[4]]


def test_the_last_page_says_so_by_saying_nothing(answered: Answered, names: list[str]) -> None:
    answer = answered("ListTables", {"ExclusiveStartTableName": "z" * 255})
    assert answer == {"TableNames": []}


def test_a_page_holds_at_most_a_hundred_names(answered: Answered) -> None:
    assert len(answered("ListTables", {})["TableNames"]) <= 100


@pytest.mark.parametrize(
    ("limit", "rule"),
    [
        (0, "Member must have value greater than or equal to 1"),
        (101, "Member must have value less than or equal to 100"),
    ],
)
def test_the_limit_is_1_to_100(refused: Refused, limit: int, rule: str) -> None:
    expected = f"1 validation error detected: {violation(str(limit), 'limit', rule)}"
    assert refused("ListTables", {"Limit": limit}) == ("ValidationException", expected)


def test_every_mistake_is_reported_at_once(refused: Refused) -> None:
    code, message = refused("ListTables", {"ExclusiveStartTableName": "a;", "Limit": 500})
    prefix, _, listed = message.partition("detected: ")
    assert (code, prefix) == ("ValidationException", "3 validation errors ")
    assert set(listed.split("; ")) == {
        violation("500", "limit", "Member must have value less than or equal to 100"),
        violation(
            "a;",
            "exclusiveStartTableName",
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
        ),
        violation("a;", "exclusiveStartTableName", "Member must have length greater than or equal to 3"),
    }


def test_unknown_members_are_ignored(answered: Answered) -> None:
    assert "TableNames" in answered("ListTables", {"hi": "yo"})
