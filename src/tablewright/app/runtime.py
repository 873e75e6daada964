"""The runtime: everything one process owns and must close, with the systems it runs.

    with open_app("./data") as runtime: ...

Opens the store, makes missing tables, starts each system and seeds it once. Must hold: whatever fails on the way,
what was opened before it is closed; each system has a Db of its own, so its receipts, page tokens and units are its
own too; the marker of a seeding is written last, so one that crashed is taken up again.
Elsewhere: HTTP (serve.py), what a system is (kit/system.py), what is in a login (logins.py).
"""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from types import TracebackType
from typing import Any

from tablewright.app import logins
from tablewright.app.accounts import Accounts
from tablewright.app.code_login import CodeLogin, SignedIn
from tablewright.app.copies.backups import backup_job, environment_of
from tablewright.app.copies.job import Copying, advice_of, copies_job, moved_advice, tables_to_copy
from tablewright.app.copies.store import CopiesUnusable, CopyPlace, is_new, made_ready, place_of
from tablewright.app.copies.store_id import has_id, kept_id
from tablewright.app.design import Seeded, seeded
from tablewright.app.design import app_design as own_design
from tablewright.app.mail import Directory, Mail, Way
from tablewright.app.manual_jobs import Works
from tablewright.app.migrations import make_tables, migration_work, names_of, tables_of
from tablewright.app.people import THE_ENGINEER, everybody
from tablewright.app.progress import silent
from tablewright.app.schedule import Schedule
from tablewright.app.systems import SYSTEMS
from tablewright.app.token_secret import kept_secret, new_secret
from tablewright.client import Call, embedded
from tablewright.design import Design
from tablewright.edge import Issuer, Principal, Verifier
from tablewright.engine import Engine, Regions
from tablewright.kit.delivery import OutboxDispatch, OutgoingMessage
from tablewright.kit.jobs import Follower
from tablewright.kit.system import Person, Progress, Start, System, SystemsClash, in_system
from tablewright.mapping import Db
from tablewright.mapping.migrate import Router, routed
from tablewright.private_files import private_directory, tighten
from tablewright.wire import serving
from tablewright.world import World, real_world

log = logging.getLogger("tablewright.app")

OWN_TITLE = "Tablewright"


@dataclass(frozen=True, slots=True)
class RunningSystem:
    """A system that runs: its Db, what its `start` returned, and its tables, led to the side that is open."""

    system: System
    db: Db
    service: Any
    call: Call

    @property
    def dispatch(self) -> OutboxDispatch[Any] | None:
        """Its outgoing mail, if it has any."""
        return self.system.dispatch(self.service) if self.system.dispatch is not None else None


@dataclass(frozen=True, slots=True)
class Post:
    """The outgoing mail of a system, or of the app itself."""

    system: str
    title: str
    dispatch: OutboxDispatch[Any]


@dataclass(frozen=True)
class Runtime:
    """What one process owns. Made by open_app; close it."""

    engine: Engine
    call: Call
    world: World
    secret: bytes = field(repr=False)
    issuer: Issuer
    verifier: Verifier
    db: Db
    accounts: Accounts
    code_login: CodeLogin
    works: Works
    schedule: Schedule
    running: tuple[RunningSystem, ...]
    people: tuple[Person, ...]
    data: Path | None
    dynamodb_url: str | None
    mail: Mail
    # The engine above is the home region's; each other region has one of its own.
    regions: Regions
    # What is copied off-site, and to where; None if nothing is.
    copying: Copying | None
    # Sentences for the person who runs this server.
    advice: tuple[str, ...]
    _closing: ExitStack = field(repr=False)

    @property
    def designs(self) -> Mapping[str, tuple[Design, Db]]:
        """Every design with the Db that runs it, by name; the app's own comes last."""
        found = {design.name: (design, each.db) for each in self.running for design in each.system.designs}
        return {**found, own_design.name: (own_design, self.db)}

    def call_of(self, db: Db) -> Call:
        """The tables of a Db, on the side that is open; `call` is of tables by the names they have."""
        return next((each.call for each in self.running if each.db is db), self.call)

    def open_table(self, db: Db, table: str) -> str:
        """The name, in this store, of the table that is open under a design's name for it."""
        led, name = self.call_of(db), db.physical(table)
        return led.open_table(name) if isinstance(led, Router) else name

    def names_of(self, db: Db, table: str) -> list[str]:
        """Every name, in this store, that is of this table of a design: open, or another side of a migration."""
        found = next((each for each in self.running if each.db is db), None)
        return names_of(found.system, table) if found is not None else [db.physical(table)]

    def token_for(self, person: Person) -> str:
        """A login as this person, for the demo alone."""
        return logins.of_demo(self.issuer, person)

    def login_of(self, signed: SignedIn) -> str:
        """A login to an account."""
        return logins.of_account(self.issuer, signed)

    def sign_out(self, caller: Principal, *, everywhere: bool = False) -> None:
        """End this login, wherever else its token is; systems that keep sessions end theirs.

        `everywhere`: every other login to the caller's account too, if it is one.
        """
        logins.end(self.db, caller)
        account = self.accounts.of(caller.subject) if everywhere and caller.is_known else None
        if account is not None:
            self.accounts.end_logins(account.email)
        for each in self.running:
            local = in_system(caller, each.system.name)
            if each.system.sign_out is not None and local.is_known:
                each.system.sign_out(each.service, local)

    @property
    def posts(self) -> Sequence[Post]:
        """Every outbox of this process."""
        return _posts(self.running, self.code_login)

    def deliver(self) -> None:
        """Deliver one round of all mail, on this thread."""
        for post in self.posts:
            self.mail.deliver(post.system, post.title, post.dispatch, Event())

    def is_answering(self) -> bool:
        """Whether the store answers; for /ready."""
        return "TableNames" in self.call("ListTables", {"Limit": 1})

    def integrity(self) -> str:
        """Whether damage to the store's file is known; for /ready. What is not damaged is served all the same."""
        return "damage found" if self.engine.scrub.damage() else "ok"

    def close(self) -> None:
        """Stop jobs, long work, the DynamoDB port and the systems, then close the store."""
        self._closing.close()

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_app(
    data: str | Path = "./data",
    *,
    memory: bool = False,
    systems: Sequence[System] = SYSTEMS,
    world: World | None = None,
    url: str = "http://127.0.0.1:8080",
    durability: str = "durable",
    dynamodb_port: int | None = None,
    seed: bool = True,
    progress: Progress = silent,
    ttl_seconds: float = 10.0,
    ttl_lag: timedelta = timedelta(0),
    throttling: bool = False,
    buckets: str | None = None,
    also_regions: Sequence[str] = (),
    mail: Way | None = None,
    cache: str | None = None,
    copies: str | None = None,
    jobs: bool = True,
) -> Runtime:
    """Everything up and running, but for HTTP. `url` is where tokens say they are from; port 0 is any free one.

    Mail is sent the way `mail` says, by default into a directory of the store. Frequent reads are cached in the Redis
    at `cache`, or in this process.
    The systems live in the home region; replicas of their tables may be made in `also_regions`. Daily copies of those
    tables whose design wants them elsewhere go to `copies`: a directory, or `s3://bucket/prefix`.
    Without `jobs` no background work runs: `runtime.schedule` still lists it.
    """
    world = world or real_world()
    _refuse_clashes(systems)
    with ExitStack() as stack:
        if memory and copies is not None:
            # Each run would have a new name, so old copies would never be removed.
            raise CopiesUnusable("a store in memory cannot be copied elsewhere; use a data directory")
        place = stack.enter_context(closing(place_of(copies))) if copies is not None else None
        is_doubtful = place is not None and is_new(place) and has_id(Path(data))
        if place is not None:
            made_ready(place)
        regions = stack.enter_context(
            Regions.open(
                ":memory:" if memory else data,
                also=also_regions,
                durability=durability,
                world=world,
                ttl_seconds=ttl_seconds,
                ttl_lag=ttl_lag,
                throttling=throttling,
                buckets=buckets,
                elsewhere={} if place is None else {place.bucket.name: place.where},
            )
        )
        engine = regions[regions.home]
        home = None if memory else Path(data)
        secret = kept_secret(home, world) if home else new_secret(world)
        files = home or Path(stack.enter_context(TemporaryDirectory(prefix="tablewright-")))
        private_directory(files / "systems")
        for name in ("copies.id", "keys", "mail", "systems"):
            tighten(files / name)
        issuer = Issuer(files / "keys", url, world)
        call = embedded(engine)
        db = Db(call, own_design, world=world, secret=secret)
        db.create_tables()
        accounts = Accounts(db, world)
        code_login = CodeLogin(accounts, world, secret)
        works = Works(db, world)
        running = tuple(
            _started(
                system, call, world, secret, issuer, files / "systems" / system.name, stack, cache, accounts
            )
            for system in systems
        )
        stack.callback(works.close)  # before the systems it may be working for
        if seed:
            for each in running:
                _seed_once(each, db, world, progress)
        dynamodb = (
            stack.enter_context(serving(regions, port=dynamodb_port)) if dynamodb_port is not None else None
        )
        schedule = Schedule(db, world)
        office = Mail(mail or Directory(files / "mail"))
        for post in _posts(running, code_login):
            schedule.add(post.system, [_mail_of(post, office)])
        for each in running:
            backups = backup_job(each.db, each.call, call, tables_of(each.system))
            schedule.add(each.system.name, [*each.system.jobs(each.service), *backups], each.service)
            schedule.add(each.system.name, migration_work(each.system, call, world))
        copying, advice = _copies(running, call, world, place, files, schedule)
        if place is not None and is_doubtful:
            advice += (moved_advice(place),)
        if jobs:
            stack.callback(schedule.close)
            schedule.start()
        people = everybody([*(p for each in running for p in _people(each)), THE_ENGINEER])
        return Runtime(
            engine, call, world, secret, issuer, issuer.verifier([logins.AUDIENCE]), db, accounts, code_login, works,
            schedule, running, people, home, dynamodb, office, regions, copying, advice, stack.pop_all(),
        )  # fmt: skip


def _refuse_clashes(systems: Sequence[System]) -> None:
    designs = [design for system in systems for design in system.designs] + [own_design]
    wanted: Mapping[str, list[str]] = {
        "name": [system.name for system in systems],
        "design": [design.name for design in designs],
        "table": [table for design in designs for table in design.tables],
    }
    for what, names in wanted.items():
        for name in names:
            if names.count(name) > 1:
                raise SystemsClash(what, name)


def _started(
    system: System, call: Call, world: World, secret: bytes, issuer: Issuer, home: Path, stack: ExitStack,
    cache: str | None, accounts: Accounts,
) -> RunningSystem:  # fmt: skip
    here = environment_of(system.designs)
    make_tables(system, call, world)
    led = routed(call, *system.migrations, world=world, environment=here)
    db = Db(led, *system.designs, world=world, secret=secret, environment=here)
    db.create_tables()
    own = hashlib.sha256(system.name.encode() + secret).digest()
    private_directory(home)
    service = system.start(
        Start(
            db, world, own, logins.issued_by(system.name, issuer), issuer.url, home, cache,
            lambda role: accounts.addresses(f"{system.name}.{role}"),
        )
    )  # fmt: skip
    if system.close is not None:
        stack.callback(system.close, service)
    return RunningSystem(system, db, service, led)


def _seed_once(each: RunningSystem, db: Db, world: World, progress: Progress) -> None:
    system = each.system
    if system.seed is None or db.one(seeded.get(system.name), consistent=True) is not None:
        return
    system.seed(each.service, _named(system.title, progress))
    if each.dispatch is not None:
        while each.dispatch.run(_told_long_ago).sent:
            pass
    db.write(seeded.put(Seeded(system=system.name, at=world.now())))


def _named(title: str, progress: Progress) -> Callable[[int, int | None, str], None]:
    """Progress with the system's name in front."""
    return lambda done, total, what: progress(done, total, f"{title}, {what}" if what else title)


def _told_long_ago(letter: OutgoingMessage) -> None:
    """The seeded messages count as delivered; demo users have no mailbox."""


def _copies(
    running: Sequence[RunningSystem],
    call: Call,
    world: World,
    place: CopyPlace | None,
    files: Path,
    schedule: Schedule,
) -> tuple[Copying | None, tuple[str, ...]]:
    """Schedule off-site copies if designs want them; or the advice to show if no location is set."""
    wanting = [each for each in running if tables_to_copy([each.db])]
    if not wanting:
        return None, ()
    if place is None:
        log.info("copies elsewhere are wanted and have no place", extra={"option": "--copies"})
        return None, (advice_of([each.system.title for each in wanting]),)
    tables = tables_to_copy([each.db for each in wanting])
    beside = {
        each.system.name: (files / "systems" / each.system.name, each.system.beside) for each in wanting
    }
    led = {table: each.call for each in wanting for table in tables_to_copy([each.db])}
    copying = Copying(call, world, place, kept_id(files, world), tables, beside, led)
    # The last of all jobs: what others fill at a first start (Skratch's geography) is then in the first copy.
    schedule.add(own_design.name, [copies_job(copying)])
    return copying, ()


def _posts(running: Sequence[RunningSystem], code_login: CodeLogin) -> list[Post]:
    found = [
        Post(each.system.name, each.system.title, each.dispatch)
        for each in running
        if each.dispatch is not None
    ]
    return [*found, Post(own_design.name, OWN_TITLE, code_login.dispatch)]


def _mail_of(post: Post, mail: Mail) -> Follower[object]:
    def watch(_: object, stop: Event) -> None:
        mail.watch(post.system, post.title, post.dispatch, stop)

    return Follower("mail", watch, f"Delivers mail to {mail.way.where}.")


def _people(each: RunningSystem) -> Sequence[Person]:
    return [replace(person, system=each.system.name) for person in each.system.people(each.service)]
