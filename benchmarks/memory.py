"""Whether a server's memory stays flat under many large, unfinished and broken-off requests.

    python benchmarks/memory.py                                       both ports, about two minutes
    python benchmarks/memory.py --ports dynamodb --connections 200 --parts unfinished
    PYTHONPATH=/elsewhere/src python benchmarks/memory.py             the same of another tree's server

The ports are `dynamodb` (`tablewright engine serve`) and `app` (`tablewright serve`), each a process of its own on
127.0.0.1, started for each part with an empty store. Bodies announce as much as the port allows: 16 MB and 1 MB.
unfinished: `--connections` at once send as much as the server reads of their bodies, `--sent` MB at most each, and
never end; ordinary requests are sent beside them. broken: bodies that are broken off before their last byte, one after
the other. batches: ordinary large requests, each on a connection of its own.
Must hold: memory is that of the server's process, read from the system; nothing is asserted about time.
stdout is the answer, stderr the talk. Code 0: every measured target met; 1: one was not; 2: it cannot run.
Elsewhere: the servers and what is sent (ports.py), running parts (runner.py), the form of a verdict (verdict.py,
report.py), the machine (machine.py).
"""

import contextlib
import dataclasses
import resource
import selectors
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.load import CannotMeasure
from benchmarks.ports import MEGABYTE, PORTS, REST_SECONDS, Port, Server, running
from benchmarks.report import table
from benchmarks.runner import Part, argument_parser, names_from, print_progress, run_parts
from benchmarks.verdict import Target, under

SEND_SECONDS = 10.0
BROKEN, BATCHES, WARM_UP = 60, 40, 10
ROUNDS, SMALL, LARGE = 3, 20, 3
# What a server may hold at most: its budget of 128 MB and half of it for clients that wait, what its store keeps of the
# large requests beside them, and what the system's allocator adds.
HELD_MB = 384.0
# Memory that was used once stays with the process in part; it must not become more when the same happens again.
FLAT_MB = 64.0


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    directory: Path
    ports: Sequence[str]
    connections: int
    sent: float


@dataclasses.dataclass(frozen=True, slots=True)
class Crowd:
    """What a crowd of unfinished requests did to a server: MB, and how many ordinary requests failed beside it."""

    sent: int
    most: float
    after: float
    small: int
    large: int


# --- the parts ---


def unfinished_part(bench: Bench) -> Part:
    def run(name: str, server: Server) -> tuple[list[str], list[Target], object]:
        before = server.megabytes()
        rounds = [_unfinished(bench, name, server) for _ in range(ROUNDS)]
        most = max(one.most for one in rounds)
        small, large = sum(one.small for one in rounds), sum(one.large for one in rounds)
        after = [one.after for one in rounds]
        targets = [
            under(f"{name}: held by {bench.connections} unfinished requests", HELD_MB, "MB", most - before),
            under(f"{name}: grown when it happens again", FLAT_MB, "MB", after[-1] - after[-2]),
            under(f"{name}: small requests refused beside them", 1, f"of {ROUNDS * SMALL}", small),
            under(f"{name}: large requests refused beside them", 1, f"of {ROUNDS * LARGE}", large),
        ]
        row = [name, *(f"{figure:.0f}" for figure in (before, most, *after))]
        return row, targets, {"before": before, "rounds": [dataclasses.asdict(one) for one in rounds]}

    head = ["port", "before", "most", *(f"after {number + 1}" for number in range(ROUNDS))]
    title = f"{bench.connections} unfinished requests, {ROUNDS} times, MB"
    return _over_ports(bench, "unfinished", title, head, run)


def _unfinished(bench: Bench, name: str, server: Server) -> Crowd:
    port = PORTS[name]
    whole = port.head(len(port.body)) + port.body
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(_line(server)) for _ in range(bench.connections)]
        sent, most = _push(server, port, lines, bench.sent)
        small = sum(server.ask(port.light) != 200 for _ in range(SMALL))
        large = sum(server.ask(whole) not in range(200, 500) for _ in range(LARGE))
        most = max(most, server.megabytes())
    crowd = Crowd(sent, most, _memory_at_rest(server), small, large)
    print_progress(
        f"{name}: {bench.connections} unfinished, {sent / MEGABYTE:.0f} MB sent, {crowd.after:.0f} MB afterwards"
    )
    return crowd


def _line(server: Server) -> socket.socket:
    line = socket.create_connection(server.address, 10)
    line.setblocking(False)
    return line


def _push(server: Server, port: Port, lines: Sequence[socket.socket], megabytes: float) -> tuple[int, float]:
    """Send each what the server takes: bytes sent, and the most memory seen."""
    limit = min(int(megabytes * MEGABYTE), port.most - 1)
    message = memoryview(port.head(port.most) + b" " * limit)
    places = dict.fromkeys(lines, 0)
    most, looked = server.megabytes(), time.monotonic()
    end = looked + SEND_SECONDS
    with selectors.DefaultSelector() as ready:
        for line in lines:
            ready.register(line, selectors.EVENT_WRITE, line)
        while ready.get_map() and time.monotonic() < end:
            for key, _ in ready.select(0.2):
                if not _send_some(key.data, message, places):
                    ready.unregister(key.data)
            if time.monotonic() - looked > 0.1:
                most, looked = max(most, server.megabytes()), time.monotonic()
    return sum(places.values()), max(most, server.megabytes())


def _send_some(line: socket.socket, message: memoryview, places: dict[socket.socket, int]) -> bool:
    """Whether there is more to send on this connection."""
    start = places[line]
    try:
        places[line] += line.send(message[start : start + 262144])
    except BlockingIOError:
        return True
    except OSError:
        return False  # the server turned it away
    return places[line] < len(message)


def broken_part(bench: Bench) -> Part:
    def run(name: str, server: Server) -> tuple[list[str], list[Target], object]:
        port = PORTS[name]
        message = port.head(port.most) + b" " * (port.most - 1)
        before = server.megabytes()
        for _ in range(BROKEN):
            with contextlib.suppress(OSError), socket.create_connection(server.address, 10) as line:
                line.sendall(message)
        after = _memory_at_rest(server)
        print_progress(f"{name}: {BROKEN} broken off, {after - before:.0f} MB more")
        target = under(f"{name}: grown by {BROKEN} broken-off requests", FLAT_MB, "MB", after - before)
        return [name, f"{before:.0f}", f"{after:.0f}"], [target], {"before": before, "after": after}

    title = f"{BROKEN} requests broken off before the last byte, MB"
    return _over_ports(bench, "broken", title, ["port", "before", "after"], run)


def batches_part(bench: Bench) -> Part:
    def run(name: str, server: Server) -> tuple[list[str], list[Target], object]:
        port = PORTS[name]
        message = port.head(len(port.body)) + port.body
        seen = [server.megabytes()]
        for number in range(BATCHES):
            if not server.ask(message):
                raise CannotMeasure(f"{name}: an ordinary request was not answered")
            if (number + 1) % WARM_UP == 0:
                seen.append(_memory_at_rest(server))
        print_progress(f"{name}: {BATCHES} batches, {seen[-1] - seen[0]:.0f} MB more")
        promise = f"{name}: grown from the {WARM_UP}th to the {BATCHES}th batch"
        target = under(promise, FLAT_MB, "MB", seen[-1] - seen[1])
        return [name, *(f"{each:.0f}" for each in seen)], [target], seen

    counts = range(0, BATCHES + 1, WARM_UP)
    head = ["port", *(f"after {count}" for count in counts)]
    title = f"{BATCHES} ordinary large requests on short connections, MB"
    return _over_ports(bench, "batches", title, head, run)


def _memory_at_rest(server: Server) -> float:
    time.sleep(REST_SECONDS)
    return server.megabytes()


def _over_ports(
    bench: Bench,
    part: str,
    title: str,
    head: Sequence[str],
    run: Callable[[str, Server], tuple[list[str], list[Target], object]],
) -> Part:
    rows: list[list[str]] = []
    targets: list[Target] = []
    found: dict[str, object] = {}
    for name in bench.ports:
        with running(name, bench.directory) as server:
            row, decided, found[name] = run(name, server)
        rows.append(row)
        targets += decided
    return Part(part, table(title, head, rows), found, targets)


PARTS: dict[str, Callable[[Bench], Part]] = {
    "unfinished": unfinished_part,
    "broken": broken_part,
    "batches": batches_part,
}


def main(arguments: Sequence[str]) -> int:
    parser = argument_parser("benchmarks/memory.py", __doc__, list(PARTS))
    parser.add_argument("--ports", type=names_from(list(PORTS)), default=list(PORTS), help=",".join(PORTS))
    parser.add_argument("--connections", type=int, default=1000, help="unfinished at once; default 1000")
    parser.add_argument("--sent", type=float, default=1.0, help="MB of each unfinished body; default 1")
    asked = parser.parse_args(arguments)
    if asked.connections < 1 or not 0 < asked.sent <= 16:
        parser.error("at least one connection, and up to 16 MB of each")
    _allow_files(asked.connections + 200)
    settings = {name: getattr(asked, name) for name in ("ports", "connections", "sent")}
    return run_parts(PARTS, asked, lambda home: Bench(home, *settings.values()), settings)


def _allow_files(wanted: int) -> None:
    """Raise the soft limit of open files, for us and for the servers we start."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise SystemExit(f"benchmarks/memory.py: {wanted} open files are needed, and only {hard} are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
