"""Whether Campus Cloud's files stay fast and small: the newest of many files, and a large file up and down.

    python benchmarks/campus.py                                        100 000 files; a file of 64 MiB
    python benchmarks/campus.py --files 1000000 --megabytes 2048 --json found.json
    python benchmarks/campus.py --parts transfer --megabytes 2048

newest: the 20 newest files of a user with `--few` files (1 000) and of one with `--files`, turn by turn, in CPU time of
this process, and in read units: the target is that both are the same.
transfer: a file goes up over HTTP in parts and comes down again, in one process with the server. The target is about
the growth of its peak memory after a small file went the same way.
rush: 2 000 submissions in a minute with exact numbers (campus_rush.py).
mix: the reads and writes of the document at ten times its load (campus_mix.py).
Must hold: pages are compared with what was loaded, and what comes down with what went up.
stdout is the answer, stderr the talk. Code 0: every measured target met; 1: one was not; 2: it cannot run.
Figures depend on the machine, so no test asserts them. Files of a list are written without bytes and uploads.
Elsewhere: running parts (runner.py), the form of a verdict (verdict.py, report.py), the machine (machine.py).
"""

import dataclasses
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import islice
from pathlib import Path
from statistics import median

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx
from benchmarks.campus_mix import mix_part
from benchmarks.campus_rush import rush_part
from benchmarks.load import CannotMeasure
from benchmarks.report import table
from benchmarks.runner import Part, argument_parser, print_progress, run_parts
from benchmarks.verdict import Target, at_least, under

from tablewright import Engine
from tablewright.client import embedded
from tablewright.design import Write
from tablewright.edge import Issuer, Principal, make_app, principal, serving_app
from tablewright.edge.routes import MountedRouter
from tablewright.kit.objects.store import PART_SIZE
from tablewright.mapping import Db
from tablewright.systems.campus import design as d
from tablewright.systems.campus.api import router as campus_api
from tablewright.systems.campus.api.parts import STREAMED
from tablewright.systems.campus.campus import Campus, open_campus
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.model import File, User
from tablewright.systems.campus.settings import Settings

PAGE, AT_ONCE = 20, 2_500
FLAT = 0.8
# Client and server hold a few parts of 8 MiB, and the allocator keeps what they freed: it ends there at any size.
MOST_GROWTH_MIB = 160
MIB = 1024 * 1024
START = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = b"a secret for a benchmark, of no use elsewhere"
NAME = "campus"


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """What was asked for, and where it happens."""

    directory: Path
    files: int
    few: int
    rounds: int
    megabytes: int
    durability: str


@contextmanager
def opened(bench: Bench, name: str) -> Iterator[Campus]:
    with Engine.open(bench.directory / name, durability=bench.durability) as engine:
        db = Db(embedded(engine), d.CAMPUS)
        db.create_tables()
        settings = Settings(student_quota=2 * bench.megabytes * MIB + 1024 * MIB, scanner="none")
        yield open_campus(db, db.world, SECRET, home=bench.directory / f"{name}-home", settings=settings)


def student(campus: Campus, name: str) -> User:
    login = Principal(f"user-{name}", frozenset(("student",)), email=f"{name}@campus.example")
    return campus.users.entered(login)


# --- the newest ---


def file_of(user: User, number: int) -> File:
    at = START + timedelta(seconds=number)
    return File.model_construct(
        user_id=user.user_id, file_id=f"{number:08}-0000-4000-8000-{abs(hash(user.user_id)) % 10**12:012}",
        filename=f"lecture notes {number}.pdf", file_size=100_000 + number, content_type="application/pdf",
        object_name=f"files/{number}/1", bucket="campus-cloud-files", status="active", upload_state="complete",
        uploaded_at=at, last_modified=at, checksum="sha256:" + "0" * 64, version_id="1", version_number=1,
        description=None, tags=["notes"], metadata={}, download_count=0, is_public=False, deleted_at=None,
        virus_scan_status="clean", virus_scan_date=at, virus_signature=None, held_by=[], folder_id=None,
        place=user.user_id, uploaded_by=user.user_id, stored_bytes=100_000 + number, purged_at=None, version=1,
    )  # fmt: skip


def load(campus: Campus, user: User, count: int) -> None:
    began, db = time.perf_counter(), campus.repository.db
    shape = d.files.shape
    writes: Iterator[Write[File]] = (
        Write("put", shape, shape.key_of(file.__dict__), file.__dict__, item=file)
        for file in (file_of(user, number) for number in range(count))
    )
    while some := list(islice(writes, AT_ONCE)):
        if db.batch(some):
            raise CannotMeasure("the table did not take what was loaded")
    print_progress(f"{count} files loaded in {time.perf_counter() - began:.0f} s")


def newest(campus: Campus, user: User, count: int) -> float:
    """CPU milliseconds of one page, which must be the newest files."""
    began = time.process_time()
    page = campus.listing.page(user, Wanted(), PAGE)
    spent = (time.process_time() - began) * 1000
    expected = [f"lecture notes {number}.pdf" for number in range(count - 1, count - 1 - PAGE, -1)]
    if [file.filename for file in page.items] != expected:
        raise CannotMeasure("a page does not have the newest files")
    return spent


def newest_part(bench: Bench) -> Part:
    with opened(bench, "newest") as campus:
        sizes = {"few": bench.few, "many": bench.files}
        users = {name: student(campus, name) for name in sizes}
        for name, count in sizes.items():
            load(campus, users[name], count)
        times: dict[str, list[float]] = {name: [] for name in sizes}
        for turn in range(-5, bench.rounds):
            for name, count in sizes.items():
                spent = newest(campus, users[name], count)
                if turn >= 0:
                    times[name].append(spent)
        units = {
            name: campus.repository.db.page(
                d.files_of_user(user_id=users[name].user_id), size=PAGE
            ).read_units
            for name in sizes
        }
    few, many = median(times["few"]), median(times["many"])
    found = {"few_ms": few, "many_ms": many, "units": units}
    rows = [[name, str(sizes[name]), f"{median(times[name]):.2f}", f"{units[name]:g}"] for name in sizes]
    text = table(f"The {PAGE} newest files of a user, CPU ms", ["user", "files", "p50", "read units"], rows)
    targets = [
        at_least("newest 20: speed among many files against few", FLAT, few / many),
        at_least("newest 20: read units of few against many", 1.0, units["few"] / units["many"]),
    ]
    return Part("newest", text, found, targets)


# --- a large file ---


@contextmanager
def served(bench: Bench, campus: Campus, user: User) -> Iterator[httpx.Client]:
    """The API of a campus, and a client that is signed in."""
    world = campus.repository.world
    issuer = Issuer(bench.directory / "keys", "https://id.example", world)
    routes = MountedRouter(f"/{NAME}", campus_api.router(campus, principal()), (NAME,))
    streamed = {f"/{NAME}{path}": most for path, most in STREAMED.items()}
    app = make_app(NAME, world, verifier=issuer.verifier([NAME]), routers=[routes], streamed_bodies=streamed)
    token = issuer.issue(user.user_id, audience=NAME, lifetime=timedelta(hours=1), roles=(), email=user.email)
    headers = {"Authorization": f"Bearer {token}"}
    with (
        serving_app(app) as url,
        httpx.Client(base_url=f"{url}/{NAME}/v1", headers=headers, trust_env=False, timeout=120) as client,
    ):
        yield client


def part_of(number: int, size: int) -> bytes:
    """The bytes of a part: each has other ones."""
    return sha256(str(number).encode()).digest() * (size // 32) + b"." * (size % 32)


def up_and_down(client: httpx.Client, size: int) -> tuple[float, float]:
    """Seconds up and down; what comes down is compared with what went up."""
    began, sent = time.perf_counter(), sha256()
    slot = client.post("/files", json={"filename": "large.bin", "fileSize": size}).raise_for_status().json()
    for number in range(1, slot["partCount"] + 1):
        part = part_of(number, min(PART_SIZE, size - (number - 1) * PART_SIZE))
        sent.update(part)
        client.put(f"/uploads/{slot['uploadId']}/parts/{number}", content=part).raise_for_status()
    checksum = f"sha256:{sent.hexdigest()}"
    client.post(f"/uploads/{slot['uploadId']}:complete", json={"checksum": checksum}).raise_for_status()
    up, began, received = time.perf_counter() - began, time.perf_counter(), sha256()
    with client.stream("GET", f"/files/{slot['fileId']}/content") as answer:
        for chunk in answer.iter_raw():
            received.update(chunk)
    if received.digest() != sent.digest():
        raise CannotMeasure("what came down is not what went up")
    return up, time.perf_counter() - began


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def transfer_part(bench: Bench) -> Part:
    with ExitStack() as stack:
        campus = stack.enter_context(opened(bench, "transfer"))
        client = stack.enter_context(served(bench, campus, student(campus, "lin")))
        up_and_down(client, 2 * PART_SIZE)
        before, cpu = peak_mib(), time.process_time()
        up, down = up_and_down(client, bench.megabytes * MIB)
        growth, cpu = peak_mib() - before, time.process_time() - cpu
    found = {"up_s": up, "down_s": down, "cpu_s": cpu, "peak_growth_mib": growth}
    row = [f"{bench.megabytes} MiB", f"{up:.1f}", f"{down:.1f}", f"{cpu:.1f}", f"{growth:.0f}"]
    head = ["file", "up s", "down s", "CPU s, client and server", "peak memory MiB more"]
    text = table("A file up in parts and down again over HTTP", head, [row])
    return Part("transfer", text, found, [_small(growth)])


def _small(growth: float) -> Target:
    return under("a large file up and down: growth of peak memory", MOST_GROWTH_MIB, "MiB", growth)


# --- the whole ---

PARTS: dict[str, Callable[[Bench], Part]] = {
    "newest": newest_part,
    "transfer": transfer_part,
    "rush": lambda bench: rush_part(bench.directory, bench.durability),
    "mix": lambda bench: mix_part(bench.directory, bench.durability),
}


def main(arguments: Sequence[str]) -> int:
    parser = argument_parser("benchmarks/campus.py", __doc__, list(PARTS))
    parser.add_argument(
        "--files", type=int, default=100_000, help="files of the user with many; default 100000"
    )
    parser.add_argument("--few", type=int, default=1_000, help="files of the user with few; default 1000")
    parser.add_argument("--rounds", type=int, default=60, help="pages read of each; default 60")
    parser.add_argument("--megabytes", type=int, default=64, help="size of the large file in MiB; default 64")
    parser.add_argument("--durability", choices=("durable", "relaxed"), default="relaxed")
    asked = parser.parse_args(arguments)
    if min(asked.files, asked.few) < PAGE or asked.rounds < 1 or asked.megabytes < 1:
        parser.error(f"at least {PAGE} files, one round and one MiB")
    settings = {name: getattr(asked, name) for name in ("files", "few", "rounds", "megabytes", "durability")}
    return run_parts(PARTS, asked, lambda home: Bench(home, *settings.values()), settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
