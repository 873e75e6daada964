"""Two processes of `tablewright serve` over one server of tables: people change between them, and one is killed.

The tables are our own server's. With ExtendDB (npm: @extenddb/linux-x64) in developer mode instead:

    TABLEWRIGHT_EXTENDDB=.../@extenddb/linux-x64/extenddb pytest tests/app/test_processes.py
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests import fork_server
from tests.app.test_mail import free_port
from tests.cli.command import COMMAND, here, served, url_in

from tablewright.app.endpoint import make_secrets
from tablewright.app.systems import SYSTEMS
from tablewright.world import real_world

TENANTS = "/portal/v1.0/tenants"
TAKEN = "taken"
PATIENCE = 60.0
# The example keys of AWS's documentation, which ExtendDB takes in developer mode; our own server takes any.
KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AWS_REGION": "us-east-1",
}


@dataclass
class Node:
    """A process that serves the portal; it can be killed and started again."""

    options: list[str]
    port: int
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def start(self) -> None:
        self.process = started(self.options, self.port)
        ready(self.process)


def started(options: list[str], port: int) -> subprocess.Popen[str]:
    return fork_server.start(
        [*COMMAND, "serve", "--port", str(port), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | KEYS,
    )


def ready(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if "ready;" in line:
            return lines
    raise AssertionError(lines)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server of tables, and its process."""
    program = os.environ.get("TABLEWRIGHT_EXTENDDB")
    with extenddb(program, tmp_path_factory.mktemp("extenddb")) if program else our_server() as found:
        yield found


@contextmanager
def our_server() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    with served("--memory") as (line, process):
        yield url_in(line), process


@contextmanager
def extenddb(program: str, home: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    port = free_port()
    command = [program, "serve", "--foreground", "--port", str(port)]
    process = subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        assert any("listening" in line for line in process.stderr)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait(30)
        process.stderr.close()


@pytest.fixture(scope="module")
def nodes(
    tables: tuple[str, subprocess.Popen[str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Node]]:
    """Two processes that were started at the same moment, over no tables at all."""
    home = tmp_path_factory.mktemp("shared")
    make_secrets(home / "secrets", SYSTEMS, real_world())
    (home / "objects").mkdir()
    ports = [free_port(), free_port()]
    options = [
        "--endpoint", tables[0], "--secrets", str(home / "secrets"), "--objects", str(home / "objects"),
        "--url", f"http://127.0.0.1:{ports[0]}", "--only", "portal", "--no-seed",
    ]  # fmt: skip
    found = [Node(options, port, started(options, port)) for port in ports]
    try:
        for node in found:
            assert any(tables[0] in line for line in ready(node.process))
        yield found
    finally:
        for node in found:
            node.kill()


@pytest.fixture
def admin(nodes: list[Node]) -> Iterator[httpx.Client]:
    """An admin who signed in at the first process. Paths are given with the process they are asked of."""
    with httpx.Client(timeout=PATIENCE) as client:
        assert client.post(f"{nodes[0].url}/sign-in", data={"person": "admin_thandi"}).status_code == 303
        yield client


def test_a_login_pages_and_idempotency_keys_of_one_process_hold_in_the_other(
    nodes: list[Node], admin: httpx.Client
) -> None:
    first, second = (f"{node.url}/portal/v1.0" for node in nodes)
    plan = {"name": "Plan", "description": "A plan.", "price": "10.00", "billingCycle": "monthly"}
    product = admin.post(f"{second}/products", json=plan).json()["id"]
    order = {"email": "buyer@example.com", "items": [{"productId": product}]}
    orders = [
        httpx.post(f"{api}/checkout", json=order, headers={"Idempotency-Key": "one-order"}, timeout=PATIENCE)
        for api in (first, second)
    ]
    assert [answer.status_code for answer in orders] == [201, 201], orders[0].text
    assert len({answer.json()["orderId"] for answer in orders}) == 1
    for number in range(3):
        assert admin.post(f"{first}/tenants", json={"email": f"page{number}@example.com"}).status_code == 201
    until(lambda: len(emails(nodes[0], admin)) == 4)  # an index may be behind its table
    seen: list[str] = []
    page: dict[str, Any] = {"moreAvailable": True}
    while page["moreAvailable"]:
        after = {"startAt": page["startAt"]} if "startAt" in page else {}
        api = (first, second)[len(seen) % 2]
        page = admin.get(f"{api}/tenants", params={"pageSize": "1", **after}).json()
        seen += [one["email"] for one in page["items"]]
    assert sorted(seen) == ["buyer@example.com", *(f"page{number}@example.com" for number in range(3))]


def test_a_login_that_ends_in_one_process_has_ended_in_the_other(
    nodes: list[Node], admin: httpx.Client
) -> None:
    cookies = dict(admin.cookies)
    assert admin.post(f"{nodes[1].url}/sign-out").status_code == 303
    refused = httpx.get(f"{nodes[0].url}{TENANTS}", cookies=cookies, timeout=PATIENCE)
    assert (refused.status_code, refused.json()["code"]) == (401, "LOGIN_ENDED")


def test_no_acknowledged_write_is_lost_and_each_is_counted_once_when_a_process_is_killed(
    nodes: list[Node], admin: httpx.Client
) -> None:
    acknowledged: dict[str, str] = {}

    def client(name: int) -> None:
        with httpx.Client(timeout=PATIENCE, cookies=dict(admin.cookies)) as own:
            for number in range(25):
                email = f"load{name}-{number}@example.com"
                acknowledged[email] = created(own, nodes, email, name + number)

    threads = [threading.Thread(target=client, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    until(lambda: len(acknowledged) >= 20)
    nodes[0].kill()
    until(lambda: len(acknowledged) >= 60)
    nodes[0].start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(acknowledged) == 100
    for email, tenant in acknowledged.items():
        if tenant != TAKEN:
            assert admin.get(f"{nodes[0].url}{TENANTS}/{tenant}").json()["email"] == email
    # The follower of changes was one process's, and another's when that one was killed.
    until(lambda: set(acknowledged) <= set(emails(nodes[0], admin)))
    stored = emails(nodes[0], admin)
    until(lambda: counted(nodes[1], admin) >= len(stored))
    assert counted(nodes[1], admin) == len(stored)


def created(client: httpx.Client, nodes: list[Node], email: str, turn: int) -> str:
    """Create a tenant at one process or, if that is gone, at the other: its id, or TAKEN if the answer was lost."""
    is_lost = False
    for attempt in range(400):
        url = f"{nodes[(turn + attempt) % 2].url}{TENANTS}"
        try:
            answer = client.post(url, json={"email": email})
        except httpx.TransportError:
            is_lost = True
            time.sleep(0.05)
            continue
        if answer.status_code == 201:
            return str(answer.json()["id"])
        assert (answer.status_code, is_lost) == (409, True), answer.text
        return TAKEN
    raise AssertionError(email)


def emails(node: Node, admin: httpx.Client) -> list[str]:
    """Every tenant that is stored."""
    found: list[str] = []
    page: dict[str, Any] = {"moreAvailable": True}
    while page["moreAvailable"]:
        after = {"startAt": page["startAt"]} if "startAt" in page else {}
        page = admin.get(f"{node.url}{TENANTS}", params=after).json()
        found += [one["email"] for one in page["items"]]
    return found


def counted(node: Node, admin: httpx.Client) -> int:
    """The tenants that the follower of changes has counted."""
    return int(admin.get(f"{node.url}/portal/v1.0/admin/metrics").json()["tenants"]["UNVALIDATED"])


def until(is_so: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not come to be so"
        time.sleep(0.05)


def test_ready_is_no_while_the_tables_do_not_answer_and_yes_when_they_do_again(
    nodes: list[Node], tables: tuple[str, subprocess.Popen[str]]
) -> None:
    def status(path: str) -> int:
        return httpx.get(f"{nodes[1].url}{path}", timeout=PATIENCE).status_code

    assert (status("/ready"), status("/health")) == (200, 200)
    tables[1].send_signal(signal.SIGSTOP)
    try:
        assert (status("/ready"), status("/health")) == (503, 200)
    finally:
        tables[1].send_signal(signal.SIGCONT)
    until(lambda: status("/ready") == 200)


def test_a_process_that_is_told_to_stop_exits_with_0_and_the_other_goes_on(
    nodes: list[Node], admin: httpx.Client
) -> None:
    nodes[0].process.send_signal(signal.SIGTERM)
    assert nodes[0].process.wait(PATIENCE) == 0
    created(admin, [nodes[1], nodes[1]], "after@example.com", 0)
    until(lambda: counted(nodes[1], admin) == len(emails(nodes[1], admin)))


# --- options ---


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--endpoint", "http://127.0.0.1:1"), "--secrets"),
        (("--endpoint", "http://127.0.0.1:1", "--secrets", "x", "--objects", "y"), "--url"),
        (("--endpoint", "http://127.0.0.1:1", "--memory"), "--memory"),
        (("--secrets", "x"), "--endpoint"),
        (("--url", "app.example.com"), "--url"),
        (
            ("--amazon", "eu-west-1", "--secrets", "x", "--objects", "y", "--url", "http://h", "--no-demo-sign-in"),
            "--smtp",
        ),
    ],
)  # fmt: skip
def test_an_option_that_is_missing_or_does_not_fit_is_named(options: tuple[str, ...], named: str) -> None:
    ran = here("serve", *options)
    assert ran.code == 2
    assert named in ran.err


def test_a_system_that_needs_what_the_target_lacks_is_refused_by_name_before_a_request(
    tmp_path: Path,
) -> None:
    options = ("--secrets", tmp_path, "--objects", tmp_path, "--url", "http://h", "--port", "0")
    ran = here("serve", "--endpoint", "http://127.0.0.1:1", *options, "--target", "moto")
    assert ran.code == 2
    assert "--target moto lacks" in ran.err
    assert "Zoo chat: T001" in ran.err
    assert "Vector indexes" in ran.err
    assert "warning: Customer portal: T002" in ran.err
    alone = here(
        "serve", "--endpoint", "http://127.0.0.1:1", *options, "--target", "moto", "--only", "portal"
    )
    assert "T001" not in alone.err
    assert "page-tokens.secret" in alone.err  # the next thing that is missing
    prod = here("serve", "--amazon", "eu-west-1", *options, "--environment", "prod")
    assert "T00" not in prod.err
    assert "--target needs --endpoint" in here("serve", "--target", "moto").err


def test_secrets_are_made_once_and_missing_ones_are_named(tmp_path: Path) -> None:
    first = here("secrets", tmp_path / "secrets")
    assert first.code == 0
    files = {path: Path(path).read_bytes() for path in first.out.split()}
    assert here("secrets", tmp_path / "secrets").out == first.out
    assert {path: Path(path).read_bytes() for path in files} == files
    (tmp_path / "secrets" / "page-tokens.secret").unlink()
    options = ("--secrets", tmp_path / "secrets", "--objects", tmp_path, "--url", "http://127.0.0.1:1")
    ran = here("serve", "--port", "0", "--endpoint", "http://127.0.0.1:1", *options)
    assert ran.code == 2
    assert "page-tokens.secret" in ran.err
