"""Tokens of a statement: what counts as one, where it stands, what is none at all."""

import pytest

from tablewright.partiql import BadStatement
from tablewright.partiql.lexer import END, tokens_of


def kinds(text: str) -> list[str]:
    return [token.kind for token in tokens_of(text)]


def texts(text: str) -> list[str]:
    return [token.text for token in tokens_of(text)][:-1]


def test_keywords_are_known_in_any_case_and_names_keep_theirs() -> None:
    assert kinds("select Pk FROM t") == ["SELECT", "name", "FROM", "name", END]
    assert texts("select Pk FROM t") == ["select", "Pk", "FROM", "t"]


def test_a_quoted_keyword_is_a_name() -> None:
    assert kinds('"select"') == ["quoted", END]


def test_a_doubled_quote_is_one_quote() -> None:
    assert texts("'it''s' \"a\"\"b\" ''") == ["it's", 'a"b', ""]


@pytest.mark.parametrize("number", ["1", "1.", "1.5", ".5", "1e5", "1E+5", ".5e-5", "007"])
def test_a_number_is_one_token(number: str) -> None:
    assert kinds(number) == ["number", END]


def test_signs_brackets_and_comparators_are_tokens_of_their_own() -> None:
    assert kinds("<<>> <> != <= >= < > = -1") == [
        "<<", ">>", "<>", "<>", "<=", ">=", "<", ">", "=", "-", "number", END
    ]  # fmt: skip


def test_comments_are_blanks() -> None:
    assert texts("a -- b\nc /* d\n'e */ f--") == ["a", "c", "f"]
    assert texts("'--' \"/*\"") == ["--", "/*"]


def test_a_token_knows_its_line_column_and_length() -> None:
    tokens = tokens_of("ab  \"c d\"\n\n /* x\n y */ 'e'")
    assert [token.at for token in tokens] == ["1:1:2", "1:5:5", "4:7:3", "4:10:0"]


@pytest.mark.parametrize(
    "text", ["'", '"', "'a''", "/*", "/* *", "#", "@x", "a ~ b", "`x`", "\\", "é", "1e2147483648"]
)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(BadStatement, match=r"^Statement wasn't well formed, can't be processed: $"):
        tokens_of(text)


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    assert len(tokens_of(" " * 8000 + "x")) == 2
    assert len(tokens_of("'" + "''" * 4000 + "'")) == 2
