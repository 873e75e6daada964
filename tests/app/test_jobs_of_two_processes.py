"""Every scheduled job of the five systems has its effect once, if two processes run it at once and if one is killed.

The schedule claims a run (test_schedule.py), but a run may outlast its period, or die half-way: so jobs must bear it.
Here the claim is left out. Two processes share the tables of a demo; a job runs in the first, and before one of its
writes the second runs the same job to its end, or the first is killed and the second runs it later. What is stored then
must be what one run stores, but for ids, times and counts of attempts.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.app.small import SMALL

from tablewright import testing
from tablewright.app.endpoint import Endpoint, make_secrets
from tablewright.app.runtime import Runtime, open_on_endpoint
from tablewright.client import Call, embedded, pages
from tablewright.kit.jobs import Job
from tablewright.kit.system import System
from tablewright.kit.tables import Actor
from tablewright.mapping import WriteRefused
from tablewright.mapping.consumer.leases import ChangesLost
from tablewright.systems.campus import design as campus_design
from tablewright.systems.campus.campus import Campus
from tablewright.systems.chat import design as chat_design
from tablewright.systems.parental import design as parental_design
from tablewright.systems.parental.parental import Parental
from tablewright.systems.portal import design as portal_design
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.rules import local_day
from tablewright.systems.portal.seed import ADMIN
from tablewright.systems.travel import design as travel_design
from tablewright.systems.travel.travel import Travel
from tablewright.world import real_world

WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
URL = "https://app.example.com"
# Longer than any lease of a task.
LATER = timedelta(minutes=31)
# When the jobs of the demo are run: each finds other things to do.
DAYS = (0, 1, 3, 8, 31, 91, 366)
# The longest round has as many runs.
ROUNDS = 60
# It publishes thousands of items, the same each time (tests/systems/travel/test_jobs.py).
LONG = ("geography",)
# What the demo gives nothing to do to, or what stores nothing: metrics are published.
IDLE = {
    "portal": set[str](),
    "parental": {"metrics", "parked", "restored"},
    "campus": {"ended shares", "leftover bytes", "stale shares", "storage use"},
    "travel": set[str](),
    "chat": {"agent objects", "archives", "migrated chats", "restored"},
}
# Counts of attempts, and of what an erasure has removed in the run that ended it.
COUNTS = ("version", "runs", "failures", "items")
_NAME = re.compile(r"[0-9A-Za-z+/=_-]{16,}|\d{4}-\d\d-\d\d(?:T[0-9:.]+Z?)?|\d{4}-W\d\d")

Stored = dict[str, dict[str, dict[str, Any]]]


class Died(BaseException):
    """The process was killed here."""


@dataclass
class Line:
    """The first process's way to the tables: something happens before its `place`th write."""

    call: Call
    place: int = 0
    deed: Callable[[], object] | None = None
    writes: int = 0
    is_dead: bool = False

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb in WRITES:
            self.writes += 1
            if self.writes == self.place and self.deed is not None:
                self.deed()
        if self.is_dead:
            raise Died
        return self.call(verb, request)

    def die(self) -> None:
        self.is_dead = True

    @contextmanager
    def watched(self, place: int = 0, deed: Callable[[], object] | None = None) -> Iterator[None]:
        self.place, self.deed, self.writes = place, deed, 0
        try:
            yield
        finally:
            self.place, self.deed, self.is_dead = 0, None, False


@dataclass
class Pair:
    """Two processes over the tables of one system."""

    system: System
    line: Line
    other: Line
    clock: testing.Clock
    first: Runtime
    second: Runtime
    wrong: list[str] = field(default_factory=list)
    had_effect: set[str] = field(default_factory=set)

    def job(self, runtime: Runtime, name: str) -> Callable[[], object]:
        service = runtime.running[0].service
        (job,) = (each for each in jobs_of(self.system, service) if each.name == name)
        return lambda: job.run(service)

    # --- what is stored ---

    def stored(self) -> Stored:
        """Every item of the system, by table and key."""
        found: Stored = {}
        for page in pages(self.line.call, "ListTables", {}):
            for table in page["TableNames"]:
                if not table.startswith("house"):
                    keys = self._keys(table)
                    rows = pages(self.line.call, "Scan", {"TableName": table, "ConsistentRead": True})
                    found[table] = {
                        repr([item[key] for key in keys]): item for page in rows for item in page["Items"]
                    }
        return found

    def _keys(self, table: str) -> list[str]:
        described = self.line.call("DescribeTable", {"TableName": table})["Table"]
        return [key["AttributeName"] for key in described["KeySchema"]]

    def rewind(self, before: Stored, after: Stored) -> None:
        for table, now in after.items():
            keys = self._keys(table)
            for place, item in now.items():
                if place not in before[table]:
                    key = {name: item[name] for name in keys}
                    self.line.call("DeleteItem", {"TableName": table, "Key": key})
            for place, item in before[table].items():
                if now.get(place) != item:
                    self.line.call("PutItem", {"TableName": table, "Item": item})

    # --- one job ---

    def check(self, name: str) -> None:
        """Try a job from what is stored now, which is what is stored afterwards."""
        first, second = self.job(self.first, name), self.job(self.second, name)
        before = self.stored()

        def settle() -> None:
            """The second process goes on until there is nothing left to do."""
            for _ in range(ROUNDS):
                with self.other.watched():
                    second()
                    if self.other.writes == 0:
                        break

        def outcome(place: int, deed: Callable[[], object] | None, later: timedelta) -> Counter[str]:
            # The schedule logs a run that lost a race; the next one goes on.
            with self.line.watched(place, deed), suppress(Died, WriteRefused):
                first()
            for _ in range(2):  # an erasure has a second round some minutes after the first
                self.clock.move(later)
                settle()
            after = self.stored()
            self.clock.move(-2 * later)
            self.rewind(before, after)
            return shape(after)

        with self.line.watched():
            first()
            writes = self.line.writes
        after = self.stored()
        self.rewind(before, after)
        if shape(after) == shape(before):
            return
        self.had_effect.add(name)
        once, once_later = outcome(0, None, timedelta()), outcome(0, None, LATER)
        for place in sorted({1, 2, (writes + 1) // 2, writes} & set(range(1, writes + 1))):
            raced = outcome(place, second, timedelta())
            self._compare(f"{name}: another process before write {place} of {writes}", once, raced)
            killed = outcome(place, self.line.die, LATER)
            self._compare(f"{name}: killed before write {place} of {writes}", once_later, killed)

    def _compare(self, what: str, once: Counter[str], found: Counter[str]) -> None:
        if once != found:
            more, fewer = list((found - once).elements()), list((once - found).elements())
            self.wrong.append(f"{what}:\n  too much {more[:3]}\n  too little {fewer[:3]}")


def jobs_of(system: System, service: Any) -> list[Job[Any]]:
    """The jobs that any process may run; one on the memory of its process is run by each."""
    found = [each for each in system.jobs(service) if isinstance(each, Job)]
    return [each for each in found if not each.of_process and each.name not in LONG]


def shape(stored: Stored) -> Counter[str]:
    """What is stored, without what differs between two runs: ids, times, sealed texts, counts of attempts."""
    return Counter(
        f"{table} {_plain_text(item)}" for table, items in stored.items() for item in items.values()
    )


# What is stored is looked at hundreds of times, and hardly any of it has changed since.
_plain_texts: dict[str, str] = {}


def _plain_text(item: dict[str, Any]) -> str:
    text = repr(item)
    if text not in _plain_texts:
        _plain_texts[text] = repr(_plain(item))
    return _plain_texts[text]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            _NAME.sub("*", name): "number" if name == "N" and abs(float(each)) > 1e9 else _plain(each)
            for name, each in sorted(value.items())
            if name not in COUNTS
        }
    if isinstance(value, list):
        return sorted((_plain(each) for each in value), key=repr)
    return _NAME.sub("*", value) if isinstance(value, str) else "bytes" if isinstance(value, bytes) else value


@pytest.fixture(params=SMALL, ids=lambda system: str(system.name))
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    system: System = request.param
    make_secrets(tmp_path / "secrets", SMALL, real_world())
    (tmp_path / "objects").mkdir()
    # A morning: an hour later it is the same day for everybody in the demo, so a late run counts the same days.
    clock = testing.Clock(datetime(2026, 11, 16, 9, tzinfo=UTC))
    with ExitStack() as stack:
        # It deletes nothing by TTL meanwhile.
        engine = stack.enter_context(testing.engine(world=clock.world()))
        line, other = Line(embedded(engine)), Line(embedded(engine))
        options: dict[str, Any] = {"systems": (system,), "url": URL, "jobs": False, "world": clock.world()}
        place = Endpoint(
            line, line, "the engine", tmp_path / "secrets", str(tmp_path / "objects"), firewalls="here"
        )
        first = stack.enter_context(open_on_endpoint(place, **options))
        beside = replace(place, call=other, probe=other, firewalls="elsewhere")
        second = stack.enter_context(open_on_endpoint(beside, **options))
        yield Pair(system, line, other, clock, first, second)


# --- what the demo has nothing of ---


def _portal(pair: Pair) -> None:
    """A tenant who is to be reminded, one who is erased and comes back, a campaign that ends, staff to tell of it."""
    portal: Portal = pair.first.running[0].service
    pair.first.accounts.add("boss@bbws.example", roles=["portal.admin"])
    portal.tenants.at_checkout("never@example.com", None)
    erased = portal.tenants.at_checkout("gone@example.com", None)
    product = next(iter(portal.repository.db.all(portal_design.products_by_active(active=True))))
    today = local_day(pair.clock.now())
    campaign = {
        "code": "SOON",
        "description": "A tenth off.",
        "discount_percentage": Decimal(10),
        "product_id": product.id,
        "terms_conditions_link": "https://bbws.example/terms",
        "from_date": today,
        "to_date": today + timedelta(days=2),
    }
    portal.catalogue.create_campaign(campaign, ADMIN)
    before = pair.stored()
    portal.privacy.erase(erased.id, ADMIN, "asked for")
    pair.rewind(before, pair.stored())


def _parental(pair: Pair) -> None:
    """A policy that is deleted."""
    parental: Parental = pair.first.running[0].service
    children = parental.repository.db.every(parental_design.children)
    policy = next(one for child in children for one in parental.repository.policies_of(child.child))
    child = parental.repository.child(policy.child)
    parent = Actor(child.parent_email[0], "parent", "parent_anna", child.parent_email[0])
    parental.policies.delete(child, policy.policy_id, parent)


def _campus(pair: Pair) -> None:
    """A file in the trash, and a user who is erased and comes back."""
    campus: Campus = pair.first.running[0].service
    users = list(campus.repository.db.every(campus_design.users))
    admin = next(user for user in users if user.role == "admin")
    lin, erased = [user for user in users if user.role == "student"][:2]
    file = campus.uploads.store_whole(lin, "gone.txt", [b"abc"], 3)
    campus.library.trash(campus.repository.user(lin.user_id), file.file_id)
    before = pair.stored()
    campus.privacy.erase(erased.user_id, admin)
    pair.rewind(before, pair.stored())


def _travel(pair: Pair) -> None:
    """An account that is to be erased in a week."""
    travel: Travel = pair.first.running[0].service
    (profile, *_) = travel.repository.db.every(travel_design.profiles)
    travel.privacy.ask(profile.user_id, profile.user_id)


def _chat(pair: Pair) -> None:
    """A conversation whose header is lost, and a child who becomes 13 tomorrow."""
    db = pair.first.running[0].service.repository.db
    conversation = next(iter(db.every(chat_design.conversations)))
    db.write(chat_design.conversations.discard(conversation.user_id, conversation.conversation_id))
    child = next(
        user for user in db.every(chat_design.users) if user.role == "student" and user.told_age < 13
    )
    born = (pair.clock.now() + timedelta(days=1)).date()
    born = born.replace(year=born.year - 13, day=min(born.day, 28))
    db.write(chat_design.users.change(child, child.model_copy(update={"birth_date": born})))


MORE = {"portal": _portal, "parental": _parental, "campus": _campus, "travel": _travel, "chat": _chat}


def test_a_job_that_two_processes_run_or_one_dies_of_has_its_effect_once(pair: Pair) -> None:
    follow = import_module(f"tablewright.systems.{pair.system.name}.jobs").consumers
    shared = [each.name for each in jobs_of(pair.system, pair.second.running[0].service)]
    begun = pair.clock.now()
    MORE[pair.system.name](pair)
    for days in DAYS:
        pair.clock.move(begun + timedelta(days=days) - pair.clock.now())
        for consumer in follow(pair.first.running[0].service):
            with suppress(ChangesLost):  # the stream keeps them for a day
                consumer.run_once()
        for name in shared:
            if name not in pair.had_effect:
                pair.check(name)
        for name in shared:
            pair.job(pair.first, name)()
    assert pair.wrong == []
    assert set(shared) - set(pair.had_effect) == IDLE[pair.system.name]
