"""Personal data out of a text: names, telephone numbers, addresses and identifiers (ZC-X6, ZC-X27, ZC-E4). Pure.

Used before a text leaves the machine, and before a summary or a context is stored; messages themselves are kept as
they were written, sealed. It is a net with holes: a name that is in no list, or is an ordinary word, is found only
where it is introduced (introductions.py).
Must hold: what was found is not in the result, also not a part of its first or last word; findings name kinds and
places, never the text; the facts and sentences of the shipped animals stay as they are.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.talk.introductions import FIRST_NAMES, NAMES_AND_WORDS, introduced
from tablewright.systems.chat.talk.personal_data import CAPITAL, LONG_NUMBER, PATTERNS, PHONE, WORD, Kind

# The names to scrub for a user, besides what patterns find.
NamesOf: TypeAlias = Callable[[User], Sequence[str]]


def own_name(user: User) -> Sequence[str]:
    return (user.name,)


@dataclass(frozen=True, slots=True)
class Finding:
    """What kind of personal data stood where in the text."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without what was found in it."""

    text: str
    findings: tuple[Finding, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(dict.fromkeys(each.kind for each in self.findings))


def scrub(text: str, names: Iterable[str] = (), kinds: Collection[Kind] | None = None) -> Scrubbed:
    """The text with `[name]`, `[phone]` and the like in place of personal data.

    `names` are those that are known: of the child and the family. `kinds` are those to take out; all if None.
    """
    introductions = (Finding(*each) for each in introduced(text))
    every = [*_by_patterns(text), *introductions, *_known(text, names), *_first_names(text)]
    found = _without_overlaps([_whole(text, each) for each in every if kinds is None or each.kind in kinds])
    parts, end = [], 0
    for each in found:
        parts += [text[end : each.start], f"[{each.kind}]"]
        end = each.end
    return Scrubbed("".join([*parts, text[end:]]), tuple(found))


def _whole(text: str, found: Finding) -> Finding:
    """With the rest of the words and numbers that it begins and ends in."""
    start, end = found.start, found.end
    while start > 0 and _is_within(text, start):
        start -= 1
    while end < len(text) and _is_within(text, end):
        end += 1
    return Finding(found.kind, start, end)


def _is_within(text: str, at: int) -> bool:
    return text[at - 1].isalnum() and text[at].isalnum()


def _without_overlaps(found: list[Finding]) -> list[Finding]:
    """From the left; of two that overlap, the longer one's kind for both."""
    kept: list[Finding] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if kept and each.start < kept[-1].end:
            last = kept.pop()
            longer = max(last, each, key=lambda one: one.end - one.start)
            each = Finding(longer.kind, last.start, max(last.end, each.end))
        kept.append(each)
    return kept


# --- patterns ---


def _luhn(digits: str) -> bool:
    """Whether it has the check digit of a payment card."""
    doubled = (int(d) * (2 if place % 2 else 1) for place, d in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


# Amounts and years that look like a number to call: "10 000 000 ants", "1990 - 2000".
_THOUSANDS = r"[1-9]\d{0,2}([ .])(?:\d{3}\1){0,4}000"
_AMOUNT = re.compile(rf"(?:\d{{1,3}} ?- ?)?{_THOUSANDS}|(?:1\d|20)\d\d ?- ?(?:1\d|20)\d\d")
_TO_CALL = re.compile(
    r"\b(?:call|phone|number|tel|telephone|mobile|cell|text|whatsapp|ring)\b\D{0,20}$", re.IGNORECASE
)


def _is_amount(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 40) : match.start()]
    return _AMOUNT.fullmatch(match.group("found")) is not None and not _TO_CALL.search(before)


def _is_phone(match: re.Match[str]) -> bool:
    """7 to 15 digits that are written like a number to call: `+`, a leading 0, or groups."""
    text = match.group("found")
    digits = re.sub(r"\D", "", text)
    is_written_so = text[0] in "+(0" or bool(re.search(r"\d[-. /)]+\d", text))
    return 7 <= len(digits) <= 15 and is_written_so and not _is_amount(match)


def _is_identifier(match: re.Match[str]) -> bool:
    """A long number: a payment card, a passport, a social security number, an account."""
    return len(re.sub(r"\D", "", match.group("found"))) >= 7 and not _is_amount(match)


_CHECKS = {PHONE: _is_phone, LONG_NUMBER: _is_identifier}
_WORD, _FAMILY_NAME = re.compile(rf"\b{WORD}"), re.compile(f" {CAPITAL}")
_COMPILED = tuple((kind, re.compile(text, re.IGNORECASE), _CHECKS.get(text)) for kind, text in PATTERNS)


def _by_patterns(text: str) -> Iterator[Finding]:
    for kind, pattern, holds in _COMPILED:
        for match in pattern.finditer(text):
            if holds is None or holds(match):
                yield Finding(_exact(kind, match), *match.span("found"))


def _exact(kind: Kind, match: re.Match[str]) -> Kind:
    digits = re.sub(r"\D", "", match.group("found")) if kind == "phone" else ""
    return "number" if len(digits) >= 13 and _luhn(digits) else kind


def _known(text: str, names: Iterable[str]) -> Iterator[Finding]:
    """Names of the child and the family, in any case, whole and in parts."""
    parts = {part for name in names for part in (name, *name.split()) if len(part) > 1}
    if parts:
        longest = sorted(parts, key=len, reverse=True)
        pattern = re.compile(
            rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?:['’]?s)?(?!\w)", re.IGNORECASE
        )
        yield from (Finding("name", *match.span()) for match in pattern.finditer(text))


def _first_names(text: str) -> Iterator[Finding]:
    """Common first names; in small letters those that are not words too. A family name after it goes with it."""
    for match in _WORD.finditer(text):
        word = re.split(r"['’]", match.group())[0]
        name = word.lower()
        if name in FIRST_NAMES and (word[0].isupper() or name not in NAMES_AND_WORDS):
            family = _FAMILY_NAME.match(text, match.end())
            yield Finding("name", match.start(), family.end() if family else match.end())
