"""The command line as a whole: its version, its help, what it says to a misuse."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.cli.command import tablewright

from tablewright import __version__


def test_the_version_is_printed() -> None:
    ran = tablewright("--version")
    assert (ran.code, ran.out) == (0, f"tablewright {__version__}\n")


@pytest.mark.parametrize("command", [(), ("engine",), ("engine", "serve"), ("db",), ("db", "verify")])
def test_help_ends_with_two_examples(command: tuple[str, ...]) -> None:
    ran = tablewright(*command, "--help")
    assert ran.code == 0
    *_, title, first, second = ran.out.rstrip().split("\n")
    assert title == "examples:"
    assert all(example.startswith("  tablewright ") for example in (first, second))


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
