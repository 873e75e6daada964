"""What a call costs the caller: processor time per call, ours beside the other clients of DynamoDB.

    python benchmarks/client.py                       # a table, a minute or two
    python benchmarks/client.py --rounds 3 --json found.json

All clients talk to one small server in a process of its own that answers fixed bytes, so what is measured is the
client alone: time.process_time of this process, which does nothing else. Rounds are interleaved; a figure is the
median of its rounds. Both processes share one core where the system lets us say so: a wake-up across cores costs
more than the call itself, now and then, and with a server on another machine there is none.
The floor is a socket, the finished bytes of a request, and orjson: no client can be cheaper.
Must hold: a client that is not installed is named as missing; each answer is looked at once before it is timed.
Add a client: a context manager that yields its runs, and a line in CLIENTS.
"""

import argparse
import asyncio
import contextlib
import importlib
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import orjson
from pydantic import BaseModel

from tablewright import Engine
from tablewright.client import Call, Credentials, HttpCall, embedded, through_boto3
from tablewright.design import Design
from tablewright.mapping import Db

Run: TypeAlias = Callable[[int], Any]  # make so many calls; the last answer
Runs: TypeAlias = Mapping[str, Run]  # by workload: get, query
Client: TypeAlias = Callable[[str], contextlib.AbstractContextManager[Runs]]  # of a server's URL

WORKLOADS = ("get", "query")
REGION = "us-east-1"
TABLE = "pets"
PAGE = 20
# Microseconds of processor time: what we want to stay under.
TARGETS = (
    ("tablewright HttpCall", "get", 150.0),
    ("tablewright HttpCall, typed", "query", 500.0),
    ("tablewright embedded, typed", "get", 50.0),
)


def item(number: int) -> dict[str, Any]:
    """About a kilobyte, of the usual kinds."""
    return {
        "pk": {"S": "owner#anna"},
        "sk": {"S": f"pet#{number:04}"},
        "name": {"S": "Rex the Third"},
        "age": {"N": "3"},
        "weight": {"N": "12.75"},
        "good": {"BOOL": True},
        "tags": {"SS": ["brown", "large", "loud"]},
        "note": {"S": "Barks at the postman. " * 35},
    }


KEY = {name: item(0)[name] for name in ("pk", "sk")}
GET = {"TableName": TABLE, "Key": KEY}
QUERY = {
    "TableName": TABLE,
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": KEY["pk"]},
    "Limit": PAGE,
}
REQUESTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {"get": ("GetItem", GET), "query": ("Query", QUERY)}
ANSWERS = {
    "GetItem": {"Item": item(0)},
    "Query": {"Items": [item(n) for n in range(PAGE)], "Count": PAGE, "ScannedCount": PAGE},
}


# --- the server ---


def letter(body: bytes) -> bytes:
    """An answer with the headers the service sends."""
    head = (
        "HTTP/1.1 200 OK\r\nServer: Server\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
        f"Content-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\nConnection: keep-alive\r\n"
        f"x-amzn-RequestId: {'A1B2' * 13}\r\nx-amz-crc32: {zlib.crc32(body)}\r\n\r\n"
    )
    return head.encode() + body


LETTERS = {verb.encode(): letter(orjson.dumps(answer)) for verb, answer in ANSWERS.items()}


class Constant(asyncio.Protocol):
    """Answers each request with the bytes of its verb."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport  # uvloop's is not an asyncio.Transport
        self._read = b""

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = self._read[:end].lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            if len(self._read) < end + 4 + length:
                return
            verb = self._read[:end].partition(b"DynamoDB_20120810.")[2].split(b"\r\n", 1)[0].strip()
            self._read = self._read[end + 4 + length :]
            self._transport.write(LETTERS[verb])


def serve() -> None:
    """Serve until our parent closes our input."""
    with contextlib.suppress(ImportError):
        importlib.import_module("uvloop").install()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Constant, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await loop.run_in_executor(None, sys.stdin.read)
        server.close()

    asyncio.run(main())


@contextlib.contextmanager
def stub() -> Iterator[str]:
    """The URL of a constant server."""
    arguments = [sys.executable, str(Path(__file__).resolve()), "--serve"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()
            process.wait(10)


# --- the clients ---


def times(once: Callable[[], Any]) -> Run:
    def run(count: int) -> Any:
        answer = None
        for _ in range(count):
            answer = once()
        return answer

    return run


def runs_of(call: Call) -> Runs:
    return {name: times(partial(call, verb, request)) for name, (verb, request) in REQUESTS.items()}


@contextlib.contextmanager
def floor(url: str) -> Iterator[Runs]:
    """Finished bytes out, bytes in, JSON read: the work no client gets around."""
    host, _, port = url.rpartition("/")[2].partition(":")
    with socket.create_connection((host, int(port))) as line:

        def once(request: bytes) -> Any:
            line.sendall(request)
            data = line.recv(65536)
            end = data.index(b"\r\n\r\n") + 4
            size = end + int(data[:end].partition(b"Content-Length: ")[2].split(b"\r\n", 1)[0])
            while len(data) < size:
                data += line.recv(65536)
            return orjson.loads(data[end:])

        yield {name: times(partial(once, raw(*request))) for name, request in REQUESTS.items()}


def raw(verb: str, request: Mapping[str, Any]) -> bytes:
    body = orjson.dumps(request)
    target = f"X-Amz-Target: DynamoDB_20120810.{verb}"
    return f"POST / HTTP/1.1\r\nHost: x\r\n{target}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@contextlib.contextmanager
def ours_http(url: str) -> Iterator[Runs]:
    with HttpCall(url, REGION, Credentials("AKID", "secret")) as call:
        yield runs_of(call)


@contextlib.contextmanager
def ours_embedded(url: str) -> Iterator[Runs]:
    """A real engine in memory answers here: its work is in the figure."""
    with Engine.open() as engine:
        call = embedded(engine)
        call(
            "CreateTable",
            {
                "TableName": TABLE,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk")],
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
            },
        )
        for number in range(PAGE):
            call("PutItem", {"TableName": TABLE, "Item": item(number)})
        yield runs_of(call)


class Pet(BaseModel):
    """The same item as a model."""

    pk: str
    sk: str
    name: str
    age: int
    weight: Decimal
    good: bool
    tags: set[str]
    note: str


def pet_key(pk: str, sk: str) -> None: ...


PETS = Design("pets")
pets = PETS.table(TABLE, pk="pk", sk="sk").entity(Pet, pet_key, tag="pet", pk="{pk}", sk="{sk}")


@PETS.query(pets, pk="{owner}")
def pets_of(*, owner: str) -> None:
    """An owner's pets."""


def typed_runs(call: Call) -> Runs:
    """A model in a Db: request made, sent, units counted, answer validated."""
    db = Db(call, PETS)
    pk, sk = (value["S"] for value in KEY.values())
    return {
        "get": times(lambda: db.one(pets.get(pk, sk))),
        "query": times(lambda: list(db.page(pets_of(owner=pk), size=PAGE).items)),
    }


@contextlib.contextmanager
def typed_http(url: str) -> Iterator[Runs]:
    with HttpCall(url, REGION, Credentials("AKID", "secret")) as call:
        yield typed_runs(call)


@contextlib.contextmanager
def typed_embedded(url: str) -> Iterator[Runs]:
    with Engine.open() as engine:
        call = embedded(engine)
        Db(call, PETS).create_tables()
        for number in range(PAGE):
            call("PutItem", {"TableName": TABLE, "Item": item(number)})
        yield typed_runs(call)


def boto_settings(url: str) -> dict[str, Any]:
    return {
        "endpoint_url": url,
        "region_name": REGION,
        "aws_access_key_id": "AKID",
        "aws_secret_access_key": "secret",
    }


@contextlib.contextmanager
def ours_boto3(url: str) -> Iterator[Runs]:
    client = importlib.import_module("boto3").client("dynamodb", **boto_settings(url))
    yield runs_of(through_boto3(client))
    client.close()


@contextlib.contextmanager
def boto3_client(url: str) -> Iterator[Runs]:
    client = importlib.import_module("boto3").client("dynamodb", **boto_settings(url))
    yield {"get": times(lambda: client.get_item(**GET)), "query": times(lambda: client.query(**QUERY))}
    client.close()


@contextlib.contextmanager
def boto3_resource(url: str) -> Iterator[Runs]:
    condition = importlib.import_module("boto3.dynamodb.conditions").Key("pk").eq(KEY["pk"]["S"])
    resource = importlib.import_module("boto3").resource("dynamodb", **boto_settings(url))
    table = resource.Table(TABLE)
    key = {name: value["S"] for name, value in KEY.items()}
    yield {
        "get": times(lambda: table.get_item(Key=key)),
        "query": times(lambda: table.query(KeyConditionExpression=condition, Limit=PAGE)),
    }
    resource.meta.client.close()


@contextlib.contextmanager
def pynamodb(url: str) -> Iterator[Runs]:
    """A model: it gives typed attributes, which the clients above do not."""
    models = importlib.import_module("pynamodb.models")
    kinds = importlib.import_module("pynamodb.attributes")
    settings = {"table_name": TABLE, "host": url, "region": REGION}
    keys = {"aws_access_key_id": "AKID", "aws_secret_access_key": "secret"}
    fields = {
        "Meta": type("Meta", (), settings | keys),
        "pk": kinds.UnicodeAttribute(hash_key=True),
        "sk": kinds.UnicodeAttribute(range_key=True),
        "name": kinds.UnicodeAttribute(),
        "age": kinds.NumberAttribute(),
        "weight": kinds.NumberAttribute(),
        "good": kinds.BooleanAttribute(),
        "tags": kinds.UnicodeSetAttribute(),
        "note": kinds.UnicodeAttribute(),
    }
    pet: Any = type("Pet", (models.Model,), fields)
    key = [value["S"] for value in KEY.values()]
    yield {"get": times(lambda: pet.get(*key)), "query": times(lambda: list(pet.query(key[0], limit=PAGE)))}


@contextlib.contextmanager
def aiodynamo(url: str) -> Iterator[Runs]:
    """Asynchronous, one call after the other, with aiohttp under it; the loop's work is in the figure."""
    module = importlib.import_module("aiodynamo.client")
    credentials = importlib.import_module("aiodynamo.credentials")
    hash_key = importlib.import_module("aiodynamo.expressions").HashKey
    adapter = importlib.import_module("aiodynamo.http.aiohttp").AIOHTTP
    session_type = importlib.import_module("aiohttp").ClientSession
    address = importlib.import_module("yarl").URL(url)
    key = {name: value["S"] for name, value in KEY.items()}
    with asyncio.Runner() as runner:

        async def opened() -> Any:
            return session_type()

        session = runner.run(opened())
        static = credentials.StaticCredentials(credentials.Key("AKID", "secret"))
        table = module.Client(adapter(session), static, REGION, address).table(TABLE)

        async def get(count: int) -> Any:
            return [await table.get_item(key) for _ in range(count)][-1]

        async def query(count: int) -> Any:
            condition = hash_key("pk", key["pk"])
            return [await table.query_single_page(condition, limit=PAGE) for _ in range(count)][-1]

        yield {"get": lambda n: runner.run(get(n)), "query": lambda n: runner.run(query(n))}
        runner.run(session.close())


CLIENTS: Mapping[str, Client] = {
    "floor: socket + orjson": floor,
    "tablewright HttpCall": ours_http,
    "tablewright embedded": ours_embedded,
    "tablewright HttpCall, typed": typed_http,
    "tablewright embedded, typed": typed_embedded,
    "tablewright through boto3": ours_boto3,
    "boto3 client": boto3_client,
    "boto3 resource": boto3_resource,
    "PynamoDB model": pynamodb,
    "aiodynamo": aiodynamo,
}
OURS = "tablewright HttpCall"


# --- measuring ---


@dataclass(frozen=True, slots=True)
class Figure:
    """Microseconds of processor time per call: the median round, the cheapest and the dearest."""

    client: str
    workload: str
    median_us: float
    least_us: float
    most_us: float


def count_for(run: Run, seconds: float) -> int:
    """How many calls take about so long; warms up on the way."""
    count = 20
    while True:
        began = time.process_time()
        run(count)
        spent = time.process_time() - began
        if spent > seconds / 10:
            return max(1, int(count * seconds / spent))
        count *= 2


def measure(clients: Mapping[str, Runs], rounds: int, seconds: float) -> list[Figure]:
    counts = {(n, w): count_for(runs[w], seconds) for n, runs in clients.items() for w in WORKLOADS}
    found: dict[tuple[str, str], list[float]] = {place: [] for place in counts}
    order = list(counts)
    for number in range(rounds):
        turn = number % len(order)
        for name, workload in order[turn:] + order[:turn]:
            count = counts[name, workload]
            began = time.process_time()
            clients[name][workload](count)
            found[name, workload].append((time.process_time() - began) / count * 1e6)
    return [Figure(n, w, statistics.median(us), min(us), max(us)) for (n, w), us in found.items()]


def look(name: str, runs: Runs) -> None:
    """An answer without the item in it would be a fast one."""
    for workload, count in (("get", 1), ("query", PAGE)):
        answer = runs[workload](1)
        some = answer if isinstance(answer, list) else [answer]
        shown = repr([getattr(one, "attribute_values", one) for one in some])  # PynamoDB's models hide them
        if shown.count("Rex the Third") != count:
            raise SystemExit(f"{name} answers {workload} with {shown[:200]}")


def open_all(stack: contextlib.ExitStack, url: str) -> tuple[dict[str, Runs], dict[str, str]]:
    """The clients there are, and why the others are not."""
    opened: dict[str, Runs] = {}
    missing: dict[str, str] = {}
    for name, client in CLIENTS.items():
        try:
            opened[name] = stack.enter_context(client(url))
        except ModuleNotFoundError as error:
            missing[name] = f"not installed ({error.name})"
        else:
            look(name, opened[name])
    return opened, missing


def table_of(figures: list[Figure], missing: Mapping[str, str]) -> str:
    ours = {figure.workload: figure.median_us for figure in figures if figure.client == OURS}
    names = list(dict.fromkeys(figure.client for figure in figures))
    by_place = {(figure.client, figure.workload): figure for figure in figures}
    lines = [
        "| client | get us | least-most | x ours | query of 20 us | least-most | x ours |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name in names:
        cells = [name]
        for workload in WORKLOADS:
            one = by_place[name, workload]
            spread = f"{one.least_us:.0f}-{one.most_us:.0f}"
            cells += [f"{one.median_us:.1f}", spread, f"{one.median_us / ours[workload]:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [f"missing: {name}, {why}" for name, why in missing.items()]
    for name, workload, target in TARGETS:
        found = by_place[name, workload].median_us
        met = "met" if found < target else "MISSED"
        lines.append(f"target: {name}, {workload} under {target:.0f} us: {found:.1f} us, {met}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Processor time per call, client by client.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="of processor time per client and round")
    parser.add_argument("--json", metavar="FILE", help="write the figures here as well")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with stub() as url, contextlib.ExitStack() as stack:
        clients, missing = open_all(stack, url)
        figures = measure(clients, options.rounds, options.seconds)
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.2f}"
    print(f"{machine}; {options.rounds} rounds of {options.seconds} s")
    print(table_of(figures, missing))
    if options.json:
        found = {"machine": machine, "figures": [asdict(figure) for figure in figures], "missing": missing}
        Path(options.json).write_text(json.dumps(found, indent=2))
    medians = {(figure.client, figure.workload): figure.median_us for figure in figures}
    return 0 if all(medians[name, workload] < target for name, workload, target in TARGETS) else 1


if __name__ == "__main__":
    sys.exit(main())
