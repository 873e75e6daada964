"""The line of writers a region follows, and which writes did not come along. Pure.

A region that becomes the writer notes how far it had read everybody: writes from before that it had not read count
nowhere after it. These notes, the oldest first, are the line. Whoever comes back after any number of promotions lays
its line beside the writer's: the takeovers it has missed say which of its writes were given up.
Must hold: a region follows only one whose line it has, and takes on a line only when nothing it has was given up on it.
How far somebody has read cannot tell that: a region that gave up its last writes goes on counting after them.
Elsewhere: who takes over when (replica_roles.py).
"""

from collections.abc import Mapping

from tablewright.engine.replica_group import Takeover

Line = tuple[Takeover, ...]
# More promotions than anybody has missed; what is older is kept as one.
KEPT = 50


def lengthened(line: Line, takeover: Takeover) -> Line:
    """The line with one more at its end. When it grows long the two oldest become one, as strict as both."""
    line = (*line, takeover)
    if len(line) <= KEPT:
        return line
    oldest = line[:2]
    return Takeover(oldest[1].epoch, oldest[1].writer, outlived(oldest)), *line[2:]


def missed(mine: Line, theirs: Line) -> Line:
    """The takeovers of their line after the last one that is in both."""
    known = {one.role for one in mine}
    shared = [place for place, one in enumerate(theirs, start=1) if one.role in known]
    return theirs[max(shared, default=0) :]


def is_left(mine: Line, theirs: Line) -> bool:
    """Whether the last writer we followed is none of theirs: what was given up on its account may count with them."""
    return bool(mine) and mine[-1].role not in {one.role for one in theirs}


def outlived(takeovers: Line) -> Mapping[str, int]:
    """Up to which number each region's writes came along at all of these."""
    regions = {region for one in takeovers for region in one.known}
    return {region: min(one.known.get(region, 0) for one in takeovers) for region in regions}
