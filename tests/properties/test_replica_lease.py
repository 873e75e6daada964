"""The law of leases: once a region has taken a write as the writer, no earlier writer takes one.

Histories are drawn with lines that are cut in either direction, answers that are lost, regions that are killed and come
back having forgotten what they promised, clocks that tell different times, and an operator who reaches some of the
regions and promotes one, by force or not. Everybody is asked to write all the time, while a promotion waits as well;
and a write that was decided may be committed any time later, until when its region hears and says nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.tables import definition, put
from tests.engine.unkept import UnkeptEngine
from tests.properties.effort import effort

from tablewright import ServiceError
from tablewright.engine import Group
from tablewright.engine.regions import Regions, asking
from tablewright.engine.replica_control import promote
from tablewright.engine.replica_lines import Ask, PeerUnreachable
from tablewright.engine.replica_plans import promotion
from tablewright.engine.replica_standings import ReplicasMistake
from tablewright.testing import Clock

NAMES = ("us-east-1", "eu-west-1", "sa-east-1")
LEASE = 10.0
REFUSED = ("ReplicaLeaseLapsedException", "ReplicaNotWriterException")
NOT_KNOWN = "InternalServerError"
Step = tuple[str, tuple[Any, ...]]


@dataclass
class World:
    """Regions in processes of their own; and every write that was taken: by whom, in which epoch."""

    path: Path
    names: tuple[str, ...]
    clocks: dict[str, Clock] = field(default_factory=dict)
    running: dict[str, Regions] = field(default_factory=dict)
    taken: list[tuple[int, str]] = field(default_factory=list)
    held: dict[str, Group] = field(default_factory=dict)

    def start(self, name: str) -> None:
        engine = UnkeptEngine.open(
            self.path / name, durability="relaxed", world=self.clocks[name].world(), region=name
        )
        peers = {other: self.ask(other) for other in self.names if other != name}
        self.running[name] = Regions({name: engine}, name, peers, period=None, lease=LEASE)

    def ask(self, name: str) -> Ask:
        def ask(verb: str, request: dict[str, Any]) -> dict[str, Any]:
            if name not in self.running or name in self.held:
                raise PeerUnreachable(name)
            return asking(self.running[name][name])(verb, request)

        return ask

    # --- what may happen ---

    def take(self, step: Step) -> None:
        getattr(self, f"_{step[0]}")(*step[1])
        self.write_everywhere()

    def _pass(self, seconds: float) -> None:
        for clock in self.clocks.values():
            clock.move(timedelta(seconds=seconds))

    def _visit(self, reader: str) -> None:
        if reader in self.running and reader not in self.held:
            for follower in self.running[reader]._followers:
                follower.visit()

    def _cut(self, reader: str, source: str) -> None:
        if reader in self.running and reader != source:
            self.running[reader].line(reader, source).is_cut ^= True

    def _lose(self, reader: str, source: str) -> None:
        if reader in self.running and reader != source:
            self.running[reader].line(reader, source).losing = 1

    def _kill(self, name: str) -> None:
        if name in self.held:
            self._hold(name)
        if name in self.running:
            self.running.pop(name).close()
        else:
            self.start(name)

    def _hold(self, name: str) -> None:
        """A write is decided, and the region stops before it is committed; or it goes on."""
        if name in self.held:
            (outcome,) = self.held.pop(name).finish()
            self._note(name, outcome, *REFUSED, NOT_KNOWN)
        elif name in self.running:
            group = self.running[name][name].start_group([("PutItem", put(f"{name} {len(self.taken)}"))])
            assert group is not None
            self.held[name] = group

    def _promote(self, name: str, reached: frozenset[str], visiting: list[str], force: bool) -> None:
        """By an operator who reaches some of the regions; while it waits others may hear of each other."""
        asks = {one: self.ask(one) for one in {name, *reached}}

        def pause() -> None:
            self._pass(0.9)
            for reader in visiting:
                self._visit(reader)
            self.write_everywhere()

        with suppress(ReplicasMistake, PeerUnreachable, ServiceError):
            promote(asks, promotion(asks, name, "pets"), pause, force=force)

    def write_everywhere(self) -> None:
        for name in [one for one in self.running if one not in self.held]:
            try:
                outcome = self.running[name][name].answer("PutItem", put(f"{name} {len(self.taken)}"))
            except ServiceError as refusal:
                self._note(name, refusal, *REFUSED)
            else:
                self._note(name, outcome)

    def _note(self, name: str, outcome: bytes | ServiceError, *refused: str) -> None:
        if isinstance(outcome, ServiceError):
            if outcome.name not in refused:
                raise outcome
            return
        group = self.running[name][name].tables["pets"].replicas
        assert group is not None
        self.taken.append((group.epoch, name))
        # Whoever takes a write is the writer of the newest epoch in which one was taken.
        assert group.writer == name
        assert self.taken[-1] == max(self.taken)
        assert len({who for epoch, who in self.taken if epoch == group.epoch}) == 1


@contextmanager
def begun(names: tuple[str, ...]) -> Iterator[World]:
    """The first region is the writer, the others follow; no two clocks tell the same time."""
    with TemporaryDirectory() as path:
        world = World(Path(path), names)
        for number, name in enumerate(names):
            world.clocks[name] = Clock(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=7 * number))
            world.start(name)
        home = world.running[names[0]]
        home[names[0]].call("CreateTable", definition())
        for name in names[1:]:
            change = [{"Create": {"RegionName": name}}]
            home[names[0]].call("UpdateTable", {"TableName": "pets", "ReplicaUpdates": change})
            settle(world)
        asks = {name: world.ask(name) for name in names}
        promote(asks, promotion(asks, names[0], "pets"), lambda: settle(world))
        settle(world)
        try:
            yield world
        finally:
            for group in world.held.values():
                group.finish()
            for regions in world.running.values():
                regions.close()


def settle(world: World) -> None:
    for _ in range(4):
        for regions in world.running.values():
            regions.settle()


def steps(names: tuple[str, ...]) -> st.SearchStrategy[list[Step]]:
    one = st.sampled_from(names)
    pair = st.tuples(one, one)
    return st.lists(
        st.one_of(
            st.tuples(st.just("pass"), st.tuples(st.sampled_from([0.5, 3.0, 9.0, 11.0, 13.0]))),
            st.tuples(st.just("visit"), st.tuples(one)),
            st.tuples(st.just("cut"), pair),
            st.tuples(st.just("lose"), pair),
            st.tuples(st.just("kill"), st.tuples(one)),
            st.tuples(st.just("hold"), st.tuples(one)),
            st.tuples(
                st.just("promote"),
                st.tuples(one, st.frozensets(one), st.lists(one, max_size=3), st.booleans()),
            ),
        ),
        min_size=3,
        max_size=25,
    )


@effort(60)
@given(st.sampled_from([NAMES[:2], NAMES]).flatmap(lambda names: st.tuples(st.just(names), steps(names))))
def test_once_a_writer_took_a_write_no_earlier_one_does(history: tuple[tuple[str, ...], list[Step]]) -> None:
    names, drawn = history
    with begun(names) as world:
        world.write_everywhere()
        assert world.taken, "the first writer has its lease"
        for step in drawn:
            world.take(step)


def test_after_all_of_that_somebody_can_write() -> None:
    """The law alone would hold where nobody ever writes."""
    with begun(NAMES[:2]) as world:
        here, there = NAMES[:2]
        for reader, source in ((here, there), (there, here)):
            world.take(("cut", (reader, source)))
        world.take(("promote", (there, frozenset(), [], True)))
        assert {who for _, who in world.taken} == {here, there}
        assert world.taken == sorted(world.taken)


def test_a_write_decided_before_another_was_promoted_and_committed_after_it_is_not_taken() -> None:
    with begun(NAMES[:2]) as world:
        here, there = NAMES[:2]
        world.take(("hold", (here,)))
        world.take(("promote", (there, frozenset(), [], True)))
        assert world.taken[-1][1] == there
        world.take(("hold", (here,)))
        assert here not in world.held


def test_after_a_promotion_across_a_cut_line_somebody_can_write() -> None:
    """The operator reaches both, and they do not reach each other."""
    for is_forced in (False, True):
        with begun(NAMES[:2]) as world:
            here, there = NAMES[:2]
            for reader, source in ((here, there), (there, here)):
                world.take(("cut", (reader, source)))
            world.take(("promote", (there, frozenset((here,)), [], is_forced)))
            assert world.taken[-1][1] == (there if is_forced else here)
