"""Text to tree: clauses in their order, operators by how closely they bind."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.expressions import BadExpression
from tablewright.partiql import BadStatement, parse
from tablewright.partiql.keywords import KEYWORDS
from tablewright.partiql.nodes import (
    Assignment,
    Attribute,
    Constant,
    DeleteText,
    ExistsText,
    InsertText,
    Operation,
    Parameter,
    SelectText,
    Source,
    UpdateText,
)


def where(text: str) -> Any:
    statement, _ = parse(f"SELECT * FROM t WHERE {text}")
    assert isinstance(statement, SelectText)
    return shape(statement.where)


def shape(term: Any) -> Any:
    """A term without its places, as nested tuples."""
    match term:
        case Operation(op, operands, _, kind):
            return (f"{op} {kind}".strip(), *map(shape, operands))
        case Attribute(path):
            return ".".join(map(str, path))
        case Constant(_, content):
            return content
        case _:
            return term


def test_or_binds_least_then_and_then_not_then_comparisons_then_sums() -> None:
    assert where("NOT a = 1 AND b = 2 OR c = d + 1") == (
        "OR", ("AND", ("NOT", ("=", "a", "1")), ("=", "b", "2")), ("=", "c", ("+", "d", "1"))
    )  # fmt: skip
    assert where("a = 1 OR b = 2 AND c = 3") == (
        "OR",
        ("=", "a", "1"),
        ("AND", ("=", "b", "2"), ("=", "c", "3")),
    )
    assert where("(a = 1 OR b = 2) AND c = 3")[0] == "AND"


def test_a_row_of_ands_is_one_operation() -> None:
    assert where("a = 1 AND b = 2 AND c = 3 AND d = 4")[0] == "AND"
    assert len(where("a = 1 AND b = 2 AND c = 3 AND d = 4")) == 5


def test_between_takes_its_own_and() -> None:
    assert where("a BETWEEN 1 AND 2 AND b = 3") == ("AND", ("BETWEEN", "a", "1", "2"), ("=", "b", "3"))


def test_not_may_stand_before_the_operator() -> None:
    assert where("a NOT IN [1, 2]") == ("NOT", ("IN", "a", "1", "2"))
    assert where("a NOT BETWEEN 1 AND 2") == ("NOT", ("BETWEEN", "a", "1", "2"))
    assert where("a IS NOT MISSING") == ("IS NOT MISSING", "a")


def test_a_sign_belongs_to_its_number() -> None:
    assert where("a = - - 1") == ("=", "a", "1")
    assert where("a = b - -1.5") == ("=", "a", ("-", "b", "-1.5"))
    assert where("a = +1") == ("=", "a", "1")


def test_a_path_goes_on_behind_dots_and_brackets() -> None:
    assert where("a.\"b c\"[3]['d'].e = 1") == ("=", "a.b c.3.d.e", "1")


def test_parameters_are_counted_in_the_order_of_the_text() -> None:
    statement, count = parse("UPDATE t SET a = ?, b = ? WHERE pk = ? AND c IN [?, ?]")
    assert count == 5
    assert isinstance(statement, UpdateText)
    assert [one.value for one in statement.assignments] == [Parameter(0, "1:18:1"), Parameter(1, "1:25:1")]


def test_every_statement_has_its_own_shape() -> None:
    assert isinstance(parse("INSERT INTO t VALUE {'a': 1}")[0], InsertText)
    assert isinstance(parse("DELETE FROM t WHERE a = 1 RETURNING ALL OLD *")[0], DeleteText)
    assert isinstance(parse("EXISTS(SELECT * FROM t WHERE a = 1)")[0], ExistsText)
    select, _ = parse('SELECT a, b.c FROM "t 1"."i" WHERE a = 1 ORDER BY a DESC, b')
    assert isinstance(select, SelectText)
    assert select.source == Source("t 1", "i")
    assert [(shape(key), down) for key, down in select.order] == [("a", True), ("b", False)]


def test_clauses_of_an_update_follow_each_other_in_any_number() -> None:
    update, _ = parse("UPDATE t SET a = 1, b = 2 REMOVE c, d SET e = 3 WHERE k = 1 RETURNING MODIFIED NEW *")
    assert isinstance(update, UpdateText)
    assert [(shape(one.target), one.value is None) for one in update.assignments] == [
        ("a", False), ("b", False), ("c", True), ("d", True), ("e", False)
    ]  # fmt: skip
    assert update.returning == "MODIFIED NEW"
    other, _ = parse("FROM t WHERE k = 1 REMOVE c")
    assert isinstance(other, UpdateText)
    assert other.assignments == (Assignment(Attribute(("c",), "1:27:1"), None),)


@pytest.mark.parametrize("word", sorted(KEYWORDS - {"FROM"}))
def test_no_keyword_names_an_attribute_without_quotes(word: str) -> None:
    with pytest.raises(BadExpression):
        parse(f"UPDATE t SET {word} = 1 WHERE pk = 1")
    parse(f'UPDATE t SET "{word}" = 1 WHERE pk = 1')


def test_the_parts_of_a_date_are_ordinary_names() -> None:
    parse("SELECT year, month, day, hour, minute, second FROM movies WHERE title = ?")


WORDS = """
SELECT * FROM t "t"."i" WHERE a = < IN [ ] ( ) { } << >> , . ? 's' 1 - + AND OR NOT BETWEEN IS MISSING UPDATE SET REMOVE
DELETE INSERT INTO VALUE : ; RETURNING ALL OLD ORDER BY EXISTS size begins_with(a,'s') /**/
"""


@given(st.lists(st.sampled_from(WORDS.split()), max_size=20).map(" ".join))
def test_any_row_of_words_is_a_statement_or_refused(text: str) -> None:
    with suppress(BadExpression):
        parse(text)


@given(st.text(max_size=30))
def test_any_text_is_a_statement_or_refused(text: str) -> None:
    with suppress(BadStatement):
        parse("SELECT * FROM t WHERE " + text)
