"""Whatever travellers' devices do in whatever order: in the end all have the same, and nothing was lost in silence.

Devices edit offline, with clocks that are wrong; requests get lost, come twice, late, in pieces and in another order;
answers get lost or come late; the server dies in the middle of a push; the web edits at the same time; conflicts are
settled from what somebody saw a while ago; months pass, receipts expire and tombstones go. After every transaction what
was said is there or in a conflict, and so is what it replaced (travel_ledger.py). When the network is well again, every
device shows what the server has, its counters are what is marked, and its figures are what a full count gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from pydantic import JsonValue, TypeAdapter
from tests.properties.effort import effort
from tests.properties.travel_ledger import LATEST, Ledger, Word, fields_of, is_there
from tests.systems.travel.talk import ANNA, SECRET, START, Form, Gadget, Spot, sign_up

from tablewright import testing
from tablewright.client import embedded
from tablewright.edge.errors import Conflict, NotFound
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import SERVER, OperationType, Strategy
from tablewright.systems.travel.places import statistics
from tablewright.systems.travel.sync import merge, split
from tablewright.systems.travel.sync.merge import WHOLE
from tablewright.systems.travel.sync.operations import (
    Edit,
    EntityState,
    FieldConflict,
    Pulled,
    Pushed,
    Result,
    place_id,
    user_state,
    visit_state,
)
from tablewright.systems.travel.travel import open_travel
from tablewright.testing import Clock

DEVICES = ("phone", "tablet", "laptop")
SKEWS = (timedelta(days=2), timedelta(days=-400), timedelta())
SPOTS: tuple[Spot, ...] = (("country", "FR"), ("country", "GL"), ("country", "US"), ("us_state", "US-NY"))
NOTES = ("a", "bb", "c" * 300, "d" * 300, None)
TRIPS: tuple[Any, ...] = ({"start": "2024"}, {"start": "2025-03", "end": "2025-04"}, None)
KINDS: tuple[OperationType, ...] = ("create", "update", "update", "delete", "restore")
CLASHES = TypeAdapter(list[FieldConflict])

devices = st.integers(0, len(DEVICES) - 1)
# Few places, so that they meet.
spots = st.sampled_from((SPOTS[0], SPOTS[0], SPOTS[0], *SPOTS[1:]))
kinds = st.sampled_from(KINDS)
which = st.integers(0, 100)
datas = st.fixed_dictionaries(
    {},
    optional={
        "notes": st.sampled_from(NOTES),
        "visited_date": st.sampled_from(("2024", "2024-05-01", None)),
        "trips": st.fixed_dictionaries(
            {}, optional={id: st.sampled_from(TRIPS) for id in ("one", "two", "three", "four")}
        ),
    },
)
settings = st.one_of(
    st.fixed_dictionaries({"display_name": st.sampled_from(("Anna", "Annie"))}),
    st.fixed_dictionaries({"mark_country": st.sampled_from(("ask", "always", "never"))}),
    st.fixed_dictionaries({"privacy_settings": st.fixed_dictionaries({"share_visits": st.booleans()})}),
)


class Died(Exception):
    """The server was switched off."""


@dataclass(frozen=True)
class Sent:
    """A push on its way: to the server, or back as an answer."""

    device: int
    edits: Sequence[Edit]
    answer: Pushed | None = None


@dataclass(frozen=True)
class Look:
    """What somebody saw who looked at a conflict; nothing but the conflict itself, if `versions` is None."""

    operation_id: str
    versions: dict[str, int] | None
    seen: dict[str, int]


class Travellers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock(START)
        self._engine = testing.engine(world=self.clock.world())
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(split, "PLACES", 2)  # a batch of all places is several transactions
        self._patch.setattr(merge, "STAMPS_OF_GONE", 1)
        db = Db(embedded(self._engine.__enter__()), d.TRAVEL, world=self.clock.world(), secret=SECRET)
        db.create_tables()
        self.travel = open_travel(db, self.clock.world())
        self.follower = self.travel.follower()
        self.follower.create_tables()
        sign_up(db, self.clock, devices=DEVICES)
        self.gadgets = [Gadget(self.travel, self.clock, ANNA, device) for device in DEVICES]
        self.requests: list[Sent] = []
        self.answers: list[Sent] = []
        self.pulls: list[tuple[int, int, Pulled]] = []
        self.looks: list[Look] = []
        self.forms: list[tuple[int, Spot, Form]] = []
        self.ledger = Ledger(ANNA, START.date())
        self.ledger.now[ANNA] = user_state(self.travel.repository.profile(ANNA), 0)
        self.recorded: dict[str, tuple[datetime, list[FieldConflict], dict[str, int]]] = {}
        self.statuses: dict[str, tuple[datetime, str]] = {}
        self.first_done: dict[str, datetime] = {}
        self.pieces_left = LATEST
        self._witness()

    # --- offline ---

    @rule(device=devices, spot=spots, edits=st.lists(st.tuples(kinds, datas), min_size=1, max_size=4))
    def edit(self, device: int, spot: Spot, edits: list[tuple[OperationType, dict[str, Any]]]) -> None:
        gadget = self.gadgets[device]
        for kind, data in edits:
            said = {} if kind == "delete" else data
            self.made(device, gadget.edit(kind, spot, said, at=self.says(device)))

    @rule(device=devices, spot=spots)
    def open_a_form(self, device: int, spot: Spot) -> None:
        """In another tab; what is saved from it rests on what is shown now."""
        self.forms.append((device, spot, self.gadgets[device].look(spot)))

    @precondition(lambda self: self.forms)
    @rule(which=which, kind=kinds, data=datas, stays_open=st.booleans())
    def save_a_form(self, which: int, kind: OperationType, data: dict[str, Any], stays_open: bool) -> None:
        opened = self.forms[which % len(self.forms)]
        device, spot, form = opened
        if not stays_open:
            self.forms.remove(opened)
        said = {} if kind == "delete" else data
        edit = self.gadgets[device].edit(kind, spot, said, at=self.says(device), form=form)
        seen = {place_id(ANNA, *spot): form.state} if form.state is not None else {}
        self.ledger.make(DEVICES[device], edit, seen)

    @rule(device=devices, spot=spots, texts=st.permutations(("a", "bb", "e")), kind=kinds)
    def work_in_two_tabs(self, device: int, spot: Spot, texts: list[str], kind: OperationType) -> None:
        self.edit(device, spot, [("update", {"notes": texts[0]})])
        self.open_a_form(device, spot)
        self.edit(device, spot, [("update", {"notes": texts[1], "trips": {"one": TRIPS[0]}})])
        self.save_a_form(-1, kind, {"notes": texts[2]}, False)

    @rule(
        device=devices,
        kind=st.sampled_from(("batch_create", "batch_update", "batch_delete")),
        count=st.integers(1, len(SPOTS)),
        data=datas,
    )
    def edit_many(self, device: int, kind: OperationType, count: int, data: dict[str, Any]) -> None:
        said = {} if kind == "batch_delete" else data
        self.made(device, self.gadgets[device].batch(kind, SPOTS[-count:], at=self.says(device), **said))

    @rule(device=devices, data=settings)
    def change_settings(self, device: int, data: dict[str, Any]) -> None:
        gadget = self.gadgets[device]
        pending = [one.operation_id for one in gadget.queue if one.entity_type == "user"]
        known = gadget.told.get(ANNA)
        edit = Edit(
            operation_id=f"set-{device}-{len(self.ledger.made)}",
            operation_type="update",
            entity_type="user",
            client_version=known.entity_version if known is not None else 0,
            entity_data=data,
            client_timestamp=self.says(device),
            previous=pending[-1] if pending else None,
        )
        gadget.queue.append(edit)
        self.made(device, edit)

    def says(self, device: int) -> datetime:
        return self.clock.now() + SKEWS[device]

    def made(self, device: int, edit: Edit) -> None:
        self.ledger.make(DEVICES[device], edit, self.gadgets[device].told)

    # --- the network ---

    @rule(device=devices)
    def push(self, device: int) -> None:
        sent = Sent(device, list(self.gadgets[device].queue))
        self.gadgets[device].answered(sent.edits, self.serve(sent))

    @rule(device=devices, first=st.integers(0, 3), count=st.integers(1, 3))
    def push_some(self, device: int, first: int, count: int) -> None:
        """From the beginning; what came too early, and may have to wait, is not answered.

        Only what follows one another may come in another order: what was done in two tabs does not wait.
        """
        first = first if self.gadgets[device].is_chain() else 0
        sent = Sent(device, list(self.gadgets[device].queue)[first : first + count])
        answer = self.serve(sent)
        if first == 0:
            self.gadgets[device].answered(sent.edits, answer)

    @rule(device=devices, kind=kinds, spot=spots, data=datas, after_a_batch=st.booleans())
    def edit_while_a_push_is_answered(
        self, device: int, kind: OperationType, spot: Spot, data: dict[str, Any], after_a_batch: bool
    ) -> None:
        if after_a_batch:
            self.edit_many(device, "batch_update", len(SPOTS), data)
        sent = Sent(device, list(self.gadgets[device].queue))
        self.edit(device, spot, [(kind, data)])
        self.gadgets[device].answered(sent.edits, self.serve(sent))

    @rule(device=devices)
    def push_into_the_dark(self, device: int) -> None:
        """It may come late, twice or never."""
        self.requests.append(Sent(device, list(self.gadgets[device].queue)))

    @precondition(lambda self: self.requests)
    @rule(which=which, is_kept=st.booleans(), is_told=st.booleans())
    def request_arrives(self, which: int, is_kept: bool, is_told: bool) -> None:
        sent = self.requests[which % len(self.requests)]
        if not is_kept:
            self.requests.remove(sent)
        answer = self.serve(sent)
        if is_told:
            self.answers.append(Sent(sent.device, sent.edits, answer))

    @precondition(lambda self: self.answers)
    @rule(which=which, is_kept=st.booleans())
    def answer_arrives(self, which: int, is_kept: bool) -> None:
        sent = self.answers[which % len(self.answers)]
        if not is_kept:
            self.answers.remove(sent)
        assert sent.answer is not None
        self.gadgets[sent.device].answered(sent.edits, sent.answer)

    @rule(device=devices, pieces=st.integers(0, 2))
    def the_server_dies(self, device: int, pieces: int) -> None:
        """After so many transactions of a push, and whatever was done is not answered."""
        self.pieces_left = pieces
        try:
            self.serve(Sent(device, list(self.gadgets[device].queue)))
        except Died:
            return
        finally:
            self.pieces_left = LATEST

    @rule(device=devices, size=st.integers(1, 5))
    def pull(self, device: int, size: int) -> None:
        self.gadgets[device].pull(size)

    @rule(device=devices)
    def pull_into_the_dark(self, device: int) -> None:
        gadget = self.gadgets[device]
        pulled = self.travel.feed.pull(ANNA, gadget.device_id, gadget.since, gadget.seal, size=2)
        self.pulls.append((device, gadget.since, pulled))

    @precondition(lambda self: self.pulls)
    @rule(which=which)
    def pulled_arrives(self, which: int) -> None:
        device, asked, pulled = self.pulls.pop(which % len(self.pulls))
        self.gadgets[device].told_of(asked, pulled)

    @rule(device=devices, size=st.integers(1, 3))
    def resync(self, device: int, size: int) -> None:
        self.gadgets[device].resync(size)

    # --- besides ---

    @rule(kind=kinds, spot=spots, data=datas)
    def edit_on_the_web(self, kind: OperationType, spot: Spot, data: dict[str, Any]) -> None:
        web = Gadget(self.travel, self.clock, ANNA, SERVER)
        there = self.travel.repository.visits_at(ANNA, [spot])[0]
        if there is not None:
            web.take(visit_state(there))
        edit = web.edit(kind, spot, {} if kind == "delete" else data)
        self.ledger.make(SERVER, edit, web.told)
        self.travel.sync.apply(ANNA, edit)

    @rule(which=which, looks_again=st.booleans())
    def look_at_a_conflict(self, which: int, looks_again: bool) -> None:
        found = self.travel.sync.conflicts(ANNA).items
        if not found:
            return
        id = found[which % len(found)].operation_id
        if not looks_again:
            self.looks.append(Look(id, None, self.recorded[id][2]))
            return
        head = self.travel.repository.head(ANNA)
        assert head is not None
        now = {clash.entity_id: self.stored(clash.entity_id) for clash in self.recorded[id][1]}
        versions = {entity: state.entity_version if state else 0 for entity, state in now.items()}
        self.looks.append(Look(id, versions, dict.fromkeys(now, head.server_version)))

    @rule(
        spot=spots,
        values=st.permutations(("2021", "2022", "2023")),
        looks_again=st.booleans(),
        choice=st.sampled_from((None, "client_wins", "manual")),
    )
    def disagree(self, spot: Spot, values: list[str], looks_again: bool, choice: Strategy | None) -> None:
        """Two devices and the web say something else each; somebody has looked at it in between, and may settle it."""
        for device, value in zip((0, 1), values, strict=False):
            self.edit(device, spot, [("update", {"visited_date": value})])
            self.push(device)
        self.look_at_a_conflict(0, looks_again)
        self.edit_on_the_web("update", spot, {"visited_date": values[2]})
        if choice is not None and self.looks:
            self.settle(-1, choice)

    @precondition(lambda self: self.looks)
    @rule(which=which, choice=st.sampled_from(("server_wins", "client_wins", "merged", "manual")))
    def settle(self, which: int, choice: Strategy) -> None:
        look = self.looks.pop(which % len(self.looks))
        clashes = self.recorded[look.operation_id][1]
        if choice == "manual" and len({clash.entity_id for clash in clashes}) > 1:
            choice = "client_wins"
        if choice == "manual" and not {clash.field for clash in clashes} <= {"notes", "visited_date"}:
            choice = "client_wins"
        data: dict[str, JsonValue] | None = {"notes": "something else"} if choice == "manual" else None
        self.settling = (look, choice)
        try:
            self.travel.sync.resolve(ANNA, look.operation_id, choice, data, look.versions)
        except VersionConflict:
            words = self.chosen(look, choice)
            assert not all(self.ledger.has_seen_all(entity, word) for entity, word in words.items())
        except (NotFound, Conflict):  # it is a month old, or was settled
            assert self.is_forgotten(look.operation_id) or not self.is_open(look.operation_id)

    def is_forgotten(self, id: str) -> bool:
        return self.clock.now() - self.recorded[id][0] >= d.OPERATIONS_KEPT

    def is_open(self, id: str) -> bool:
        return any(one.operation_id == id for one in self.travel.sync.conflicts(ANNA).items)

    def chosen(self, look: Look, choice: Strategy) -> dict[str, Word]:
        """What settling says of each entity."""
        words: dict[str, Word] = {}
        for clash in self.recorded[look.operation_id][1] if choice in ("client_wins", "manual") else ():
            said: Any = {clash.field: clash.client} if clash.field != WHOLE else clash.client
            if choice == "manual":
                said = {"notes": "something else"}
            fields = {**(words[clash.entity_id].fields if clash.entity_id in words else {}), **(said or {})}
            seen = look.seen[clash.entity_id]
            words[clash.entity_id] = Word("", "a person", -1, seen, fields, said is None, said is not None)
        return words

    @rule()
    def follow_the_stream(self) -> None:
        self.follower.run_once()

    @rule()
    def look_at_the_figures(self) -> None:
        """Followed from wherever they were, they are what counting everything gives."""
        visits = self.travel.visits.all(ANNA)
        found = self.travel.statistics.of(ANNA)
        asked = statistics.Asked(ANNA, found.server_version, "UTC", found.calculated_at)
        assert found == statistics.figures(statistics.counted(visits), self.travel.geography, asked)

    @rule(minutes=st.integers(0, 90))
    def time_passes(self, minutes: int) -> None:
        self.clock.move(timedelta(minutes=minutes))

    @rule(days=st.sampled_from((31, 100, 181)))
    def months_pass(self, days: int) -> None:
        """Devices keep their queues for as long as it takes; nothing else is on its way, or streamed, for a month."""
        self.follower.run_once()
        self.clock.move(timedelta(days=days))
        self.ledger.forget(self.forgotten())
        for on_its_way in (self.requests, self.answers, self.pulls):
            on_its_way.clear()

    @rule()
    def tombstones_go(self) -> None:
        """Every device was told of them, a month ago."""
        for gadget in (*self.gadgets, *self.gadgets):
            gadget.pull()
        self.months_pass(31)
        self.travel.feed.purge(ANNA)
        self.ledger.forget(self.forgotten())

    @rule(device=devices, spot=spots, values=st.permutations(("2021", "2022", "2023")))
    def begin_anew(self, device: int, spot: Spot, values: list[str]) -> None:
        """A device has still to say something about a place that was deleted, forgotten and marked again."""
        self.edit_on_the_web("restore", spot, {"visited_date": values[0]})
        self.gadgets[device].pull()
        self.edit(device, spot, [("update", {"visited_date": values[1]})])
        self.edit_on_the_web("delete", spot, {})
        self.tombstones_go()
        self.edit_on_the_web("create", spot, {"visited_date": values[2]})

    def forgotten(self) -> list[str]:
        return [entity for entity in self.ledger.now if self.stored(entity) is None]

    # --- the server, and what it did ---

    def serve(self, sent: Sent) -> Pushed:
        self.clock.move(timedelta(seconds=2))  # below the pace
        gadget = self.gadgets[sent.device]
        return self.travel.sync.push(ANNA, DEVICES[sent.device], sent.edits, gadget.since, gadget.seal)

    def _witness(self) -> None:
        """Every transaction is noted, whether or not anybody is told of it."""
        sync = self.travel.sync
        piece, settle = sync._piece, sync._settle

        def seen_piece(source: Any, todo: Sequence[split.Task]) -> dict[str, Result]:
            if self.pieces_left == 0:
                raise Died
            self.pieces_left -= 1
            results = piece(source, todo)
            waiting = {edit.operation_id for gadget in self.gadgets for edit in gadget.queue}
            self.ledger.unanswered = waiting & self.done_long_ago()
            for task in todo:
                self.note(task.id, self.ledger.made[task.edit.operation_id], results[task.id])
            return results

        def seen_settlement(user_id: str, operation_id: str, *given: Any) -> Result:
            result = settle(user_id, operation_id, *given)
            look, choice = self.settling
            assert operation_id == look.operation_id
            assert result.status in ("applied", "merged")
            self.ledger.note(self.chosen(look, choice), result)
            return result

        self._patch.setattr(sync, "_piece", seen_piece)
        self._patch.setattr(sync, "_settle", seen_settlement)

    def done_long_ago(self) -> set[str]:
        """Whose receipts are gone, or were for a while."""
        now = self.clock.now()
        return {id for id, at in self.first_done.items() if now - at >= d.OPERATIONS_KEPT}

    def note(self, id: str, words: dict[str, Word], result: Result) -> None:
        assert result.status != "failed", result
        if result.status == "waiting":
            return
        at, status = self.statuses.get(id, (self.clock.now(), result.status))
        if result.replayed:
            assert result.status == status
            return
        assert id not in self.statuses or self.clock.now() - at >= d.OPERATIONS_KEPT  # done once
        self.statuses[id] = (self.clock.now(), result.status)
        self.first_done.setdefault(id.partition(".")[0], self.clock.now())
        self.ledger.done.add(id.partition(".")[0])
        self.ledger.note(words, result)
        assert bool(result.conflicts) == (result.status == "conflict")
        if result.conflicts:
            # The first state of each: a country may be brought along by its state after the dispute.
            seen = {state.entity_id: state.server_version for state in reversed(result.entities)}
            self.recorded[id] = (self.clock.now(), list(result.conflicts), seen)

    # --- what holds ---

    @invariant()
    def the_feed_has_no_gaps(self) -> None:
        head = self.travel.repository.head(ANNA)
        assert head is not None
        told = [change.server_version for change in self.db.all(d.changes_between(user_id=ANNA))]
        assert told == list(range(head.server_version - len(told) + 1, head.server_version + 1))

    @invariant()
    def what_is_stored_is_what_operations_made(self) -> None:
        for entity, state in self.ledger.now.items():
            stored = self.stored(entity)
            assert is_there(stored) == is_there(state)
            assert fields_of(stored) == fields_of(state)
        marked = {visit.composite_key for visit in self.travel.visits.all(ANNA)}
        assert marked == {it for it, state in self.ledger.now.items() if is_there(state)} - {ANNA}

    def stored(self, entity: str) -> EntityState | None:
        if entity == ANNA:
            profile = self.travel.repository.profile(ANNA)
            return user_state(profile, self.ledger.now[ANNA].server_version)
        spot = next(spot for spot in SPOTS if place_id(ANNA, *spot) == entity)
        visit = self.travel.repository.visits_at(ANNA, [spot])[0]
        return visit_state(visit) if visit is not None else None

    @property
    def db(self) -> Db:
        return self.travel.repository.db

    def teardown(self) -> None:
        try:
            self.network_is_well_again()
            self.everybody_has_the_same()
            self.every_conflict_is_on_record()
        finally:
            self._patch.undo()
            self._engine.__exit__(None, None, None)

    def network_is_well_again(self) -> None:
        for number, gadget in enumerate(self.gadgets):
            self.push(number)
            if gadget.queue:
                # What they follow is forgotten, and a clock that is ahead, or a form that was open, hides that.
                self.months_pass(31)
                self.push(number)
            assert not gadget.queue
        for gadget in self.gadgets:
            gadget.pull()
        assert self.ledger.done == set(self.ledger.made)
        self.what_is_stored_is_what_operations_made()

    def everybody_has_the_same(self) -> None:
        visits = self.travel.visits.all(ANNA)
        shown = {f"{visit.region_type}#{visit.region_code}": visit_state(visit).data for visit in visits}
        profile = self.travel.repository.profile(ANNA)
        for gadget in self.gadgets:
            assert gadget.places() == shown
            if ANNA in gadget.told:
                assert gadget.told[ANNA].data == user_state(profile, 0).data
        assert self.travel.statistics.repair(ANNA) is None
        self.look_at_the_figures()
        self.follower.run_once()
        shares = profile.privacy_settings.share_visits
        for spot in SPOTS:
            is_marked = any((visit.region_type, visit.region_code) == spot for visit in visits)
            assert self.travel.regions.count(*spot) == (is_marked and shares)
            listed = d.visitors_of(region_type=spot[0], region_code=spot[1])
            assert self.travel.repository.db.count(listed) == (is_marked and shares)

    def every_conflict_is_on_record(self) -> None:
        """With everything that was in it, settled or not, for as long as it is kept."""
        there = {
            operation.operation_id: CLASHES.validate_python(operation.conflict_details["fields"])
            for operation in self.db.all(d.operations_of(user_id=ANNA))
            if operation.conflict_details is not None
        }
        for id, (_, clashes, _) in self.recorded.items():
            assert self.is_forgotten(id) or there[id] == clashes


TestTravellers = Travellers.TestCase
TestTravellers.settings = effort(50, steps=35)
