"""PC-X12: children, families and guardians that were erased do not come back with a restored table.

A real data directory, served once before and once after: from backups, from point-in-time recovery, from a copy
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import here

from tablewright import Engine, testing
from tablewright.app.copies.job import Copying, bring_further
from tablewright.app.copies.store import place_of
from tablewright.app.copies.store_id import kept_id
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.systems import PARENTAL
from tablewright.client import embedded
from tablewright.edge.errors import CallerError
from tablewright.systems.parental import design as d
from tablewright.systems.parental import jobs, seed
from tablewright.systems.parental.enforcement import dispatch
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.seed import ANNA, BEN, CHIDI, SARAH, TOM

# Later than any clock of the machine: what is restored in between by a real one is then in the past.
START = datetime(2040, 1, 1, 12, tzinfo=UTC)
TABLES = tuple(d.PARENTAL.tables)
SMALL = replace(PARENTAL, seed=lambda parental, told: seed.seed(parental, told, families=0))
NEW_NUMBER = "+15550001111"


def _opened(path: Path, clock: testing.Clock, **options: Any) -> Runtime:
    return open_app(
        path,
        systems=(SMALL,),
        world=clock.world(),
        durability="relaxed",
        ttl_seconds=3600,
        jobs=False,
        **options,
    )


def _parental(runtime: Runtime) -> Parental:
    parental: Parental = runtime.running[0].service
    return parental


@dataclass
class Kept:
    """What a restore brings back: made before the erasures, used after them."""

    path: Path
    clock: testing.Clock
    engine: Engine
    moment: datetime
    arns: dict[str, str]
    home: Path


Make = Callable[[Kept], None]
Restore = Callable[[Kept], Path]


def _before_backup(kept: Kept) -> None:
    for table in TABLES:
        made = kept.engine.call("CreateBackup", {"TableName": table, "BackupName": f"before-{table}"})
        kept.arns[table] = made["BackupDetails"]["BackupArn"]
    kept.engine.settle()


def _replaced(engine: Engine, table: str, backup: str) -> None:
    engine.call("DeleteTable", {"TableName": table})
    engine.settle()
    engine.call("RestoreTableFromBackup", {"TargetTableName": table, "BackupArn": backup})
    engine.settle()


def _from_backup(kept: Kept) -> Path:
    with Engine.open(kept.path, world=kept.clock.world()) as engine:
        for table in TABLES:
            _replaced(engine, table, kept.arns[table])
    return kept.path


def _nothing_before(kept: Kept) -> None:
    """Point-in-time recovery is on; the moment is enough."""


def _from_the_past(kept: Kept) -> Path:
    with Engine.open(kept.path, world=kept.clock.world()) as engine:
        for table in TABLES:
            asked = {"SourceTableName": table, "TargetTableName": f"{table}-then"}
            engine.call("RestoreTableToPointInTime", {**asked, "RestoreDateTime": kept.moment.timestamp()})
            engine.settle()
            made = engine.call("CreateBackup", {"TableName": f"{table}-then", "BackupName": f"then-{table}"})
            engine.settle()
            _replaced(engine, table, made["BackupDetails"]["BackupArn"])
    return kept.path


def _copying(kept: Kept) -> Copying:
    tables = dict.fromkeys(TABLES, timedelta(days=30))
    beside = {"parental": (kept.path / "systems" / "parental", PARENTAL.beside)}
    world = kept.clock.world()
    store = kept_id(kept.path, world)
    return Copying(embedded(kept.engine), world, place_of(str(kept.home)), store, tables, beside)


def _copied(kept: Kept) -> None:
    for _ in range(2):
        bring_further(_copying(kept))
        kept.engine.settle()


def _from_a_copy(kept: Kept) -> Path:
    target = kept.path.with_name("again")
    ran = here("db", "copies", "restore", kept.home, "--data", target, "--yes")
    assert ran.code == 0, ran.out + ran.err
    return target


WAYS: dict[str, tuple[Make, Restore]] = {
    "backup": (_before_backup, _from_backup),
    "recovery": (_nothing_before, _from_the_past),
    "copies": (_copied, _from_a_copy),
}


def _erase(parental: Parental, clock: testing.Clock) -> str:
    """Tom after a change of his number, Chidi's whole family, and Ben as a guardian; the family that stays."""
    repository = parental.repository
    family = parental.families.own(ANNA)
    tom = repository.child_of_phone(TOM)
    assert tom is not None
    parental.children.prove(NEW_NUMBER, ANNA, family.family_id)
    code = _code(parental, NEW_NUMBER)
    moved = parental.children.change_number(tom, NEW_NUMBER, code, ANNA)
    _finish(parental, clock)
    parental.privacy.erase(moved, ANNA)
    parental.deletion.delete(parental.families.own(CHIDI).family_id, CHIDI, at_once=True)
    parental.guardians.remove(family.family_id, BEN.subject, ANNA)
    _finish(parental, clock)
    return family.family_id


def _code(parental: Parental, phone: str) -> str:
    sent: list[str] = []
    parental.dispatch.run(lambda letter: sent.append(letter.body) if letter.recipient == phone else None)
    (body,) = sent
    return next(word.strip(".") for word in body.split() if word.strip(".").isdigit())


def _finish(parental: Parental, clock: testing.Clock) -> None:
    for _ in range(4):
        dispatch.run_tasks(parental)
        clock.move(timedelta(minutes=11))


def _gone(runtime: Runtime, clock: testing.Clock, family_id: str) -> None:
    parental = _parental(runtime)
    assert parental.repository.child_of_phone(TOM) is None
    assert [one.subject for one in parental.repository.guardians_of(family_id)] == [ANNA.subject]
    assert parental.families.of(CHIDI) == []
    with pytest.raises(CallerError):
        parental.families.child(ANNA, TOM)
    _finish(parental, clock)
    items = [item for table in TABLES for item in runtime.engine.call("Scan", {"TableName": table})["Items"]]
    assert not [item for item in items if TOM in repr(item) or "'Ada'" in repr(item)]


@pytest.mark.parametrize("way", list(WAYS))
def test_pc_x12_a_restore_does_not_bring_back_those_who_were_erased(way: str, tmp_path: Path) -> None:
    make, restore = WAYS[way]
    clock, path, home = testing.Clock(START), tmp_path / "data", tmp_path / "away"
    home.mkdir()
    with _opened(path, clock, copies=str(home)) as runtime:
        clock.move(timedelta(minutes=10))
        kept = Kept(path, clock, runtime.engine, clock.now(), {}, home)
        make(kept)
        clock.move(timedelta(minutes=10))
        family_id = _erase(_parental(runtime), clock)
        _gone(runtime, clock, family_id)
        if way == "copies":
            bring_further(_copying(kept))
        sarah = _parental(runtime).repository.child_of_phone(SARAH)
    with _opened(restore(kept), clock, seed=False) as runtime:
        parental = _parental(runtime)
        _gone(runtime, clock, family_id)
        assert jobs.erase_again(parental) == 0
        back = parental.repository.child_of_phone(SARAH)
        assert sarah is not None
        assert back is not None
        assert back.child_id == sarah.child_id


def test_a_table_that_is_restored_under_a_running_server_is_cleaned_by_the_scheduled_job(
    tmp_path: Path,
) -> None:
    clock, path = testing.Clock(START), tmp_path / "data"
    with _opened(path, clock) as runtime:
        parental = _parental(runtime)
        tom = parental.repository.child_of_phone(TOM)
        assert tom is not None
        parental.privacy.erase(tom, ANNA)
        _finish(parental, clock)
        parental.repository.db.write(d.children.create(tom))
        assert parental.repository.child_of_phone(TOM) is not None
        (job,) = [due.job for due in runtime.schedule.listed() if due.job.name == "restored"]
        job.run(parental)
        assert parental.repository.child_of_phone(TOM) is None


def test_the_list_of_the_erased_names_nobody(tmp_path: Path) -> None:
    clock, path = testing.Clock(START), tmp_path / "data"
    with _opened(path, clock) as runtime:
        _erase(_parental(runtime), clock)
    names = [one.name for one in (path / "systems" / "parental" / "erased").iterdir()]
    assert {name.partition(".")[0] for name in names} == {"child", "family", "guardian"}
    said = " ".join(names)
    for word in (TOM, TOM[1:], NEW_NUMBER[1:], "Tom", BEN.subject, "ben@", CHIDI.subject):
        assert word not in said


def test_a_number_that_is_added_again_after_an_erasure_is_another_child(tmp_path: Path) -> None:
    clock, path = testing.Clock(START), tmp_path / "data"
    with _opened(path, clock) as runtime:
        parental = _parental(runtime)
        tom = parental.repository.child_of_phone(TOM)
        assert tom is not None
        parental.privacy.erase(tom, ANNA)
        _finish(parental, clock)
        parental.children.prove(TOM, ANNA)
        again = parental.children.add(TOM, _code(parental, TOM), "Tom", "Europe/Berlin", ANNA)
        assert again.child == tom.child
        assert jobs.erase_again(parental) == 0
        assert parental.repository.child_of_phone(TOM) == again


def test_a_single_table_that_is_restored_shows_nothing_to_who_has_the_number_next(tmp_path: Path) -> None:
    clock, path = testing.Clock(START), tmp_path / "data"
    table = "BlockedRequestMetrics"
    with _opened(path, clock) as runtime:
        made = runtime.engine.call("CreateBackup", {"TableName": table, "BackupName": "before"})
        runtime.engine.settle()
        parental = _parental(runtime)
        tom = parental.repository.child_of_phone(TOM)
        assert tom is not None
        assert parental.records.metrics(tom, None, None, None)
        parental.privacy.erase(tom, ANNA)
        _finish(parental, clock)
    with Engine.open(path, world=clock.world()) as engine:
        _replaced(engine, table, made["BackupDetails"]["BackupArn"])
    with _opened(path, clock, seed=False) as runtime:
        parental = _parental(runtime)
        parental.children.prove(TOM, CHIDI)
        again = parental.children.add(TOM, _code(parental, TOM), "Tom", "Europe/Berlin", CHIDI)
        assert parental.records.metrics(again, None, None, None) == []
        assert again.child == f"{TOM}~2"
