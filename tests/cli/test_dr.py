"""`tablewright dr`: the regions of a store are shown, failed over and rejoined while no server has it open."""

import json
from pathlib import Path

import pytest
from tests.cli.command import here, served
from tests.engine.replicating import HERE, THERE, update
from tests.engine.tables import definition, names, put

from tablewright.app import drill
from tablewright.engine import Regions, verify_store
from tablewright.engine.replication.failover import failover, fence, plan_failover


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of two regions, with one table that both have."""
    path = tmp_path / "store"
    with opened(path) as regions:
        regions[HERE].call("CreateTable", definition())
        regions[HERE].call("PutItem", put("rex"))
        regions[HERE].call("UpdateTable", update("Create", THERE))
        regions.settle()
    return path


def opened(path: Path) -> Regions:
    return Regions.open(path, home=HERE, also=[THERE], durability="relaxed", period=None)


def test_status_shows_who_writes_and_what_is_not_replicated(store: Path) -> None:
    level = here("dr", "status", "--data", store)
    assert (level.code, level.err) == (0, "")
    assert [line.split() for line in level.out.splitlines()[1:]] == [
        ["pets", HERE, "ACTIVE", "all", "0", "-"],
        ["pets", THERE, "ACTIVE", "all", "0", "-"],
    ]
    with opened(store) as regions:
        regions[HERE].call("PutItem", put("tom"))
    behind = here("dr", "status", "--data", store, "--json")
    assert behind.code == 1
    (lag,) = [lag for one in json.loads(behind.out) for lag in one["lags"] if lag["pending"]]
    assert (lag["source"], lag["reader"], lag["pending"]) == (HERE, THERE, 1)


def test_a_planned_fail_over_needs_no_yes_and_loses_nothing(store: Path) -> None:
    with opened(store) as regions:
        regions[HERE].call("PutItem", put("tom"))
    done = here("dr", "failover", THERE, "--data", store)
    assert (done.code, done.out) == (0, f"pets: {THERE} is the writer of epoch 1\n")
    assert here("dr", "status", "--data", store).code == 0
    again = here("dr", "failover", THERE, "--data", store)
    assert (again.code, again.out) == (0, f"{THERE} is the writer of every table already\n")
    with opened(store) as regions:
        assert names(regions[HERE]) == names(regions[THERE]) == ["rex", "tom"]
    assert verify_store(store) == []


@pytest.mark.parametrize(("lost", "to"), [(HERE, THERE), (THERE, HERE)])
def test_a_lost_region_takes_yes_and_rejoins_with_a_list_of_what_is_lost(
    store: Path, lost: str, to: str
) -> None:
    assert here("dr", "failover", lost, "--data", store).code == 0
    with opened(store) as regions:
        regions[lost].call("PutItem", put("late"))
    plan = here("dr", "failover", to, "--lost", lost, "--data", store)
    assert plan.code == 1
    assert f"what only {lost} has is not replicated" in plan.out
    assert "--yes" in plan.err
    done = here("dr", "failover", to, "--lost", lost, "--data", store, "--yes", "--json")
    assert (done.code, [one["unread"] for one in json.loads(done.out)]) == (0, [[lost]])
    unheard = here("dr", "status", "--data", store)
    assert unheard.code == 1
    assert "has not heard of epoch" in unheard.out

    listed = here("dr", "rejoin", lost, "--data", store)
    assert listed.code == 1
    assert "1 write not replicated" in listed.out
    assert '{"pk":{"S":"late"}}' in listed.out
    fenced = here("dr", "status", "--data", store)
    assert "FENCED" in fenced.out
    assert f"`tablewright dr rejoin {lost} --data {store}`" in fenced.out
    rejoined = here("dr", "rejoin", lost, "--data", store, "--yes")
    assert rejoined.code == 0
    assert f"pets: 1 item, the same in {lost} and {to}" in rejoined.out
    assert here("dr", "status", "--data", store).code == 0
    assert here("dr", "rejoin", lost, "--data", store).code == 0  # there is nothing to lose any more
    assert verify_store(store) == []


def test_a_fail_over_that_was_broken_off_is_shown_and_asks_before_it_gives_up_writes(store: Path) -> None:
    with opened(store) as regions:
        failover(regions, HERE)
        regions.settle()
        regions[HERE].call("PutItem", put("late"))
        (plan,) = plan_failover(regions, THERE)
        fence(regions, plan)
    shown = here("dr", "status", "--data", store)
    assert shown.code == 1
    assert f"no region writes: finish with `tablewright dr failover {THERE} --data {store}`" in shown.out
    plan_only = here("dr", "failover", THERE, "--lost", HERE, "--data", store)
    assert plan_only.code == 1
    assert f"after {HERE}; what only {HERE} has is not replicated" in plan_only.out
    done = here("dr", "failover", THERE, "--data", store)
    assert (done.code, done.out) == (0, f"pets: {THERE} is the writer of epoch 2\n")
    assert here("dr", "status", "--data", store).code == 0
    with opened(store) as regions:
        assert names(regions[THERE]) == ["late", "rex"]


@pytest.mark.parametrize("words", [("status",), ("failover", THERE), ("rejoin", HERE)])
def test_a_store_that_a_server_has_open_is_left_alone(store: Path, words: tuple[str, ...]) -> None:
    with served("--data", store, "--also-region", THERE):
        ran = here("dr", *words, "--data", store)
    assert ran.code == 2
    assert "Stop that server" in ran.err


def test_what_cannot_be_done_is_said_in_a_sentence(store: Path, tmp_path: Path) -> None:
    for words, why in (
        (("failover", "mars"), "there is no region mars"),
        (("failover", THERE, "--table", "cats"), "cats has no replicas"),
        (("failover", THERE, "--lost", HERE, "--lost", THERE), "no region of"),
        (("failover", THERE, "--lost", "us-eats-1"), "no table has a replica in us-eats-1"),
        (("rejoin", HERE, "--table", "pets"), "is not fenced"),
    ):
        ran = here("dr", *words, "--data", store)
        assert (ran.code, ran.out) == (2, "")
        assert why in ran.err
    nothing = here("dr", "status", "--data", tmp_path / "none")
    assert nothing.code == 2
    assert nothing.err.rstrip().endswith("name its directory with --data")  # there is no --endpoint here


def test_a_store_without_replicas_has_nothing_to_show(tmp_path: Path) -> None:
    with Regions.open(tmp_path, durability="relaxed") as regions:
        regions["us-east-1"].call("CreateTable", definition())
    ran = here("dr", "status", "--data", tmp_path)
    assert (ran.code, ran.out) == (0, "no table has replicas\n")


def test_a_drill_that_finds_something_says_what_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drill, "_fence_findings", lambda *_: iter(["the fence has a hole"]))
    ran = here("dr", "drill", "--orders", "3", "--workers", "1")
    assert ran.code == 1
    assert "1 finding" in ran.out
    assert "the fence has a hole" in ran.out
