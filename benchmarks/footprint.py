"""What a server costs before and besides its speed: seconds until it answers, memory once it holds data.

Must hold: start-up is from the exec of the command a user types to the first answer of the API, on an empty
store, in rounds over all servers; memory is that of the whole process tree, after nothing but the items.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load import CannotMeasure, Generator
from benchmarks.servers import Contender, create_table, load_items, resident_megabytes, running, settle
from benchmarks.speed import Progress

STARTS = 5
LOAD_LIMIT = 180.0  # seconds; who is slower is measured with what it took by then


@dataclass(frozen=True, slots=True)
class Held:
    """Memory in MB, empty and with `items` inside, and how fast they went in."""

    empty: float
    full: float
    items: int
    seconds: float


def start_up_seconds(
    contenders: Sequence[Contender], directory: Path, progress: Progress
) -> dict[str, float]:
    """Median seconds from exec to first answer."""
    seen: dict[str, list[float]] = {}
    for number in range(STARTS):
        for contender in contenders:
            try:
                with running(contender, directory) as server:
                    seen.setdefault(contender.name, []).append(server.started_in)
            except CannotMeasure as reason:
                progress(str(reason))
        progress(f"start {number + 1}/{STARTS}")
    return {name: statistics.median(times) for name, times in seen.items()}


def memory_held(
    generator: Generator, contenders: Sequence[Contender], items: int, directory: Path, progress: Progress
) -> dict[str, Held]:
    held: dict[str, Held] = {}
    for contender in contenders:
        try:
            with running(contender, directory) as server:
                create_table(server)
                empty = resident_megabytes(server.pid)
                loaded, seconds = load_items(generator, server, items, LOAD_LIMIT)
                settle(server)
                held[contender.name] = Held(empty, resident_megabytes(server.pid), loaded, seconds)
                progress(
                    f"{contender.name}: {loaded} items in {seconds:.1f} s, {held[contender.name].full:.0f} MB"
                )
        except CannotMeasure as reason:
            progress(str(reason))
    return held
