"""How long a background thread rests between two steps, so that others do not feel it.

A write that comes during a step waits for its end. Where others write, half of the time is theirs: a step is followed
by a rest as long as the step took, its own waiting for the writer included, so it gives way the more the busier it is.
Of what nobody waits for (a sweep), they have three quarters: each page it changes is written to the disk once more,
beside their commits, and at half of the time every hundredth of them felt that.
Where nobody does, a rest is only long enough for somebody who waits to get the writer.
Elsewhere: what a step is (chores.py), whose thread it is (keeper.py).
"""

from collections.abc import Callable
from time import monotonic, sleep

ALONE_SECONDS = 0.0002
CROWDED_SECONDS = 0.001
LONGEST_SECONDS = 0.05
# So many times as long as a step is the rest behind one that nobody waits for.
UNAWAITED = 3
# Others who wrote so recently will write again.
MEMORY_SECONDS = 0.1


class Pace:
    """The steps and rests of one thread. `writes` tells how many writes there have ever been, its own included."""

    def __init__(
        self,
        writes: Callable[[], int],
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], None] = sleep,
    ) -> None:
        self._writes, self._clock, self._sleep = writes, clock, sleep
        self._began, self._seen = clock(), writes()
        self._met = self._began - MEMORY_SECONDS  # when others were last seen to write

    def step(self) -> None:
        """A step of one write begins."""
        self._began = self._clock()

    def rest(self, times: int = 1) -> None:
        """The step is over; where others write, the rest is so many times as long."""
        now, writes = self._clock(), self._writes()
        if writes - self._seen > 1:
            self._met = now
        self._seen = writes
        is_crowded = now - self._met < MEMORY_SECONDS
        took = min(max(now - self._began, CROWDED_SECONDS), LONGEST_SECONDS)
        self._sleep(times * took if is_crowded else ALONE_SECONDS)
