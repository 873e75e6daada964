"""The platform's source uses plain technical words: a short list of others is refused, in code and in text.

Identifiers are split into words (`is_owing`, `OwingTable`), so names are held to the same list as comments, docstrings
and messages. To hold another package or a folder of templates to the list, add it to PLACES. `docs/glossary.md` has the
words to use instead.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
SOURCE = HOME / "src" / "tablewright"

PLACES: tuple[str, ...] = (
    "__init__.py",
    "__main__.py",
    "world.py",
    "english.py",
    "private_files.py",
    "signals.py",
    "sigv4.py",
    "testing.py",
    "values",
    "expressions",
    "partiql",
    "engine",
    "wire",
    "client",
    "design",
    "mapping",
    "edge",
    "kit",
    "pages",
    "app",
    "cli",
    "systems/campus",
    "systems/chat",
    "systems/parental",
    "systems/portal",
    "systems/travel",
)
PAGES = (HOME / "README.md", *sorted(HOME.glob("docs/**/*.md")))
SUFFIXES = (".py", ".md", ".html", ".txt", ".js")

# What is refused, and what to write instead. A space also stands for an end of line.
BANNED: Mapping[str, str] = {
    r"whoever": "name the caller, the thread or the process",
    r"nobody": "no caller, no reader, no process",
    r"somebody": "a caller, a user, another process",
    r"anybody's": "name the owner",
    r"shall": "should, must, will",
    r"anew": "again",
    r"meanwhile": "leave it out, or say since when",
    r"by itself": "automatically, alone",
    r"(?<!there )(?:is|are) no(?= \w)(?! (?:longer|more|less|fewer|later|earlier|other)\b)": "is not a",
    r"owe[sd]?|owing": "has pending, must still",
    r"doom(?:ed)?": "to be dropped, pending drop",
    r"keepers?": "background thread",
    r"labour(?:er)?s?": "job, job thread",
    r"chores?": "maintenance step",
    r"errands?": "task, slow request",
    r"(?:the|this) rooms?": "the package",
    r"front door": "entry point",
    r"behind this door": "name the module",
    r"as it stands": "unchanged",
    r"what is there": "existing items, the stored item",
    r"are taken here": "say what the reader can or cannot do here",
    r"switched on that": "allowed something",
}
# Text that stays though it has such a word: file, text, reason. Sentences that DynamoDB sends are never changed.
EXCEPTIONS: tuple[tuple[str, str, str], ...] = (
    ("engine/storage/row_writer.py", "INTO doomed(name)", "the SQL table's name in every existing store"),
    ("engine/storage/row_writer.py", "FROM doomed WHERE", "the SQL table's name in every existing store"),
    ("engine/storage/rows.py", "FROM doomed", "the SQL table's name in every existing store"),
    ("engine/storage/schema.py", "CREATE TABLE doomed", "the SQL table's name in every existing store"),
    ("systems/travel/pages/static/store.js", '"anew"', "a key in the copies that browsers keep"),
    ("pages/static/vendor/htmx-LICENSE.txt", "SHALL THE AUTHOR", "htmx's licence"),
)
# Words that stay in the names of a package, with the reason: its text uses the words of BANNED's right side.
NAMES: Mapping[str, tuple[str, str]] = {
    "systems/parental": (
        r"errands?",
        "the entity, its keys and the page's address: existing stores have them",
    ),
}


PATTERNS = {words: re.compile(rf"\b(?:{words})\b".replace(" ", "[ \n]"), re.IGNORECASE) for words in BANNED}


def in_words(text: str) -> str:
    """The text on the same lines, with identifiers split into words and without indents and the '#' of comments."""
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ")
    return re.sub(r"[ \t]+", " ", re.sub(r"[ \t]*\n[ \t#]*", "\n", plain))


def found(text: str) -> Iterator[tuple[int, str, str]]:
    """Each refused word: its line, itself, and what to write instead."""
    plain = in_words(text)
    for words, one in PATTERNS.items():
        for match in one.finditer(plain):
            line = plain.count("\n", 0, match.start()) + 1
            yield line, " ".join(match.group().split()), BANNED[words]


def without_exceptions(where: str, text: str) -> str:
    for file, allowed, _ in EXCEPTIONS:
        if file == where:
            text = text.replace(allowed, "\n" * allowed.count("\n"))
    for place, (name, _) in NAMES.items():
        if where.startswith(f"{place}/"):
            text = re.sub(name, "", text, flags=re.IGNORECASE)
    return text


def files(place: str) -> list[Path]:
    path = SOURCE / place
    every = [path] if path.is_file() else sorted(path.rglob("*"))
    # What is from elsewhere is not ours, its licence neither.
    ours = [file for file in every if not file.name.endswith("LICENSE.txt") and file.parent.name != "vendor"]
    return [file for file in ours if file.suffix in SUFFIXES]


def refused(paths: list[Path], home: Path) -> list[str]:
    """Each refused word in these files, as a sentence."""
    return [
        f"{where}:{line}: '{word}': {instead}"
        for file in paths
        for where in [file.relative_to(home).as_posix()]
        for line, word, instead in sorted(found(without_exceptions(where, file.read_text())))
    ]


@pytest.mark.parametrize("place", PLACES)
def test_the_source_is_in_plain_words(place: str) -> None:
    assert refused(files(place), SOURCE) == []


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(HOME).as_posix() for page in PAGES])
def test_the_pages_are_in_plain_words(page: Path) -> None:
    assert refused([page], HOME) == []


def test_every_exception_is_still_needed() -> None:
    assert [text for file, text, _ in EXCEPTIONS if text not in (SOURCE / file).read_text()] == []


# --- the check checks ---


@pytest.mark.parametrize(
    "text",
    [
        "# Whoever reads this",
        '"""Runs by\n    itself."""',
        "# it stops by\n# itself",
        "def is_owing() -> bool: ...",
        "class StoreKeeper: ...",
        "self._labourer.start()",
        'raise Refused("a time-out is no text")',
        "doomed = rows.pending()",
        '"""The front door: `call(verb, request)`."""',
    ],
)
def test_a_planted_word_is_found(text: str) -> None:
    assert len(list(found(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "# there is no item",
        "# it is no longer needed",
        "bookkeeper = 1",
        "# the owner has room for it",
        "flowed = 1",
    ],
)
def test_words_that_only_look_like_one_are_not_found(text: str) -> None:
    assert list(found(text)) == []
