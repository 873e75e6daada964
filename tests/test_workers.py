"""Tests in several processes are all reported as if one ran them, also those that a dead worker leaves behind."""

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = """
from tests import workers

def pytest_addoption(parser):
    workers.add_option(parser)

def pytest_runtestloop(session):
    workers.run(session, workers.files_of(session.items, ("together/",)), session.config.getoption("workers"))
    return True
"""
DEADLY = """
import os

def test_before(): pass
def test_dies(): os._exit(0)
def test_after(): pass
"""
MIXED = """
import pytest

@pytest.fixture
def broken():
    yield
    raise ValueError("in the end")

def test_passes(tmp_path): assert list(tmp_path.iterdir()) == []
def test_fails(): print("said before"); assert 1 == 2
def test_breaks(broken): pass
def test_waits(): pytest.skip("for nothing")
"""
PROCESS = """
import os
from pathlib import Path

def test_process(): (Path(__file__).parents[1] / f"{os.getpid()}.pid").touch()
"""


def ran(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (home / "conftest.py").write_text(CONFTEST)
    here = str(Path(__file__).parents[1])
    words = (
        "-q",
        "-c",
        os.devnull,
        "--rootdir",
        str(home),
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        *options,
    )
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=home,
        env={**os.environ, "PYTHONPATH": here, "PYTEST_ADDOPTS": "", "TMPDIR": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_each_test_is_reported_once_also_what_a_worker_that_died_has_left(tmp_path: Path) -> None:
    (tmp_path / "test_deadly.py").write_text(DEADLY)
    (tmp_path / "test_mixed.py").write_text(MIXED)
    done = ran(tmp_path, "-n", "2")
    assert done.returncode == 1
    assert "3 failed, 3 passed, 1 skipped, 1 error" in done.stdout, done.stdout + done.stderr
    for name in ("test_deadly.py::test_dies", "test_deadly.py::test_after", "test_mixed.py::test_fails"):
        assert done.stdout.count(f"FAILED {name}") == 1
    assert "ERROR test_mixed.py::test_breaks - ValueError: in the end" in done.stdout
    assert "said before" in done.stdout


def test_one_worker_takes_all_files_of_a_folder_that_share_something(tmp_path: Path) -> None:
    (tmp_path / "together").mkdir()
    for number in range(8):
        (tmp_path / "together" / f"test_{number}.py").write_text(PROCESS)
    done = ran(tmp_path, "-n", "3", "--import-mode=importlib")
    assert (done.returncode, len(list(tmp_path.glob("*.pid")))) == (0, 1), done.stdout


def test_after_as_many_failures_as_were_asked_for_no_worker_begins_another_test(tmp_path: Path) -> None:
    for number in range(2):
        tests = "import time\ndef test_fails(): assert False\n"
        tests += "".join(f"def test_{each}(): time.sleep(0.05)\n" for each in range(200))
        (tmp_path / f"test_{number}.py").write_text(tests)
    done = ran(tmp_path, "-n", "2", "-x")
    assert done.returncode == 1
    assert "stopping after" in done.stdout
    assert "400 passed" not in done.stdout
