"""Commands and programs of tests as forks of a process that has imported what they need: a start costs 0.05 s, not 1.5.

With `pytest -n` the process that collected the tests forks the server before any test runs; without `-n` `start` begins
an interpreter, as a user does. A fork has the arguments, directory, environment, signals and standard streams that it
is given, and no thread, open file or handler of the tests.
Must hold: output, exit code and signals are those of an interpreter. What differs: a fork has the modules and the path
of the tests, whatever PYTHONPATH says, and no options of Popen but the streams, cwd and env. Tests of how an
interpreter begins (what it imports, a tracer, a pipeline of the shell) call subprocess.
"""

import array
import atexit
import faulthandler
import fcntl
import gc
import json
import logging
import os
import runpy
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Word = str | Path
_STREAMS = 3
_REQUEST, _STATUS = 1 << 20, 4  # bytes
_PATIENCE = 10.0  # seconds until a test has asked
# As an interpreter that begins has them.
_GARBAGE = 700, 10, 10
_WARNINGS = (
    ("default", DeprecationWarning, "__main__"),
    *(
        ("ignore", each, "")
        for each in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
    ),
)
_address = ""


def start(words: Sequence[Word], **options: Any) -> "subprocess.Popen[Any]":
    """A program of ours, `[sys.executable, "-m", "tablewright", ...]` or `[sys.executable, file, ...]`, as Popen."""
    given = [str(word) for word in words]
    is_ours = given[0] == sys.executable and (given[1:3] == ["-m", "tablewright"] or given[1].endswith(".py"))
    return _Fork(given, **options) if _address and is_ours else subprocess.Popen(given, **options)


def run(words: Sequence[Word], *, timeout: float = 120, **options: Any) -> "subprocess.CompletedProcess[Any]":
    """The same to its end, with what it printed."""
    with start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class _Fork(subprocess.Popen[Any]):
    """A process whose parent is the fork server, which reports how it ended."""

    _reports: socket.socket

    def _execute_child(self, words: list[str], *rest: Any) -> None:  # as CPython 3.11 to 3.14 calls it
        _, _, _, _, cwd, env, _, _, _, *pipes = rest
        pairs = list(zip(pipes[0:6:2], pipes[1:6:2], strict=True))
        ours, theirs = pairs[0][1], [pairs[0][0], pairs[1][1], pairs[2][1]]
        streams = [there if own == -1 else own for there, own in enumerate(theirs)]
        asked = {
            "words": words,
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
        }
        self._reports = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._reports.connect(_address)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))]
        self._reports.sendmsg([json.dumps(asked).encode()], rights)
        self.pid = self._report()
        self._child_created = True
        # Of a pipe the child's end; a file that was given stays open.
        others = (ours, pairs[1][0], pairs[2][0])
        null = getattr(self, "_devnull", None)
        made = {end for end, other in zip(theirs, others, strict=True) if -1 not in (end, other)}
        for fd in {*made, *([null] if null is not None else [])}:
            os.close(fd)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if wait_flags == os.WNOHANG and not select.select([self._reports], [], [], 0)[0]:
            return 0, 0
        status = self._report()
        self._reports.close()
        return self.pid, status

    def _report(self) -> int:
        said = self._reports.recv(_STATUS)
        if len(said) != _STATUS:
            self._reports.close()
            raise OSError("the fork server is gone: nothing is known of its programs")
        return int.from_bytes(said, "big")

    def _internal_poll(self, **_: Any) -> int | None:
        if self.returncode is None:
            process, status = self._try_wait(os.WNOHANG)
            if process:
                self._handle_exitstatus(status)  # type: ignore[attr-defined]  # as above
        return self.returncode


# --- the server ---


def begin() -> int:
    """Start the server, before there are threads; its process. It ends with this process and those forked from it."""
    global _address
    home = Path(tempfile.mkdtemp(prefix="forks-"))  # for this user alone
    _address = str(home / "socket")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(_address)
    listening.listen(64)
    alive, _lasts = os.pipe()  # the other end is closed when all of them have ended
    process = os.fork()
    if process == 0:
        try:
            os.close(_lasts)
            _serve(listening, alive)
        finally:
            shutil.rmtree(home, ignore_errors=True)
            os._exit(1)
    listening.close()
    os.close(alive)
    return process


def end(process: int) -> None:
    os.kill(process, signal.SIGTERM)
    os.waitpid(process, 0)


def _serve(listening: socket.socket, alive: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the tests, which end this process
    signal.signal(signal.SIGCHLD, lambda *_: None)
    is_over: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: is_over.append(number))
    ended, wake = socket.socketpair()
    wake.setblocking(False)
    ended.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    parents: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for readable in (listening, ended, alive):
            selector.register(readable, selectors.EVENT_READ)
        while not is_over:
            for key, _ in selector.select():
                if key.fileobj is listening:
                    with suppress(OSError, ValueError):  # a test that was ended while it asked
                        _answer(listening.accept()[0], parents)
                elif key.fileobj is ended:
                    ended.recv(4096)
                else:
                    return
            _report_ended(parents)


def _answer(parent: socket.socket, parents: dict[int, socket.socket]) -> None:
    parent.settimeout(_PATIENCE)
    rights = array.array("i")
    asked, files, _, _ = parent.recvmsg(_REQUEST, socket.CMSG_SPACE(_STREAMS * rights.itemsize))
    for _, _, sent in files:
        rights.frombytes(sent)
    if len(rights) != _STREAMS:
        parent.close()
        return
    process = _start(asked, list(rights))
    parents[process] = parent
    for fd in rights:
        os.close(fd)
    parent.send(process.to_bytes(_STATUS, "big"))


def _report_ended(parents: dict[int, socket.socket]) -> None:
    while parents:
        process, status = os.waitpid(-1, os.WNOHANG)
        if process == 0:
            return
        with parents.pop(process) as parent, suppress(OSError):  # the test did not wait for it
            parent.send(status.to_bytes(_STATUS, "big"))


def _start(asked: bytes, streams: Sequence[int]) -> int:
    process = os.fork()
    if process == 0:
        code = 1
        try:
            given = json.loads(asked)
            _take_over(streams, given["cwd"], given["env"])
            code = _code_of(given["words"])
        finally:
            os._exit(code)
    return process


# --- in the fork ---


def _take_over(streams: Sequence[int], cwd: str, env: dict[str, str]) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.disable()
    aside = [fcntl.fcntl(fd, fcntl.F_DUPFD, _STREAMS) for fd in streams]  # one may be in another's place
    for there, fd in enumerate(aside):
        os.dup2(fd, there)
    os.closerange(_STREAMS, max(map(int, os.listdir("/proc/self/fd"))) + 1)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    time.tzset()
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    sys.excepthook, sys.unraisablehook = sys.__excepthook__, sys.__unraisablehook__
    threading.excepthook = threading.__excepthook__
    warnings.resetwarnings()
    for action, category, module in reversed(_WARNINGS):
        warnings.filterwarnings(action, category=category, module=module)  # type: ignore[arg-type]  # two of the literals
    logging.root.handlers.clear()
    logging.root.setLevel(logging.WARNING)
    gc.set_threshold(*_GARBAGE)
    atexit._clear()  # what pytest does at its end


def _code_of(words: Sequence[str]) -> int:
    """Run the program; its exit code."""
    try:
        if words[1] == "-m":
            sys.argv = list(words[2:])
            runpy.run_module(words[2], run_name="__main__", alter_sys=True)
        else:
            sys.argv = list(words[1:])
            sys.path.insert(0, str(Path(words[1]).parent))
            runpy.run_path(words[1], run_name="__main__")
        code: Any = 0
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # as an interpreter that ends: threads first
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code or 0) & 0xFF
