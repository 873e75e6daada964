"""The runtime: everything one process owns and must close, with the systems it runs.

    with open_app("./data") as runtime: ...
    with open_on_endpoint(endpoint) as runtime: ...     # tables that any number of processes share

Makes missing tables, starts each system and seeds it once. Must hold: whatever fails on the way, what was opened
before it is closed; each system has a Db of its own, so its receipts, page tokens and units are its own too; the marker
of a seeding is written last, so one that crashed is taken up again; of processes that share tables one at a time
starts, and one at a time sends the mail of a system or calls the webhook.
Elsewhere: where tables, secrets and files are (place.py), HTTP (serve.py), what a system is (kit/system.py), what is
in a login (logins.py).
"""

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Any

from tablewright.app import logins
from tablewright.app.accounts import Accounts
from tablewright.app.alarms.charges import ChargedSystem, Charges, charges_job
from tablewright.app.alarms.declared import DeclaredAlarm, alarms_of, copies_alarm
from tablewright.app.alarms.design import alarm_design, webhook_calls
from tablewright.app.alarms.notices import CALL, AlarmNotices
from tablewright.app.alarms.published import PublishedMetrics, metrics_job
from tablewright.app.alarms.states import Alarms, alarms_job
from tablewright.app.alarms.webhook import Webhook, webhook_at
from tablewright.app.code_login import CodeLogin, SignedIn
from tablewright.app.copies.backups import backup_job
from tablewright.app.copies.job import Copying, advice_of, copies_job, moved_advice, tables_to_copy
from tablewright.app.copies.store_id import kept_id
from tablewright.app.design import Seeded, seeded
from tablewright.app.design import app_design as own_design
from tablewright.app.endpoint import (
    KEYS,
    Endpoint,
    EndpointLacks,
    FirewallsTaken,
    refuse_other_secret,
    shared_place,
)
from tablewright.app.leases import Leases
from tablewright.app.mail import Directory, Mail, Way
from tablewright.app.manual_jobs import Works
from tablewright.app.migrations import make_tables, migration_work, names_of, tables_of
from tablewright.app.people import ENGINEER, THE_ENGINEER, everybody
from tablewright.app.place import NotOnEndpoint, StoreLocation, own_store
from tablewright.app.progress import silent
from tablewright.app.schedule import Schedule
from tablewright.app.systems import SYSTEMS
from tablewright.app.uploaded_designs import UploadedDesigns
from tablewright.client import Call, CallRefused
from tablewright.design import Design, Environment
from tablewright.edge import Issuer, Principal, Verifier
from tablewright.engine import Engine, Regions
from tablewright.kit.delivery import OutboxDispatch, OutgoingMessage
from tablewright.kit.jobs import Follower
from tablewright.kit.messages import MessageTemplates
from tablewright.kit.outbox import Mailbox
from tablewright.kit.sealed_text import seal_of
from tablewright.kit.system import Person, Progress, Start, System, SystemsClash, in_system
from tablewright.mapping import Db, Observe
from tablewright.mapping.migrate import Router, routed
from tablewright.mapping.migrate.state import migrations
from tablewright.mapping.receipts import TABLE as RECEIPTS
from tablewright.wire import serving
from tablewright.world import World, real_world

log = logging.getLogger("tablewright.app")

OWN_TITLE = "Tablewright"
# Tables that a store has beside those of designs.
RESERVED = (RECEIPTS.name, *migrations.tables)


@dataclass(frozen=True, slots=True)
class RunningSystem:
    """A system that runs: its Db, what its `start` returned, and its tables, led to the side that is open."""

    system: System
    db: Db
    service: Any
    call: Call
    # Where its tables are.
    here: Environment

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
    """What one process owns. Made by open_app or open_on_endpoint; close it."""

    place: StoreLocation
    world: World
    issuer: Issuer
    verifier: Verifier
    db: Db
    accounts: Accounts
    code_login: CodeLogin
    works: Works
    schedule: Schedule
    running: tuple[RunningSystem, ...]
    people: tuple[Person, ...]
    dynamodb_url: str | None
    mail: Mail
    # What is copied off-site, and to where; None if nothing is.
    copying: Copying | None
    alarms: Alarms
    charges: Charges
    # Sentences for the person who runs this server.
    advice: tuple[str, ...]
    uploads: UploadedDesigns
    _closing: ExitStack = field(repr=False)

    @property
    def call(self) -> Call:
        return self.place.call

    @property
    def secret(self) -> bytes:
        return self.place.secret

    @property
    def data(self) -> Path | None:
        """The directory of the store; None if it is in memory or on an endpoint."""
        return self.place.data

    @property
    def regions(self) -> Regions:
        """The store of this process, in each of its regions; NotOnEndpoint if the tables are on an endpoint."""
        if self.place.regions is None:
            raise NotOnEndpoint
        return self.place.regions

    @property
    def engine(self) -> Engine:
        """The engine of the home region; NotOnEndpoint."""
        return self.regions[self.regions.home]

    @property
    def designs(self) -> Mapping[str, tuple[Design, Db]]:
        """Every design with the Db that runs it, by name: of the systems, uploaded ones, the app's own."""
        found = {design.name: (design, each.db) for each in self.running for design in each.system.designs}
        found |= {name: (each.design, each.db) for name, each in self.uploads.all().items()}
        return {**found, **{design.name: (design, self.db) for design in (own_design, alarm_design)}}

    def call_of(self, db: Db) -> Call:
        """The tables of a Db, on the side that is open; `call` is of tables by the names they have."""
        return next((each.call for each in self.running if each.db is db), self.call)

    def open_table(self, db: Db, table: str) -> str:
        """The name, in this store, of the table that is open under a design's name for it."""
        return _open_table(self.call_of(db), db, table)

    def names_of(self, db: Db, table: str) -> list[str]:
        """Every name, in this store, that is of this table of a design: open, or another side of a migration."""
        found = next((each for each in self.running if each.db is db), None)
        return names_of(found.system, table, found.here) if found is not None else [db.physical(table)]

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

    @property
    def checks(self) -> Mapping[str, Callable[[], object]]:
        """What /ready asks: whether the tables answer, and whether damage to the store's file is known. What is not
        damaged is served all the same."""
        if self.place.regions is None:
            return {"store": self.place.is_answering}
        return {"store": self.place.is_answering, "integrity": self._integrity}

    def _integrity(self) -> str:
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
    alarm_mail: Sequence[str] = (),
    alarm_webhook: str | None = None,
    jobs: bool = True,
    observe: Observe | None = None,
) -> Runtime:
    """Everything up and running, but for HTTP. `url` is where tokens say they are from; port 0 is any free one.

    Mail is sent the way `mail` says, by default into a directory of the store. Frequent reads are cached in the Redis
    at `cache`, or in this process.
    The systems live in the home region; replicas of their tables may be made in `also_regions`. Daily copies of those
    tables whose design wants them elsewhere go to `copies`: a directory, or `s3://bucket/prefix`.
    Engineers are told of alarms by mail, as are the addresses `alarm_mail`; each change is posted to `alarm_webhook`.
    Without `jobs` no background work runs: `runtime.schedule` still lists it. `observe` is around each request to the
    tables (mapping/telemetry.py).
    """
    world = world or real_world()
    _refuse_clashes(systems)
    webhook = webhook_at(alarm_webhook) if alarm_webhook is not None else None
    with ExitStack() as stack:
        place = own_store(
            stack,
            data,
            world,
            memory=memory,
            durability=durability,
            ttl_seconds=ttl_seconds,
            ttl_lag=ttl_lag,
            throttling=throttling,
            buckets=buckets,
            also_regions=also_regions,
            copies=copies,
        )
        options = _Options(
            url, seed, progress, mail, cache, jobs, alarm_mail, webhook, observe, dynamodb_port
        )
        return _opened(place, systems, world, options, stack)


def open_on_endpoint(
    endpoint: Endpoint,
    *,
    systems: Sequence[System] = SYSTEMS,
    world: World | None = None,
    url: str,
    seed: bool = True,
    progress: Progress = silent,
    mail: Way | None = None,
    cache: str | None = None,
    alarm_mail: Sequence[str] = (),
    alarm_webhook: str | None = None,
    jobs: bool = True,
    observe: Observe | None = None,
) -> Runtime:
    """Everything up and running over tables that other processes use too. `url` is the same for all of them.

    Without `mail` messages are kept in the directory `mail` of the secrets, for a demo on one machine.
    """
    world = world or real_world()
    _refuse_clashes(systems)
    webhook = webhook_at(alarm_webhook) if alarm_webhook is not None else None
    with ExitStack() as stack:
        place = shared_place(endpoint, systems, world)
        options = _Options(url, seed, progress, mail, cache, jobs, alarm_mail, webhook, observe)
        return _opened(place, systems, world, options, stack)


@dataclass(frozen=True, slots=True)
class _Options:
    """What is the same for both kinds of places."""

    url: str
    seed: bool
    progress: Progress
    mail: Way | None
    cache: str | None
    jobs: bool
    alarm_mail: Sequence[str]
    webhook: Webhook | None
    observe: Observe | None
    dynamodb_port: int | None = None


def _opened(
    place: StoreLocation, systems: Sequence[System], world: World, options: _Options, stack: ExitStack
) -> Runtime:
    """The runtime at a place; `stack` closes what was opened so far, and the runtime takes it over."""
    call, secret, files = place.call, place.secret, place.files
    issuer = Issuer(files / KEYS, options.url, world)
    db = Db(
        call,
        own_design,
        alarm_design,
        world=world,
        secret=secret,
        environment=place.own,
        observe=options.observe,
    )
    with _named_refusals(place, OWN_TITLE):
        db.create_tables()
    leases = Leases(db, world) if place.shared is not None else None
    if place.shared is not None:
        refuse_other_secret(db, place.shared.secrets_option, secret)
    accounts = Accounts(db, world)
    code_login = CodeLogin(accounts, world, secret)
    works = Works(db, world, leases)
    drives = _drives(place, systems, leases, stack)
    # One process at a time: what systems do at their start, and seeding, is not done by two at once.
    with leases.held("start", Event()) if leases is not None else nullcontext():
        running = tuple(
            _started(system, place, world, issuer, stack, options, accounts, drives) for system in systems
        )
        stack.callback(works.close)  # before the systems it may be working for
        if options.seed:
            for each in running:
                _seed_once(each, db, world, options.progress)
    port = options.dynamodb_port
    dynamodb = (
        stack.enter_context(serving(place.regions, port=port))
        if port is not None and place.regions is not None
        else None
    )
    published = PublishedMetrics(db, world)
    schedule = Schedule(db, world, published.record_all, leases=leases)
    office = Mail(options.mail or Directory(files / "mail"))
    for post in _posts(running, code_login):
        schedule.add(post.system, [_mail_of(post, office, leases)])
    for each in running:
        backups = backup_job(each.db, each.call, call, tables_of(each.system, each.here))
        schedule.add(each.system.name, [*each.system.jobs(each.service), *backups], each.service)
        schedule.add(each.system.name, migration_work(each.system, each.service, call, world, each.here))
    copying, advice = _copies(running, world, place)
    if place.copies is not None and place.is_doubtful:
        advice += (moved_advice(place.copies),)
    notices = AlarmNotices(
        code_login.outbox,
        lambda: [*accounts.addresses(ENGINEER), *options.alarm_mail],
        Mailbox(webhook_calls, accounts, MessageTemplates(CALL, seal_of(secret, "webhook", world)), False),
        options.webhook,
        options.url,
    )
    declared = _alarms(running, place)
    if copying is not None:
        declared.append(copies_alarm(own_design.name, OWN_TITLE))
    metrics = place.regions[place.regions.home].metrics if place.regions is not None else None
    alarms = Alarms(db, world, declared, metrics, published, notices)
    charged = Charges(db, world, _charged(running), metrics, published)
    schedule.add(own_design.name, [metrics_job(published), charges_job(charged), alarms_job(alarms)])
    if options.webhook is not None:
        schedule.add(own_design.name, [_webhook_of(notices, leases)])
    if copying is not None:
        # The last of all jobs: what others fill at a first start (Skratch's geography) is then in the first copy.
        schedule.add(own_design.name, [copies_job(copying)])
    if options.jobs:
        stack.callback(schedule.close)
        schedule.start()
    uploads = _uploads(place, running, world, options)
    people = everybody([*(p for each in running for p in _people(each)), THE_ENGINEER])
    return Runtime(
        place, world, issuer, issuer.verifier([logins.AUDIENCE]), db, accounts, code_login, works, schedule, running,
        people, dynamodb, office, copying, alarms, charged, (*advice, *uploads.advice), uploads, stack.pop_all(),
    )  # fmt: skip


@contextmanager
def _named_refusals(place: StoreLocation, title: str) -> Iterator[None]:
    """What an endpoint refuses of a system's tables is said at the start, with the system's name."""
    try:
        yield
    except CallRefused as refusal:
        if place.shared is None:
            raise
        raise EndpointLacks(title, refusal) from refusal


def _refuse_clashes(systems: Sequence[System]) -> None:
    designs = [*(design for system in systems for design in system.designs), own_design, alarm_design]
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
    system: System,
    place: StoreLocation,
    world: World,
    issuer: Issuer,
    stack: ExitStack,
    options: _Options,
    accounts: Accounts,
    drives: Callable[[], bool] | None,
) -> RunningSystem:
    here, call, secret = place.environment_of(system.designs), place.call, place.secret
    with _named_refusals(place, system.title):
        make_tables(system.migrations, call, world, here)
        led = routed(call, *system.migrations, world=world, environment=here)
        db = Db(led, *system.designs, world=world, secret=secret, environment=here, observe=options.observe)
        db.create_tables()
        own = hashlib.sha256(system.name.encode() + secret).digest()
        service = system.start(
            Start(
                db, world, own, logins.issued_by(system.name, issuer), issuer.url, place.home_of(system.name),
                options.cache, lambda role: accounts.addresses(f"{system.name}.{role}"), place.objects_of(system.name),
                drives,
            )
        )  # fmt: skip
        make_tables(system.service_migrations(service), call, world, here)
    if system.close is not None:
        stack.callback(system.close, service)
    return RunningSystem(system, db, service, led, here)


def _uploads(
    place: StoreLocation, running: Sequence[RunningSystem], world: World, options: _Options
) -> UploadedDesigns:
    """The uploaded designs of a store; on an endpoint there are none."""

    def db_of(design: Design) -> Db:
        here = place.environment_of([design])
        return Db(
            place.call, design, world=world, secret=place.secret, environment=here, observe=options.observe
        )

    systems = [each.system for each in running]
    designs = [*(design for each in systems for design in each.designs), own_design, alarm_design]
    tables = [*(table for design in designs for table in design.tables), *RESERVED]
    sides = [name for each in running for name in tables_of(each.system, each.here)]
    home = place.files / "designs" if place.shared is None else None
    return UploadedDesigns(home, world, db_of, [design.name for design in designs], [*tables, *sides])


def _drives(
    place: StoreLocation, systems: Sequence[System], leases: Leases | None, stack: ExitStack
) -> Callable[[], bool] | None:
    """Whether this process drives devices; None if processes share them. One that was declared to has a lease for as
    long as it runs; FirewallsTaken if another has it."""
    if place.shared is None or leases is None:
        return lambda: True
    if place.shared.firewalls is None:
        return None
    if place.shared.firewalls == "elsewhere" or not any(system.has_devices for system in systems):
        return lambda: False
    lease = leases.taken_in_time("firewalls")
    if lease is None:
        raise FirewallsTaken
    lost = stack.enter_context(leases.kept(lease, Event()))
    return lambda: not lost.is_set()


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
    running: Sequence[RunningSystem], world: World, place: StoreLocation
) -> tuple[Copying | None, tuple[str, ...]]:
    """The off-site copies, if designs want them; or the advice to show if no location is set."""
    wanting = [each for each in running if tables_to_copy([each.db])]
    if not wanting:
        return None, ()
    if place.copies is None:
        log.info("copies elsewhere are wanted and have no place", extra={"option": "--copies"})
        return None, (advice_of([each.system.title for each in wanting]),)
    tables = tables_to_copy([each.db for each in wanting])
    beside = {each.system.name: (place.home_of(each.system.name), each.system.beside) for each in wanting}
    led = {table: each.call for each in wanting for table in tables_to_copy([each.db])}
    return Copying(place.call, world, place.copies, kept_id(place.files, world), tables, beside, led), ()


def _open_table(led: Call, db: Db, table: str) -> str:
    name = db.physical(table)
    return led.open_table(name) if isinstance(led, Router) else name


def _alarms(running: Sequence[RunningSystem], place: StoreLocation) -> list[DeclaredAlarm]:
    """On an endpoint only those on metrics that systems publish: the service has the metrics of its tables."""
    regions = place.regions
    replicas = [name for name in regions if name != regions.home] if regions is not None else []
    return [
        declared
        for each in running
        for declared in alarms_of(
            each.system.name,
            each.system.title,
            each.system.designs,
            each.db.environment.backups if each.db.environment is not None else None,
            replicas,
            partial(_open_table, each.call, each.db),
        )
        if regions is not None or not declared.is_of_service
    ]


def _charged(running: Sequence[RunningSystem]) -> list[ChargedSystem]:
    return [
        ChargedSystem(each.system.name, each.system.designs, partial(_open_table, each.call, each.db))
        for each in running
        if each.system.designs
    ]


def _posts(running: Sequence[RunningSystem], code_login: CodeLogin) -> list[Post]:
    found = [
        Post(each.system.name, each.system.title, each.dispatch)
        for each in running
        if each.dispatch is not None
    ]
    return [*found, Post(own_design.name, OWN_TITLE, code_login.dispatch)]


def _mail_of(post: Post, mail: Mail, leases: Leases | None) -> Follower[object]:
    def watch(stop: Event) -> None:
        mail.watch(post.system, post.title, post.dispatch, stop)

    name = f"mail {post.system}"
    return Follower("mail", _by_one(leases, name, watch), f"Delivers mail to {mail.way.where}.")


def _webhook_of(notices: AlarmNotices, leases: Leases | None) -> Follower[object]:
    return Follower(
        "webhook", _by_one(leases, "webhook", notices.watch), "Posts changes of alarms to the webhook."
    )


def _by_one(
    leases: Leases | None, name: str, watch: Callable[[Event], None]
) -> Callable[[object, Event], None]:
    """What sends, in one process at a time: a message that two read as waiting would be sent twice."""

    def run(_: object, stop: Event) -> None:
        with leases.held(name, stop) if leases is not None else nullcontext(stop) as ended:
            if not ended.is_set():
                watch(ended)

    return run


def _people(each: RunningSystem) -> Sequence[Person]:
    return [replace(person, system=each.system.name) for person in each.system.people(each.service)]
