"""What a WHERE says about a key: one item, some ranges, or nothing."""

import pytest

from tablewright.expressions import Condition
from tablewright.partiql import BadStatement, Select, branches_of, find_key, statement, written_key


def where(text: str) -> Condition | None:
    select = statement(f"SELECT * FROM t WHERE {text}", [])
    assert isinstance(select, Select)
    return select.where


def reads(text: str) -> list[tuple[str, list[tuple[str, str]], int, bool]] | None:
    """Each branch: its partition, its tests of the sort key, the number of its filters, whether it is loose."""
    branches = branches_of(where(text), "pk", "sk")
    if branches is None:
        return None
    return [
        (
            next(iter(branch.partition.values())),
            [(test.op, next(iter(test.values[0].values()))) for test in branch.tests],
            len(branch.filters),
            branch.is_loose,
        )
        for branch in branches
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a = 1",
        "pk > 'a'",
        "pk <> 'a'",
        "NOT pk = 'a'",
        "pk = 'a' OR a = 1",
        "pk = a",
        "pk IN ['a', b]",
        "sk = 'a'",
        "pk.x = 1",
    ],
)
def test_what_fixes_no_partition_is_no_row_of_reads(text: str) -> None:
    assert reads(text) is None


def test_alternatives_of_the_key_are_reads_and_others_are_filters() -> None:
    assert reads("pk = 'a'") == [("a", [], 0, False)]
    assert reads("'a' = pk AND 'b' < sk") == [("a", [(">", "b")], 0, False)]
    assert reads("pk = 'a' AND (b = 1 OR c = 2)") == [("a", [], 1, False)]
    assert reads("pk IN ['a', 'b'] AND sk = 'x' AND b = 1") == [
        ("a", [("=", "x")], 1, False),
        ("b", [("=", "x")], 1, False),
    ]
    assert reads("pk = 'a' AND (sk = 'x' OR sk > 'y')") == [
        ("a", [("=", "x")], 0, False),
        ("a", [(">", "y")], 0, False),
    ]


def test_an_alternative_that_asks_for_two_partitions_at_once_is_none() -> None:
    assert reads("pk = 'a' AND (pk = 'b' OR c = 1)") == [("a", [], 1, False)]
    assert reads("pk = 'a' AND pk = 'b'") == []


def test_what_is_denied_of_the_sort_key_makes_a_read_loose() -> None:
    assert reads("pk = 'a' AND NOT sk = 'x'") == [("a", [], 1, True)]
    assert reads("pk = 'a' AND sk <> 'x'") == [("a", [], 1, True)]
    assert reads("pk = 'a' AND b <> 'x'") == [("a", [], 1, False)]


def test_reads_are_at_most_fifty() -> None:
    def among(count: int) -> str:
        return "[" + ", ".join(f"'{n}'" for n in range(count)) + "]"

    assert len(reads(f"pk IN {among(50)}") or []) == 50
    for text in (f"pk IN {among(51)}", f"pk IN {among(8)} AND sk IN {among(7)}"):
        with pytest.raises(BadStatement, match="Too many decomposed read operations"):
            reads(text)


def test_a_write_takes_its_key_from_equalities_and_leaves_the_rest_as_its_condition() -> None:
    key, rest = written_key(where("(pk = 'a' AND b = 1) AND sk = 'x' AND pk = 'a'"), ("pk", "sk"))
    assert key == {"pk": {"S": "a"}, "sk": {"S": "x"}}
    assert rest == where("b = 1")


def test_only_a_read_takes_a_list_of_one_for_an_equality() -> None:
    asked = where("pk IN ['a']")
    assert find_key(asked, ("pk",), one_of=True).key() == {"pk": {"S": "a"}}
    assert find_key(asked, ("pk",)).key() == {}
