"""Tables that processes share: who starts, seeds, sends and works when there are two, and what is refused by name."""

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.app.library import LIBRARY, Desk, library
from tests.app.library import seed as seed_library
from tests.app.test_mail import server

from tablewright import Engine, testing
from tablewright.app.endpoint import (
    Endpoint,
    EndpointLacks,
    EnvironmentUnknown,
    SecretsDiffer,
    SecretsMissing,
    make_secrets,
)
from tablewright.app.leases import Leases
from tablewright.app.runtime import Runtime, open_on_endpoint
from tablewright.app.schedule import Schedule
from tablewright.app.serve import app_of
from tablewright.app.systems import TRAVEL
from tablewright.client import Call, CallRefused, NoAnswer, embedded
from tablewright.edge import serving_app
from tablewright.kit.jobs import Job
from tablewright.kit.objects.settings import ObjectsUnusable
from tablewright.kit.system import Progress
from tablewright.world import real_world

URL = "https://app.example.com"
PATIENCE = 30


@pytest.fixture
def endpoint(engine: Engine, tmp_path: Path) -> Endpoint:
    """The tables of an engine, and the files that every process is given."""
    make_secrets(tmp_path / "secrets", (TRAVEL,), real_world())
    (tmp_path / "objects").mkdir()
    call = embedded(engine)
    return Endpoint(call, call, "the engine", tmp_path / "secrets", str(tmp_path / "objects"))


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as opened:
        yield opened


@contextmanager
def two(endpoint: Endpoint, **options: Any) -> Iterator[tuple[Runtime, Runtime]]:
    """Two processes that start at the same moment, as far as the tables can tell."""
    options = {"systems": (LIBRARY,), "url": URL, "jobs": False, **options}
    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        begun = [pool.submit(open_on_endpoint, endpoint, **options) for _ in range(2)]
        first, second = (stack.enter_context(each.result(PATIENCE)) for each in begun)
        yield first, second


def eventually(is_so: Callable[[], bool]) -> None:
    """Wait until something is so, for as long as a busy machine needs."""
    quiet = threading.Event()
    for _ in range(PATIENCE * 20):
        if is_so():
            return
        quiet.wait(0.05)
    pytest.fail("it did not come to be so")


# --- starting ---


def test_of_two_processes_that_start_at_once_one_seeds(endpoint: Endpoint) -> None:
    seeded: list[str] = []

    def seed(desk: Desk, progress: Progress) -> None:
        seeded.append(threading.current_thread().name)
        seed_library(desk, progress, count=3)

    with two(endpoint, systems=(replace(LIBRARY, seed=seed),)) as (first, second):
        assert len(seeded) == 1
        assert [each.running[0].service.book("b001").title for each in (first, second)] == ["Volume 2"] * 2


def test_ttl_that_another_process_sets_in_the_same_moment_is_no_error(endpoint: Endpoint) -> None:
    def hasty(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "UpdateTimeToLive":
            endpoint.call(verb, request)
        return endpoint.call(verb, request)

    with open_on_endpoint(replace(endpoint, call=hasty), systems=(LIBRARY,), url=URL, jobs=False) as runtime:
        told = runtime.call("DescribeTimeToLive", {"TableName": "shelves"})["TimeToLiveDescription"]
        assert told == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}


def test_an_environment_gives_tables_their_names_and_settings(endpoint: Endpoint, engine: Engine) -> None:
    prod = replace(endpoint, environment="prod")
    with open_on_endpoint(prod, systems=(LIBRARY,), url=URL, jobs=False) as runtime:
        assert {"house-prod", "house_accounts-prod", "shelves"} <= set(engine.tables)
        assert runtime.call("DescribeTable", {"TableName": "shelves"})["Table"]["DeletionProtectionEnabled"]


def test_backups_are_made_by_the_processes_on_request_and_their_failure_is_an_alarm(
    endpoint: Endpoint, engine: Engine
) -> None:
    options: dict[str, Any] = {"systems": (TRAVEL,), "url": URL, "jobs": False, "seed": False}
    with open_on_endpoint(replace(endpoint, environment="prod"), **options) as runtime:
        assert "backups" not in [due.job.name for due in runtime.schedule.listed()]
    with open_on_endpoint(replace(endpoint, environment="prod", backups=True), **options) as runtime:
        assert "failed-backups" in [each.name for each in runtime.alarms.declared]
        assert "travel.backups" in runtime.schedule.run_due()
        assert runtime.advice == (), "copies elsewhere are not made here"
        engine.settle()
        backed_up = {one["TableName"] for one in engine.call("ListBackups", {})["BackupSummaries"]}
        assert backed_up == {
            runtime.running[0].db.physical(name) for name in runtime.running[0].db.designs[0].tables
        }


# --- refused by name ---


def test_missing_secrets_are_named_and_none_is_made(endpoint: Endpoint) -> None:
    shutil.rmtree(endpoint.secrets / "keys")
    (endpoint.secrets / "page-tokens.secret").unlink()
    shutil.rmtree(endpoint.secrets / "systems" / "travel" / "secrets")
    with pytest.raises(SecretsMissing) as refused:
        open_on_endpoint(endpoint, systems=(TRAVEL,), url=URL)
    for name in ("page-tokens.secret", "keys/000001.json", "systems/travel/secrets/000001.secret"):
        assert name in str(refused.value)
        assert not (endpoint.secrets / name).exists()


def test_a_process_with_another_secret_is_refused(endpoint: Endpoint, tmp_path: Path) -> None:
    make_secrets(tmp_path / "others", (), real_world())
    with open_on_endpoint(endpoint, systems=(LIBRARY,), url=URL, jobs=False):
        others = replace(endpoint, secrets=tmp_path / "others")
        with pytest.raises(SecretsDiffer, match=r"page-tokens\.secret"):
            open_on_endpoint(others, systems=(LIBRARY,), url=URL, jobs=False)


def test_an_environment_and_a_place_for_objects_must_exist(endpoint: Endpoint) -> None:
    with pytest.raises(EnvironmentUnknown, match=r"library.*prod"):
        open_on_endpoint(replace(endpoint, environment="sit"), systems=(LIBRARY,), url=URL)
    with pytest.raises(ObjectsUnusable, match="/nowhere"):
        open_on_endpoint(replace(endpoint, objects="/nowhere"), systems=(LIBRARY,), url=URL)


def test_what_an_endpoint_lacks_is_said_at_the_start_with_the_name_of_the_system(endpoint: Endpoint) -> None:
    with pytest.raises(EndpointLacks, match=r"Lending library needs.*UnknownOperationException.*--only"):
        open_on_endpoint(
            replace(endpoint, call=without(endpoint.call, "shelves")), systems=(LIBRARY,), url=URL
        )


def without(call: Call, table: str) -> Call:
    """An endpoint that cannot make a table."""

    def refusing(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "CreateTable" and request["TableName"] == table:
            raise CallRefused("UnknownOperationException", "not supported")
        return call(verb, request)

    return refusing


# --- leases ---


def test_a_lease_has_one_owner_until_it_is_given_back_or_its_time_is_over(endpoint: Endpoint) -> None:
    clock = testing.Clock()
    with open_on_endpoint(endpoint, systems=(), url=URL, jobs=False) as runtime:
        first, second = (Leases(runtime.db, clock.world()) for _ in range(2))
        mine = first.take("mail")
        assert mine is not None
        assert second.take("mail") is None
        first.release(mine)
        theirs = second.take("mail")
        assert theirs is not None
        clock.move(timedelta(seconds=31))
        assert first.take("mail") is not None
        assert second.renewed(theirs) is None  # its owner was away for too long
        second.release(theirs)
        assert second.take("mail") is None


def test_who_holds_a_lease_learns_of_its_loss_and_who_waits_gets_it(endpoint: Endpoint) -> None:
    with open_on_endpoint(endpoint, systems=(), url=URL, jobs=False) as runtime:
        short = timedelta(seconds=2)
        first, second = (Leases(runtime.db, runtime.world, short) for _ in range(2))
        stop = threading.Event()
        with first.held("mail", stop) as lost:
            threading.Event().wait(3)  # longer than the lease: it is renewed
            assert second.take("mail") is None
            assert not lost.is_set()
            stop.set()
            assert lost.wait(PATIENCE)
        with second.held("mail", threading.Event()) as lost:
            assert not lost.is_set()


def test_who_holds_a_lease_learns_of_its_loss_while_the_tables_do_not_answer(endpoint: Endpoint) -> None:
    answer = threading.Event()
    is_cut_off = threading.Event()

    def hanging(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if is_cut_off.is_set():
            answer.wait(PATIENCE)
        return endpoint.call(verb, request)

    with open_on_endpoint(replace(endpoint, call=hanging), systems=(), url=URL, jobs=False) as runtime:
        leases = Leases(runtime.db, runtime.world, timedelta(seconds=1))
        with leases.held("mail", threading.Event()) as lost:
            is_cut_off.set()
            assert lost.wait(PATIENCE / 3), (
                "its renewal waits for an answer, and another process has it by now"
            )
            answer.set()


# --- work ---


def test_a_message_is_sent_by_one_process(endpoint: Endpoint) -> None:
    with server() as post, two(endpoint, jobs=True, mail=post.way()) as (first, second):
        for number in range(20):
            first.accounts.add(f"reader{number}@library.example")
            (first, second)[number % 2].code_login.start(f"reader{number}@library.example")
        eventually(lambda: len({str(one["Message-ID"]) for one in post.messages}) == 20)
    assert len(post.messages) == 20


def test_a_change_of_an_alarm_is_posted_by_one_process(endpoint: Endpoint) -> None:
    posted: list[str] = []

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            posted.append(self.headers["Idempotency-Key"])
            threading.Event().wait(0.2)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as hooks:
        threading.Thread(target=hooks.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{hooks.server_port}/"
        with two(endpoint, jobs=True, alarm_webhook=url) as processes:
            box = processes[0].alarms.notices.calls
            for _ in range(5):
                processes[0].db.write(box.mail("webhook", "call", {"json": "{}"}, kept=timedelta(days=1)))
            with ThreadPoolExecutor(2) as pool:  # the next minute of both
                list(pool.map(lambda each: each.alarms.run(), processes))
            eventually(lambda: len(set(posted)) == 5)
        hooks.shutdown()
    assert len(posted) == 5


def test_long_work_runs_in_one_process_and_the_other_shows_it(endpoint: Endpoint) -> None:
    go = threading.Event()
    with two(endpoint) as (first, second):
        work = first.works.start("count", "Count", lambda progress: go.wait(PATIENCE), by="Rosa")
        again = second.works.start("count", "Count", lambda progress: None, by="Tom")
        assert (again.id, again.by) == (work.id, "Rosa")
        with open_on_endpoint(endpoint, systems=(LIBRARY,), url=URL, jobs=False) as third:
            found = third.works.find(work.id)
            assert found is not None
            assert found.state == "RUNNING"  # a process that starts does not end the work of another
        go.set()
        first.works.wait(work.id)
        assert [each.state for each in second.works.recent()] == ["DONE"]


def test_work_of_a_process_that_died_is_interrupted(endpoint: Endpoint) -> None:
    clock, go = testing.Clock(), threading.Event()
    options: dict[str, Any] = {"systems": (), "url": URL, "jobs": False, "world": clock.world()}
    with open_on_endpoint(endpoint, **options) as first:
        work = first.works.start("count", "Count", lambda progress: go.wait(PATIENCE), by="Rosa")
        clock.move(timedelta(minutes=1))  # as if it had not been renewed
        with open_on_endpoint(endpoint, **options) as second:
            found = second.works.find(work.id)
        go.set()
    assert found is not None
    assert found.state == "INTERRUPTED"


def test_a_process_that_goes_on_shows_that_the_work_of_one_that_died_was_interrupted(
    endpoint: Endpoint,
) -> None:
    clock, go = testing.Clock(), threading.Event()
    with two(endpoint, world=clock.world()) as (first, second):
        work = first.works.start("count", "Count", lambda progress: go.wait(PATIENCE), by="Rosa")
        assert [each.state for each in second.works.recent()] == ["RUNNING"]
        clock.move(timedelta(minutes=1))  # as if it had not been renewed
        found = second.works.find(work.id)
        assert found is not None
        assert found.state == "INTERRUPTED"
        go.set()


def test_work_that_lost_its_lease_ends_with_its_next_step(endpoint: Endpoint) -> None:
    clock, begun = testing.Clock(), threading.Event()

    def endless(progress: Progress) -> None:
        while True:
            progress(1, None, "items")
            begun.set()
            threading.Event().wait(0.01)

    with open_on_endpoint(endpoint, systems=(), url=URL, jobs=False, world=clock.world()) as runtime:
        work = runtime.works.start("count", "Count", endless, by="Rosa")
        assert begun.wait(PATIENCE)
        clock.move(timedelta(minutes=1))  # another process may have begun the same
        runtime.works.wait(work.id)
        found = runtime.works.find(work.id)
    assert found is not None
    assert found.state == "INTERRUPTED"


def test_work_that_could_not_be_recorded_can_be_begun_again(endpoint: Endpoint) -> None:
    is_down = threading.Event()

    def failing(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if is_down.is_set() and "WORK#" in str(request):
            raise NoAnswer(verb, "the tables are away", may_have_been_carried_out=False)
        return endpoint.call(verb, request)

    with open_on_endpoint(replace(endpoint, call=failing), systems=(), url=URL, jobs=False) as runtime:
        is_down.set()
        with pytest.raises(NoAnswer):
            runtime.works.start("count", "Count", lambda progress: None, by="Rosa")
        is_down.clear()
        work = runtime.works.start("count", "Count", lambda progress: None, by="Rosa")
        runtime.works.wait(work.id)
        found = runtime.works.find(work.id)
    assert found is not None
    assert found.state == "DONE"


def test_a_job_runs_in_one_process_and_one_of_the_memory_in_each(endpoint: Endpoint) -> None:
    ran: list[str] = []
    with two(endpoint) as (first, second):
        schedules = [
            Schedule(each.db, each.world, leases=Leases(each.db, each.world)) for each in (first, second)
        ]
        for schedule in schedules:
            schedule.add("library", [Job("count", timedelta(days=1), lambda _: ran.append("count"))])
            flush: Job[Any] = Job("flush", timedelta(days=1), lambda _: ran.append("flush"), of_process=True)
            schedule.add("library", [flush])
        assert [schedule.run_due() for schedule in schedules] == [
            ["library.count", "library.flush"], ["library.flush"],
        ]  # fmt: skip
        assert sorted(ran) == ["count", "flush", "flush"]
        schedules[1].start()
        schedules[1].close()  # what is in memory is not lost with a process that is told to stop
        assert sorted(ran) == ["count", "flush", "flush", "flush"]


# --- pages ---


@pytest.fixture
def workbench(endpoint: Endpoint) -> Iterator[httpx.Client]:
    with (
        open_on_endpoint(endpoint, systems=(LIBRARY,), url=URL, jobs=False) as runtime,
        serving_app(app_of(runtime)) as url,
        httpx.Client(base_url=url, headers={"Accept": "text/html"}, timeout=60) as client,
    ):
        client.post("/sign-in", data={"person": "engineer_rosa"})
        yield client


def test_what_needs_a_store_of_the_process_says_so_and_the_rest_works(workbench: httpx.Client) -> None:
    for path in (
        "/",
        "/console/designs",
        "/console/designs/items?table=shelves",
        f"/console/designs/{library.name}",
        f"/console/designs/{library.name}/patterns/books_by_state",
        f"/console/designs/{library.name}/cost",
        "/console/designs/mail",
    ):
        assert workbench.get(path).status_code == 200, path
    store = workbench.get("/console/designs/store")
    assert store.status_code == 200
    assert "the tables are on an endpoint" in store.text
    assert "Verify the store</button>" not in store.text
    for refused in (
        workbench.get("/console/designs/metrics"),
        workbench.post("/console/designs/store/verify"),
    ):
        assert refused.status_code == 404
        assert "the tables are on an endpoint" in refused.text


def test_ready_asks_the_tables_alone(workbench: httpx.Client) -> None:
    assert workbench.get("/ready").json() == {"status": "ready", "checks": {"store": "ok"}}
