"""What the pages say is so: the map is the map, the files they name are there, their examples run."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.test_import_direction import EVERYTHING, ROOMS

from tablewright import testing
from tablewright.cli import _parser
from tablewright.engine.operations import VERBS
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


def test_the_map_says_what_the_check_holds() -> None:
    page = (HOME / "docs" / "map.md").read_text()
    for room, allowed in ROOMS.items():
        if room in ("", "__main__"):
            continue
        words = {"": "imports nothing", EVERYTHING: "anything"}.get(allowed, allowed)
        assert re.search(rf"^  {room}(/|\.py) .* {words}$", page, re.MULTILINE), f"{room}: {words}"


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(HOME).as_posix() for page in PAGES])
def test_every_python_file_a_page_names_is_there(page: Path) -> None:
    files = [path.relative_to(HOME).as_posix() for path in HOME.glob("[stb]*/**/*.py")]
    named = set(re.findall(r"`(?:python )?([\w/]+\.py)\b", page.read_text()))
    assert {name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)} == set()


def test_the_readme_counts_the_verbs() -> None:
    assert f"{len(VERBS)} verbs;" in README


def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_readmes_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after another, as one would follow them: the first makes the table the second writes to."""
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
    """The lines of README's blocks that are no Python, and each command of a line; without variables in front."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    lines = "\n".join(block for kind, block in blocks if not kind).replace("\\\n", " ").splitlines()
    found = [part.partition(" #")[0].strip() for line in lines for part in line.split("&&")]
    return [re.sub(r"^[A-Z_]+=\S+ ", "", line) for line in found if "tablewright " in line]


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_the_readme_are_commands_with_their_arguments(line: str) -> None:
    name, *words = shlex.split(line)
    assert name == "tablewright"
    if words[-1] != "--help":
        assert _parser().parse_args(words).run


def test_what_the_readmes_examples_leave_behind_is_no_part_of_the_repository() -> None:
    ignored = (HOME / ".gitignore").read_text().splitlines()
    made = re.findall(r'Engine\.open\("([\w-]+)"\)', README)
    assert {f"/{name}/" for name in (*made, "data", "out", "data-again")} <= set(ignored)
