"""Names and places that a text introduces: "my name is", "my brother torvald is", "i live in". In any case. Pure.

Children write without capitals, and no list has every name. So what counts are the words before a name; what follows
them is a name unless it is an ordinary word (ordinary_words.txt), or after "is called" whatever it is. A name that is
an ordinary word too (names_and_words.txt) counts here, and nowhere else in small letters.
Must hold: a name is taken whole, with the words that belong to it.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from tablewright.systems.chat.talk.personal_data import NOT_NAMES, WORD, Kind

_HERE = Path(__file__).parent


def _words_in(name: str) -> frozenset[str]:
    return frozenset((_HERE / name).read_text().lower().split())


FIRST_NAMES, NAMES_AND_WORDS = _words_in("first_names.txt"), _words_in("names_and_words.txt")
_ORDINARY = _words_in("ordinary_words.txt") - FIRST_NAMES
# What a word ends with that describes someone: "interested", "boring". Short names end so too: Ted, Ahmed.
_ENDS = ("ed", "ing", "est", "less", "ful", "ish")
_LONG = 5

_CALLED = (
    r"my (?:full |first |last |real |middle |family |sur)?name(?: is|'s|’s|s)?|i am called|i['’]?m called|"
    r"everyone calls me|people call me|you can call me|call me|this is my name:?|"
    r"(?:his|her|their|whose) (?:first |last |real )?names? (?:is|are)|"
    r"mein name ist|ich hei(?:ß|ss)e|me llamo|mi nombre es|je m['’]appelle|mi chiamo|meu nome [eé]|ik heet"
)
_PEOPLE = (
    "friend|best ?friend|bff|bestie|pal|buddy|brother|bro|sister|sis|sibling|twin|mom|mum|mommy|mummy|mother|dad|daddy|"
    "father|step-?(?:mom|mum|mother|dad|father|brother|sister)|cousin|niece|nephew|teacher|coach|tutor|uncle|aunt|auntie|"
    "grandma|grandpa|grandmother|grandfather|granny|grandad|granddad|nana|classmate|neighbou?r|boyfriend|girlfriend|"
    "nanny|babysitter|doctor|principal|crush"
)
_KNOWN_AS = r"(?:['’]?s name(?: is|['’]s)|s?(?:,? who)? (?:is|are|was) (?:called|named)|s? (?:called|named))"
_WHICH = "very|best|little|big|older|younger|twin|baby|old|new|other|good|half|own"
_MY = rf"\bmy (?:(?:{_WHICH}) ){{0,3}}(?:{_PEOPLE})"
_WHERE = (
    rf"(?:\b(?:(?:i|we|he|she)(?: also| now| still| used to)?|{_MY}(?: {WORD})?) (?:live|lives|lived)"
    r" (?:at|on|in|near|close to|outside)|\b(?:i|we)(?:['’]?m|['’]?re| am| are) (?:from|living in)|"
    r"\b(?:i|we) come from|\b(?:i|we) moved (?:here )?(?:to|from))(?: the(?= (?-i:[A-Z])))? "
)
# First parts of a place's name that are ordinary words, and last ones.
_NEW_YORK = "new san los las saint st fort port north south east west el la upper lower great"
_LONG_BEACH = "city town beach park hills valley springs falls lake island county heights"
_FIRST_PARTS, _LAST_PARTS = frozenset(_NEW_YORK.split()), frozenset(_LONG_BEACH.split())
# The animal that says its name (persona_phrases.py).
_PERSONA = re.compile(r", and I am an? [\w -]{1,60}, played by a computer program")
_NEXT_WORD, _FOLLOWING = re.compile(WORD), re.compile(rf" ({WORD})")
_GAP, _PLACE_GAP, _LIST_GAP = (
    re.compile(r"[ -]"),
    re.compile(r",? |-"),
    re.compile(r"(?:, | and | & |, and )"),
)
_END = re.compile(r"\s*(?:[.!?,;:)]|$)|\s+(?:and|from|i|but)\b", re.IGNORECASE)
_MARK = re.compile(r"\s*(?:[.!?,;:)]|$)")

# Whether the word at a match is a name, given the text.
_IsName: TypeAlias = Callable[[str, "re.Match[str]"], bool]


def introduced(text: str) -> Iterator[tuple[Kind, int, int]]:
    """Where the text introduces names and places."""
    for opening, is_name, gap in _OPENINGS:
        for match in opening.finditer(text):
            start, end = match.end(), _name_end(text, match.end(), is_name, gap)
            while end > start:
                yield "name", start, end
                more = _LIST_GAP.match(text, end)
                start, end = (
                    (0, 0) if more is None else (more.end(), _name_end(text, more.end(), _listed, gap))
                )
    for match in _PLACE.finditer(text):
        if (end := _name_end(text, match.end(), _is_place, _PLACE_GAP)) > match.end():
            yield "address", match.end(), end


def _name_end(text: str, start: int, is_name: _IsName, gap: "re.Pattern[str]") -> int:
    """The end of the name that begins here, or `start` if it is not one."""
    first = _NEXT_WORD.match(text, start)
    if first is None or not is_name(text, first) or _PERSONA.match(text, first.end()):
        return start
    end = first.end()
    for _ in range(3):
        between = gap.match(text, end)
        word = _NEXT_WORD.match(text, between.end()) if between else None
        if word is None or not _goes_on(word.group(), gap):
            break
        end = word.end()
    return end


def _base(word: str) -> str:
    return re.split(r"['’]", word.lower())[0]


def _goes_on(word: str, gap: "re.Pattern[str]") -> bool:
    base = _base(word)
    if gap is _PLACE_GAP and base in _LAST_PARTS:
        return True
    return base not in NOT_NAMES and (word[0].isupper() or _is_unusual(base))


def _is_unusual(base: str) -> bool:
    return base in FIRST_NAMES or not (base in _ORDINARY or (len(base) > _LONG and base.endswith(_ENDS)))


def _any(text: str, word: "re.Match[str]") -> bool:
    return _base(word.group()) not in NOT_NAMES


def _unusual(text: str, word: "re.Match[str]") -> bool:
    base = _base(word.group())
    return base in NAMES_AND_WORDS or (base not in NOT_NAMES and _is_unusual(base))


def _listed(text: str, word: "re.Match[str]") -> bool:
    return _unusual(text, word) and _is_followed(text, word)


def _is_followed(text: str, word: "re.Match[str]") -> bool:
    """Whether the sentence ends after the name, or goes on with an ordinary word: mostly a verb."""
    end = _name_end(text, word.start(), _unusual, _GAP)
    following = _NEXT_WORD.match(text, end + 1)
    return _MARK.match(text, end) is not None or (
        following is not None and not _is_unusual(_base(following.group()))
    )


def _beside(text: str, word: "re.Match[str]") -> bool:
    """A name without a verb before it: "my brother torvald is mean", and not "my brother snores"."""
    if word.group()[0].isupper():
        return _any(text, word)
    is_verb = word.group().endswith("s") and _base(word.group()) not in FIRST_NAMES
    return _unusual(text, word) and not is_verb and _is_followed(text, word)


def _self(text: str, word: "re.Match[str]") -> bool:
    """After "I am": a name ends the sentence, or stands before "and"."""
    ends = _END.match(text, _name_end(text, word.start(), _unusual, _GAP)) is not None
    return ends and _unusual(text, word)


def _is_place(text: str, word: "re.Match[str]") -> bool:
    base = _base(word.group())
    following = _FOLLOWING.match(text, word.end())
    if following and word.group()[0].isupper() and following[1][0].isupper() and base not in NOT_NAMES:
        return True
    if base in _FIRST_PARTS:
        return following is not None and _is_unusual(_base(following[1]))
    return base not in NOT_NAMES and _is_unusual(base)


def _opening(words: str) -> "re.Pattern[str]":
    return re.compile(words, re.IGNORECASE)


_PLACE = _opening(_WHERE)
_OPENINGS: tuple[tuple["re.Pattern[str]", _IsName, "re.Pattern[str]"], ...] = (
    (_opening(rf"\b(?:{_CALLED}):?\s+"), _any, _GAP),
    (_opening(rf"{_MY}{_KNOWN_AS}:? "), _any, _GAP),
    (_opening(rf"{_MY}s? (?:is|are|was) "), _unusual, _GAP),
    (_opening(rf"{_MY}s?(?:,|:)? "), _beside, _GAP),
    (_opening(r"\bi(?:['’]?m| am) "), _self, _GAP),
    (_opening(r"\b(?:mr|mrs|herr|frau)\.? |\b(?:ms|miss|dr)\.? (?=(?-i:[A-ZÀ-Þ]))"), _any, _GAP),
)
