"""Tests in several processes, which are forks of the one that collected them: `pytest -n 6`.

To import and collect 20 000 tests takes 12 s of CPU and 600 MB, which here is spent once; with pytest-xdist each worker
spends it. So a worker more costs nothing, and there may be as many as it takes to keep all cores busy while some wait.
A worker takes a file at a time, of some folders all files together, in the order in which they were collected.
Must hold: each test is reported once, also those that a worker leaves behind when it dies.
Elsewhere: which folders are taken together, and what is begun first (conftest.py).
"""

import mmap
import os
import signal
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

import pytest
from tests import fork_server

Files = Sequence[Sequence[pytest.Item]]
_NUMBER = 4  # bytes


def add_option(parser: pytest.Parser) -> None:
    # Called as pytest-xdist calls it; what is in lower case pytest keeps to itself, for all who come by the front door.
    parser.getgroup("workers")._addoption(
        "-n", dest="workers", type=int, default=0, metavar="N", help="in N processes (default: in this one)"
    )


def files_of(items: Sequence[pytest.Item], together: Sequence[str]) -> Files:
    """The tests by what a worker takes at once: a file, or all files of a folder."""
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        files.setdefault(next(filter(file.startswith, together), file), []).append(item)
    return tuple(files.values())


class Queue:
    """The numbers of files that nobody took yet: in a pipe, from which each is read by one process only."""

    def __init__(self, count: int) -> None:
        self._taken, put = os.pipe()
        with os.fdopen(put, "wb") as queue:  # there is room for 16 000
            queue.writelines(number.to_bytes(_NUMBER, "big") for number in range(count))
        self._is_ended = mmap.mmap(-1, 1)  # shared with the workers

    def __iter__(self) -> Iterator[int]:
        while number := os.read(self._taken, _NUMBER):
            yield int.from_bytes(number, "big")

    def end(self) -> None:
        """Let no worker begin another test."""
        self._is_ended[0] = 1

    @property
    def is_ended(self) -> bool:
        return self._is_ended[0] == 1

    def close(self) -> None:
        os.close(self._taken)
        self._is_ended.close()


# --- in the process that collected the tests ---


@dataclass
class Worker:
    """One of the processes, and the test that it began last."""

    process: int
    told: Connection
    test: int | None = None


def run(session: pytest.Session, files: Files, count: int) -> None:
    """Run all tests, and report them as if they ran here."""
    queue = Queue(len(files))
    forks = fork_server.begin()
    left = {id(item): item for file in files for item in file}
    workers = [_begun(session, number, files, queue) for number in range(count)]
    try:
        for test, reports in _reported(workers):
            item = left.pop(test)
            _report(item, reports or [_of_dead(item)])
            if session.shouldfail or session.shouldstop:
                queue.end()
    finally:
        for worker in workers:  # one that still runs is interrupted, as this process was
            os.kill(worker.process, signal.SIGKILL)
            os.waitpid(worker.process, 0)
            worker.told.close()
        fork_server.end(forks)
        queue.close()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    for item in left.values():
        _report(item, [_of_dead(item)])


def _begun(session: pytest.Session, number: int, files: Files, queue: Queue) -> Worker:
    told, tell = Pipe(duplex=False)
    process = os.fork()
    if process == 0:
        try:
            _work(session, number, files, queue, tell)
        except BaseException:
            session.config.pluginmanager.getplugin("capturemanager").stop_global_capturing()
            traceback.print_exc()
        finally:
            os._exit(0)  # whoever forked goes on with the session, its reports and its exit
    tell.close()
    return Worker(process, told)


def _reported(workers: Sequence[Worker]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """What is reported of each test, as it comes: of one whose worker died, nothing."""
    running = {worker.told: worker for worker in workers}
    while running:
        for told in wait(list(running)):
            assert isinstance(told, Connection)
            worker = running[told]
            try:
                said = told.recv()
            except EOFError:
                said = None
            if said is None:
                del running[told]
                said = []
            if isinstance(said, int):
                worker.test = said
            elif worker.test is not None:
                yield worker.test, said
                worker.test = None


def _report(item: pytest.Item, reports: Sequence[dict[str, Any]]) -> None:
    hook = item.config.hook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in reports:
        made = hook.pytest_report_from_serializable(config=item.config, data=report)
        hook.pytest_runtest_logreport(report=made)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _of_dead(item: pytest.Item) -> dict[str, Any]:
    why = "the worker that took this test died before it was done; what it said is above"
    report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
    return dict(item.config.hook.pytest_report_to_serializable(config=item.config, report=report))


# --- in a worker ---


def _work(session: pytest.Session, number: int, files: Files, queue: Queue, tell: Connection) -> None:
    manager = session.config.pluginmanager
    manager.unregister(name="terminalreporter")
    # What tests write is kept in files, which all processes would else share.
    capture = manager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    # Nor do they share a directory: each removes what was left of its last test.
    home = session.config._tmp_path_factory  # type: ignore[attr-defined]  # as pytest-xdist has it
    home._basetemp = home.getbasetemp() / f"worker-{number}"
    home._basetemp.mkdir()
    manager.register(Reporter(session.config, tell))
    tests = (test for file in queue for test in files[file])
    test = next(tests, None)
    while test is not None:
        tell.send(id(test))
        # The next file is taken before the last test of this one, which ends only what the next does not use.
        following = None if queue.is_ended else next(tests, None)
        session.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
        test = following
    tell.send(None)  # what a test forked may hold this end of the pipe open


@dataclass(eq=False)  # a plugin is known by what it is
class Reporter:
    """In place of the terminal."""

    config: pytest.Config
    tell: Connection
    reports: list[dict[str, Any]] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_runtest_logfinish(self) -> None:
        self.tell.send(self.reports)
        self.reports.clear()
