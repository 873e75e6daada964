"""Regions in tests: everything in steps, by a clock that the test moves."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import definition

from tablewright import Engine
from tablewright.engine.replication.regions import Regions
from tablewright.testing import Clock

Json = dict[str, Any]
HERE, THERE, ELSEWHERE = "us-east-1", "eu-west-1", "sa-east-1"
ALL = (HERE, THERE, ELSEWHERE)


def engine_in(region: str, clock: Clock, path: Path | str = ":memory:") -> SteppedEngine:
    engine = SteppedEngine.open(path, durability="relaxed", world=clock.world(), region=region)
    assert isinstance(engine, SteppedEngine)
    return engine


@contextmanager
def regions_of(clock: Clock, *names: str, path: Path | None = None) -> Iterator[Regions]:
    """Regions whose stores are verified in the end."""
    engines = {
        name: engine_in(name, clock, ":memory:" if path is None else path / name)
        for name in names or (HERE, THERE)
    }
    with Regions(engines, HERE, period=None) as regions:
        yield regions
        assert regions.verify() == []


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


def follow(regions: Regions, *pairs: tuple[str, str]) -> None:
    """One step on each of these lines: (reader, source)."""
    for reader, source in pairs:
        regions.step(regions.line(reader, source))
