"""How the command-line tests run `tablewright`: in a process of its own as a user does, or quicker in this one."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tests import fork_server

from tablewright.cli import main

COMMAND = [sys.executable, "-m", "tablewright"]


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str


def tablewright(*arguments: str | Path, cwd: Path | None = None) -> Ran:
    """Run a command that ends by itself."""
    done = fork_server.run([*COMMAND, *arguments], cwd=cwd, text=True, timeout=60)
    return Ran(done.returncode, done.stdout, done.stderr)


def here(*arguments: str | Path) -> Ran:
    """Run a command in this process: for tests that run many, and ask only for what is said and the exit code."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            code = main([str(one) for one in arguments])
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
    return Ran(code, out.getvalue(), err.getvalue())


@contextmanager
def served(*arguments: str | Path, cwd: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`tablewright engine serve` on a free port: its first line and the process; ended afterwards."""
    process = fork_server.start(
        [*COMMAND, "engine", "serve", "--port", "0", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        yield process.stdout.readline(), process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait(30)
        process.stdout.close()
        process.stderr.close()


def url_in(line: str) -> str:
    """The address a ready line names."""
    return next(word for word in line.split() if word.startswith("http://"))
