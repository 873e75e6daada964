"""The pages are true: the tree is the tree that is checked, files they name exist, their examples and commands run."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.test_import_direction import EVERYTHING, ROOMS

from tablewright import testing
from tablewright.cli.parser import parse
from tablewright.engine.api.registry import VERBS
from tablewright.wire import serving

HOME = Path(__file__).parents[1]
PAGES = sorted(
    [
        HOME / "README.md",
        *HOME.glob("docs/**/*.md"),
        *HOME.glob("src/**/README.md"),
        *HOME.glob("benchmarks/*.md"),
    ]
)
README = (HOME / "README.md").read_text()
ENGINE = (HOME / "docs" / "engine.md").read_text()
GLOSSARY = (HOME / "docs" / "glossary.md").read_text()


def test_reading_the_source_shows_the_directions_that_are_checked() -> None:
    page = (HOME / "docs" / "reading-the-source.md").read_text()
    for room, allowed in ROOMS.items():
        if room in ("", "__main__"):
            continue
        words = {"": "imports nothing", EVERYTHING: "anything"}.get(allowed, allowed)
        assert re.search(rf"^  {room}(/|\.py) .* {words}$", page, re.MULTILINE), f"{room}: {words}"


def python_files() -> list[str]:
    return [path.relative_to(HOME).as_posix() for path in HOME.glob("[stb]*/**/*.py")]


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(HOME).as_posix() for page in PAGES])
def test_every_python_file_a_page_names_exists(page: Path) -> None:
    files = python_files()
    named = set(re.findall(r"`(?:python )?([\w/]+\.py)\b", page.read_text()))
    assert {name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)} == set()


# Of a user, or of what is printed from it.
NOT_OURS = ("path/file.py", "scripts/validate_schemas.py")


def test_every_python_file_that_the_beginning_of_a_module_names_exists() -> None:
    files = python_files()
    told = {file: re.match(r'\s*"""(.*?)"""', (HOME / file).read_text(), re.DOTALL) for file in files}
    named = {
        (file, name)
        for file, found in told.items()
        if found is not None
        for name in re.findall(r"(?<![\w*/.-])[\w/]+\.py\b", found[1])
    }
    known = {f"/{file}" for file in files}
    missing = [each for each in named if not any(one.endswith(f"/{each[1]}") for one in known)]
    assert [each for each in missing if each[1] not in NOT_OURS] == []


@pytest.mark.parametrize(
    "page", [HOME / "README.md", *sorted(HOME.glob("docs/*.md"))], ids=lambda page: page.name
)
def test_every_local_link_of_a_page_leads_to_a_file(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_the_readme_is_short_and_its_picture_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert len(README.splitlines()) <= 120
    assert [(HOME / picture).stat().st_size < 200_000 for picture in pictures] == [True]


def test_the_pages_count_the_verbs() -> None:
    assert f"{len(VERBS)} verbs;" in README
    assert f"{len(VERBS)} verbs " in ENGINE


def entries() -> list[tuple[str, str]]:
    """Each entry of the glossary: its word, and its text."""
    return re.findall(r"^- \*\*(.+?)\*\*(.*(?:\n  .*)?)$", GLOSSARY, re.MULTILINE)


def test_the_glossary_is_in_alphabetical_order_and_has_each_word_once() -> None:
    words = [word.lower() for word, _ in entries()]
    assert words == sorted(set(words))


def test_every_entry_of_the_glossary_names_a_file_or_folder_that_exists() -> None:
    source = HOME / "src" / "tablewright"
    for word, text in entries():
        places = re.findall(r"`([\w./]+(?:\.py|/))`", text)
        assert places, f"{word}: where does it live?"
        assert [place for place in places if not (source / place).exists()] == [], word


def examples() -> list[str]:
    return [code for page in (README, ENGINE) for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]


def test_the_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after another, as a reader would follow them: the first makes the table the second writes to."""
    monkeypatch.chdir(tmp_path)
    seen: dict[str, Any] = {}
    design, sdk, in_process, in_tests = examples()
    exec(design, seen)
    assert "visits=1" in capsys.readouterr().out
    with testing.engine("data") as engine, serving(engine) as url:
        exec(sdk.replace("http://127.0.0.1:8000", url), seen)
        assert engine.call("Scan", {"TableName": "pets"})["Count"] == 1
        seen["dynamodb"].close()
    exec(in_process, seen)
    exec(in_tests, seen)


def commands() -> list[str]:
    """The commands in blocks without a language, one per entry, without variables in front and comments behind."""
    documents = [HOME / "README.md", HOME / "deploy" / "README.md", *sorted((HOME / "docs").glob("*.md"))]
    pages = "\n".join(document.read_text() for document in documents)
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", pages, re.DOTALL | re.MULTILINE)
    lines = "\n".join(block for kind, block in blocks if not kind).replace("\\\n", " ").splitlines()
    found = [part.partition(" #")[0].strip() for line in lines for part in line.split("&&")]
    return [re.sub(r"^[A-Z_]+=\S+ ", "", line) for line in found if "tablewright " in line]


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_the_pages_are_commands_with_their_arguments(line: str) -> None:
    name, *words = shlex.split(line)
    assert name == "tablewright"
    if words[-1] != "--help":
        assert parse(words).run


def test_what_the_examples_leave_behind_is_not_part_of_the_repository() -> None:
    ignored = (HOME / ".gitignore").read_text().splitlines()
    made = re.findall(r'Engine\.open\("([\w-]+)"\)', README + ENGINE)
    assert {f"/{name}/" for name in (*made, "data", "out", "data-again")} <= set(ignored)
