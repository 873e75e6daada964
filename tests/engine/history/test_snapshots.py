"""Checkpoints: when one is taken, when one goes, and how long the journal is kept for them."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.engine.history_requests import back_up, chunk_count, recover, restore, snapshots
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.stream_reader import enable
from tests.engine.tables import definition, put, records

from tablewright.engine.background.session import Session
from tablewright.engine.history import retention
from tablewright.engine.history import snapshots as checkpoints
from tablewright.engine.history import store as history_store
from tablewright.engine.history.time_travel import StatePage, pages_as_of
from tablewright.engine.storage.rows import ROWS_PRUNED
from tablewright.testing import Clock

DAY = timedelta(days=1)


@pytest.fixture
def pets(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[SteppedEngine]:
    monkeypatch.setattr(checkpoints, "FEWEST_CHANGES", 10)
    with SteppedEngine.stepped(world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        engine.call("CreateTable", definition("cats"))
        yield engine
        engine.settle()
        assert engine.verify() == []


def write(engine: SteppedEngine, times: int, table: str = "pets") -> None:
    for number in range(times):
        engine.call("PutItem", put(f"pet {number}", table, age=len(records(engine)) + number))


def taken(engine: SteppedEngine) -> list[int]:
    """The journal's numbers at which there are checkpoints."""
    return [one.seq for one in snapshots(engine) if one.kind == "CHECKPOINT" and one.status == "AVAILABLE"]


def test_enabling_takes_a_checkpoint_and_many_changes_take_another(pets: SteppedEngine) -> None:
    write(pets, 4)
    recover(pets)
    pets.settle()
    assert taken(pets) == [4]
    write(pets, 10)
    pets.settle()
    assert taken(pets) == [4]
    write(pets, 1)
    pets.settle()
    assert taken(pets) == [4, 15]


def test_a_large_table_waits_for_as_many_changes_as_half_its_items(pets: SteppedEngine) -> None:
    write(pets, 40)
    recover(pets)
    pets.settle()
    write(pets, 20)
    pets.settle()
    assert taken(pets) == [40]
    write(pets, 1)
    pets.settle()
    assert taken(pets) == [40, 61]


def test_changes_of_other_tables_do_not_count_but_a_long_journal_does(
    pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    recover(pets)
    write(pets, 50, "cats")
    pets.settle()
    assert taken(pets) == [0]
    monkeypatch.setattr(checkpoints, "MOST_ROWS", 49)
    pets.settle()
    assert taken(pets) == [0, 50]


def test_a_checkpoint_goes_when_the_window_has_passed_it_and_there_is_a_newer_one(
    pets: SteppedEngine, clock: Clock
) -> None:
    recover(pets, RecoveryPeriodInDays=2)
    write(pets, 5)
    for day in range(6):
        clock.move(DAY)
        write(pets, 1)
        pets.settle()
        at = [one.at for one in snapshots(pets)]
        assert len(at) <= 2, day
    # The newest is never older than the window, or going back would need what was pruned.
    oldest = min(one.at for one in snapshots(pets)) / 1e6
    assert clock.now().timestamp() - oldest <= 2 * 86_400


def test_disabling_forgets_checkpoints_and_journal(pets: SteppedEngine, clock: Clock) -> None:
    write(pets, 5)
    recover(pets)
    write(pets, 5)
    pets.settle()
    assert len(records(pets)) > 1
    recover(pets, enabled=False)
    pets.settle()
    assert snapshots(pets) == []
    assert chunk_count(pets) == 0
    assert len(records(pets)) == 1


def test_disabling_while_a_checkpoint_is_made_gives_it_up(pets: SteppedEngine) -> None:
    write(pets, 5)
    recover(pets)
    recover(pets, enabled=False)
    pets.job_step()
    pets.settle()
    assert snapshots(pets) == []


def test_one_that_is_given_up_between_two_looks_at_it_is_no_fault(
    pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(pets, 5)
    recover(pets)

    def meanwhile(session: Session, name: str, low: bytes) -> Iterator[StatePage]:
        recover(pets, enabled=False)
        while [one.status for one in snapshots(pets)] != ["DELETED"]:
            pets.background.run_maintenance_step(due=True)
        return pages_as_of(session, name, low)

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "pages_as_of", meanwhile)
        assert pets.job_step()
    assert [one.status for one in snapshots(pets)] == ["DELETED"]
    assert not pets.job_step()


def test_the_journal_is_kept_for_the_window_and_no_longer(pets: SteppedEngine, clock: Clock) -> None:
    recover(pets, RecoveryPeriodInDays=3)
    for _ in range(10):
        write(pets, 1)
        clock.move(DAY)
    pets.settle()
    assert [seq for seq, *_ in records(pets)] == [8, 9, 10]


def test_a_backup_under_way_keeps_the_journal_from_its_moment_on(pets: SteppedEngine) -> None:
    write(pets, 5)
    back_up(pets)
    write(pets, 5)
    while pets.background.run_maintenance_step(due=True):
        pass
    assert [seq for seq, *_ in records(pets)] == [6, 7, 8, 9, 10]
    pets.settle()
    assert [seq for seq, *_ in records(pets)] == [10]


def test_rows_of_tables_that_nobody_reads_back_lose_their_images_after_a_day(
    pets: SteppedEngine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "STRIPPED_ROWS", 3)
    recover(pets)
    write(pets, 3)
    write(pets, 8, "cats")
    pets.settle()
    assert all(new is not None for *_, new in records(pets))
    clock.move(DAY + timedelta(seconds=1))
    write(pets, 1, "cats")
    pets.settle()
    assert pets.verify() == []
    kept = {
        owner: {new is not None for *_, o, _, _, new in records(pets)[:-1] if o == owner} for owner in (1, 2)
    }
    assert kept == {1: {True}, 2: {False}}
    assert pets._storage.writes.counts(history_store.ROWS_STRIPPED)[0] == 11
    # The others can be had again to the last change.
    restore(pets, "pets", "then")
    pets.settle()
    assert pets.call("DescribeTable", {"TableName": "then"})["Table"]["ItemCount"] == 3


def test_a_reader_of_one_table_does_not_cost_another_its_images(pets: SteppedEngine, clock: Clock) -> None:
    recover(pets)
    write(pets, 3)
    back_up(pets, "cats")
    clock.move(DAY + timedelta(seconds=1))
    while pets.background.run_maintenance_step(due=True):
        pass
    assert all(new is not None for *_, new in records(pets))
    pets.settle()


def test_rows_that_a_stream_may_show_keep_their_images_for_a_day(pets: SteppedEngine, clock: Clock) -> None:
    recover(pets)
    pets.call("UpdateTable", enable("cats"))
    write(pets, 3, "cats")
    clock.move(DAY)
    pets.settle()
    assert all(new is not None for *_, new in records(pets))


def test_a_backup_does_not_rest_on_one_that_is_older_than_what_was_blanked(
    pets: SteppedEngine, clock: Clock
) -> None:
    recover(pets)
    write(pets, 5, "cats")
    first = back_up(pets, "cats")
    pets.settle()
    write(pets, 3, "cats")
    clock.move(2 * DAY)
    pets.settle()
    second = back_up(pets, "cats")
    pets.settle()
    for number, arn in enumerate((first, second)):
        restore(pets, arn, f"back-{number}")
    pets.settle()
    old, new = (pets.call("Scan", {"TableName": f"back-{number}"})["Items"] for number in range(2))
    assert sorted(item["age"]["N"] for item in old) != sorted(item["age"]["N"] for item in new)
    assert sorted(new, key=str) == sorted(pets.call("Scan", {"TableName": "cats"})["Items"], key=str)
    assert pets._storage.writes.counts(ROWS_PRUNED)[0] == 0


def test_a_backup_does_not_rest_on_one_whose_changes_since_were_pruned(pets: SteppedEngine) -> None:
    write(pets, 20)
    back_up(pets)
    pets.settle()
    write(pets, 3)
    pets.settle()
    assert len(records(pets)) == 1
    arn = back_up(pets)
    pets.settle()
    restore(pets, arn, "back")
    pets.settle()
    held, kept = (pets.call("Scan", {"TableName": name})["Items"] for name in ("pets", "back"))
    assert held == kept


def test_a_system_backup_goes_after_35_days(pets: SteppedEngine, clock: Clock) -> None:
    recover(pets)
    write(pets, 3)
    pets.call("DeleteTable", {"TableName": "pets"})
    clock.move(35 * DAY - timedelta(seconds=1))
    pets.settle()
    request = {"BackupType": "SYSTEM"}
    (kept,) = pets.call("ListBackups", request)["BackupSummaries"]
    assert kept["BackupName"] == "pets$DeletedTableBackup"
    clock.move(timedelta(seconds=1))
    pets.settle()
    assert pets.call("ListBackups", request)["BackupSummaries"] == []
    assert snapshots(pets) == []


def test_a_snapshot_that_cannot_be_made_is_marked_and_leaves_the_others_alone(
    pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(pets, 5)
    arn = back_up(pets)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "pack", broken)
        with pytest.raises(ZeroDivisionError):
            pets.job_step()
    assert [one.status for one in snapshots(pets)] == ["FAILED"]
    assert not pets.job_step()
    assert pets.call("ListBackups", {})["BackupSummaries"] == []
    described = pets.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]["BackupDetails"]
    assert described["BackupStatus"] == "DELETED"
    pets.call("DeleteBackup", {"BackupArn": arn})
    back_up(pets)
    pets.settle()
    assert [one.status for one in snapshots(pets)] == ["AVAILABLE"]


def test_a_restore_that_cannot_be_finished_takes_its_table_with_it(
    pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(pets, 5)
    arn = back_up(pets)
    pets.settle()
    restore(pets, arn, "back")
    with monkeypatch.context() as patched:
        patched.setattr("tablewright.engine.history.time_travel.unpack", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            pets.job_step()
    assert pets.call("ListTables", {})["TableNames"] == ["cats", "pets"]
    pets.settle()
    restore(pets, arn, "back")
    pets.settle()
    assert pets.call("DescribeTable", {"TableName": "back"})["Table"]["ItemCount"] == 5


def test_backups_made_in_one_millisecond_are_listed_in_the_order_they_were_made(pets: SteppedEngine) -> None:
    # The clock stands still: what is random in an ARN must not decide the order.
    made = [back_up(pets, name=f"backup-{number}") for number in range(12)]
    assert made == sorted(made)
    assert len({arn.rpartition("/")[2].partition("-")[0] for arn in made}) == len(made)
