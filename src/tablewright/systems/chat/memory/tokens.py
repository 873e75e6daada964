"""How many tokens a text has, for a model's budget (ZC-42, ZC-E2).

Counted with o200k_base from `bpe-openai`, which ships its vocabulary (extra `chat`); estimated without it.
Must hold: the estimate is never less than the real count, for any text (ZC-D16). It follows from the vocabulary:
byte-pair encoding leaves no two neighbours that are a token together, and nearly every pair of small letters, and a
space with a letter, is a token. So single bytes stand alone only at the few other pairs: of n bytes with r such pairs
at most (2n + r + 1) / 3 are tokens. A common word after a space is one token; a test compares the list with the
vocabulary.
"""

import re
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

Count: TypeAlias = Callable[[str], int]
ENCODING = "o200k_base"
COMMON_WORDS = frozenset((Path(__file__).parent / "common_words.txt").read_text().split())
# Pairs of small letters that are not a token of o200k_base.
_RARE = "bq gk gq jv jz kq kz lq nq qf qg qj qk qv qz rj tq wq wz xg xj xk xq xv xw yq zj zq zv"
RARE_PAIRS = frozenset(_RARE.split())
# A word after one space that is not part of a longer one; an apostrophe would make it longer.
_WORD = re.compile(r" [a-z]{2,}(?![^\W_]|['’\u0300-\u036f])")
_PAIR = re.compile(r"(?=([a-z]{2}| [A-Za-z]))")
# The ending of "it's" belongs to the word before it, and what follows begins another piece.
_ENDING = re.compile(r"'[A-Za-z]{1,2}")


def token_counter() -> Count:
    """The real count if its package is installed, else the estimate."""
    return count_tokens if find_spec("bpe_openai") is not None else estimate_tokens


def count_tokens(text: str) -> int:
    """The tokens of o200k_base. Special tokens that a user types are plain text."""
    return _counted(text) if len(text) <= 4096 else len(_encoding().encode_ordinary(text))


@lru_cache(maxsize=4096)
def _counted(text: str) -> int:
    return len(_encoding().encode_ordinary(text)) if text else 0


@cache
def _encoding():  # type: ignore[no-untyped-def]  # the package has no types
    """Loaded with the first text, because that takes a second or two."""
    with warnings.catch_warnings():
        # The package reads its vocabularies with a function that Python 3.11 calls deprecated, and 3.13 does not.
        warnings.simplefilter("ignore", DeprecationWarning)
        from bpe_openai import get_encoding  # type: ignore[import-untyped]  # an optional extra, without types

        return get_encoding(ENCODING)


def estimate_tokens(text: str) -> int:
    """At least as many as the text has."""
    known, start, total = 0, 0, 0
    for word in _WORD.finditer(text):
        if word.group()[1:] in COMMON_WORDS:
            total += _most(text[start : word.start()])
            known, start = known + 1, word.end()
    return known + total + _most(text[start:])


def _most(text: str) -> int:
    """The most tokens that a text can have by its bytes and pairs."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if not size:
        return 0
    apart = sum(len(ending.group()) + 1 for ending in _ENDING.finditer(text))
    joined = sum(pair.group(1) not in RARE_PAIRS for pair in _PAIR.finditer(text)) - apart
    return min(size, (2 * size + (size - 1 - max(joined, 0)) + 1) // 3)
