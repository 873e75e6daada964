"""The command line: `tablewright <command>`, one file per command.

A command reads its arguments, calls the library, prints and returns an exit code: 0 success, 1 it found a problem (or
only showed its plan), 2 it was misused. The result goes to stdout, messages go to stderr.
Must hold: only the module of the command that was asked for is imported.
Elsewhere: the table of commands (commands.py), the argument parser (parser.py), which tables a command works on
(target.py), how it prints (format.py, output.py) and waits (progress.py).
"""

import sys
from collections.abc import Sequence

from tablewright.cli.output import discard_stdout
from tablewright.cli.parser import parse

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in argv (default: the arguments of this process) and return its exit code."""
    given = parse(sys.argv[1:] if argv is None else argv)
    try:
        code: int = given.run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        return 0
    return code
