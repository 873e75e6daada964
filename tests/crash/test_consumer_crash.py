"""Workers of a consumer that are killed, again and again, lose no change and have each effect once, in order.

One process writes over HTTP, two consume; the consumers are killed at moments drawn by chance and begun anew. In the
end one worker reads what is left, and the effects are compared with the writes that were answered.
"""

import random
import sys
import time
from pathlib import Path

import pytest
from tests import fork_server
from tests.crash import consumer_child
from tests.crash.consumer_child import counting, seen

from tablewright import Engine
from tablewright.client import embedded
from tablewright.engine.streams import shards as streams
from tablewright.mapping import Db
from tablewright.wire import serving

KILLS = 5
PATIENCE = 120.0


class Child:
    """A process, and the file it tells of its doings in."""

    def __init__(self, home: Path, url: str, what: str, name: str) -> None:
        self.description = home / f"told-{what}-{name}"
        with self.description.open("wb") as out:
            command = [sys.executable, consumer_child.__file__, url, what, name]
            self.process = fork_server.start(command, stdout=out)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def lines(self) -> list[tuple[str, int]]:
        """What it has told, but for a last line that was cut off."""
        whole = self.description.read_text().rpartition("\n")[0]
        return [(line.split()[1], int(line.split()[2])) for line in whole.splitlines()]


def busy(children: list[Child], more: int) -> int:
    """Wait until they have told of so many further changes; which of them told of most."""
    before, give_up = [len(child.lines()) for child in children], time.monotonic() + PATIENCE
    while True:
        news = [len(child.lines()) - had for child, had in zip(children, before, strict=True)]
        if sum(news) >= more:
            return news.index(max(news))
        assert all(child.process.poll() is None for child in children), "a child ended by itself"
        assert time.monotonic() < give_up, "the children do nothing"
        time.sleep(0.01)


def test_killed_workers_lose_nothing_and_do_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "SHARD_RECORDS", 40)
    monkeypatch.setattr(streams, "COUNTED_ROWS", 20)
    with Engine.open(tmp_path / "store", durability="relaxed") as engine, serving(engine) as url:
        db = Db(embedded(engine), counting)
        db.create_tables()
        consumer_child.consumer(db).create_tables()
        writer = Child(tmp_path, url, "write", "w")
        children = [Child(tmp_path, url, "consume", f"0-{n}") for n in range(2)]
        everyone = list(children)
        try:
            for turn in range(1, KILLS + 1):
                victim = busy(children, random.randrange(1, 40))
                children[victim].kill()
                children[victim] = Child(tmp_path, url, "consume", f"{turn}-{victim}")
                everyone.append(children[victim])
                engine.settle()
        finally:
            for child in (writer, *children):
                child.kill()
        time.sleep(1.0)  # until the leases of the dead are over
        last = consumer_child.consumer(db)
        done = last.run_once()
        assert (done.leases_lost, done.parked, last.parked()) == (0, 0, [])
        written = writer.lines()
        told = [one for child in everyone for one in child.lines()]
        assert len(told) >= KILLS
        assert done.handled > 0
        assert engine.verify() == []
        arn = engine.call("ListStreams", {"TableName": "counters"})["Streams"][0]["StreamArn"]
        shards = engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
        assert len(shards) > 1, "no shard was split; the test is too short to show anything"
        for key in {key for key, _ in written}:
            effects = db.one(seen.get(key), consistent=True)
            assert effects is not None
            answered = [number for name, number in written if name == key]
            # The last write may have been carried out without its answer being heard.
            assert effects.numbers in (answered, [*answered, len(answered) + 1])
