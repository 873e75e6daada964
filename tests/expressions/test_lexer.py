import pytest

from tablewright.expressions.lexer import END, syntax_error, tokens_of


def kinds(text: str) -> list[str]:
    return [token.kind for token in tokens_of(text)]


def test_a_text_ends_in_one_end() -> None:
    assert kinds("") == [END]
    assert kinds(" \t\r\n") == [END]
    assert kinds("a ") == ["name", END]


def test_names_and_placeholders_follow_their_own_rules() -> None:
    assert kinds("Alpha_1 #1a :_") == ["name", "alias", "value", END]
    assert kinds("_a") == ["unknown", "name", END]
    assert kinds("1a") == ["number", "name", END]
    assert kinds("# :") == ["unknown", "unknown", END]


def test_keywords_are_their_own_kind_in_any_case() -> None:
    assert kinds("and Or NOT iN between set Remove ADD delete") == [
        *("AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"),
        END,
    ]
    assert kinds("android") == ["name", END]


def test_symbols_are_as_long_as_they_can_be() -> None:
    assert kinds("a<>b<=c>=d<e") == ["name", "<>", "name", "<=", "name", ">=", "name", "<", "name", END]


def test_a_character_outside_the_grammar_is_a_token() -> None:
    assert kinds("a!ü") == ["name", "unknown", "unknown", END]
    assert kinds("a\u00a0b") == ["name", "unknown", "name", END]


@pytest.mark.parametrize(
    ("text", "at", "sentence"),
    [
        ("a  !=  b", 1, 'token: "!", near: "a  !="'),
        ("! a", 0, 'token: "!", near: "! a"'),
        ("  ! a", 0, 'token: "!", near: "! a"'),
        ("a  !", 1, 'token: "!", near: "a  !"'),
        ("a !  ", 2, 'token: "<EOF>", near: "!"'),
    ],
)
def test_a_syntax_error_shows_the_token_between_its_neighbours_as_they_stand(
    text: str, at: int, sentence: str
) -> None:
    assert str(syntax_error(tokens_of(text), at)) == "Syntax error; " + sentence
