"""A fork of the server beside an interpreter that begins: from outside they are the same."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import fork_server
from tests.cli.command import COMMAND

PROGRAM = """
import os, signal, sys, threading, time

what = sys.argv[1]
few = len(os.listdir("/proc/self/fd")) < 6
print("out", sys.argv[1:], os.getcwd(), os.environ.get("COLOUR"), sys.stdout.encoding, few)
print("err", __name__, threading.active_count(), file=sys.stderr)
if what == "echo":
    print(sys.stdin.read())
elif what == "raise":
    raise ValueError("wrong")
elif what == "exit":
    sys.exit("no")
elif what == "seven":
    sys.exit(7)
elif what == "thread":
    threading.Thread(target=lambda: (time.sleep(0.1), print("after the end"))).start()
elif what == "wait":
    sys.stdout.flush()
    time.sleep(60)
"""


@pytest.fixture(params=["fork", "interpreter"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param == "interpreter":
        monkeypatch.setattr(fork_server, "_address", "")
    if request.param == "interpreter" or fork_server._address:  # with `-n` there is one
        yield
        return
    monkeypatch.setattr(fork_server, "_address", "")
    process = fork_server.begin()
    yield
    fork_server.end(process)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


def ended(program: Path, *words: str) -> tuple[int, list[str], str]:
    done = fork_server.run(
        [sys.executable, program, *words], text=True, cwd=program.parent, env={"COLOUR": "red"}
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.mark.usefixtures("_way")
def test_a_program_has_its_words_directory_environment_and_streams(program: Path) -> None:
    code, out, err = ended(program, "a", "b c")
    assert (code, out) == (0, [f"out ['a', 'b c'] {program.parent} red utf-8 True"])
    assert err == "err __main__ 1\n"


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(
    ("what", "code", "last"), [("raise", 1, "ValueError: wrong"), ("exit", 1, "no"), ("seven", 7, "")]
)
def test_how_a_program_ends_is_its_code_and_what_it_says(
    program: Path, what: str, code: int, last: str
) -> None:
    found, _, err = ended(program, what)
    assert found == code
    assert err.rstrip().endswith(last)


@pytest.mark.usefixtures("_way")
def test_a_thread_ends_before_its_program(program: Path) -> None:
    assert ended(program, "thread")[:2][1][-1] == "after the end"


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, -signal.SIGINT)],
)
def test_a_signal_ends_a_program(program: Path, sent: signal.Signals, code: int) -> None:
    words = [sys.executable, str(program), "wait"]
    with fork_server.start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
        process.send_signal(sent)
        assert process.wait(30) == -sent
        assert process.poll() == -sent


@pytest.mark.usefixtures("_way")
def test_a_file_that_is_given_stays_open_and_a_pipe_is_read(program: Path, tmp_path: Path) -> None:
    words = [sys.executable, str(program), "echo"]
    with (tmp_path / "said").open("w+") as said:
        with fork_server.start(
            words, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.DEVNULL, text=True
        ) as process:
            process.communicate("heard", timeout=30)
        said.seek(0)
        assert said.read().splitlines()[-1] == "heard"


def test_a_server_outlives_those_who_ask_for_nothing_and_is_for_its_user_alone(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_address", "")
    process = fork_server.begin()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
            asking.connect(fork_server._address)
        assert ended(program, "seven")[0] == 7
        assert Path(fork_server._address).parent.stat().st_mode & 0o077 == 0
    finally:
        fork_server.end(process)
    assert not Path(fork_server._address).parent.exists()


def test_of_a_server_that_is_gone_no_program_has_an_exit_code(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_address", "")
    process = fork_server.begin()
    running = fork_server.start([sys.executable, program, "wait"], stdout=subprocess.DEVNULL)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    with pytest.raises(OSError, match="the fork server is gone"):
        running.wait()
    os.kill(running.pid, signal.SIGKILL)
    running.returncode = -signal.SIGKILL
    shutil.rmtree(Path(fork_server._address).parent)


@pytest.mark.usefixtures("_way")
def test_our_command_is_a_program() -> None:
    done = fork_server.run([*COMMAND, "--version"], text=True)
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "tablewright", "")
