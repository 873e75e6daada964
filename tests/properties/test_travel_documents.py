"""Whatever devices that keep whole documents do: in the end all have the same, and no edit was lost in silence.

`Copy` does with documents what RxDB's replication does: it keeps what it shows and what it takes for the server's,
pushes where the two differ, takes what it is told unless it has changed it since, and hears nothing of what got lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from tests.properties.effort import effort
from tests.systems.travel.talk import ANNA, SECRET, START, sign_up

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.documents import Checkpoint, Document, PushedDocuments, Row, document
from tablewright.systems.travel.errors import ResyncRequired
from tablewright.systems.travel.operations import visit_state
from tablewright.systems.travel.service import Travel, open_travel
from tablewright.testing import Clock

DEVICES = ("phone", "tablet", "laptop")
CODES = ("FR", "JP", "BU")
FIELDS = ("notes", "visited_date")
devices = st.sampled_from(DEVICES)
codes = st.sampled_from(CODES)
_numbers = count(1)


@dataclass
class Copy:
    """A device's documents: what it shows, what it takes for the server's, and up to where it was told."""

    travel: Travel
    clock: Clock
    device_id: str
    shows: dict[str, Document] = field(default_factory=dict)
    assumes: dict[str, Document] = field(default_factory=dict)
    at: Checkpoint = field(default_factory=Checkpoint)

    def write(self, code: str, **fields: Any) -> None:
        id = f"country#{code}"
        new = {"id": id, "region_type": "country", "region_code": code}
        before = self.shows.get(id) or Document.model_validate(new)
        self.shows[id] = before.model_copy(update={**fields, "edited_at": self.clock.now()})

    def rows(self) -> list[Row]:
        return [
            Row(assumedMasterState=self.assumes.get(id), newDocumentState=new)
            for id, new in self.shows.items()
            if new != self.assumes.get(id)
        ]

    def send(self, rows: list[Row]) -> PushedDocuments:
        return self.travel.documents.push(ANNA, self.device_id, rows)

    def answered(self, rows: list[Row], pushed: PushedDocuments) -> None:
        told = {one.id: one for one in pushed.conflicts}
        for row in rows:
            id = row.new.id
            if id not in told:
                self.assumes[id] = row.new
            elif self.shows[id] is row.new:
                self.shows[id] = self.assumes[id] = told[id]

    def pull(self, size: int) -> int:
        try:
            page = self.travel.documents.pull(ANNA, self.device_id, self.at, size=size)
        except ResyncRequired:
            self.begin_anew()
            return self.pull(size)
        for one in page.documents:
            if self.shows.get(one.id) == self.assumes.get(one.id):
                self.shows[one.id] = self.assumes[one.id] = one
        if page.documents:
            self.at = page.checkpoint
        return len(page.documents)

    def begin_anew(self) -> None:
        """Away for too long: what was not told yet is told, then everything is forgotten."""
        self.send(self.rows())
        self.shows.clear()
        self.assumes.clear()
        self.at = Checkpoint()

    def live(self) -> dict[str, Document]:
        return {id: one for id, one in self.shows.items() if not one.is_deleted}


class Documents(RuleBasedStateMachine):
    """Copies that edit, push, pull and lose answers."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock(START)
        self._engine = testing.engine(world=self.clock.world())
        db = Db(embedded(self._engine.__enter__()), d.TRAVEL, world=self.clock.world(), secret=SECRET)
        db.create_tables()
        sign_up(db, self.clock, devices=DEVICES)
        self.travel = open_travel(db, self.clock.world())
        self.copies = {name: Copy(self.travel, self.clock, name) for name in DEVICES}

    # --- offline ---

    @rule(device=devices, code=codes, name=st.sampled_from(FIELDS), clear=st.booleans())
    def edit(self, device: str, code: str, name: str, clear: bool) -> None:
        self.clock.move(timedelta(seconds=2))
        number = next(_numbers)
        value = None if clear else f"note {number}." if name == "notes" else str(1900 + number % 100)
        self.copies[device].write(code, **{name: value}, is_deleted=False)

    @rule(device=devices, code=codes)
    def remove(self, device: str, code: str) -> None:
        self.clock.move(timedelta(seconds=2))
        if f"country#{code}" in self.copies[device].live():
            self.copies[device].write(code, is_deleted=True)

    # --- online ---

    @rule(device=devices, is_lost=st.booleans(), meanwhile=st.none() | codes)
    def push(self, device: str, is_lost: bool, meanwhile: str | None) -> None:
        copy = self.copies[device]
        rows = copy.rows()
        if not rows:
            return
        self.clock.move(timedelta(seconds=2))
        pushed = copy.send(rows)
        self.check(rows, pushed)
        if meanwhile is not None:
            self.edit(device, meanwhile, "notes", False)
        if not is_lost:
            copy.answered(rows, pushed)

    @rule(device=devices, size=st.sampled_from((1, 2, 100)))
    def pull(self, device: str, size: int) -> None:
        self.copies[device].pull(size)

    @rule(code=codes)
    def web(self, code: str) -> None:
        self.clock.move(timedelta(seconds=2))
        self.travel.visits.mark(ANNA, "country", code, {"notes": f"web {next(_numbers)}."})

    @rule(days=st.sampled_from((1, 31)))
    def wait(self, days: int) -> None:
        self.clock.move(timedelta(days=days))
        self.travel.feed.purge(ANNA)

    # --- what must hold ---

    def check(self, rows: list[Row], pushed: PushedDocuments) -> None:
        """What a row said is in the state that is told, or beside it in a conflict."""
        if any(result.replayed for result in pushed.results):
            return  # answered before; others may have gone on since
        told = {one.id: one for one in pushed.conflicts}
        sides = [
            text for result in pushed.results for clash in result.conflicts for text in (str(clash.client),)
        ]
        for row in rows:
            said, was = row.new.notes, row.assumed.notes if row.assumed is not None else None
            if row.new.is_deleted or said is None or said == was or row.new.region_code == "BU":
                continue
            now = told.get(row.new.id, row.new).notes or ""
            assert said in now or any(said in side for side in sides), (row, pushed)

    def teardown(self) -> None:
        # The network is well again: everybody pushes until there is nothing left to say, and hears the rest.
        for _ in range(2):
            for copy in self.copies.values():
                for _ in range(4):
                    self.clock.move(timedelta(seconds=2))
                    rows = copy.rows()
                    copy.answered(rows, copy.send(rows))
                assert copy.rows() == []
                while copy.pull(2) == 2:
                    pass
        there = {
            one.id: one for visit in self.travel.visits.all(ANNA) for one in [document(visit_state(visit))]
        }
        for copy in self.copies.values():
            assert copy.live() == there
        self._engine.__exit__(None, None, None)


TestDocuments = Documents.TestCase
TestDocuments.settings = effort(25, steps=40)
