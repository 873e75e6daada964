"""A text as rules compare it: lower case, plain letters, without tricks of spelling. Pure.

`K!LL`, `k.i.l.l`, `kiiill`, `k\u0456ll` (a Cyrillic letter) and `kill` are the same word. Each word keeps its place
in the text, so that it can be hidden there.
"""

import re
import unicodedata
from dataclasses import dataclass

_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u0501\u04bb\u0261\u03bf\u03b1\u03b5\u03b9\u03ba\u03c1\u03c5\u03bd",
    "aeopcyxisjdhgoaeikpuv",
)
_LEET = str.maketrans("0345789@$!€", "oeastbgasie")
# A one is an `i` or an `l`.
_ONES = {each: str.maketrans("1|", each * 2) for each in "il"}
# Words that say nothing, and are put between the words of a phrase.
_FILLER_WORDS = "really just so very kinda literally totally actually honestly pls please"
_FILLERS = frozenset(_FILLER_WORDS.split())
# Spellings of one word; what stands for it may be several.
_SPELLED = """
wanna=want to; wana=want to; gonna=going to; gona=going to; 2=to; u=you; ur=your; im=i am; ive=i have; id=i
would; ill=i will; dont=do not; cant=can not; cannot=can not; wont=will not; isnt=is not; doesnt=does not;
didnt=did not; wouldnt=would not; noone=no one; whats=what is; wheres=where is; youre=you are;
urself=yourself; mysef=myself; myslef=myself; meself=myself; mself=myself; r=are; suiside=suicide;
sucide=suicide; suicid=suicide; sewerslide=suicide; kil=kill; killl=kill; dy=die; dei=die; unaliv=unalive;
unalife=unalive
"""
_SPELLINGS = dict(each.split("=") for each in " ".join(_SPELLED.split()).split("; "))
_PIECE = re.compile(r"[^\s.,;:?()\[\]{}\"<>/\\+=~^*#&%_-]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is compared, and where it stands."""

    text: str
    start: int
    end: int


def folded_words(text: str, ones: str = "i") -> list[Word]:
    """The words of a text, folded; single letters in a row are a word too. A 1 is read as the letter `ones`."""
    pieces = [Word(folded(match.group(), ones), *match.span()) for match in _PIECE.finditer(text)]
    words = [word for piece in _joined([each for each in pieces if each.text]) for word in _spelled(piece)]
    return [word for word in words if word.text not in _FILLERS]


def folded(word: str, ones: str = "i") -> str:
    """A word in plain small letters, none three times in a row."""
    plain = unicodedata.normalize("NFKD", word.casefold()).translate(_ALIKE)
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    if any(each.isalpha() for each in letters):
        letters = letters.rstrip("!").translate(_LEET).translate(_ONES[ones])
    return re.sub(r"(.)\1{2,}", r"\1", re.sub(r"[^\w]", "", letters))


def _joined(pieces: list[Word]) -> list[Word]:
    """`k i l l` as one word: three or more single letters in a row, without an `i` or `a` before other words."""
    words: list[Word] = []
    at = 0
    while at < len(pieces):
        end = at
        while end < len(pieces) and len(pieces[end].text) == 1 and pieces[end].text.isalpha():
            end += 1
        if end - at >= 3:
            joined = "".join(each.text for each in pieces[at:end])
            words.append(Word(re.sub(r"(.)\1{2,}", r"\1", joined), pieces[at].start, pieces[end - 1].end))
            at = end
        else:
            words.append(pieces[at])
            at += 1
    return words


def _spelled(word: Word) -> list[Word]:
    known = _SPELLINGS.get(word.text, word.text)
    return [Word(each, word.start, word.end) for each in known.split()]
