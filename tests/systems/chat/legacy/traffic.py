"""Programs of the first version that go on chatting while their conversations are migrated."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests import targets

from tablewright.client import CallFailed
from tablewright.edge.errors import Conflict
from tablewright.mapping import MappingMistake
from tablewright.systems.chat.legacy.compat import Compat


@dataclass
class Traffic:
    """What was answered, by session: the text of each turn. `refused` are turns whose outcome is not known."""

    compat: Compat
    sessions: Sequence[str]
    name: str = "turn"
    pause: float = 0.0
    answered: dict[str, list[str]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    failed: list[BaseException] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, stop: threading.Event, seed: int) -> None:
        pick, number = random.Random(seed), 0
        while not stop.wait(self.pause):
            number += 1
            session, text = pick.choice(self.sessions), f"{self.name} {seed}/{number}"
            try:
                self.compat.store_conversation_turn(session, text, f"reply to {text}", {"tokens": 3})
            except (Conflict, CallFailed, MappingMistake):
                self.refused.append(text)
            except BaseException as error:
                self.failed.append(error)
                raise
            else:
                with self._lock:
                    self.answered.setdefault(session, []).append(text)

    @property
    def total(self) -> int:
        with self._lock:
            return sum(map(len, self.answered.values()))

    def more(self, wanted: int = 20) -> None:
        """Wait until some more turns were answered, however busy the machine is."""
        before, give_up = self.total, time.monotonic() + 60
        while self.total < before + wanted:
            assert not self.failed, self.failed
            assert time.monotonic() < give_up
            time.sleep(0.01)

    def refuse_lost(self) -> None:
        """Every turn that was answered is in its conversation once, both messages, in order."""
        for session, texts in self.answered.items():
            found = [message.text for message in self.compat.history(session)]
            counts = Counter(found)
            wrong = {text: counts[text] for text in texts if counts[text] != 1}
            assert not wrong, (session, wrong)
            for text in texts:
                assert found[found.index(text) + 1] == f"reply to {text}"


@contextmanager
def chatting(compat: Compat, sessions: Sequence[str], name: str = "turn") -> Iterator[Traffic]:
    """Two programs that write until the block ends, with pauses to follow them in; longer ones at an endpoint."""
    pause = 0.05 if targets.endpoint is None else 0.2
    traffic, stop = Traffic(compat, sessions, name, pause), threading.Event()
    threads = [threading.Thread(target=traffic.run, args=(stop, seed)) for seed in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield traffic
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not traffic.failed, traffic.failed
