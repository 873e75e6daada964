"""Laws of replicas: whatever is cut, slow or killed, in the end all regions have the last write of each key.

Histories are drawn with writes in any region, time that stands still or passes, regions that follow each other or do
not, and stores that are opened again. The model knows only what was answered, and which stamp each write got.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.engine.tables import definition, keyed, put
from tests.properties.effort import effort

from tablewright import Engine, ServiceError
from tablewright.engine.keys import partition_bytes
from tablewright.engine.metrics.replica_status import statuses
from tablewright.engine.replication import follow, stamps
from tablewright.engine.replication.failover import (
    FailoverRefused,
    failover,
    fence,
    plan_failover,
    rejoin,
    unreplicated,
)
from tablewright.engine.replication.regions import Regions
from tablewright.engine.replication.store import all_stamps, get_stamp
from tablewright.engine.verify.region_items import compare
from tablewright.testing import Clock

NAMES = ("eu-west-1", "sa-east-1", "us-east-1")
HOME = "us-east-1"
KEYS = ("bob", "kit", "zoe", "owl")
Json = dict[str, Any]
Stamp = tuple[int, str]
Step = tuple[str, Any]


@dataclass
class Runtime:
    """Three regions, everything in steps; and every write that was answered."""

    regions: Regions
    clock: Clock
    path: Path | None
    written: dict[str, dict[Stamp, Json | None]] = field(default_factory=dict)

    def engine(self, region: str) -> Engine:
        return self.regions[region]

    def stamp(self, region: str, name: str) -> Stamp:
        engine = self.engine(region)
        table, key = engine.tables["pets"], partition_bytes([{"S": name}])
        found = engine.session.read(lambda reading: get_stamp(reading.rows, table.stamp_table, key))
        assert found is not None
        return found.at, found.region

    def take(self, step: Step) -> None:
        kind, what = step
        getattr(self, f"_{kind}")(*what)

    def _pass(self, microseconds: int) -> None:
        self.clock.move(timedelta(microseconds=microseconds))

    def _put(self, region: str, name: str, colour: str) -> None:
        self.engine(region).call("PutItem", put(name, colour=colour))
        self._note(region, name, put(name, colour=colour)["Item"])

    def _delete(self, region: str, name: str) -> None:
        self.engine(region).call("DeleteItem", keyed(name))
        self._note(region, name, None)

    def _note(self, region: str, name: str, item: Json | None) -> None:
        """Remember the write by its stamp: as late as the clock, and later than all this region knew of the key."""
        at, where = self.stamp(region, name)
        assert where == region
        known = self.written.setdefault(name, {})
        assert (at, where) not in known
        known[at, where] = item

    def _follow(self, reader: str, source: str) -> None:
        if reader != source:
            self.regions.step(self.regions.line(reader, source))

    def _cut(self, reader: str, source: str) -> None:
        if reader != source:
            self.regions.line(reader, source).is_cut ^= True

    def _slow(self, reader: str, source: str, microseconds: int) -> None:
        if reader != source:
            self.regions.line(reader, source).lag = timedelta(microseconds=microseconds)

    def _maintain(self, region: str) -> None:
        engine = self.engine(region)
        for _ in range(3):
            assert isinstance(engine, SteppedEngine)
            engine.background.run_maintenance_step(due=True)

    def _kill(self) -> None:
        """Every store is opened again as it was after its last commit; lines are whole again."""
        if self.path is not None:
            self.regions.close()
            self.regions = opened(self.path, self.clock)

    def heal(self) -> None:
        for line in self.regions.lines:
            line.is_cut, line.lag = False, timedelta(0)
        self.regions.settle()


def _stamps(engine: Engine) -> list[tuple[bytes, Any]]:
    table = engine.tables["pets"]
    return engine.session.read(lambda reading: list(all_stamps(reading.rows, table.stamp_table)))


def opened(path: Path | None, clock: Clock) -> Regions:
    engines = {}
    for name in NAMES:
        where = ":memory:" if path is None else path / name
        engines[name] = SteppedEngine.open(where, durability="relaxed", world=clock.world(), region=name)
    return Regions(engines, HOME, period=None)


@contextmanager
def runtime(on_disk: bool = False, kind: type[Runtime] = Runtime) -> Iterator[Runtime]:
    clock = Clock()
    with (
        small_steps(),
        patch.object(follow, "WRITES", 2),
        patch.object(follow, "COPIED", 2),
        patch.object(stamps, "PRUNED_STAMPS", 2),
        TemporaryDirectory() as directory,
    ):
        path = Path(directory) if on_disk else None
        made = kind(opened(path, clock), clock, path)
        home = made.engine(HOME)
        home.call("CreateTable", definition(indexes=("colour",)))
        for name in KEYS[:3]:
            home.call("PutItem", put(name, colour="old"))
        for name in NAMES:
            if name == HOME:
                continue
            home.call(
                "UpdateTable", {"TableName": "pets", "ReplicaUpdates": [{"Create": {"RegionName": name}}]}
            )
            made.regions.settle()
        try:
            yield made
        finally:
            made.regions.close()


def everything(engine: Engine) -> dict[str, Json]:
    return {one["pk"]["S"]: one for one in engine.call("Scan", {"TableName": "pets"})["Items"]}


REGION = st.sampled_from(NAMES)
NAME = st.sampled_from(KEYS)
PUT = st.tuples(st.just("put"), st.tuples(REGION, NAME, st.sampled_from(["red", "blue", "old"])))
DELETE = st.tuples(st.just("delete"), st.tuples(REGION, NAME))
PAIR = st.tuples(REGION, REGION)
STEPS = st.one_of(
    PUT,
    PUT,
    DELETE,
    st.tuples(st.just("pass"), st.tuples(st.sampled_from([1, 1, 5, 1000]))),
    st.tuples(st.just("follow"), PAIR),
    st.tuples(st.just("follow"), PAIR),
    st.tuples(st.just("cut"), PAIR),
    st.tuples(st.just("slow"), st.tuples(REGION, REGION, st.sampled_from([0, 3, 2000]))),
    st.tuples(st.just("maintain"), st.tuples(REGION)),
)


def check(made: Runtime) -> None:
    """All regions are the same, whole, and hold for each key what was written last."""
    made.heal()
    assert made.regions.verify() == []
    held = [everything(made.engine(name)) for name in NAMES]
    assert held[0] == held[1] == held[2]
    for name, writes in made.written.items():
        last = writes[max(writes)]
        assert held[0].get(name) == last, (name, writes)
    for name in KEYS[:3]:
        if name not in made.written:
            assert held[0][name]["colour"] == {"S": "old"}
    assert all(lag.pending == 0 for lag in made.regions.lag())


@effort(60)
@given(st.lists(STEPS, min_size=5, max_size=40))
def test_after_healing_all_replicas_hold_the_last_write_of_every_key(steps: list[Step]) -> None:
    with runtime() as made:
        for step in steps:
            made.take(step)
        check(made)


@effort(12)
@given(st.lists(st.one_of(STEPS, STEPS, st.tuples(st.just("kill"), st.just(()))), min_size=5, max_size=25))
def test_the_same_when_the_stores_are_closed_and_opened_in_between(steps: list[Step]) -> None:
    with runtime(on_disk=True) as made:
        for step in steps:
            made.take(step)
        check(made)


@effort(30)
@given(st.lists(STEPS, min_size=5, max_size=40))
def test_stamps_of_deletes_are_pruned_in_the_end(steps: list[Step]) -> None:
    with runtime() as made:
        for step in steps:
            made.take(step)
        made.heal()
        made.regions.settle()
        for name in NAMES:
            assert not [key for key, one in _stamps(made.engine(name)) if one.is_gone]


# --- one writer ---

SOME = st.sets(REGION, max_size=2)
ROLE_STEPS = st.one_of(
    PUT,
    PUT,
    DELETE,
    st.tuples(st.just("pass"), st.tuples(st.sampled_from([1, 1000]))),
    st.tuples(st.just("follow"), PAIR),
    st.tuples(st.just("follow"), PAIR),
    st.tuples(st.just("cut"), PAIR),
    st.tuples(st.just("fail_over"), st.tuples(REGION, SOME)),
    st.tuples(st.just("break_off"), st.tuples(REGION, SOME, SOME)),
    st.tuples(st.just("rejoin"), st.tuples(REGION)),
    st.tuples(st.just("kill"), st.just(())),
)


class Arrangement(Runtime):
    """One of the regions writes. What a region loses when it rejoins was listed before."""

    given_up: set[str]

    def _put(self, region: str, name: str, colour: str) -> None:
        with suppress(ServiceError):
            super()._put(region, name, colour)

    def _delete(self, region: str, name: str) -> None:
        with suppress(ServiceError):
            super()._delete(region, name)

    def _fail_over(self, region: str, lost: set[str]) -> None:
        with suppress(FailoverRefused):
            failover(self.regions, region, lost=lost - {region})

    def _break_off(self, region: str, lost: set[str], unfenced: set[str]) -> None:
        """A fail-over that has fenced some regions and was killed then."""
        with suppress(FailoverRefused):
            for plan in plan_failover(self.regions, region, lost=lost - {region}):
                fence(self.regions, plan, lost=(lost - {region}) | unfenced)

    def _rejoin(self, region: str) -> None:
        lost = self.listed(region)
        if fenced(self, region):
            with suppress(FailoverRefused):
                rejoin(self.regions, region)
                self.given_up |= lost

    def listed(self, region: str) -> set[str]:
        """The names of a region's writes that its writer does not have."""
        names = {partition_bytes([{"S": name}]).hex(): name for name in KEYS}
        found = unreplicated(self.regions, region)
        return {names[one.key] if isinstance(one.key, str) else one.key["pk"]["S"] for one in found}


def fenced(made: Runtime, region: str) -> bool:
    return any(
        one.region == region and one.unreplicated is not None for one in statuses(made.regions.engines)
    )


EU, SA, US = NAMES
READ_BY_ONE = [("put", (US, "bob", "red")), ("follow", (SA, US))]
ALONE = [("cut", pair) for other in (EU, US) for pair in ((SA, other), (other, SA))]
# What only one of two standbys has read counts if that one becomes the writer,
PROMOTED = [*READ_BY_ONE, ("fail_over", (SA, {US})), ("put", (SA, "kit", "blue")), ("follow", (EU, SA))]
# or if the new writer can read it there; else both regions that have it are fenced,
LOST = [*READ_BY_ONE, *ALONE, ("fail_over", (EU, {US, SA})), ("follow", (US, EU))]
# also when the old writer, which goes on with its numbers, writes again by then.
FAILED_BACK = [*LOST, ("rejoin", (US,)), ("follow", (US, EU)), ("follow", (US, EU)), ("follow", (US, EU)),
               ("fail_over", (US, {SA}))]  # fmt: skip


@example(PROMOTED)
@example(LOST)
@example(FAILED_BACK)
@effort(40)
@given(st.lists(ROLE_STEPS, min_size=5, max_size=40))
def test_a_new_writer_lacks_only_what_is_listed(steps: list[Step]) -> None:
    with runtime(on_disk=any(kind == "kill" for kind, _ in steps), kind=Arrangement) as made:
        assert isinstance(made, Arrangement)
        made.given_up = set()
        made.take(("fail_over", (HOME, set())))
        for step in steps:
            made.take(step)
        made.heal()
        newest = max(statuses(made.regions.engines), key=lambda one: (one.epoch, one.writer or ""))
        writer = newest.writer or HOME
        if not any(one.takes_writes for one in statuses(made.regions.engines)):
            if fenced(made, writer):
                made.take(("rejoin", (writer,)))
                made.heal()
            failover(made.regions, writer)  # it was broken off
            made.heal()
        assert [one.region for one in statuses(made.regions.engines) if one.takes_writes] == [writer]
        held = everything(made.engine(writer))
        missing = made.given_up.union(*(made.listed(name) for name in NAMES))
        for name, writes in made.written.items():
            if held.get(name) != writes[max(writes)]:
                assert name in missing, (name, writes)
        for name in NAMES:
            assert not fenced(made, name) or made.listed(name)  # a region that lost nothing is not fenced
            made.take(("rejoin", (name,)))
            made.heal()
        assert made.regions.verify() == []
        for name in NAMES:
            assert not fenced(made, name)
            assert not compare(made.regions[name], made.regions[writer], "pets").different
            assert everything(made.engine(name)) == held
        assert all(lag.pending == 0 for lag in made.regions.lag())
