"""`tablewright serve`: what it says, what it refuses, how it stops."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from tests import fork_server
from tests.cli.command import COMMAND, here, tablewright

from tablewright.app.serve import DemoIsForThisMachine, check_reach
from tablewright.app.systems import SYSTEMS
from tablewright.cli import main

# Who asks first waits until the pages and the description of the API are made, on a busy machine for long.
get = partial(httpx.get, timeout=30)
# For tests that ask nothing of what is served: one system starts sooner than all.
LITTLE = ("--only", "travel", "--memory", "--no-dynamodb", "--no-seed")


@contextmanager
def serving(
    *arguments: str | Path, cwd: Path | None = None, command: Sequence[str] = COMMAND
) -> Iterator[tuple[list[str], subprocess.Popen[str]]]:
    """The command on free ports: the lines it says when it is ready, and its process; ended afterwards."""
    process = fork_server.start(
        [*command, "serve", "--port", "0", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip())
            if "ready" in line:
                break
        yield lines, process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait(30)
        process.stdout.close()
        process.stderr.close()


def address(lines: list[str], what: str) -> str:
    found = re.search(rf"{what}\s+(http://\S+)", "\n".join(lines))
    assert found is not None, lines
    return found[1].rstrip("/")


def test_plain_lines_say_what_is_where_and_it_is_there(tmp_path: Path) -> None:
    with serving("--dynamodb-port", "0", "--no-seed", cwd=tmp_path) as (lines, process):
        assert lines[-1] == "tablewright: ready; Ctrl-C stops it"
        assert any("./data (durable)" in line for line in lines)
        assert get(address(lines, "console")).status_code == 200
        assert get(address(lines, "console") + "/ready").json()["status"] == "ready"
        assert get(address(lines, "API docs")).status_code == 200
        assert get(address(lines, "DynamoDB")).status_code == 200
        assert get(address(lines, "Customer portal")).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert {path.name for path in (tmp_path / "data").iterdir()} >= {"keys", "page-tokens.secret"}
    assert tablewright("db", "verify", tmp_path / "data").out == "OK\n"


def test_memory_leaves_nothing_on_disk_and_no_dynamodb_listens_nowhere_else(tmp_path: Path) -> None:
    with serving(*LITTLE, cwd=tmp_path) as (lines, process):
        assert not any("DynamoDB" in line for line in lines)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert list(tmp_path.iterdir()) == []


def test_each_request_is_a_line_of_json_if_asked_for(tmp_path: Path) -> None:
    given = ("--memory", "--no-dynamodb", "--no-seed", "--log", "json")
    with serving(*given, cwd=tmp_path) as (lines, process):
        get(address(lines, "console") + "/portal/v1.0/campaigns/SECRET_CODE?preview=secret")
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stderr is not None
        told = [json.loads(line) for line in process.stderr.read().splitlines()]
    (line,) = [line for line in told if line["event"] == "request answered"]
    assert (line["route"], line["status"]) == ("/portal/v1.0/campaigns/{code}", 404)
    assert "SECRET" not in json.dumps(told).upper(), "neither the path nor the query is logged"


# The command in a process whose OpenTelemetry writes each span as a line of a file.
TRACED = """
import sys
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.trace import set_tracer_provider
provider, out = TracerProvider(), open(sys.argv.pop(1), "w")
line = lambda span: span.to_json(None) + "\\n"
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out, formatter=line)))
set_tracer_provider(provider)
from tablewright.cli import main
sys.exit(main())
"""


def test_each_request_and_each_pattern_is_a_span_if_asked_for(tmp_path: Path) -> None:
    spans = tmp_path / "spans"
    traced = (sys.executable, "-c", TRACED, str(spans))
    with serving(*LITTLE, "--otel", cwd=tmp_path, command=traced) as (lines, process):
        assert get(f"{lines[0].split()[-1]}health").status_code == 200
        assert get(f"{lines[0].split()[-1]}console/S3CRET?name=S3CRET").status_code == 404
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    found = [json.loads(line) for line in spans.read_text().splitlines()]
    # Those of FastAPI's own would be there twice, and have the path.
    assert sorted(one["name"] for one in found if one["kind"] == "SpanKind.SERVER") == ["GET", "GET /health"]
    assert "S3CRET" not in spans.read_text()
    patterns = [one for one in found if one["kind"] == "SpanKind.CLIENT"]
    assert patterns
    assert all(one["name"] == one["attributes"]["db.query.summary"] for one in patterns)


def test_one_system_alone_is_at_the_root(tmp_path: Path) -> None:
    with serving(*LITTLE, cwd=tmp_path) as (lines, _):
        url = address(lines, "Skratch")
        assert address(lines, "API") == f"{url}/travel"
        assert not any("console " in line or "API docs" in line for line in lines)
        assert get(url).headers["location"] == "/console/travel"
        assert get(f"{url}/ready").status_code == 200
        assert get(f"{url}/docs").status_code == get(f"{url}/console/portal").status_code == 404


def test_a_system_that_is_unknown_is_said_with_those_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = here("serve", "--only", "shop", "--port", "0")
    assert (ran.code, ran.out) == (2, "")
    for system in SYSTEMS:
        assert f"{system.name} ({system.title})" in ran.err
    assert "'shop'" in ran.err
    assert list(tmp_path.iterdir()) == [], "no store is made for a server that does not start"


def test_a_port_that_is_taken_is_said_with_what_to_do() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        pages = here("serve", "--port", port, "--memory", "--no-seed", "--no-dynamodb")
        items = here("serve", "--port", "0", "--memory", "--no-seed", "--dynamodb-port", port)
    assert (pages.code, pages.out) == (2, "")
    assert f"cannot listen on 127.0.0.1 port {port}" in pages.err
    assert "--port 0" in pages.err
    assert items.code == 2
    assert "--dynamodb-port" in items.err
    assert "--no-dynamodb" in items.err
    assert "Traceback" not in pages.err + items.err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            ["--smtp", "smtp://a:s3cret@mail.example", "--mail-from", "a@b.example"],
            "TABLEWRIGHT_SMTP_PASSWORD",
        ),
        (["--smtp", "smtp://mail.example"], "--mail-from"),
        (["--mail-from", "a@b.example"], "--smtp"),
    ],
)
def test_a_way_for_mail_that_cannot_be_used_is_said_before_a_store_is_made(
    given: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", *given]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert "s3cret" not in told.err
    assert (told.out, list(tmp_path.iterdir())) == ("", [])


@pytest.mark.parametrize("system", ["campus", "chat"])
def test_settings_of_a_system_that_cannot_be_used_are_said_with_their_place(
    system: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "systems" / system).mkdir(parents=True)
    (tmp_path / "systems" / system / f"{system}.json").write_text('{"noSuchThing": 1}')
    assert (
        main(
            ["serve", "--only", system, "--no-seed", "--port", "0", "--no-dynamodb", "--data", str(tmp_path)]
        )
        == 2
    )
    told = capsys.readouterr().err
    assert f"{system}.json: noSuchThing: " in told
    assert "Traceback" not in told


def test_a_store_in_use_is_said_so(tmp_path: Path) -> None:
    with serving("--no-dynamodb", "--no-seed", cwd=tmp_path):
        ran = here("serve", "--port", "0", "--no-dynamodb", "--no-seed", "--data", tmp_path / "data")
    assert ran.code == 2
    assert "is open" in ran.err


def test_beyond_this_machine_it_listens_only_without_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = here("serve", "--host", "0.0.0.0", "--port", "0")
    assert (ran.code, ran.out) == (2, "")
    assert "--no-demo-sign-in" in ran.err
    assert list(tmp_path.iterdir()) == [], "no store is made for a server that does not start"
    with pytest.raises(DemoIsForThisMachine):
        check_reach("::", True)
    check_reach("0.0.0.0", False)
    check_reach("localhost", True)


def test_a_foreign_name_is_turned_away_unless_it_was_given(tmp_path: Path) -> None:
    with serving(
        "--memory", "--no-dynamodb", "--no-seed", "--no-demo-sign-in", "--name", "shop.example", cwd=tmp_path
    ) as (lines, _):
        url = address(lines, "console")
        assert get(url, headers={"Host": "evil.example"}).status_code == 421
        assert get(url, headers={"Host": "shop.example"}).status_code == 200


def test_help_ends_with_two_examples() -> None:
    ran = tablewright("serve", "--help")
    *_, title, first, second = ran.out.rstrip().split("\n")
    assert (ran.code, title) == (0, "examples:")
    assert all(example.startswith("  tablewright serve") for example in (first, second))


def half_sent(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)))
    connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    return connection


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_half_sent_request_keeps_a_server_that_stops_for_a_moment_only(
    tmp_path: Path, number: signal.Signals
) -> None:
    with serving(*LITTLE, cwd=tmp_path) as (lines, process):
        with half_sent(address(lines, "Skratch")):
            get(address(lines, "Skratch") + "/health")  # by now the half is being read
            process.send_signal(number)
            assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_second_signal_ends_the_server_at_once_without_a_traceback(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with serving(*LITTLE, cwd=tmp_path) as (lines, process):
        with half_sent(address(lines, "Skratch")):
            get(address(lines, "Skratch") + "/health")
            process.send_signal(number)
            time.sleep(0.3)
            process.send_signal(number)
            assert process.wait(15) == code
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_second_signal_ends_a_server_of_the_engine_at_once(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    command = [*COMMAND, "engine", "serve", "--memory", "--port", "0"]
    with fork_server.start(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        found = re.search(r"(http://127.0.0.1:\d+)", process.stdout.readline())
        assert found is not None
        with half_sent(found[1]):
            time.sleep(0.3)
            for _ in range(2):
                process.send_signal(number)
                time.sleep(0.3)
            assert process.wait(15) == code
        assert process.stderr.read() == ""
