"""`tablewright db parked`: what a real consumer has parked is listed, replayed by its next round, or discarded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Ran, here
from tests.mapping.consumer.feed import Log, feed, notes

from tablewright import testing
from tablewright.client import Retries, embedded
from tablewright.mapping import Consumer, Db, Progress
from tablewright.wire import serving


@dataclass
class Mailer:
    """A consumer at work, and the options that lead a command to its tables."""

    db: Db
    log: Log
    place: list[str]

    def consumer(self) -> Consumer:
        retries = Retries(sleep=lambda pause: None)
        return Consumer(self.db, [notes], "feed", "mailer", self.log, attempts=1, retries=retries)

    def run(self) -> Progress:
        return self.consumer().run_once()

    def command(self, verb: str, *words: str) -> Ran:
        return here("db", "parked", verb, *words, *self.place)


@pytest.fixture
def mailer(tmp_path: Path) -> Iterator[Mailer]:
    """Two versions of the note `a` are parked, in a server's tables."""
    with testing.engine(tmp_path / "store") as engine, serving(engine) as url:
        db = Db(embedded(engine), feed)
        db.create_tables()
        found = Mailer(db, Log(failing={"a"}), ["--endpoint", url])
        found.consumer().create_tables()
        found.run()
        for number in range(2):
            there = db.one(notes.get("a"), consistent=True)
            after = notes.model(id="a", number=number, text="a child's message")
            db.write(notes.create(after) if there is None else notes.change(there, after))
        assert found.run().parked == 2
        yield found


def test_what_is_parked_is_listed_without_keys_and_the_code_is_1(mailer: Mailer) -> None:
    ran = mailer.command("list")
    assert (ran.code, ran.err) == (1, "")
    head, first, second = ran.out.splitlines()
    assert head.split()[:3] == ["table", "consumer", "sequence"]
    assert first.split()[:2] == ["feed", "mailer"]
    assert first.split()[3:7] == ["note", "INSERT", "RuntimeError", "1"]
    assert second.split()[3:7] == ["note", "MODIFY", "Behind", "0"]
    assert "NOTE#" not in ran.out
    assert "message" not in ran.out


def test_keys_are_shown_when_asked_for_and_contents_never(mailer: Mailer) -> None:
    found = json.loads(mailer.command("list", "feed", "mailer", "--keys", "--json").out)
    assert [json.loads(one["key"])["PK"]["S"] for one in found] == ["NOTE#a"] * 2
    assert "message" not in mailer.command("list", "--keys").out
    without = json.loads(mailer.command("list", "--json").out)
    assert all("key" not in one for one in without)


def test_another_consumer_has_nothing_parked(mailer: Mailer) -> None:
    assert (mailer.command("list", "feed", "other").code, mailer.command("list", "other").code) == (0, 0)
    assert mailer.command("list", "feed", "other").out == "nothing is parked\n"


def test_a_replay_is_done_by_the_next_round_of_the_consumer_in_order(mailer: Mailer) -> None:
    ran = mailer.command("replay", "feed", "mailer")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "mailer will process the parked changes of 1 key in its next round\n"
    assert mailer.log.texts == []
    mailer.log.failing.clear()
    assert mailer.run().replayed == 2
    assert mailer.log.texts == ["a0", "a1"]
    assert mailer.command("list").code == 0


def test_a_record_can_be_named_and_one_that_is_not_parked_is_refused(mailer: Mailer) -> None:
    mailer.log.failing.clear()
    sequence = mailer.consumer().parked()[1].sequence
    assert mailer.command("replay", "feed", "mailer", sequence).code == 0
    assert mailer.run().replayed == 2
    ran = mailer.command("replay", "feed", "mailer", sequence)
    assert (ran.code, ran.out) == (2, "")
    assert f"no record {sequence} is parked" in ran.err


def test_a_discard_is_shown_first_and_done_with_yes(mailer: Mailer) -> None:
    sequence = mailer.consumer().parked()[0].sequence
    ran = mailer.command("discard", "feed", "mailer", sequence)
    assert ran.code == 1
    assert sequence in ran.out
    assert "--yes" in ran.err
    assert len(mailer.consumer().parked()) == 2
    assert mailer.command("discard", "feed", "mailer", sequence, "--yes").code == 0
    mailer.command("replay", "feed", "mailer")
    mailer.log.failing.clear()
    mailer.run()
    assert mailer.log.texts == ["a1"]


def test_a_store_on_disk_is_as_good_as_a_server(tmp_path: Path) -> None:
    def opened() -> Any:
        return testing.engine(tmp_path / "store")

    with opened() as engine:
        mailer = Mailer(Db(embedded(engine), feed), Log(failing={"a"}), [])
        mailer.db.create_tables()
        mailer.consumer().create_tables()
        mailer.run()
        mailer.db.write(notes.create(notes.model(id="a")))
        mailer.run()
    assert here("db", "parked", "list", "--data", tmp_path / "store").code == 1
    assert here("db", "parked", "replay", "feed", "mailer", "--data", tmp_path / "store").code == 0
    with opened() as engine:
        mailer = Mailer(Db(embedded(engine), feed), Log(), [])
        assert mailer.run().replayed == 1


def test_where_no_consumer_ever_was_it_says_so(tmp_path: Path) -> None:
    with testing.engine(tmp_path / "store"):
        pass
    ran = here("db", "parked", "list", "--data", tmp_path / "store")
    assert (ran.code, ran.out) == (2, "")
    assert "table stream_consumers does not exist" in ran.err
