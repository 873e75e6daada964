"""What every command prints besides its result: usage errors, and a result whose reader may stop early."""

import os
import sys

USAGE_ERROR = 2
INTERRUPTED = 130  # as a shell reports Ctrl-C


def report_error(message: str) -> int:
    """Print what is wrong to stderr; returns the exit code for it."""
    print(f"tablewright: {message}", file=sys.stderr)
    return USAGE_ERROR


def print_result(text: str) -> None:
    """Print to stdout; a reader that closes the pipe early (`| head`) is not an error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        discard_stdout()


def discard_stdout() -> None:
    """Send what is still buffered to /dev/null: the reader has closed the pipe, and flushing at exit would raise."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
