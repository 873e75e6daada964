"""The process that is killed while it stores an object: `python objects_child.py DIR WORK COUNT`.

WORK is `write` or `upload`. The process kills itself before its COUNTth call that changes files, so that a caller who
counts on from 1 has it die at every place. It prints the id of its upload, and `done` if it comes to its end.
Elsewhere: what must hold afterwards (test_kill_objects.py).
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tablewright.kit.objects.directory import Directory
from tablewright.kit.objects.store import PART_SIZE, Upload
from tablewright.world import real_world

NAME = "files/a1/1"
PARTS = (b"a" * PART_SIZE, b"the end")
CHANGES = (
    "write",
    "pwrite",
    "fsync",
    "replace",
    "mkdir",
    "unlink",
    "rmdir",
    "utime",
    "ftruncate",
    "setxattr",
)


def tell(text: str) -> None:
    os.writev(1, [f"{text}\n".encode()])


def die_before(count: int) -> None:
    """Have the process killed before its count-th change of a file."""
    left = count

    def mined(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*given, **named)

        return changed

    for name in CHANGES:
        setattr(os, name, mined(getattr(os, name)))


def resume(store: Directory, upload: Upload) -> None:
    """What a client does, at first and after each interruption: send what has not arrived, and complete."""
    arrived = {part.number for part in store.parts(upload)}
    for number, content in enumerate(PARTS, 1):
        if number not in arrived:
            store.put_part(upload, number, [content])
    store.complete(upload, sum(map(len, PARTS)))


def main(directory: str, work: str, count: str) -> None:
    store = Directory(Path(directory), real_world())
    die_before(int(count))
    if work == "write":
        store.write(NAME, PARTS)
    else:
        upload = store.begin(NAME)
        tell(upload.id)
        resume(store, upload)
    tell("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
