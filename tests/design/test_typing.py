"""Type checkers know the design language: what is right passes, and each planted mistake is found.

typing/right.py uses every part of it; each line of typing/wrong.py that is marked `wrong` has one mistake.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from tests.design.typing import right
from tests.design.typing.stand_in import Page

from tablewright.design.requests import WriteKind

REPOSITORY = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "typing"
RIGHT, WRONG = FOLDER / "right.py", FOLDER / "wrong.py"
MYPY_LINE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): error: (?P<text>.*)")

# The complaints of a checker, by file and line.
Complaints = dict[Path, dict[int, str]]


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    # 0: nothing found, 1: something found; everything else is a checker that could not work.
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def mypy(_: Path) -> Complaints:
    text = run("mypy", "--strict", "--no-pretty", "--hide-error-context", str(RIGHT), str(WRONG))
    found: Complaints = {}
    for line in filter(None, map(MYPY_LINE.match, text.splitlines())):
        found.setdefault(REPOSITORY / line["file"], {})[int(line["line"])] = line["text"]
    return found


def pyright(scratch: Path) -> Complaints:
    # basedpyright is pyright with its own Node, so that pip alone installs it; its strict mode is pyright's.
    config = scratch / "pyrightconfig.json"
    config.write_text(
        json.dumps(
            {
                "include": [str(RIGHT), str(WRONG)],
                "extraPaths": [str(REPOSITORY), str(REPOSITORY / "src")],
                "typeCheckingMode": "strict",
            }
        )
    )
    text = run("basedpyright", "--project", str(config), "--pythonpath", sys.executable, "--outputjson")
    answer = json.loads(text)
    assert answer["summary"]["filesAnalyzed"] == 2
    found: Complaints = {}
    for each in answer["generalDiagnostics"]:
        line = each["range"]["start"]["line"] + 1
        found.setdefault(Path(each["file"]), {})[line] = each["message"]
    return found


@pytest.fixture(scope="module", params=[mypy, pyright], ids=["mypy", "pyright"])
def complaints(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Complaints:
    checker: Callable[[Path], Complaints] = request.param
    return checker(tmp_path_factory.mktemp("checker"))


def marked() -> dict[int, str]:
    lines = enumerate(WRONG.read_text().splitlines(), 1)
    return {number: line.strip() for number, line in lines if "# wrong: " in line}


def test_what_is_right_passes(complaints: Complaints) -> None:
    assert complaints.get(RIGHT, {}) == {}


def test_every_planted_mistake_is_found(complaints: Complaints) -> None:
    found = complaints.get(WRONG, {})
    assert [line for number, line in marked().items() if number not in found] == []


def test_nothing_but_the_planted_mistakes_is_found(complaints: Complaints) -> None:
    found = complaints.get(WRONG, {})
    assert {number: text for number, text in found.items() if number not in marked()} == {}
    assert complaints.keys() <= {RIGHT, WRONG}


def test_there_are_mistakes_to_be_found() -> None:
    assert len(marked()) > 60


class Nothing:
    """A database that has nothing and remembers what it was asked to write."""

    def __init__(self) -> None:
        self.written: list[Any] = []

    def one(self, get: object, /) -> Any:
        return None

    def page(self, query: object, /, *, size: int, after: str | None = None) -> Page[Any]:
        return Page((), None)

    def changed(self, write: Any, /) -> Any:
        self.written.append(write)
        return write.item

    def write(self, *writes: Any, once: str | None = None) -> None:
        self.written += writes


def test_what_is_right_also_runs() -> None:
    db = Nothing()
    owner = right.Owner(owner_id=right.ANA, email="a@x.org")
    tom = right.Pet(owner_id=right.ANA, kind="cat", name="Tom")
    ball = right.Toy(owner_id=right.ANA, toy_id="ball", price=Decimal(5))
    assert right.reads(db) == []
    right.updates(db)
    right.conditions()
    assert issubclass(right.anything_readable(right.pets, right.pets).shape.model, BaseModel)
    right.writes(db, owner, tom, ball)
    assert {write.kind for write in db.written} == {*get_args(WriteKind)}
