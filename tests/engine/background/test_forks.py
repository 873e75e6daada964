"""A process that forks while a store is open: the child is told no, and the parent's store stays whole.

In processes of their own, since a fork of the tests' would carry all that the tests have open.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tablewright.engine import Engine, verify_store

PROGRAM = """
import os, sys, warnings
from tablewright.engine import Engine, EngineClosed, StoreInUse
from tests.engine.tables import definition, put

warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads is the point
engine = Engine.open(sys.argv[1], durability="relaxed")
engine.call("CreateTable", definition())
engine.call("PutItem", put("before"))
group = engine.start_group([("PutItem", put("meanwhile"))], wait=True)  # somebody is writing when the process forks
child = os.fork()
if not child:
    for deed in (
        lambda: engine.call("PutItem", put("child")),
        lambda: engine.call("DescribeTable", {"TableName": "pets"}),
        lambda: engine.start_group([("PutItem", put("child"))], wait=True),
        lambda: engine.session.read(lambda reading: None),
        lambda: engine.verify(),
        lambda: Engine.open(sys.argv[1]),
    ):
        try:
            deed()
            print("it was done")
        except (EngineClosed, StoreInUse) as refusal:
            print(type(refusal).__name__, refusal)
    engine.close()
    with Engine.open() as own:
        own.call("CreateTable", definition())
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
group.finish()
engine.call("PutItem", put("after"))
sys.stdout.flush()
os._exit(0)  # so that only the log has it
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def run(program: str, store: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, str(store)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_child_is_told_no_and_the_parent_goes_on(store: Path) -> None:
    said = run(PROGRAM, store)
    assert all("this engine was opened before the process was forked" in line for line in said[:5])
    assert said[5].startswith("StoreOfParent ")
    assert len(said) == 6
    assert verify_store(store) == []
    with Engine.open(store) as engine:
        found = engine.call("Scan", {"TableName": "pets"})["Items"]
    assert sorted(one["pk"]["S"] for one in found) == ["after", "before", "meanwhile"]


CLOSED = """
import os, sys, warnings
from tablewright.engine import Engine
from tablewright.engine.background import forks
engine = Engine.open(sys.argv[1], durability="relaxed")
engine.close()
child = os.fork()
if not child:
    print("stores to wait for:", len(forks._quiescing))
    engine.close()
    print("closed again")
    sys.stdout.flush()
    grandchild = os.fork()
    if grandchild:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
    engine.close()
    with Engine.open(sys.argv[1]) as again:
        print(again.verify())
    sys.exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_store_that_was_closed_before_holds_up_no_child_and_no_child_of_one(store: Path) -> None:
    assert run(CLOSED, store) == ["stores to wait for: 0", "closed again", "[]"]


ORPHAN = """
import os, signal, sys, warnings
from tablewright.engine import Engine
warnings.simplefilter("ignore", DeprecationWarning)
engine = Engine.open(sys.argv[1], durability="relaxed")
if not os.fork():
    print("forked", flush=True)  # by the child: only now has it let go of the parent's lock
    os.read(0, 1)  # until the test has opened the store
    os._exit(0)
signal.pause()
"""


def test_a_child_does_not_keep_the_store_from_others_when_the_parent_is_gone(store: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.wait(30)
    Engine.open(store).close()
    process.stdin.close()
    process.stdout.close()


BUSY = """
import os, sys, time, warnings
from tablewright.engine import Engine
from tests.engine.tables import definition, put
warnings.simplefilter("ignore", DeprecationWarning)
children = []
for number in range(40):
    engine = Engine.open(f"{sys.argv[1]} {number}", durability="relaxed")
    engine.call("CreateTable", definition())
    engine.call("PutItem", put("rex"))  # and the engine's threads have begun with what a new table brings
    child = os.fork()
    if not child:
        with Engine.open() as own:
            own.call("CreateTable", definition())
        os._exit(0)
    children.append(child)
    engine.close()
until = time.monotonic() + 20
while children and time.monotonic() < until:
    children = [child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)]
    time.sleep(0.01)
for child in children:
    os.kill(child, 9)
print(len(children), "hang")
"""


def test_a_child_of_a_process_whose_threads_are_at_work_opens_a_store_of_its_own(store: Path) -> None:
    assert run(BUSY, store) == ["0 hang"]


SEVERAL = """
import os, sys, threading, time, warnings
from tablewright.engine import Engine
from tests.engine.tables import definition, put
warnings.simplefilter("ignore", DeprecationWarning)
engine = Engine.open(sys.argv[1], durability="relaxed")
engine.call("CreateTable", definition())
rows = engine._storage.acquire_reader()  # a read that takes its time

def fork():
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)

threads = [threading.Thread(target=fork) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
engine._storage.release_reader(rows)
engine.call("PutItem", put("after"))
print("written")
engine.close()
"""


def test_several_threads_that_fork_at_once_leave_the_writer_free(store: Path) -> None:
    assert run(SEVERAL, store) == ["written"]
