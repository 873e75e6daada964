"""Processes that copy and follow a table are killed, again and again; the next one goes on, and the sides agree."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import fork_server
from tests.crash import migration_child
from tests.mapping.migrate.cards import CARDS, At, card, old
from tests.mapping.migrate.test_phases import followed

from tablewright import Engine
from tablewright.client import embedded, retrying
from tablewright.mapping import Db
from tablewright.mapping.migrate import backfill, begin, migration_context, verify
from tablewright.mapping.migrate import change_follower as follower
from tablewright.testing import Clock
from tablewright.wire import serving

KILLS = 3
CARDS_COPIED = 300
ROOT = Path(__file__).parents[2]


def child(url: str, told: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT), *sys.path])
    with told.open("ab") as out:
        return fork_server.start(
            [sys.executable, migration_child.__file__, url],
            stdout=out,
            env={**os.environ, "PYTHONPATH": path},
        )


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (backfill, follower):
        monkeypatch.setattr(module, "LEASE", migration_child.LEASE)


@pytest.mark.usefixtures("brief")
def test_a_killed_copy_goes_on_where_it_was_and_loses_nothing(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.touch()
    with Engine.open(tmp_path / "store", durability="relaxed") as engine, serving(engine) as url:
        call = retrying(embedded(engine))  # transactions get in the way of plain writes, for a moment
        Db(call, old).create_tables()
        cards = At(engine, call, Clock())
        cards.put(*(card(f"c{n}", "text", f"g{n % 7}") for n in range(CARDS_COPIED)))
        at = migration_context(call, CARDS)
        at.plan(segments=2)
        begin(at)
        for kill in range(KILLS):
            victim = child(url, told)
            try:
                lines, give_up = told.read_bytes().count(b"\n"), time.monotonic() + 60
                while told.read_bytes().count(b"\n") < lines + random.randrange(1, 6):
                    assert victim.poll() is None, "a child ended by itself"
                    assert time.monotonic() < give_up, "the child does nothing"
                    # Several at once, so that the child is killed in the middle of pages of changes.
                    some = random.sample(range(CARDS_COPIED), 3)
                    cards.put(*(card(f"c{n}", f"changed {kill}", f"h{random.random()}") for n in some))
                    cards.remove(f"c{random.randrange(CARDS_COPIED)}")
                    time.sleep(0.05)
            finally:
                victim.kill()
                victim.wait(60)
        assert not at.state().copied, "everything was copied before the first kill; the test shows nothing"
        followed(at, page=50)
        assert at.state().phase == "following"
        assert verify(at, at.state()).is_right
        assert cards.is_copied
        assert engine.verify() == []
