"""Whatever devices that keep whole documents do: in the end all have the same, and no edit was lost in silence.

`Copy` does with documents what RxDB's replication does: it keeps what it shows and what it takes for the server's,
pushes where the two differ, takes what it is told unless it has changed it since, and hears nothing of what got lost.
Pushes come late and twice, the web edits in between, devices are signed out and come back, months pass.

Every edit writes something nobody else ever writes, an atom. Must hold of each push that arrives: what a row says is
there now, or in the conflict that is kept of that very row; what was there and is not any more had been seen by the
device, or was its own and older.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from pydantic import TypeAdapter
from tests.properties.effort import effort
from tests.systems.travel.talk import ANNA, SECRET, START, sign_up

from tablewright import testing
from tablewright.client import embedded
from tablewright.edge.errors import NotFound
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.devices import Gadget
from tablewright.systems.travel.errors import ResyncRequired
from tablewright.systems.travel.sync.documents import Checkpoint, Document, PushedDocuments, Row, document
from tablewright.systems.travel.sync.merge import WHOLE, difference
from tablewright.systems.travel.sync.operations import FieldConflict, Result, visit_state
from tablewright.systems.travel.travel import Travel, open_travel
from tablewright.testing import Clock

DEVICES = ("phone", "tablet", "laptop")
CODES = ("FR", "JP", "BU")
PRESENT = {"FR": "FR", "JP": "JP", "BU": "MM"}
FIELDS = ("notes", "visited_date")
TRIPS = ("one", "two")
CLASHES = TypeAdapter(list[FieldConflict])
devices = st.sampled_from(DEVICES)
codes = st.sampled_from(CODES)
_numbers = count(1)


def new_document(code: str, **more: Any) -> Document:
    return Document.model_validate(
        {"id": f"country#{code}", "region_type": "country", "region_code": code, **more}
    )


@dataclass
class Copy:
    """A device's documents: what it shows, what it takes for the server's, and up to where it was told."""

    travel: Travel
    clock: Clock
    device_id: str
    arrive: Callable[[str, list[Row]], PushedDocuments]
    shows: dict[str, Document] = field(default_factory=dict)
    assumes: dict[str, Document] = field(default_factory=dict)
    at: Checkpoint = field(default_factory=Checkpoint)
    spoke_at: datetime = START
    # Who has pushed and never pulled has no checkpoint to be refused by: it has to know by itself.
    is_outdated: bool = False

    def write(self, code: str, **fields: Any) -> None:
        before = self.shows.get(f"country#{code}") or new_document(code)
        self.shows[before.id] = before.model_copy(update={**fields, "edited_at": self.clock.now()})

    def rows(self) -> list[Row]:
        return [
            Row(assumedMasterState=self.assumes.get(id), newDocumentState=new)
            for id, new in self.shows.items()
            if new != self.assumes.get(id)
        ]

    def send(self, rows: list[Row]) -> PushedDocuments:
        self.is_outdated |= self.clock.now() - self.spoke_at >= d.TOMBSTONES_KEPT
        self.spoke_at = self.clock.now()
        return self.arrive(self.device_id, rows)

    def answered(self, rows: list[Row], pushed: PushedDocuments) -> None:
        told = {one.id: one for one in pushed.conflicts}
        for row in rows:
            id = row.new.id
            if id not in told:
                self.assumes[id] = row.new
            elif self.shows[id] is row.new:
                self.shows[id] = self.assumes[id] = told[id]

    def pull(self, size: int) -> int:
        if self.at == Checkpoint() and (
            self.is_outdated or self.clock.now() - self.spoke_at >= d.TOMBSTONES_KEPT
        ):
            self.begin_anew()
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
        self.at, self.is_outdated = Checkpoint(), False

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
        self.copies = {name: Copy(self.travel, self.clock, name, self.arrive) for name in DEVICES}
        self.late: list[tuple[str, list[Row]]] = []
        self.authors: dict[str, tuple[str, datetime]] = {}

    # --- offline ---

    @rule(device=devices, code=codes, name=st.sampled_from(FIELDS), clear=st.booleans())
    def edit(self, device: str, code: str, name: str, clear: bool) -> None:
        value = None if clear else self.atom(device, name)
        self.copies[device].write(code, **{name: value}, is_deleted=False)

    @rule(device=devices, code=codes, name=st.sampled_from(TRIPS), clear=st.booleans())
    def travelled(self, device: str, code: str, name: str, clear: bool) -> None:
        shown = self.copies[device].live().get(f"country#{code}")
        trips = {id: trip for id, trip in (shown.trips if shown is not None else {}).items() if id != name}
        if not clear:
            trips[name] = {"start": "2024", "end": None, "notes": self.atom(device, "trip")}
        self.copies[device].write(code, trips=trips, is_deleted=False)

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
        pushed = copy.send(rows)
        if meanwhile is not None:
            self.edit(device, meanwhile, "notes", False)
        if not is_lost:
            copy.answered(rows, pushed)

    @rule(device=devices)
    def push_into_the_dark(self, device: str) -> None:
        """It comes late, perhaps twice, when the device has said otherwise since."""
        if rows := self.copies[device].rows():
            self.late.append((device, rows))

    @rule(device=devices, code=codes, name=st.sampled_from(FIELDS), is_lost=st.booleans())
    def push_is_overtaken(self, device: str, code: str, name: str, is_lost: bool) -> None:
        self.edit(device, code, name, False)
        self.push_into_the_dark(device)
        self.edit(device, code, name, False)
        self.push(device, is_lost, None)

    @rule(which=st.integers(0, 100), is_kept=st.booleans())
    def comes_late(self, which: int, is_kept: bool) -> None:
        if not self.late:
            return
        device, rows = self.late[which % len(self.late)]
        self.arrive(device, rows)
        if not is_kept:
            del self.late[which % len(self.late)]

    @rule(device=devices, size=st.sampled_from((1, 2, 100)))
    def pull(self, device: str, size: int) -> None:
        self.copies[device].pull(size)

    @rule(code=codes, name=st.sampled_from(FIELDS))
    def web(self, code: str, name: str) -> None:
        self.travel.visits.mark(ANNA, "country", code, {name: self.atom("the web", name)})

    @rule(code=codes)
    def web_removes(self, code: str) -> None:
        self.clock.move(timedelta(seconds=2))
        with suppress(NotFound):
            self.travel.visits.unmark(ANNA, "country", PRESENT[code])

    @rule(days=st.sampled_from((1, 31, 31, 181)))
    def wait(self, days: int) -> None:
        self.clock.move(timedelta(days=days))
        self.travel.feed.purge(ANNA)

    @rule(device=devices, code=codes, days=st.sampled_from((1, 35)))
    def is_signed_out_for_a_while(self, device: str, code: str, days: int) -> None:
        """Meanwhile the others agree that a place is gone, and nobody waits for this device to know."""
        self.travel.devices.revoke(ANNA, device, ANNA)
        self.web_removes(code)
        for other in DEVICES:
            if other != device:
                self.pull(other, 100)
                self.pull(other, 100)
        self.wait(days)
        self.travel.devices.register(ANNA, Gadget(device), proved=True)
        self.copies[device].is_outdated = True  # who signs in again knows that it was signed out

    # --- what must hold ---

    def atom(self, author: str, kind: str) -> str:
        """Something to write that nobody else ever writes."""
        self.clock.move(timedelta(seconds=2))
        number = next(_numbers)
        day = (START - timedelta(days=number % 10_000)).date().isoformat()
        made = day if kind == "visited_date" else f"[{number}]"
        self.authors[made] = author, self.clock.now()
        return made

    def there(self) -> dict[str, Document]:
        """What the server has, tombstones too."""
        visits = self.travel.repository.visits_at(ANNA, [("country", code) for code in PRESENT.values()])
        return {
            code: document(visit_state(visit)) if visit is not None else new_document(code, _deleted=True)
            for code, visit in zip(PRESENT.values(), visits, strict=True)
        }

    def arrive(self, device: str, rows: list[Row]) -> PushedDocuments:
        self.clock.move(timedelta(seconds=2))
        before = self.there()
        pushed = self.travel.documents.push(ANNA, device, rows)
        after = self.there()
        told = {one.id: one for one in pushed.conflicts}
        assert len(told) == len(pushed.conflicts)
        done = {self.operation(result).entity_id.split("#")[-1]: result for result in pushed.results}
        assert len(done) == len(pushed.results)
        for row in rows:
            code = PRESENT[row.new.region_code]
            if code == row.new.region_code:
                assert told.get(row.new.id, row.new) == after[code], "a client is told what is there"
            self.check_said(row, after[code], done.pop(code, None))
            unseen = atoms(before[code]) - atoms(after[code]) - atoms(row.assumed)
            assert all(self.is_own(device, one, row) for one in unseen), (row, before[code], after[code])
        assert done == {}, "nothing is done that nobody asked for"
        return pushed

    def check_said(self, row: Row, after: Document, result: Result | None) -> None:
        """What a row says is there now, or in the conflict that is kept of it."""
        if result is None:
            assert said_by(row) == {}, row
            return
        assert result.status in ("applied", "merged", "conflict"), result
        if result.replayed:
            return  # was done before, and others may have gone on since
        details = self.operation(result).conflict_details or {"fields": []}
        kept = {clash.field: clash.client for clash in CLASHES.validate_python(details["fields"])}
        assert (result.status == "conflict") == bool(kept)
        whole = kept.get(WHOLE)
        for name, said in said_by(row).items():
            is_beside = name in kept and kept[name] == said
            is_beside |= isinstance(whole, dict) and name in whole and whole[name] == said
            assert is_there(name, said, after) or is_beside, (name, said, row, after, kept)

    def is_own(self, device: str, atom: str, row: Row) -> bool:
        """Whether a row's own device wrote something before it made the row."""
        author, moment = self.authors[atom]
        assert row.new.edited_at is not None
        return author == device and moment <= row.new.edited_at

    def operation(self, result: Result) -> Any:
        return self.travel.repository.operation(ANNA, result.operation_id)

    def teardown(self) -> None:
        # The network is well again: everybody pushes until there is nothing left to say, and hears the rest.
        for _ in range(2):
            for copy in self.copies.values():
                for _ in range(4):
                    rows = copy.rows()
                    copy.answered(rows, copy.send(rows))
                assert copy.rows() == []
                while copy.pull(2) == 2:
                    pass
        there = {one.id: one for one in self.there().values() if not one.is_deleted}
        for copy in self.copies.values():
            assert copy.live() == there, (copy.device_id, copy.live(), there)
        self._engine.__exit__(None, None, None)


def test_of_two_rows_that_come_late_neither_overwrites_what_its_device_wrote_since() -> None:
    story = Documents()
    story.push_is_overtaken(device="phone", code="FR", name="notes", is_lost=False)
    story.push_is_overtaken(device="phone", code="FR", name="visited_date", is_lost=False)
    newest = story.there()["FR"].visited_date
    for _ in range(2):
        story.comes_late(which=0, is_kept=False)
    assert story.there()["FR"].visited_date == newest
    story.teardown()


def flat(one: Document | None) -> dict[str, Any]:
    if one is None or one.is_deleted:
        return {}
    fields: dict[str, Any] = {"notes": one.notes, "visited_date": one.visited_date}
    fields |= {f"trips/{id}": trip for id, trip in one.trips.items()}
    return {name: value for name, value in fields.items() if value is not None}


def atoms(one: Document | None) -> set[str]:
    """What somebody wrote, each piece by itself: two notes may have become one."""
    found = flat(one)
    return {*re.findall(r"\[\d+\]", repr(found)), *filter(None, [found.get("visited_date")])}


def said_by(row: Row) -> Mapping[str, Any]:
    """What a row says of each field it is about; of the place as a whole, whether it shall be there."""
    was_live = row.assumed is not None and not row.assumed.is_deleted
    if row.new.is_deleted:
        return {WHOLE: None} if was_live else {}
    if not was_live:
        return {WHOLE: True, **flat(row.new)}
    return difference(flat(row.assumed), flat(row.new))


def is_there(name: str, said: Any, after: Document) -> bool:
    if name == WHOLE:
        return after.is_deleted == (said is None)
    now = flat(after).get(name)
    return bool(now == said or (name == "notes" and said is not None and said in (now or "")))


TestDocuments = Documents.TestCase
TestDocuments.settings = effort(25, steps=40)
