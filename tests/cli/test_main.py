"""The command line as a whole: its version, its help, what it says to a misuse."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec

import pytest
from tests.cli.command import tablewright

from tablewright import __version__
from tablewright.cli import main
from tablewright.cli.commands import COMMANDS, Command, Group
from tablewright.cli.parser import parse


def test_the_version_is_printed() -> None:
    ran = tablewright("--version")
    assert (ran.code, ran.out) == (0, f"tablewright {__version__}\n")


EVERY = [(), *(entry.path for entry in COMMANDS if isinstance(entry, Command))]


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_help_ends_with_two_examples(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    *_, title, first, second = capsys.readouterr().out.rstrip().split("\n")
    assert title == "examples:"
    assert all(example.startswith("  tablewright ") for example in (first, second))


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_the_examples_of_a_command_can_be_given(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    for example in capsys.readouterr().out.rstrip().split("\n")[-2:]:
        assert parse(shlex.split(example.partition(" > ")[0])[1:]).run is not None


@pytest.mark.parametrize("group", [entry for entry in COMMANDS if isinstance(entry, Group)], ids=str)
def test_help_of_a_group_lists_its_commands(group: Group, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*group.path, "--help"])
    listed = capsys.readouterr().out
    below = [entry for entry in COMMANDS if entry.path[:-1] == group.path]
    assert below
    # The longest name has its summary on the next line.
    assert {entry.path[-1] for entry in below} <= set(re.findall(r"^ {4}(\S+)", listed, re.MULTILINE))


def test_every_command_has_its_groups_and_its_file() -> None:
    groups = [entry.path for entry in COMMANDS if isinstance(entry, Group)]
    commands = [entry for entry in COMMANDS if isinstance(entry, Command)]
    assert len({entry.path for entry in COMMANDS}) == len(COMMANDS)
    assert {command.path[:-1] for command in commands} - {()} <= set(groups)
    assert all(find_spec(f"tablewright.cli.{command.module}") for command in commands)


def test_help_is_told_by_the_command_itself() -> None:
    assert tablewright("db", "verify", "--help").code == 0


@pytest.mark.parametrize(
    "command", [(), ("engine",), ("nonsense",), ("engine", "serve", "--nonsense"), ("db", "verify")]
)
def test_a_misuse_is_told_on_stderr_with_code_2(command: tuple[str, ...]) -> None:
    ran = tablewright(*command)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("usage: tablewright")


HEAVY = "apsw asyncio fastapi jinja2 pydantic tablewright.engine tablewright.design tablewright.app tablewright.wire"
LOADED = """
import sys
from tablewright.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


def modules_of(*arguments: str) -> set[str]:
    """The modules that are imported when the command line has these arguments."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", ["--version", "--help", "db --help", "db backup --help"])
def test_nothing_heavy_is_imported_for_the_version_and_for_help(arguments: str) -> None:
    assert modules_of(*arguments.split()).isdisjoint(HEAVY.split())


def test_only_the_command_that_was_asked_for_is_imported() -> None:
    loaded = modules_of("db", "tables", "--help")
    commands = {f"tablewright.cli.{entry.module}" for entry in COMMANDS if isinstance(entry, Command)}
    assert loaded & commands == {"tablewright.cli.db.tables"}
