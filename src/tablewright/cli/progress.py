"""Wait for a long-running job and show its progress: a bar on a terminal, occasional lines elsewhere.

Must hold: progress goes to stderr; Ctrl-C stops the waiting, not the job, and says so.
Elsewhere: percent, rate and time left (app/progress.py).
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from tablewright.app.progress import Terminal
from tablewright.cli.output import print_message

SHORT, LONG = 0.02, 2.0

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Progress:
    """`is_over` if the job has succeeded or failed; `done` of `total` steps, if the total is known."""

    is_over: bool
    done: int = 0
    total: int | None = None


@contextmanager
def progress_bar() -> Iterator[Terminal]:
    terminal = Terminal(sys.stderr, has_bar=True)
    try:
        yield terminal
    finally:
        terminal.end()


def wait_for(
    job: str,
    fetch: Callable[[], State],
    progress_of: Callable[[State], Progress],
    sleep: Callable[[float], None] = time.sleep,
    *,
    is_resumable: bool = False,
) -> State:
    """Fetch the job's state, first often, then every two seconds, until it is over; returns the last state.

    `is_resumable`: running the same command again waits for the same job.
    """
    was_announced, total = False, None
    pause = SHORT
    try:
        with progress_bar() as terminal:
            while True:
                state = fetch()
                progress = progress_of(state)
                if progress.is_over:
                    if total is not None:
                        terminal(total, total, job)
                    return state
                total = progress.total
                if total is not None:
                    terminal(min(progress.done, max(total - 1, 0)), total, job)  # 100 % only when it is over
                elif pause > LONG / 2 and not was_announced:
                    was_announced = True
                    print_message(f"{job}: in progress")
                sleep(pause)
                pause = min(pause * 1.5, LONG)
    except KeyboardInterrupt:
        more = "; run the same command again to wait for it" if is_resumable else ""
        print_message(f"tablewright: {job} is not finished; it continues whenever its store is open{more}")
        raise
