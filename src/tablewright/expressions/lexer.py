"""Text to tokens, and the sentence for a token that cannot stand where it stands.

There is one lexer for all five kinds of expression, so a keyword of one (`SET`) is not a name in another.
A character the grammar does not know becomes a token of its own: the parser will stumble over it in
its place, which is how the service reports it.
"""

import re
from typing import NamedTuple

from tablewright.expressions.errors import BadExpression

END = "<EOF>"
KEYWORDS = frozenset(("AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"))

_TOKEN = re.compile(
    r"(?P<before>[ \t\r\n]*)"
    r"(?:(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<alias>#[A-Za-z0-9_]+)"
    r"|(?P<value>:[A-Za-z0-9_]+)"
    r"|(?P<number>[0-9]+)"
    r"|(?P<symbol><>|<=|>=|[-=<>+()\[\],.])"
    r"|(?P<unknown>[^ \t\r\n]))"
)


class Token(NamedTuple):
    # "name", "alias", "value", "number", "unknown", END; a symbol or a keyword is its own kind.
    kind: str
    text: str
    before: str  # the white space it follows


def tokens_of(text: str) -> list[Token]:
    """All tokens of the text, and one END."""
    tokens = []
    # White space before the end would be tried at every place it has: 4096 blanks would take seconds.
    for match in _TOKEN.finditer(text.rstrip(" \t\r\n")):
        kind = str(match.lastgroup)
        word = match[kind]
        if kind == "symbol":
            kind = word
        elif kind == "name" and word.upper() in KEYWORDS:
            kind = word.upper()
        tokens.append(Token(kind, word, match["before"]))
    tokens.append(Token(END, END, ""))
    return tokens


def syntax_error(tokens: list[Token], at: int) -> BadExpression:
    """The service shows the token it could not take, and that token between its two neighbours."""
    token = tokens[at]
    near = tokens[at - 1].text if at else ""
    if token.kind != END:
        near += (token.before if at else "") + token.text
        following = tokens[at + 1]
        if following.kind != END:
            near += following.before + following.text
    return BadExpression(f'Syntax error; token: "{token.text}", near: "{near}"')
