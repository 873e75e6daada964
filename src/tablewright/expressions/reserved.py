"""The 573 words that name no attribute unless they are aliased (`#status`).

The nine that are also keywords of the grammar never get this far: they are syntax errors (lexer.py).
Elsewhere: the refusal of an expression that uses one (text_checks.py).
"""

from pathlib import Path

RESERVED = frozenset(Path(__file__).with_name("reserved_words.txt").read_text("ascii").split())


def is_reserved(name: str) -> bool:
    return name.upper() in RESERVED
