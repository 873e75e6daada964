"""Laws of replicas: whatever is cut, late, lost, told twice or killed, in the end all have the last write of each key.

Histories are drawn with writes in any region, time that stands still or passes, regions that hear of each other or do
not, and stores that are opened again. The model knows only what was answered, and what stamp each write got.
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
from tests.engine.tables import definition, keyed, put
from tests.engine.unkept import UnkeptEngine, small_steps
from tests.properties.effort import effort

from tablewright import Engine, ServiceError
from tablewright.engine import replica_telling, replicas
from tablewright.engine.keys import partition_bytes
from tablewright.engine.regions import Regions, asking
from tablewright.engine.replica_control import promote, rejoin, release
from tablewright.engine.replica_plans import promotion
from tablewright.engine.replica_pulls import _question
from tablewright.engine.replica_standings import ReplicasMistake, compare, standing, unread
from tablewright.engine.replica_taking import take_told
from tablewright.engine.storage_replicas import all_stamps, stamp
from tablewright.testing import Clock

NAMES = ("eu-west-1", "sa-east-1", "us-east-1")
HOME = "us-east-1"
KEYS = ("bob", "kit", "zoe", "owl")
Json = dict[str, Any]
Stamp = tuple[int, str]
Step = tuple[str, Any]


@dataclass
class House:
    """Three regions of one process, everything in steps; and every write that was answered."""

    regions: Regions
    clock: Clock
    path: Path | None
    written: dict[str, dict[Stamp, Json | None]] = field(default_factory=dict)
    told: dict[tuple[str, str], Json] = field(default_factory=dict)

    def engine(self, region: str) -> Engine:
        return self.regions[region]

    def stamp(self, region: str, name: str) -> Stamp:
        engine = self.engine(region)
        table = engine.tables["pets"]
        key = bytes.fromhex(key_of(name))
        found = engine.doors.read(lambda reading: stamp(reading.rows, table.ledger, key))
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

    def _visit(self, reader: str, source: str) -> None:
        for follower in self.regions._followers:
            if (follower.line.reader, follower.line.source) == (reader, source):
                follower.visit()

    def _cut(self, reader: str, source: str) -> None:
        if reader != source:
            self.regions.line(reader, source).is_cut ^= True

    def _lose(self, reader: str, source: str) -> None:
        if reader != source:
            self.regions.line(reader, source).losing = 1

    def _slow(self, reader: str, source: str, microseconds: int) -> None:
        if reader != source:
            self.regions.line(reader, source).delay = timedelta(microseconds=microseconds)

    def _again(self, reader: str, source: str) -> None:
        """What was told once is told again, however late."""
        told = self.told.pop((reader, source), None) if reader != source else None
        if told is not None:
            self.engine(reader).doors.write(lambda writing: take_told(writing, source, told))

    def _overhear(self, reader: str, source: str) -> None:
        """Keep an answer for later."""
        if reader == source:
            return
        question = self.engine(reader).doors.read(lambda reading: _question(reading, source, None))
        if question["Tables"]:
            (told,) = asking(self.engine(source))("PeerChanges", question)["Tables"]
            if told["Status"] != "NONE":
                self.told[reader, source] = told

    def _chores(self, region: str) -> None:
        engine = self.engine(region)
        for _ in range(3):
            assert isinstance(engine, UnkeptEngine)
            engine.keeper.do_chore(due=True)

    def _kill(self) -> None:
        """Every store is opened again as it was after its last commit; lines are whole again."""
        if self.path is not None:
            self.regions.close()
            self.regions = opened(self.path, self.clock)

    def heal(self) -> None:
        for line in self.regions.lines():
            line.is_cut, line.losing, line.delay = False, 0, timedelta(0)
        self.regions.settle()


def _keys(engine: Engine) -> list[tuple[bytes, Any]]:
    table = engine.tables["pets"]
    return engine.doors.read(lambda reading: list(all_stamps(reading.rows, table.ledger)))


def opened(path: Path | None, clock: Clock) -> Regions:
    engines = {}
    for name in NAMES:
        where = ":memory:" if path is None else path / name
        engines[name] = UnkeptEngine.open(where, durability="relaxed", world=clock.world(), region=name)
    return Regions(engines, HOME, period=None)


@contextmanager
def house(on_disk: bool = False, kind: type[House] = House) -> Iterator[House]:
    clock = Clock()
    with (
        small_steps(),
        patch.object(replica_telling, "CHANGES", 2),
        patch.object(replica_telling, "COPIED", 2),
        patch.object(replicas, "PRUNED_TRACES", 2),
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
    st.tuples(st.just("visit"), PAIR),
    st.tuples(st.just("visit"), PAIR),
    st.tuples(st.just("cut"), PAIR),
    st.tuples(st.just("lose"), PAIR),
    st.tuples(st.just("slow"), st.tuples(REGION, REGION, st.sampled_from([0, 3, 2000]))),
    st.tuples(st.just("overhear"), PAIR),
    st.tuples(st.just("again"), PAIR),
    st.tuples(st.just("chores"), st.tuples(REGION)),
)


def check(made: House) -> None:
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
    with house() as made:
        for step in steps:
            made.take(step)
        check(made)


@effort(12)
@given(st.lists(st.one_of(STEPS, STEPS, st.tuples(st.just("kill"), st.just(()))), min_size=5, max_size=25))
def test_the_same_when_the_stores_are_closed_and_opened_in_between(steps: list[Step]) -> None:
    with house(on_disk=True) as made:
        for step in steps:
            made.take(step)
        check(made)


@effort(30)
@given(st.lists(STEPS, min_size=5, max_size=40))
def test_traces_of_deletes_go_in_the_end(steps: list[Step]) -> None:
    with house() as made:
        for step in steps:
            made.take(step)
        made.heal()
        made.regions.settle()
        for name in NAMES:
            assert not [key for key, one in _keys(made.engine(name)) if one.is_gone]


# --- one writer ---

ROLE_STEPS = st.one_of(
    PUT,
    PUT,
    DELETE,
    st.tuples(st.just("pass"), st.tuples(st.sampled_from([1, 1000]))),
    st.tuples(st.just("visit"), PAIR),
    st.tuples(st.just("visit"), PAIR),
    st.tuples(st.just("cut"), PAIR),
    st.tuples(st.just("promote"), st.tuples(REGION)),
    st.tuples(st.just("hand_over"), st.tuples(REGION)),
    st.tuples(st.just("rejoin"), st.tuples(REGION)),
    st.tuples(st.just("begin"), st.tuples(REGION)),
    st.tuples(st.just("give_way"), PAIR),
    st.tuples(st.just("release"), st.tuples(REGION)),
    st.tuples(st.just("lose"), PAIR),
    st.tuples(st.just("overhear"), PAIR),
    st.tuples(st.just("again"), PAIR),
    st.tuples(st.just("kill"), st.just(())),
)


class Arrangement(House):
    """One of the regions writes. What a region gives up when it rejoins was listed before."""

    given_up: set[str]

    def _put(self, region: str, name: str, colour: str) -> None:
        with suppress(ServiceError):
            super()._put(region, name, colour)

    def _delete(self, region: str, name: str) -> None:
        with suppress(ServiceError):
            super()._delete(region, name)

    def _promote(self, region: str) -> None:
        """Without asking anybody."""
        alone = {region: self.regions.ask(region)}
        with suppress(ReplicasMistake):
            promote(alone, promotion(alone, region, "pets"), lambda: None, force=True)

    def _hand_over(self, region: str) -> None:
        """With everybody, if everybody can be reached and is the same."""
        if any(line.is_cut for line in self.regions.lines()):
            return
        asks = {name: self.regions.ask(name) for name in NAMES}
        with suppress(ReplicasMistake, ServiceError):
            promote(asks, promotion(asks, region, "pets", self.regions.settle), self.regions.settle)

    def _release(self, region: str) -> None:
        with suppress(ReplicasMistake):
            release(self.regions.ask(region), "pets")

    def _rejoin(self, region: str) -> None:
        ask = self.regions.ask(region)
        if standing(ask, "pets").unread is not None:
            listed = {one["Key"] for one in unread(ask, "pets")}
            with suppress(ReplicasMistake):
                rejoin(ask, "pets", self.heal)
                self.given_up |= listed

    def _begin(self, region: str) -> None:
        """Begin to mirror, and leave it at that."""
        ask = self.regions.ask(region)
        now = standing(ask, "pets")
        if now.unread is not None:
            listed = {one["Key"] for one in unread(ask, "pets")}
            with suppress(ServiceError):
                ask("PeerRejoin", {"Table": "pets", "Epoch": now.epoch})
                self.given_up |= listed

    def _give_way(self, region: str, writer: str) -> None:
        """A hand-over that is broken off as soon as the old writer has stopped."""
        now, then = (standing(self.regions.ask(one), "pets") for one in (region, writer))
        is_ready = (
            then.unread is None and not then.is_copying and (then.epoch, then.writer) == (now.epoch, region)
        )
        if is_ready and now.writer == region != writer:
            self.regions.ask(region)("PeerYield", {"Table": "pets", "Epoch": now.epoch + 1, "Writer": writer})

    def _mirror(self, region: str, source: str) -> None:
        """Rejoin while others are cut off."""
        ask = self.regions.ask(region)
        self.given_up |= {one["Key"] for one in unread(ask, "pets")}
        rejoin(ask, "pets", lambda: self._visit(region, source))


def listed(made: Arrangement) -> set[str]:
    """The keys of writes that the writer does not have, as the regions that made them say."""
    found = set(made.given_up)
    for name in NAMES:
        found |= {one["Key"] for one in unread(made.regions.ask(name), "pets")}
    return found


EU, SA, US = NAMES
READ_BY_ONE = [("put", (US, "bob", "red")), ("visit", (SA, US))]
ALONE = [("cut", pair) for other in (EU, US) for pair in ((SA, other), (other, SA))]
# What only one of two standbys has read stays with that one when it is promoted,
PROMOTED = [*READ_BY_ONE, ("promote", (SA,)), ("put", (SA, "kit", "blue")), ("visit", (EU, SA))]
# is written over there, and nothing is unread when the other one is promoted;
WRITTEN_OVER = [
    *READ_BY_ONE,
    ("promote", (SA,)),
    ("put", (SA, "bob", "blue")),
    ("visit", (EU, SA)),
    ("visit", (EU, SA)),
    ("promote", (EU,)),
]
# it is given up by the old writer, while the standby still has it, whether that hears of it at once
GIVEN_UP = [*READ_BY_ONE, ("promote", (EU,)), ("visit", (US, EU)), ("rejoin", (US,))]
# or only after the old writer, which goes on with its numbers, was promoted again.
FAILED_BACK = [
    *READ_BY_ONE,
    *ALONE,
    ("promote", (EU,)),
    ("visit", (US, EU)),
    ("mirror", (US, EU)),
    ("promote", (US,)),
]
# It counts again when that standby, the later one by its name, is promoted too.
COUNTS_AGAIN = [
    *READ_BY_ONE,
    *ALONE,
    ("promote", (EU,)),
    ("visit", (US, EU)),
    ("mirror", (US, EU)),
    ("promote", (SA,)),
]
# All write again before one has read what came along, and before another has heard that it was left behind.
RELEASED = [*READ_BY_ONE, ("put", (US, "bob", "blue")), ("promote", (SA,)), ("release", (SA,))]
LEFT_BEHIND = [
    ("promote", (EU,)),
    ("visit", (US, EU)),
    ("visit", (SA, EU)),
    ("promote", (US,)),
    ("release", (US,)),
    ("put", (EU, "bob", "red")),
    ("visit", (EU, US)),
    ("visit", (SA, EU)),
    ("visit", (EU, SA)),
    ("visit", (SA, EU)),
]


@example(PROMOTED)
@example(WRITTEN_OVER)
@example(GIVEN_UP)
@example(FAILED_BACK)
@example([*FAILED_BACK, ("release", (US,))])
@example(COUNTS_AGAIN)
@example(RELEASED)
@example(LEFT_BEHIND)
@effort(40)
@given(st.lists(ROLE_STEPS, min_size=5, max_size=40))
def test_a_promoted_standby_lacks_only_what_was_listed(steps: list[Step]) -> None:
    with house(kind=Arrangement) as made:
        assert isinstance(made, Arrangement)
        made.given_up = set()
        made.take(("hand_over", (HOME,)))
        for step in steps:
            made.take(step)
        made.heal()
        unreads = {name: standing(made.regions.ask(name), "pets").unread for name in NAMES}
        assert 0 not in unreads.values()  # who has lost nothing is let go by itself
        whole = [name for name in NAMES if unreads[name] is None]
        (writer,) = {standing(made.regions.ask(name), "pets").writer for name in NAMES}
        assert whole
        assert writer in (None, *whole)
        held = everything(made.engine(writer or whole[0]))
        missing = listed(made)
        for name, writes in made.written.items():
            if held.get(name) != writes[max(writes)]:
                assert key_of(name) in missing, (name, writes)
        for name in NAMES:
            made.take(("rejoin", (name,)))
            made.heal()
        assert made.regions.verify() == []
        for name in NAMES:
            assert standing(made.regions.ask(name), "pets").unread is None
            assert compare(made.regions.ask(name), made.regions.ask(whole[0]), "pets").is_equal
            assert everything(made.engine(name)) == held
        assert all(lag.pending == 0 for lag in made.regions.lag())


def key_of(name: str) -> str:
    """A key as regions speak of it."""
    return partition_bytes([{"S": name}]).hex()
