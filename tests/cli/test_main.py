"""The command line as a whole: its version, its help, what it says to a misuse."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest
from tests.cli.command import tablewright

from tablewright import __version__
from tablewright.cli import COMMANDS, SHARED, _parser, main


def test_the_version_is_printed() -> None:
    ran = tablewright("--version")
    assert (ran.code, ran.out) == (0, f"tablewright {__version__}\n")


EVERY = [
    (),
    *((noun,) for noun in COMMANDS),
    *((noun, *verb.split()) for noun, (_, verbs) in COMMANDS.items() for verb in verbs),
    *(tuple(words.split()) for words in SHARED),
]


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_help_ends_with_two_examples(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    *_, title, first, second = capsys.readouterr().out.rstrip().split("\n")
    assert title == "examples:"
    assert all(example.startswith("  tablewright ") for example in (first, second))


@pytest.mark.parametrize(
    "command", [one for one in EVERY if one[:1] == ("db",) and len(one) > 1], ids=" ".join
)
def test_the_examples_of_a_command_can_be_given(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    for example in capsys.readouterr().out.rstrip().split("\n")[-2:]:
        given = _parser().parse_args(shlex.split(example)[1:])
        assert given.run is not None


@pytest.mark.parametrize("noun", [noun for noun, (_, verbs) in COMMANDS.items() if verbs])
def test_the_examples_of_a_noun_are_of_its_own_commands(
    noun: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([noun, "--help"])
    for example in capsys.readouterr().out.rstrip().split("\n")[-2:]:
        assert example.startswith(f"  tablewright {noun} ")


def test_a_negative_value_is_told_to_be_wrong_not_to_be_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["engine", "line", "a=http://127.0.0.1:1", "--delay", "-5s"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "argument --delay: a delay is a time like 200ms, 5s or 2m, up to a day, not '-5s'" in said


def test_help_is_told_by_the_command_itself() -> None:
    assert tablewright("db", "verify", "--help").code == 0


@pytest.mark.parametrize(
    "command", [(), ("engine",), ("nonsense",), ("engine", "serve", "--nonsense"), ("db", "verify")]
)
def test_a_misuse_is_told_on_stderr_with_code_2(command: tuple[str, ...]) -> None:
    ran = tablewright(*command)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("usage: tablewright")


def test_nothing_of_the_server_is_imported_before_a_command_runs() -> None:
    asked = (
        "import sys; from tablewright.cli import _parser; _parser(); "
        "print([name for name in sys.modules if name == 'asyncio' or '.wire' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"
