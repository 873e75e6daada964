"""A process that is killed while it stores an object leaves all of it or nothing, and the sweep deletes the rest.

The child (objects_child.py) is killed before each of its changes of files, one after another. Elsewhere: a bucket of
S3, where the places are requests (tests/kit/test_objects.py).
"""

import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from tests import fork_server
from tests.crash import objects_child
from tests.crash.objects_child import NAME, PARTS, resume

from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.store import Upload
from tablewright.world import machine_time, real_world

WHOLE = b"".join(PARTS)


def killed(home: Path, work: str, count: int) -> tuple[bool, list[str]]:
    """Whether the child was killed, and what it printed."""
    program = [sys.executable, objects_child.__file__, str(home), work, str(count)]
    ran = fork_server.run(program, text=True)
    assert ran.returncode in (0, -signal.SIGKILL), ran.stderr
    return ran.returncode != 0, ran.stdout.split()


def left_over(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


@pytest.mark.parametrize("before", [None, b"the version before"], ids=["new", "replaced"])
def test_a_write_that_is_killed_anywhere_leaves_all_or_nothing(tmp_path: Path, before: bytes | None) -> None:
    count, seen = 1, set[bytes | None]()
    while True:
        home = tmp_path / str(count)
        store = Directory(home, real_world())
        if before is not None:
            store.put(NAME, before)
        is_killed, _ = killed(home, "write", count)
        content = store.get(NAME)
        assert content in (before, WHOLE)
        assert list(store.names("")) == ([NAME] if content is not None else [])
        list(store.remove_abandoned(machine_time() + timedelta(days=1)))
        assert len(left_over(home)) == (content is not None)
        if not is_killed:
            break
        seen.add(content)
        count += 1
    assert content == WHOLE
    assert seen == {before, WHOLE}  # killed before the rename, and after it
    assert count > 5


def test_an_upload_that_is_killed_anywhere_is_resumed_or_swept(tmp_path: Path) -> None:
    count, visible = 1, set[bool]()
    while True:
        home = tmp_path / str(count)
        is_killed, printed = killed(home, "upload", count)
        store = Directory(home, real_world())
        content = store.get(NAME)
        assert content in (None, WHOLE)
        if not is_killed:
            break
        visible.add(content is not None)
        if printed and count % 2:  # the client comes back
            resume(store, Upload(NAME, printed[0]))
            assert store.get(NAME) == content or content is None
            content = WHOLE
        list(store.remove_abandoned(machine_time() + timedelta(days=1)))
        assert store.get(NAME) == content
        assert len(left_over(home)) == (content is not None)
        count += 1
    assert printed[-1] == "done"
    assert visible == {False, True}
    assert count > 15
