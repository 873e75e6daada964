"""Names as people type them: without accents, apostrophes or the right spelling of "Saint"; and which region they mean.

A search is a prefix of a token. Tokens are a region's names, and each name again from its second word on, its third...:
"states" and "states of am" both find the United States, with one range of keys and no scan.
Must hold: normalising twice changes nothing; a prefix of a name as shown, typed with or without accents, finds it.
Elsewhere: the items tokens become (the design), the names themselves (data/regions.json).
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tablewright.systems.travel.geography.regions import Region

# Letters that Unicode does not take apart, as people without them on the keyboard write them.
LETTERS: Mapping[str, str] = (
    {
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŋ": "n",
        "ə": "e", "ŧ": "t", "ĸ": "k", "ſ": "s", "&": " and ",
        # Unicode calls these letters; people type an apostrophe, or nothing.
        "ʻ": " ", "ʼ": " ", "ʽ": " ", "ʾ": " ", "ʿ": " ", "ʹ": " ",
    }
)  # fmt: skip
_PLAIN = str.maketrans(dict(LETTERS))
_NOT_PART_OF_A_NAME = frozenset(
    ("the", "of", "and", "de", "du", "d", "la", "le", "el", "des", "der", "die", "das", "del", "do")
)


def normalise(text: str) -> str:
    """Lower case, no marks, no punctuation; words apart by one space."""
    folded = unicodedata.normalize("NFKD", text).casefold().translate(_PLAIN)
    bare = "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))
    spaced = "".join(c if c.isalnum() else " " for c in unicodedata.normalize("NFC", bare))
    return " ".join(spaced.split())


def squeezed(text: str) -> str:
    """The form in keys: normalised, without spaces. "d'Ivoire", "dIvoire" and "d Ivoire" are one."""
    return normalise(text).replace(" ", "")


def names_of(region: Region) -> tuple[str, ...]:
    """Everything a region is called, what is shown first."""
    return tuple(dict.fromkeys((region.display_name, region.name, *region.aliases)))


@lru_cache(maxsize=1024)
def tokens(region: Region) -> tuple[str, ...]:
    """What a search may begin with to find the region: each name, from each of its words on; and the code."""
    found = {token for name in names_of(region) for token in _tails(name)}
    return tuple(sorted(found | {_bare_code(region)}))


@dataclass(frozen=True, slots=True)
class Keys:
    """What a query is compared with, squeezed: the name that is shown, from each of its words on, all names, tokens."""

    shown: str
    tails: tuple[str, ...]
    names: tuple[str, ...]
    tokens: tuple[str, ...]


@lru_cache(maxsize=1024)
def keys_of(region: Region) -> Keys:
    """The texts that find a region; for searches in other places, such as the offline map."""
    names = tuple(dict.fromkeys(squeezed(name) for name in names_of(region)))
    tails = tuple(sorted(_tails(region.display_name)))
    return Keys(squeezed(region.display_name), tails, names, tokens(region))


def rank(query: str, regions: Iterable[Region]) -> list[Region]:
    """The regions that a query finds, the likeliest first, then by the alphabet."""
    wanted = squeezed(query)
    if not wanted:
        return []
    placed = ((_place(wanted, region), region) for region in regions)
    found = [
        (place, squeezed(region.display_name), region.region_code, region)
        for place, region in placed
        if place is not None
    ]
    return [region for *_, region in sorted(found, key=lambda one: one[:3])]


def _place(wanted: str, region: Region) -> int | None:
    """How well a region answers: 0 is the very name that is shown, 6 a word inside some other name."""
    keys = keys_of(region)
    if not any(token.startswith(wanted) for token in keys.tokens):
        return None
    fits = (
        wanted == keys.shown,
        wanted in keys.names,
        keys.shown.startswith(wanted),
        any(tail.startswith(wanted) for tail in keys.tails),
        wanted == _bare_code(region),
        any(name.startswith(wanted) for name in keys.names),
    )
    return next((place for place, fit in enumerate(fits) if fit), len(fits))


def _bare_code(region: Region) -> str:
    return region.region_code.rpartition("-")[2].lower()


def _tails(name: str) -> set[str]:
    words = normalise(name).split()
    starts = [i for i, word in enumerate(words) if i == 0 or word not in _NOT_PART_OF_A_NAME]
    # "st" alone may become "states": both spellings of a saint are kept here, instead of one being made of the query.
    return {
        "".join(spelt[i:])
        for spelt in (words, _as_saints(words, "st"), _as_saints(words, "saint"))
        for i in starts
    }


def _as_saints(words: list[str], spelling: str) -> list[str]:
    return [spelling if word in ("st", "saint") else word for word in words]
