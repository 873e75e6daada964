"""Vectors of texts, for recall by meaning: one narrow interface, and two that need no network.

The static vectors of `wordllama` (extra `chat`, 19 MB from PyPI) are read from its files, because its own loader asks
a hub for the tokenizer; a text is the mean of its tokens. Without the extra: a hashed bag of words, which finds the
same words only.
Must hold: a vector has DIMENSIONS numbers and the length 1; its kind is stored beside it, and kinds are never
compared.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

Embedding: TypeAlias = Callable[[Sequence[str]], list[list[float]]]
DIMENSIONS = 256
WORD_VECTORS, HASHED_WORDS = "wordllama-l2-256", "hashed-words-256"
# More would not change the mean, and a text is at most 16 KB.
_MOST_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class Embedder:
    """An embedding, with the kind that is stored beside its vectors; whether texts go to a third party for it."""

    kind: str
    embed: Embedding
    leaves_machine: bool = False

    def one(self, text: str) -> list[float]:
        return self.embed([text])[0]


def open_embedder() -> Embedder:
    """The vectors of the extra, or the hashed words. The weights are read with the first text."""
    needed = ("wordllama", "tokenizers", "safetensors", "numpy")
    if all(find_spec(name) is not None for name in needed) and _weights().exists():
        return Embedder(WORD_VECTORS, word_vectors)
    return Embedder(HASHED_WORDS, hashed_words)


# --- word vectors ---


def _package() -> Path:
    found = find_spec("wordllama")
    return Path(found.origin).parent if found is not None and found.origin else Path()


def _weights() -> Path:
    return _package() / "weights" / "l2_supercat_256.safetensors"


@cache
def _model() -> tuple[Any, Any]:
    """Tokenizer and vectors: half a second."""
    from safetensors.numpy import load_file  # an optional extra
    from tokenizers import Tokenizer  # an optional extra

    tokenizer = Tokenizer.from_file(str(_package() / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MOST_TOKENS)
    vectors = next(iter(load_file(str(_weights())).values()))
    return tokenizer, vectors


def word_vectors(texts: Sequence[str]) -> list[list[float]]:
    """The mean of the vectors of a text's tokens, of length 1."""
    tokenizer, vectors = _model()
    encoded = tokenizer.encode_batch([_readable(text) for text in texts], add_special_tokens=False)
    return [_mean(vectors, each.ids) for each in encoded]


def _mean(vectors: Any, ids: Sequence[int]) -> list[float]:
    return _unit(vectors[list(ids)].astype("float64").mean(axis=0).tolist() if ids else [0.0] * DIMENSIONS)


def _readable(text: str) -> str:
    """Without unpaired surrogates, which a tokenizer refuses."""
    return text.encode("utf-8", "replace").decode()


# --- hashed words ---


def hashed_words(texts: Sequence[str]) -> list[list[float]]:
    """Each word and each of its beginnings adds to a dimension that its hash chooses."""
    return [_hashed(text) for text in texts]


def _hashed(text: str) -> list[float]:
    vector = [0.0] * DIMENSIONS
    for word, times in Counter(words_of(text)).items():
        for part, weight in ((word, 1.0), (word[:4] + "*", 0.5)):
            hashed = int.from_bytes(blake2b(part.encode(), digest_size=4).digest(), "big")
            sign = 1 if hashed & 1 else -1
            vector[(hashed >> 1) % DIMENSIONS] += sign * weight * (1 + math.log(times))
    return _unit(vector)


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: folded, without accents and plurals; common words are left out."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("utf-8", "replace").decode()
    words = re.findall(r"[^\W_]+", "".join(each for each in plain if not unicodedata.combining(each)))
    return [_singular(word) for word in words if word not in STOP_WORDS]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _unit(vector: list[float]) -> list[float]:
    length = math.sqrt(sum(each * each for each in vector))
    # A text without a word has a vector too: one that is near to nothing in particular.
    return [each / length for each in vector] if length else [1.0, *[0.0] * (DIMENSIONS - 1)]


_STOP_WORDS = """
a about after all also am an and any are as at be because been but by can could did do does doing don for from get go
got had has have he her here him his how i if in into is it its just know let like ll m me more my no not now of oh ok
okay on one or our out please re really s say she so some such t tell than that the their them then there these they
this to too up us ve very want was we well were what when where which who why will with would yes you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
