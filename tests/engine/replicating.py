"""Regions in tests: of one process, everything in steps, by a clock that the test moves."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.engine.tables import definition
from tests.engine.unkept import UnkeptEngine

from tablewright import Engine
from tablewright.engine.regions import Regions, asking
from tablewright.engine.replica_lines import Ask
from tablewright.testing import Clock

Json = dict[str, Any]
HERE, THERE, ELSEWHERE = "us-east-1", "eu-west-1", "sa-east-1"
ALL = (HERE, THERE, ELSEWHERE)


def engine_in(region: str, clock: Clock, path: Path | str = ":memory:") -> UnkeptEngine:
    engine = UnkeptEngine.open(path, durability="relaxed", world=clock.world(), region=region)
    assert isinstance(engine, UnkeptEngine)
    return engine


@contextmanager
def regions_of(
    clock: Clock, *names: str, path: Path | None = None, lease: float | None = None
) -> Iterator[Regions]:
    """Regions whose stores are verified in the end."""
    engines = {
        name: engine_in(name, clock, ":memory:" if path is None else path / name)
        for name in names or (HERE, THERE)
    }
    with Regions(engines, HERE, period=None, lease=lease) as regions:
        yield regions
        assert regions.verify() == []


@contextmanager
def two_processes(clock: Clock) -> Iterator[tuple[Regions, Regions]]:
    """Two regions that know of each other only as somebody to ask."""
    one, two = engine_in(HERE, clock), engine_in(THERE, clock)
    with (
        Regions({HERE: one}, HERE, {THERE: asking(two)}, period=None) as here,
        Regions({THERE: two}, THERE, {HERE: asking(one)}, period=None) as there,
    ):
        yield here, there
        assert here.verify() + there.verify() == []


def settle(*several: Regions) -> None:
    for _ in range(4):
        for regions in several:
            regions.settle()


def update(action: str, region: str, table: str = "pets", **settings: Any) -> Json:
    return {"TableName": table, "ReplicaUpdates": [{action: {"RegionName": region, **settings}}]}


def replicate(regions: Regions, *others: str, **definitions: Any) -> Engine:
    """A table of pets in the home region, with replicas in the others."""
    home = regions[HERE]
    home.call("CreateTable", definition(**definitions))
    for region in others or (THERE,):
        home.call("UpdateTable", update("Create", region))
        regions.settle()
    return home


def described(engine: Engine, table: str = "pets") -> Json:
    shown: Json = engine.call("DescribeTable", {"TableName": table})["Table"]
    return shown


def statuses(engine: Engine, table: str = "pets") -> dict[str, str]:
    replicas = described(engine, table).get("Replicas", [])
    return {one["RegionName"]: one["ReplicaStatus"] for one in replicas}


def asks(regions: Regions, *without: str) -> dict[str, Ask]:
    return {name: regions.ask(name) for name in regions if name not in without}


def cut_off(regions: Regions, region: str, is_cut: bool = True) -> None:
    for line in regions.lines():
        if region in (line.reader, line.source):
            line.is_cut = is_cut


def breaking(regions: Regions, late: Json | None = None) -> dict[str, Ask]:
    """Everybody to ask; the lines break when somebody is asked to stop writing, after a last write at home."""
    asked = asks(regions)

    def ask(verb: str, request: Json) -> Json:
        if verb == "PeerYield" and "Seen" not in request:
            cut_off(regions, THERE)
            if late is not None:
                regions[HERE].call("PutItem", late)
        return regions.ask(HERE)(verb, request)

    return asked | {HERE: ask}
