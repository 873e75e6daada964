"""A drill: two processes of `tablewright serve` over one server of tables; under load one is killed again and again.

    python -m benchmarks.processes
    python -m benchmarks.processes --tables extenddb --kills 10 --clients 32

Clients sign in at one process and create tenants of the portal at either. A process is killed with SIGKILL and started
again, by turns.
Must hold, or the exit code is 1: every tenant that was acknowledged is stored once, under the id of the answer; the
follower of changes has counted each stored tenant once; after each kill it has counted what was acknowledged before the
kill within a lease and the seconds it takes to count that; the job that applies scheduled prices, every minute, has
applied each price once. Figures belong to a machine and an hour.
Elsewhere: the same as a test with one kill (tests/app/test_processes.py), all other jobs of the five systems
(tests/app/test_jobs_of_two_processes.py), servers of tables (peers.py, servers.py).
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from benchmarks.load import CannotMeasure
from benchmarks.peers import EXAMPLE, find_contenders
from benchmarks.servers import free_port, running

from tablewright.app.endpoint import make_secrets
from tablewright.app.leases import TERM
from tablewright.app.systems import SYSTEMS
from tablewright.world import real_world

TENANTS = "/portal/v1.0/tenants"
PRODUCTS = "/portal/v1.0/products"
SERVERS = {"wire": "durable", "extenddb": "extenddb"}
PATIENCE = 60.0
# What waited for the end of a lease is counted in batches after it.
CATCH_UP = TERM.total_seconds() + 5.0
# A price becomes due at every tenth second; the job that applies it runs every minute.
PRICES, PRICE_SECONDS, JOB_SECONDS = 20, 10.0, 60.0
LOST = "the answer was lost"


@dataclass(slots=True)
class Node:
    """A process that serves the portal."""

    options: list[str]
    port: int
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> float:
        """Start it; the seconds until it is ready."""
        began = time.monotonic()
        keys = {
            "AWS_ACCESS_KEY_ID": EXAMPLE.access,
            "AWS_SECRET_ACCESS_KEY": EXAMPLE.secret,
            "AWS_REGION": "us-east-1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tablewright", "serve", "--port", str(self.port), *self.options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **keys},
        )
        assert self.process.stdout is not None
        if not any("ready;" in line for line in self.process.stdout):
            raise CannotMeasure(f"the process on port {self.port} did not start")
        return time.monotonic() - began

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()


@dataclass(slots=True)
class Load:
    """What clients did: the id of each acknowledged address, and how often what was answered."""

    nodes: list[Node]
    cookies: dict[str, str]
    pause: float
    stop: threading.Event = field(default_factory=threading.Event)
    acknowledged: dict[str, str] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)

    def client(self, name: int) -> None:
        with httpx.Client(timeout=PATIENCE, cookies=self.cookies) as own:
            number = 0
            while not self.stop.is_set():
                email = f"load{name}-{number}@example.com"
                made = self._created(own, email, name + number)
                if made is not None:
                    self.acknowledged[email] = made
                number += 1
                self.stop.wait(self.pause)

    def _created(self, client: httpx.Client, email: str, turn: int) -> str | None:
        """Create a tenant at one process or, if that is gone, at the other: its id."""
        is_lost = False
        for attempt in range(2000):
            node = self.nodes[(turn + attempt) % len(self.nodes)]
            try:
                answer = client.post(f"{node.url}{TENANTS}", json={"email": email})
            except httpx.TransportError:
                self.answers["no answer"] += 1
                is_lost = True
                time.sleep(0.05)
                continue
            self.answers[str(answer.status_code)] += 1
            if answer.status_code == 201:
                return str(answer.json()["id"])
            if answer.status_code == 409 and is_lost:
                return LOST
            if answer.status_code not in (429, 503):
                self.unexpected.append(f"{answer.status_code} {answer.text[:200]}")
                return None
            time.sleep(min(float(answer.headers.get("Retry-After", 1)), 5.0))
        self.unexpected.append(f"{email} was never created")
        return None


@contextmanager
def two_nodes(tables: str, home: Path) -> Iterator[list[Node]]:
    make_secrets(home / "secrets", SYSTEMS, real_world())
    (home / "objects").mkdir()
    ports = [free_port(), free_port()]
    options = [
        "--endpoint", tables, "--secrets", str(home / "secrets"), "--objects", str(home / "objects"),
        "--url", f"http://127.0.0.1:{ports[0]}", "--only", "portal", "--no-seed",
    ]  # fmt: skip
    nodes = [Node(options, port) for port in ports]
    try:
        for node in nodes:
            node.start()
        yield nodes
    finally:
        for node in nodes:
            if node.process is not None and node.process.poll() is None:
                node.kill()


def stored(node: Node, admin: httpx.Client) -> list[tuple[str, str]]:
    """Address and id of every tenant."""
    found: list[tuple[str, str]] = []
    page: dict[str, Any] = {"moreAvailable": True}
    while page["moreAvailable"]:
        after = {"startAt": page["startAt"]} if "startAt" in page else {}
        page = admin.get(f"{node.url}{TENANTS}", params=after).json()
        found += [(one["email"], one["id"]) for one in page["items"]]
    return found


def counted(node: Node, admin: httpx.Client) -> int:
    """The tenants that the follower of changes has counted."""
    metrics = admin.get(f"{node.url}/portal/v1.0/admin/metrics").json()
    return int(metrics["tenants"].get("UNVALIDATED", 0))


def schedule_prices(node: Node, admin: httpx.Client) -> list[str]:
    """Products whose price changes while processes are killed: their ids."""
    made = []
    for number in range(PRICES):
        plan = {
            "name": f"Plan {number}",
            "description": "For the drill",
            "price": "10.00",
            "billingCycle": "monthly",
        }
        product = admin.post(f"{node.url}{PRODUCTS}", json=plan).raise_for_status().json()
        starts = datetime.now(UTC) + timedelta(seconds=PRICE_SECONDS * (number + 1))
        price = {"nextPrice": "12.00", "nextPriceFrom": starts.isoformat()}
        admin.put(f"{node.url}{PRODUCTS}/{product['id']}", json=price).raise_for_status()
        made.append(product["id"])
    return made


def applied(node: Node, admin: httpx.Client, product: str) -> tuple[int, list[float]]:
    """How often the product was written, and the prices in its history; (3, two prices) if the job ran once."""
    found = admin.get(f"{node.url}{PRODUCTS}/{product}").json()
    prices = admin.get(f"{node.url}{PRODUCTS}/{product}/prices").json()
    return found["version"], sorted(each["newPrice"] for each in prices)


def seconds_until(is_so: Callable[[], bool], limit: float) -> float:
    """How long it took to come to be so; infinite if it did not in time."""
    began = time.monotonic()
    while time.monotonic() - began < limit:
        if is_so():
            return time.monotonic() - began
        time.sleep(0.1)
    return float("inf")


def kill_and_start(load: Load, admin: httpx.Client, turn: int) -> tuple[float, float]:
    """One kill: seconds until the follower has counted what was acknowledged before it, and until a new start."""
    gone, other = load.nodes[turn % 2], load.nodes[(turn + 1) % 2]
    before = len(load.acknowledged)
    gone.kill()
    caught_up = seconds_until(lambda: counted(other, admin) >= before, CATCH_UP)
    started = gone.start()
    has_served = len(load.acknowledged)
    seconds_until(lambda: len(load.acknowledged) >= has_served + len(load.nodes) * 8, PATIENCE)
    return caught_up, started


def drill(tables: str, home: Path, kills: int, clients: int, pause: float) -> list[str]:
    """Run it and print the figures; what did not hold."""
    with two_nodes(tables, home) as nodes, httpx.Client(timeout=PATIENCE) as admin:
        admin.post(f"{nodes[0].url}/sign-in", data={"person": "admin_thandi"})
        if (status := admin.get(f"{nodes[1].url}{TENANTS}").status_code) != 200:
            return [f"a login of the first process is refused by the second: {status}"]
        load, products = Load(nodes, dict(admin.cookies), pause), schedule_prices(nodes[0], admin)
        threads = [threading.Thread(target=load.client, args=(name,), daemon=True) for name in range(clients)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        seconds_until(lambda: len(load.acknowledged) >= clients * 2, PATIENCE)
        turns = []
        for turn in range(kills):
            turns.append(kill_and_start(load, admin, turn))
            print(
                f"kill {turn + 1}: counted after {turns[-1][0]:.1f} s, started in {turns[-1][1]:.1f} s",
                flush=True,
            )
        load.stop.set()
        for thread in threads:
            thread.join(PATIENCE)
        lasted = time.monotonic() - began
        wrong = [f"unexpected answer: {each}" for each in load.unexpected]
        wrong += _found(load, admin, lasted, [caught_up for caught_up, _ in turns])
        return wrong + _unapplied(load.nodes[0], admin, products)


def _unapplied(node: Node, admin: httpx.Client, products: list[str]) -> list[str]:
    once = (3, [10.0, 12.0])
    limit = PRICES * PRICE_SECONDS + 2 * JOB_SECONDS
    seconds_until(lambda: all(applied(node, admin, each)[0] >= once[0] for each in products), limit)
    found = Counter(str(applied(node, admin, each)) for each in products)
    print(f"{found.pop(str(once), 0)} of {len(products)} scheduled prices were applied once by the job")
    return [f"{count} prices with version and history {what}" for what, count in found.items()]


def _found(load: Load, admin: httpx.Client, lasted: float, caught_up: list[float]) -> list[str]:
    wrong, node = [], load.nodes[1]
    is_listed = seconds_until(
        lambda: set(load.acknowledged) <= {email for email, _ in stored(node, admin)}, PATIENCE
    )
    rows = stored(node, admin)
    by_email = dict(rows)
    if is_listed == float("inf"):
        wrong.append(f"{len(set(load.acknowledged) - set(by_email))} acknowledged tenants are lost")
    if len(by_email) != len(rows):
        wrong.append(f"{len(rows) - len(by_email)} addresses are stored twice")
    other_id = [email for email, id in load.acknowledged.items() if id not in (LOST, by_email.get(email, id))]
    if other_id:
        wrong.append(f"{len(other_id)} tenants have another id than was answered")
    seconds_until(lambda: counted(node, admin) >= len(rows), CATCH_UP)
    if (total := counted(node, admin)) != len(rows):
        wrong.append(f"the follower counted {total} of {len(rows)} tenants")
    late = [seconds for seconds in caught_up if seconds == float("inf")]
    if late:
        wrong.append(f"{len(late)} times the follower had not caught up after {CATCH_UP:.0f} s")
    print(
        f"{len(load.acknowledged)} acknowledged in {lasted:.0f} s "
        f"({sum(id == LOST for id in load.acknowledged.values())} of them with a lost answer), {len(rows)} stored, "
        f"{total} counted; answers: {dict(sorted(load.answers.items()))}; follower caught up after "
        f"{min(caught_up):.1f} to {max(caught_up):.1f} s"
    )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument(
        "--tables", choices=SERVERS, default="wire", help="the server of tables (default: %(default)s)"
    )
    parser.add_argument(
        "--kills", type=int, default=10, help="how often a process is killed (default: %(default)s)"
    )
    parser.add_argument("--clients", type=int, default=32, help="clients at once (default: %(default)s)")
    parser.add_argument(
        "--pause", type=float, default=1.0, help="seconds a client waits (default: %(default)s)"
    )
    given = parser.parse_args()
    found, left_out = find_contenders([SERVERS[given.tables]])
    for reason in left_out.values():
        print(f"{given.tables} left out: {reason}", file=sys.stderr)
        return 2
    with (
        tempfile.TemporaryDirectory(prefix="tablewright-processes-") as home,
        running(found[0], Path(home)) as server,
    ):
        url = f"http://127.0.0.1:{server.port}"
        wrong = drill(url, Path(home), given.kills, given.clients, given.pause)
    for each in wrong:
        print(f"wrong: {each}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
