"""Text to tokens. Comments are white space; every token knows where it stands, because refusals say so.

Must hold: a text of any kind ends in tokens or in a BadStatement.
"""

import re
from typing import NamedTuple

from tablewright.partiql.errors import not_well_formed
from tablewright.partiql.keywords import KEYWORDS

END = "<EOF>"
MAX_INT = 2**31 - 1

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+|--[^\n]*|/\*.*?\*/)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)"
    r"|'(?P<string>(?:[^']|'')*)'"
    r'|"(?P<quoted>(?:[^"]|"")*)"'
    r"|(?P<symbol><<|>>|<>|!=|<=|>=|\|\||/(?!\*)|[-=<>+*%()\[\]{},.:;?])",
    re.DOTALL,
)


class Token(NamedTuple):
    # "name", "quoted", "string", "number", END; a symbol or a keyword is its own kind.
    kind: str
    text: str  # what it says, without its quotes
    line: int
    column: int
    length: int

    @property
    def at(self) -> str:
        """Where it stands, as the service writes it."""
        return f"{self.line}:{self.column}:{self.length}"

    @property
    def is_name(self) -> bool:
        return self.kind in ("name", "quoted")


def tokens_of(text: str) -> list[Token]:
    """All tokens of the text, and one END."""
    tokens = []
    place, line, line_start = 0, 1, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            # An unknown character, or a quote or a comment that is never closed.
            raise not_well_formed()
        kind = str(match.lastgroup)
        if kind != "space":
            tokens.append(_token(kind, match, line, match.start() - line_start + 1))
        breaks = text.count("\n", place, match.end())
        if breaks:
            line += breaks
            line_start = text.rindex("\n", place, match.end()) + 1
        place = match.end()
    tokens.append(Token(END, END, line, place - line_start + 1, 0))
    return tokens


def _token(kind: str, match: re.Match[str], line: int, column: int) -> Token:
    word = match[kind]
    if kind == "symbol":
        kind = "<>" if word == "!=" else word
    elif kind == "name" and word.upper() in KEYWORDS:
        kind = word.upper()
    elif kind == "string":
        word = word.replace("''", "'")
    elif kind == "quoted":
        word = word.replace('""', '"')
    elif kind == "number":
        _refuse_endless(word)
    return Token(kind, word, line, column, len(match[0]))


def _refuse_endless(number: str) -> None:
    """The service reads numbers with 32 bits for the exponent, and for the digits behind the point less that."""
    mantissa, _, exponent = number.lower().partition("e")
    digits = exponent.lstrip("+-").lstrip("0")
    size = int(digits or "0") if len(digits) <= 10 else MAX_INT + 1
    power = -size if exponent.startswith("-") else size
    scale = len(mantissa.partition(".")[2]) - power
    if size > MAX_INT or not -MAX_INT - 1 <= scale <= MAX_INT:
        raise not_well_formed()
