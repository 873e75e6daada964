"""The load of a design as requests: samples with keys of their own, the mix as stated, a run that counts every call."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from tests.cli.command import COMMAND, here

from tablewright import testing
from tablewright.cli.designs import load_designs
from tablewright.client import CallRefused, embedded
from tablewright.design import Design
from tablewright.design.cost.calls import calls_of
from tablewright.design.patterns import get, query
from tablewright.mapping import Db
from tablewright.mapping.load.mix import Operation, operations, prepare
from tablewright.mapping.load.run import Snapshot, quantile, run
from tablewright.mapping.load.samples import GROUP, sample_arguments, sample_item
from tablewright.wire import serving

SYSTEMS = ("parental", "campus", "travel", "chat", "portal")


@pytest.fixture(scope="module", params=SYSTEMS)
def designs(request: pytest.FixtureRequest) -> tuple[Design, ...]:
    return tuple(load_designs(request.param))


@pytest.fixture
def db(designs: tuple[Design, ...]) -> Iterator[Db]:
    with testing.engine() as engine:
        db = Db(embedded(engine), *designs)
        db.create_tables()
        yield db


def test_every_stated_call_can_be_sent_and_is_counted_under_its_name(db: Db) -> None:
    prepare(db, db.designs, lambda done, total: None)
    mix = operations(db, db.designs)
    assert [each.name for each in mix] == [call.name for design in db.designs for call in calls_of(design)]
    for operation in mix:
        for _ in range(3):
            operation.send()
    spent = db.meter.spent()
    assert [each.name for each in mix if spent[each.name].calls < 3] == []


def test_rates_are_those_of_the_design(db: Db) -> None:
    for design in db.designs:
        stated = {call.name: call.a_month for call in calls_of(design)}
        for operation in operations(db, [design]):
            assert operation.a_second == pytest.approx(float(stated[operation.name] / (30 * 86_400)))


def test_samples_of_a_group_are_found_together() -> None:
    (design,) = load_designs("portal")
    shape = design.shape("order")
    keys = [shape.key_of(sample_item(shape, number).__dict__) for number in range(GROUP + 1)]
    assert len({json.dumps(key, sort_keys=True) for key in keys}) == GROUP + 1
    assert len({key["PK"]["S"] for key in keys[:GROUP]}) == 1
    assert keys[GROUP]["PK"] != keys[0]["PK"]


def test_a_pattern_gets_arguments_that_lead_to_the_samples() -> None:
    (design,) = load_designs("travel")
    for plan in design.plans:
        arguments = sample_arguments(plan, 7)
        assert (get if plan.kind == "get" else query)(plan, arguments) is not None


def test_an_item_is_about_as_large_as_its_load_says() -> None:
    (design,) = load_designs("chat")
    item = sample_item(design.shape("message"), 1, 3000)
    assert 2000 < len(item.model_dump_json()) < 4000


# --- a run ---


def _operation(name: str, a_second: float, send: object) -> Operation:
    (design,) = load_designs("travel")
    return Operation(next(iter(calls_of(design))), a_second, send)  # type: ignore[arg-type]


def test_every_call_that_was_due_is_counted_once() -> None:
    sent: list[int] = []
    seen: list[Snapshot] = []
    mix = [_operation("one", 200, lambda: sent.append(1))]
    outcome = run(mix, 2, 0.5, 4, seen.append, threading.Event())
    assert outcome.due == outcome.held == len(outcome.all_times) == len(sent) == 200
    assert outcome.failed == 0
    assert seen[-1].done == 200


def test_a_refused_call_is_an_error_with_its_name_and_not_a_time() -> None:
    def refuse() -> None:
        raise CallRefused("ThrottlingException", "too much", 400)

    outcome = run([_operation("one", 50, refuse)], 1, 0.2, 2, lambda now: None, threading.Event())
    assert (outcome.held, outcome.all_times) == (0, [])
    assert list(outcome.errors.values()) == [outcome.due]
    assert next(iter(outcome.errors))[1] == "ThrottlingException"


def test_a_server_that_falls_behind_is_seen_in_the_share_that_was_held() -> None:
    stuck = threading.Event()
    timer = threading.Timer(2.0, stuck.set)
    timer.start()
    outcome = run([_operation("one", 100, stuck.wait)], 1, 0.2, 2, lambda now: None, threading.Event())
    timer.join()
    assert outcome.due == 20
    assert outcome.held == 0


def test_a_run_ends_when_it_is_stopped() -> None:
    stop = threading.Event()
    outcome = run([_operation("one", 50, stop.set)], 1, 60.0, 2, lambda now: None, stop)
    assert outcome.held <= outcome.due < 60 * 50  # what was due until then


@pytest.mark.parametrize(("share", "time"), [(0.5, 50), (0.99, 99), (1.0, 100)])
def test_a_quantile_is_one_of_the_times(share: float, time: int) -> None:
    assert quantile([float(number) for number in range(100, 0, -1)], share) == time
    assert quantile([], share) == 0


# --- the command ---


def test_the_command_reports_times_units_and_cost_and_leaves_no_table() -> None:
    with testing.engine() as engine, serving(engine, port=0) as url:
        ran = here("load", "travel", "--scale", "30", "--seconds", "1", "--endpoint", url, "--json")
        assert engine.call("ListTables", {})["TableNames"] == []
    report = json.loads(ran.out)
    assert report["errors"] == []
    assert report["due"] == pytest.approx(100, rel=0.3)
    assert Decimal(report["requestsPerMonthUsd"]) > 0
    (most, *_) = report["calls"]
    assert 0 < most["p50Ms"] <= most["p99Ms"] <= most["p999Ms"]


def test_a_design_without_load_is_refused(tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text(
        "from tablewright.design import Design\nsilent = Design('silent')\nsilent.table('things', pk='PK')\n"
    )
    ran = here("load", f"{tmp_path}/silent.py:silent")
    assert (ran.code, ran.out) == (2, "")
    assert "states no load" in ran.err


def test_a_terminal_shows_the_run_and_one_that_is_ended_by_ctrl_c_reports_what_was_done() -> None:
    screen, terminal = os.openpty()
    command = [*COMMAND, "load", "travel", "--seconds", "3600", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True) as process:
        os.close(terminal)
        shown = ""
        while (
            " due " not in shown
        ):  # at its stated load travel makes a few calls a second: workers wait for theirs
            shown += os.read(screen, 1000).decode()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        shown += os.read(screen, 1000).decode()
    os.close(screen)
    assert "last second p50" in shown
    assert "tablewright: stopped; the report is of what was done" in shown
    report = json.loads(out)
    assert report["seconds"] < 3600
    assert report["due"] < 3600
