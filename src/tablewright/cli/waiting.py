"""Waiting for long work, and telling how far it is: a bar on a terminal, a line now and then elsewhere.

Must hold: the talk goes to stderr; Ctrl-C ends the waiting, not the work, and says so.
Elsewhere: percent, rate and time left (app/progress.py).
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

SHORT, LONG = 0.02, 2.0

Look = TypeVar("Look")


@dataclass(frozen=True, slots=True)
class Stand:
    """Whether work is over (well or not), and how far it is, if that is known: of `total` steps `done`."""

    is_over: bool
    done: int = 0
    total: int | None = None


def waited(
    what: str,
    look: Callable[[], Look],
    stand: Callable[[Look], Stand],
    sleep: Callable[[float], None] = time.sleep,
    *,
    is_resumable: bool = False,
) -> Look:
    """Look again and again, at first often, until the work is over; what was seen last.

    `is_resumable`: the same command again would wait for the same work.
    """
    from tablewright.app.progress import Terminal

    told = Terminal(sys.stderr, has_bar=True)
    is_telling, total = False, None
    pause = SHORT
    try:
        while True:
            seen = look()
            found = stand(seen)
            if found.is_over:
                if total is not None:
                    told(total, total, what)
                return seen
            total = found.total
            if total is not None:
                told(min(found.done, max(total - 1, 0)), total, what)  # not the whole before it is over
            elif pause > LONG / 2 and not is_telling:
                is_telling = True
                print(f"{what}: under way, how far is not told", file=sys.stderr, flush=True)
            sleep(pause)
            pause = min(pause * 1.5, LONG)
    except KeyboardInterrupt:
        told.end()
        more = ", and the same command again waits for it" if is_resumable else ""
        print(
            f"tablewright: {what} is not over; it goes on whenever its tables are open{more}", file=sys.stderr
        )
        raise
    finally:
        told.end()
