"""The line on which one region reads from another, and what can be done to it for a test or a demo.

A line can be cut, be slow, and lose answers, so that somebody can see what a partition does without having one. It
is the reader's: nothing of it is kept in the store, and a server that is started again has sound lines.
Elsewhere: who reads on it (regions.py, replica_pulls.py), how an operator reaches it (replica_peers.py).
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeAlias

from tablewright.engine.errors import invalid
from tablewright.engine.shapes import Request

# (verb, request) -> answer, of another region; raises PeerUnreachable, or ServiceError if it refuses.
Ask: TypeAlias = Callable[[str, Request], dict[str, Any]]
DELAY_SECONDS = 86_400.0
LOSING = 1_000_000


class PeerUnreachable(Exception):
    """Another region did not answer; nobody knows whether it heard."""


class Line:
    """The way from a region that reads to the one it reads from.

    For tests and demos it can be cut, be slow (`delay`: how old a change is before it is told), and lose answers
    (`losing`: how many of the next ones).
    """

    def __init__(self, reader: str, source: str, ask: Ask) -> None:
        self.reader, self.source = reader, source
        self.is_cut = False
        self.delay = timedelta(0)
        self.losing = 0
        self.answers = 0  # how many came: who sees them grow knows that the line works
        self._ask = ask

    def __call__(self, verb: str, request: Request) -> dict[str, Any]:
        self._refuse_cut()
        answer = self._ask(verb, request)
        self._refuse_cut()  # meanwhile: what is under way when a line is cut does not arrive
        if self.losing > 0:
            self.losing -= 1
            raise PeerUnreachable(f"the answer of {self.source} to {self.reader} was lost")
        self.answers += 1
        return answer

    def _refuse_cut(self) -> None:
        if self.is_cut:
            raise PeerUnreachable(f"the line from {self.reader} to {self.source} is cut")

    def shown(self) -> dict[str, Any]:
        return {
            "Reader": self.reader,
            "Source": self.source,
            "Cut": self.is_cut,
            "Delay": self.delay.total_seconds(),
            "Losing": self.losing,
            "Answers": self.answers,
        }


def treat(lines: Sequence[Line], asked: Request) -> list[Line]:
    """Do to lines what is asked: all of them, or the one from `Source`. Those it was done to."""
    source = asked.get("Source")
    chosen = [line for line in lines if source in (None, line.source)]
    if source is not None and not chosen:
        known = ", ".join(line.source for line in lines)
        raise invalid(f"there is no line from {source} to here; there are those from: {known or 'nobody'}")
    delay, losing, is_cut = asked.get("Delay"), asked.get("Losing"), asked.get("Cut")
    if delay is not None and not 0 <= float(delay) <= DELAY_SECONDS:
        raise invalid(f"a delay is 0 to {DELAY_SECONDS:.0f} seconds, not {delay}")
    if losing is not None and not 0 <= int(losing) <= LOSING:
        raise invalid(f"0 to {LOSING} answers can be lost, not {losing}")
    for line in chosen:
        line.is_cut = line.is_cut if is_cut is None else bool(is_cut)
        line.delay = line.delay if delay is None else timedelta(seconds=float(delay))
        line.losing = line.losing if losing is None else int(losing)
    return chosen
