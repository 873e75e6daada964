"""Alarms of a running server: they ring, end, are told of once, and are shown."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from tests.app.browsing import Enter
from tests.app.library import LIBRARY
from tests.app.test_console_frame import text_of

from tablewright import testing
from tablewright.app.alarms.declared import DeclaredAlarm
from tablewright.app.alarms.states import Alarms
from tablewright.app.alarms.webhook import WebhookUnusable, webhook_at
from tablewright.app.runtime import Runtime, open_app
from tablewright.design import Alarm
from tablewright.design.alarms import OWN, WatchedSeries
from tablewright.kit.jobs import Job

MINUTE = timedelta(minutes=1)
# More than ten units in a minute; the library seeds less.
BUSY = Alarm("busy", "ConsumedWriteCapacityUnits", Decimal(10), 1, advice="slow down", requirement="LB-1")
OLD = Alarm("old books", "OldestBook", Decimal(100), 5, "Maximum", "years", missing="ignore", namespace=OWN)


class Received(list[Any]):
    """What a webhook was sent; the answers it gives are taken from `answers`, and then it is 204."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[int] = []


@pytest.fixture(scope="module")
def hook_server() -> Iterator[Received]:
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.headers["Idempotency-Key"], self.path, json.loads(body)))
            self.send_response(received.answers.pop(0) if received.answers else 204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    received.url = f"http://127.0.0.1:{server.server_port}/hook?token=t"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield received
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def hook(hook_server: Received) -> Received:
    hook_server.clear()
    hook_server.answers.clear()
    return hook_server


@contextmanager
def opened(clock: testing.Clock, **more: Any) -> Iterator[Runtime]:
    """A server of the library whose jobs are run by hand, with two alarms."""
    with open_app(memory=True, systems=(LIBRARY,), world=clock.world(), jobs=False, **more) as runtime:
        declared = [
            DeclaredAlarm("library", "Library", WatchedSeries(BUSY, "shelves"), lambda name: name),
            DeclaredAlarm("library", "Library", WatchedSeries(OLD), lambda name: name),
        ]
        alarms = replace(runtime.alarms, declared=declared)
        yield replace(runtime, alarms=alarms)


@pytest.fixture
def runtime(clock: testing.Clock, hook: Received) -> Iterator[Runtime]:
    with opened(clock, alarm_mail=["ops@example.org"], alarm_webhook=hook.url) as made:
        clock.move(10 * MINUTE)  # what was seeded is not of the last periods
        made.alarms.run()
        yield made


def _write(runtime: Runtime, count: int) -> None:
    for number in range(count):
        item = {"PK": {"S": f"X#{number}"}, "SK": {"S": "X"}}
        runtime.call("PutItem", {"TableName": "shelves", "Item": item})


def _states(runtime: Runtime) -> dict[str, str]:
    return {each.declared.alarm.name: each.state for each in runtime.alarms.status()}


def _mail(runtime: Runtime) -> list[str]:
    """The subjects of what is waiting to be sent."""
    found: list[str] = []
    dispatch = runtime.code_login.dispatch
    dispatch.run(lambda letter: found.append(f"{letter.recipient}: {letter.subject}"))
    return found


def test_an_alarm_rings_when_its_metric_is_over_the_threshold_and_ends_after_it(
    runtime: Runtime, clock: testing.Clock, hook: Received
) -> None:
    assert _states(runtime) == {"busy": "OK", "old books": "INSUFFICIENT_DATA"}
    _write(runtime, 12)
    runtime.alarms.run()
    assert _states(runtime)["busy"] == "OK", "the minute is not over"
    clock.move(MINUTE)
    assert runtime.alarms.run() == 1
    assert _states(runtime)["busy"] == "ALARM"
    assert _mail(runtime) == ["ops@example.org: Alarm: shelves-busy of Library"]
    _write(runtime, 2)
    clock.move(MINUTE)
    runtime.alarms.run()
    assert _states(runtime)["busy"] == "OK"
    assert _mail(runtime) == ["ops@example.org: Over: shelves-busy of Library"]
    runtime.alarms.notices.deliver()
    assert [(told["state"], told["before"], told["value"]) for _, _, told in hook] == [
        ("ALARM", "OK", 12.0),
        ("OK", "ALARM", 2.0),
    ]
    assert {path for _, path, _ in hook} == {"/hook?token=t"}
    (busy, _) = runtime.alarms.declared
    changes = runtime.alarms.changes(busy)
    assert [(change.before, change.state) for change in changes][:2] == [("ALARM", "OK"), ("OK", "ALARM")]


def test_without_data_the_alarm_ends_by_its_rule_for_missing_data(
    runtime: Runtime, clock: testing.Clock
) -> None:
    _write(runtime, 12)
    clock.move(MINUTE)
    runtime.alarms.run()
    clock.move(3 * MINUTE)
    runtime.alarms.run()
    assert _states(runtime)["busy"] == "OK"


def test_what_a_system_publishes_rings_too_and_stays_while_nothing_is_known(
    runtime: Runtime, clock: testing.Clock
) -> None:
    runtime.alarms.published.record("library", "OldestBook", 40)
    runtime.alarms.published.record("library", "OldestBook", 130)
    clock.move(MINUTE)
    runtime.alarms.run()
    assert _states(runtime)["old books"] == "ALARM"
    clock.move(timedelta(days=1))
    runtime.alarms.run()
    assert _states(runtime)["old books"] == "ALARM"
    runtime.alarms.published.record("library", "OldestBook", 99)
    clock.move(MINUTE)
    runtime.alarms.run()
    assert _states(runtime)["old books"] == "OK"


def test_of_two_processes_that_see_the_same_one_tells_of_it(runtime: Runtime, clock: testing.Clock) -> None:
    _write(runtime, 12)
    clock.move(MINUTE)
    barrier = threading.Barrier(2)

    class Waiting(Alarms):
        """Both have read the states before either writes."""

        def _stored(self) -> Any:
            found = super()._stored()
            barrier.wait(10)
            return found

    first = runtime.alarms
    parts = (first.db, first.world, first.declared, first.metrics, first.published, first.notices)
    changed: list[int] = []
    threads = [threading.Thread(target=lambda: changed.append(Waiting(*parts).run())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(changed) == [0, 1]
    assert _mail(runtime) == ["ops@example.org: Alarm: shelves-busy of Library"]


def test_a_webhook_that_fails_is_called_again_with_the_same_id(
    runtime: Runtime, clock: testing.Clock, hook: Received
) -> None:
    hook.answers[:] = [503, 429]
    _write(runtime, 12)
    clock.move(MINUTE)
    for _ in range(3):
        runtime.alarms.run()
        runtime.alarms.notices.deliver()
        clock.move(6 * MINUTE)
        _write(runtime, 12)  # still in alarm, so nothing new is told
        clock.move(MINUTE)
    assert len(hook) == 3
    assert len({id for id, _, _ in hook}) == 1
    runtime.alarms.run()
    runtime.alarms.notices.deliver()
    assert len(hook) == 3, "it was accepted"


def test_a_webhook_that_refuses_is_not_called_again(
    runtime: Runtime, clock: testing.Clock, hook: Received
) -> None:
    hook.answers[:] = [410]
    _write(runtime, 12)
    clock.move(MINUTE)
    runtime.alarms.run()
    runtime.alarms.notices.deliver()
    clock.move(timedelta(hours=1))
    runtime.alarms.notices.deliver()
    assert len(hook) == 1


def test_a_webhook_that_is_not_there_keeps_the_call_for_later(clock: testing.Clock, hook: Received) -> None:
    with opened(clock, alarm_webhook="http://127.0.0.1:9/nothing") as runtime:
        clock.move(10 * MINUTE)
        _write(runtime, 12)
        clock.move(MINUTE)
        runtime.alarms.run()
        runtime.alarms.notices.deliver()
        assert _states(runtime)["busy"] == "ALARM"
        clock.move(2 * MINUTE)
        notices = replace(runtime.alarms.notices, webhook=webhook_at(hook.url))
        notices.deliver()
        assert [told["alarm"] for _, _, told in hook] == ["library/shelves-busy"]


@pytest.mark.parametrize(
    "url", ["hooks.example.com", "ftp://x.example", "https://a b.example", "http://h:x/"]
)
def test_an_address_that_is_none_is_refused_and_names_the_option(url: str) -> None:
    with pytest.raises(WebhookUnusable, match="--alarm-webhook"):
        webhook_at(url)


def test_an_alarm_that_cannot_be_evaluated_does_not_keep_the_others_from_it(
    runtime: Runtime, clock: testing.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    unknown = Alarm("unknown", "NoSuchMetric", Decimal(1), 1)
    broken = DeclaredAlarm("library", "Library", WatchedSeries(unknown, "shelves"), _fail)
    alarms = replace(runtime.alarms, declared=[broken, *runtime.alarms.declared])
    _write(runtime, 12)
    clock.move(MINUTE)
    assert alarms.run() == 1
    assert "an alarm was not evaluated" in caplog.messages


def _fail(table: str) -> str:
    raise LookupError(table)


def test_what_a_job_returns_and_whether_it_failed_become_metrics(clock: testing.Clock) -> None:
    with opened(clock) as runtime:
        outcomes: list[Any] = [{"OldestBook": 120.0}, OSError("disk full")]

        def run(_: object) -> Any:
            outcome = outcomes.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        runtime.schedule.add("library", [Job("age", MINUTE, run, publishes=True, failures="FailedJobs")])
        start = clock.now()
        for _ in range(2):
            runtime.schedule.run_due()
            clock.move(MINUTE)
        published = runtime.alarms.published
        published.flush()
        ages = published.points("library", "OldestBook", start, clock.now())
        failures = published.points("library", "FailedJobs", start, clock.now())
        assert [point.most for point in ages] == [120.0]
        assert [point.sum for point in failures] == [0.0, 1.0]


def test_a_point_goes_to_the_log_in_the_form_of_which_cloudwatch_makes_a_metric(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "tablewright.metrics")
    for value in (0, 1):
        runtime.alarms.published.record("library", "5XXError", value)
    runtime.alarms.published.flush()
    (line,) = [vars(record) for record in caplog.records if record.message == "metric"]
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert described == {
        "Namespace": "Tablewright",
        "Dimensions": [["System"]],
        "Metrics": [{"Name": "5XXError"}],
    }
    assert (line["System"], line["5XXError"]) == ("library", 0.5)


# --- the pages ---


def test_the_pages_list_every_alarm_and_draw_its_curve_with_the_threshold(
    enter: Enter, runtime: Runtime, clock: testing.Clock
) -> None:
    _write(runtime, 12)
    clock.move(MINUTE)
    runtime.alarms.run()
    rosa = enter("engineer_rosa")
    listed = rosa.get("/console/designs/alarms")
    assert listed.status_code == 200
    assert "In alarm now" in text_of(listed)
    assert "Sum of ConsumedWriteCapacityUnits over 10 in a minute" in text_of(listed)
    link = "/console/designs/alarms/library/busy?series=shelves-busy"
    assert f'href="{link}"' in listed.text
    page = rosa.get(link)
    assert page.status_code == 200
    for words in ("In alarm since", "slow down", "LB-1", "threshold"):
        assert words in text_of(page), words
    assert "timeline-limit" in page.text
    assert "ConsumedWriteCapacityUnits: Sum 12 now" in page.text
    assert "No data since" in text_of(rosa.get("/console/designs/alarms/library/old%20books"))
    assert rosa.get("/console/designs/alarms/library/nothing").status_code == 404
    assert rosa.get("/console/designs/alarms/library/busy?series=other").status_code == 400
