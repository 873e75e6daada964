"""The portal's demo moves from a served store to another endpoint while customers come and go: nothing is lost.

As docs/move-to-dynamodb.md walks through it, with the command in this process and both servers in their own.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.command import here, served, url_in
from tests.systems.portal.talk import ADMIN, SECRET

from tablewright.client import Call, Credentials, HttpCall, embedded
from tablewright.engine import Engine
from tablewright.mapping import Db
from tablewright.systems.portal import jobs, tallies
from tablewright.systems.portal.design import PORTAL
from tablewright.systems.portal.portal import Portal, open_portal
from tablewright.systems.portal.seed import seed
from tablewright.world import real_world

PACE = 0.05
MOVE = ("--system", "portal", "--environment", "prod")


def portal_at(call: Call, environment: str | None = None) -> Portal:
    here_named = PORTAL.environments[environment] if environment else None
    db = Db(call, PORTAL, world=real_world(), secret=SECRET, environment=here_named)
    return open_portal(db, real_world(), SECRET, lambda subject, roles, email: "token")


def line_to(url: str) -> HttpCall:
    return HttpCall(url, "us-east-1", Credentials("any", "any"))


def demo(store: Path) -> Path:
    """A closed store with a small demo world."""
    with Engine.open(store, durability="relaxed") as engine:
        portal = portal_at(embedded(engine))
        portal.repository.db.create_tables()
        for consumer in jobs.consumers(portal):
            consumer.create_tables()
            consumer.register()
        engine.settle()
        seed(portal, lambda done, total, what: None, tenants=6)
    return store


@contextmanager
def customers(portal: Portal, answered: dict[str, str]) -> Iterator[None]:
    """About 20 writes a second, of new customers and changed ones; what was answered is kept."""
    stop = threading.Event()

    def write() -> None:
        ids = list[str]()
        number = 0
        while not stop.wait(PACE):
            number += 1
            if number % 3 == 0:
                changed = portal.tenants.change(ids[-1], {"organization_name": f"house {number}"}, ADMIN)
                answered[changed.email] = changed.organization_name or ""
            else:
                made = portal.tenants.at_checkout(f"mover{number}@example.com", f"new {number}")
                ids.append(made.id)
                answered[made.email] = made.organization_name or ""

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)


def count_all(portal: Portal) -> None:
    """What the app's followers do: apply every change that there is to the tallies."""
    for consumer in jobs.consumers(portal):
        while consumer.is_behind():
            consumer.run_once()


def test_the_portal_moves_while_it_is_written_to(tmp_path: Path) -> None:
    answered: dict[str, str] = {}
    with (
        served("--data", demo(tmp_path / "data"), "--durability", "relaxed") as (old, _),
        served("--memory") as (new, _),
        line_to(url_in(old)) as old_call,
        line_to(url_in(new)) as new_call,
    ):
        before = portal_at(old_call)
        with customers(before, answered):
            ran = here("copy", "run", url_in(old), url_in(new), *MOVE)
            assert ran.code == 0, ran.err
            while len(answered) <= 5:  # on an idle machine the copy is done before that
                threading.Event().wait(PACE)
            again = here("copy", "run", url_in(old), url_in(new), *MOVE)
            assert again.code == 0, again.err
        behind = here("copy", "finish", url_in(old), url_in(new), *MOVE)
        assert behind.code == 2
        assert "portal of tenants" in behind.err
        count_all(before)
        done = here("copy", "finish", url_in(old), url_in(new), *MOVE, "--json")
        assert done.code == 0, done.err + done.out
        assert json.loads(done.out)["is_finished"]

        after = portal_at(new_call, "prod")
        listed = after.repository.db.all(after.tenants.listed())
        found = {one.email: one.organization_name for one in listed}
        assert {email: found.get(email) for email in answered} == answered
        counted = tallies.tally_of(after.repository, "tenants")
        assert counted == tallies.tally_of(before.repository, "tenants")
        # What was copied is not counted again: only what happens from now on.
        for consumer in jobs.consumers(after):
            consumer.create_tables()
        after.tenants.at_checkout("first@example.com", "the first one there")
        count_all(after)
        total = sum(tallies.tally_of(after.repository, "tenants").counts.values())
        assert total == sum(counted.counts.values()) + 1
