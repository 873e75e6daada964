"""The command line: `tablewright <command>`, one file per command.

A command reads its arguments, calls the library, prints and returns an exit code: 0 success, 1 it found a problem (or
only showed its plan), 2 it was misused. The result goes to stdout, messages go to stderr.
Must hold: only the module of the command that was asked for is imported; an error that the caller can correct is one
sentence on stderr and exit code 2.
Elsewhere: the table of commands (commands.py), the argument parser (parser.py), which tables a command works on
(target.py), how it prints (format.py, output.py) and waits (progress.py).
"""

import gc
import os
import sys
from collections.abc import Sequence

from tablewright.cli.files import error_text
from tablewright.cli.hints import add_target_to_hints
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.parser import parse

__all__ = ["main"]

USAGE_ERROR = 2
INTERRUPTED = 130  # as a shell reports Ctrl-C
# Python looks for garbage after every 700 new objects; while a command is imported none is garbage, and that is a fifth
# of the time `tablewright serve` takes to start.
OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in argv (default: the arguments of this process) and return its exit code."""
    if argv is None:
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 20)
    given = parse(sys.argv[1:] if argv is None else argv)
    try:
        code: int = given.run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`), which is not an error; flushing the rest at exit would raise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (UsageError, OSError, *given.errors) as error:
        print_message(f"tablewright: {add_target_to_hints(given, error_text(error))}")
        return USAGE_ERROR
    return code
