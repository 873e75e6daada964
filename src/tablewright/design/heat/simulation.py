"""The load of a design on the partitions of its tables, second by second: what is throttled, and what splits cure.

    simulate(key_loads(DESIGN, Decimal(100)), Run(seconds=900))

A partition serves 3 000 read and 1 000 write units a second and saves those of one second, as the engine's token
buckets do. One that is asked for more during SPLIT_AFTER seconds in a row is split: between keys if it has several,
otherwise between the items of its key, if that is possible (key_loads.py). AWS does not publish how long it waits;
this is the assumption of the simulation. A table begins with FIRST_PARTITIONS, or with what its size needs. Requests
are drawn as counts for each key and second, so a billion of them take as long as a thousand. Keys under FOLLOWED of a
partition's limit are drawn together, spread evenly. With Run.step, one second is drawn for so many that follow it.
Must hold: the same loads and the same run have the same outcome; no split divides an item.
Elsewhere: how the outcome is read (outcomes.py), the limits of a whole table (`tablewright scale`).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from tablewright.design.cost.calls import CallKind
from tablewright.design.heat.key_loads import KeyLoad
from tablewright.design.heat.popularity import key_position, poisson_counts, zipf_share, zipf_sum
from tablewright.design.partitions import PARTITION

FIRST_PARTITIONS = 4
SPLIT_AFTER = 180
BUCKETS = 60
# Keys with less than this share of a partition's limit are not followed one by one, and at most so many of a template.
FOLLOWED, MOST_FOLLOWED = 0.02, 200
# Beside a hot key, less than this share of the load is not worth a split between keys.
_ALONE = 0.05
KINDS: tuple[CallKind, ...] = ("read", "write")


@dataclass(frozen=True, slots=True)
class Run:
    """How long is simulated, and with how many partitions each place begins (by name; otherwise FIRST_PARTITIONS).

    `step`: the requests of one second are drawn and arrive alike in each of so many seconds; splits and times are then
    as coarse as a step. `most_followed`: so many keys of a template are drawn one by one, the rest together.
    """

    seconds: int = 900
    partitions: Mapping[str, int] = field(default_factory=dict)
    split_after: int = SPLIT_AFTER
    seed: str = "tablewright"
    step: int = 1
    most_followed: int = MOST_FOLLOWED


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the load of one KeyLoad that one partition serves: of a key, or with key 0 of all that are not
    followed.

    `items`: into so many partitions it can still be divided."""

    load: int
    key: int
    name: str
    kind: CallKind
    requests: float
    units: float
    items: int

    @property
    def pressure(self) -> float:
        """Of the limit of a partition."""
        return self.requests * self.units / PARTITION[self.kind]


@dataclass(slots=True)
class Partition:
    """One partition, or `copies` of it that have the same load. `levels`: saved units; `busy`: seconds over the
    limit."""

    chunks: list[Chunk]
    copies: int = 1
    levels: dict[CallKind, float] = field(
        default_factory=lambda: {kind: float(PARTITION[kind]) for kind in KINDS}
    )
    busy: int = 0
    is_final: bool = False

    @property
    def pressure(self) -> float:
        return sum(chunk.pressure for chunk in self.chunks)


@dataclass(slots=True)
class Tally:
    """What happened to the requests of one KeyLoad."""

    requests: float = 0
    throttled: float = 0
    first: int | None = None
    last: int | None = None
    by_time: list[list[float]] = field(default_factory=lambda: [[0.0, 0.0] for _ in range(BUCKETS)])


@dataclass(frozen=True, slots=True)
class Simulated:
    """The tally of each load, in their order; of each place how many partitions it began and ended with."""

    tallies: tuple[Tally, ...]
    partitions: Mapping[str, tuple[int, int]]


def simulate(loads: Sequence[KeyLoad], run: Run) -> Simulated:
    draw = poisson_counts(run.seed)
    tallies = tuple(Tally() for _ in loads)
    counts: dict[str, tuple[int, int]] = {}
    places: dict[str, list[int]] = defaultdict(list)
    for number, load in enumerate(loads):
        places[load.place].append(number)
    for place, numbers in places.items():
        first = run.partitions.get(place, FIRST_PARTITIONS)
        partitions = _partitions(loads, numbers, first, run.most_followed)
        for second in range(0, run.seconds, run.step):
            partitions = _second(partitions, second, run, draw, tallies)
        counts[place] = first, sum(each.copies for each in partitions)
    return Simulated(tallies, counts)


# --- the beginning ---


def _partitions(
    loads: Sequence[KeyLoad], numbers: Sequence[int], count: int, most_followed: int
) -> list[Partition]:
    """Those with a followed key one by one, the others as copies of one."""
    keyed: dict[int, list[Chunk]] = defaultdict(list)
    rest: list[Chunk] = []
    for number in numbers:
        load = loads[number]
        followed = _followed(load, most_followed)
        for rank in range(1, followed + 1):
            name = f"{load.key}:{rank}"
            share = zipf_share(rank, load.busy, load.exponent)
            keyed[int(key_position(name) * count)].append(_chunk(load, number, rank, name, share))
        share = 1 - zipf_sum(followed, load.exponent) / zipf_sum(load.busy, load.exponent)
        if followed < load.busy:
            rest.append(_chunk(load, number, 0, "", share / count))
    found = [Partition([*chunks, *rest]) for chunks in keyed.values()]
    if len(keyed) < count:
        found.append(Partition(list(rest), copies=count - len(keyed)))
    return found


def _followed(load: KeyLoad, most: int) -> int:
    """How many keys, the most popular first, have a noticeable share of a partition's limit."""
    least = FOLLOWED * load.limit / load.units
    most = min(load.busy, most)
    return next(
        (rank for rank in range(most) if zipf_share(rank + 1, load.busy, load.exponent) < least), most
    )


def _chunk(load: KeyLoad, number: int, key: int, name: str, share: float) -> Chunk:
    items = 1 if load.whole else load.items
    return Chunk(number, key, name, load.kind, load.requests * share, load.units_a_request, items)


# --- a second ---


def _second(
    partitions: Sequence[Partition],
    second: int,
    run: Run,
    draw: Callable[[float], int],
    tallies: Sequence[Tally],
) -> list[Partition]:
    found: list[Partition] = []
    for partition in partitions:
        is_over = _serve(partition, second, run, draw, tallies)
        partition.busy = partition.busy + run.step if is_over else 0
        if partition.busy >= run.split_after and not partition.is_final:
            found += split(partition)
        else:
            found.append(partition)
    return found


def _serve(
    partition: Partition, second: int, run: Run, draw: Callable[[float], int], tallies: Sequence[Tally]
) -> bool:
    """Draw the requests of a second and serve what the units allow; returns whether they were too many."""
    is_over = False
    bucket, seconds = second * BUCKETS // run.seconds, min(run.step, run.seconds - second)
    for kind in KINDS:
        arrived = [(chunk, draw(chunk.requests)) for chunk in partition.chunks if chunk.kind == kind]
        requests = sum(count for _, count in arrived)
        units = sum(count * chunk.units for chunk, count in arrived)
        if not requests:
            partition.levels[kind] = float(PARTITION[kind])
            continue
        is_over = is_over or units > PARTITION[kind]
        refused = sum(_refused(partition, kind, requests, units) for _ in range(seconds)) * partition.copies
        for chunk, count in arrived:
            _note(
                tallies[chunk.load],
                (second, seconds),
                bucket,
                count * partition.copies * seconds,
                count * refused,
            )
    return is_over


def _refused(partition: Partition, kind: CallKind, requests: int, units: float) -> float:
    """The share of the requests of one second that the saved units do not serve; takes the others' units."""
    available = partition.levels[kind] + PARTITION[kind]
    # A request is served while there are units, and may take more than there are: the level is then below zero.
    served = min(requests, max(0, ceil(available * requests / units)))
    partition.levels[kind] = min(float(PARTITION[kind]), available - units * served / requests)
    return 1 - served / requests


def _note(tally: Tally, time: tuple[int, int], bucket: int, requests: float, throttled: float) -> None:
    tally.requests += requests
    tally.by_time[bucket][0] += requests
    if throttled:
        tally.throttled += throttled
        tally.by_time[bucket][1] += throttled
        second, seconds = time
        tally.first = second if tally.first is None else tally.first
        tally.last = second + seconds - 1


# --- splits ---


def split(partition: Partition) -> list[Partition]:
    """The partition as two; as it is, if its load is that of one item or of a collection that stays whole."""
    names = {chunk.name for chunk in partition.chunks if chunk.name}
    if not names:
        return [_half(partition, partition.copies * 2)]
    hottest = max(names, key=lambda name: (_pressure(partition, name), name))
    beside = partition.pressure - _pressure(partition, hottest)
    if _pressure(partition, hottest) < 1 and len(names) > 1:
        return _between_keys(partition, names)
    can_divide = any(chunk.name == hottest and chunk.items > 1 for chunk in partition.chunks)
    if beside > (_ALONE * partition.pressure if can_divide else 0):
        mine = [chunk for chunk in partition.chunks if chunk.name == hottest]
        others = [chunk for chunk in partition.chunks if chunk.name != hottest]
        return [Partition(mine, levels=_spent()), Partition(others, levels=_spent())]
    return _between_items(partition) if can_divide else [replace(partition, is_final=True)]


def _between_keys(partition: Partition, names: set[str]) -> list[Partition]:
    """In the order of the keys, with about half of the load on each side."""
    ordered = sorted(names, key=key_position)
    total, reached, left = sum(_pressure(partition, name) for name in ordered), 0.0, set[str]()
    for name in ordered[:-1]:
        left.add(name)
        reached += _pressure(partition, name)
        if reached >= total / 2:
            break
    sides = left, names - left
    rest = [replace(chunk, requests=chunk.requests / 2) for chunk in partition.chunks if not chunk.name]
    return [
        Partition([*(chunk for chunk in partition.chunks if chunk.name in side), *rest], levels=_spent())
        for side in sides
    ]


def _between_items(partition: Partition) -> list[Partition]:
    """Halves of each chunk that can be divided; what cannot stays in the second partition."""
    parted = [chunk for chunk in partition.chunks if not chunk.name or chunk.items > 1]
    halves = [replace(chunk, requests=chunk.requests / 2, items=max(1, chunk.items // 2)) for chunk in parted]
    whole = [chunk for chunk in partition.chunks if chunk not in parted]
    return [Partition(halves, levels=_spent()), Partition([*halves, *whole], levels=_spent())]


def _half(partition: Partition, copies: int) -> Partition:
    halves = [replace(chunk, requests=chunk.requests / 2) for chunk in partition.chunks]
    return Partition(halves, copies, _spent())


def _pressure(partition: Partition, name: str) -> float:
    return sum(chunk.pressure for chunk in partition.chunks if chunk.name == name)


def _spent() -> dict[CallKind, float]:
    """A partition that has just been split has saved nothing."""
    return dict.fromkeys(KINDS, 0.0)
