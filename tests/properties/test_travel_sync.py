"""Whatever travellers' devices do in whatever order: in the end all have the same, and nothing was lost in silence.

Devices edit offline; requests get lost, come twice, late and in another order; answers get lost or come late; the web
edits at the same time; conflicts are settled. When the network is well again, every device shows what the server has,
its counters are what is marked, its figures are what a full count gives, and whatever was answered for is there, was
replaced by somebody who had seen it, or is in a conflict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from pydantic import TypeAdapter
from tests.properties.effort import effort
from tests.systems.travel.talk import ANNA, SECRET, START, Gadget, Spot, sign_up

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules, statistics
from tablewright.systems.travel.merge import WHOLE
from tablewright.systems.travel.model import OperationType, Strategy
from tablewright.systems.travel.operations import (
    Edit,
    FieldConflict,
    Pulled,
    Pushed,
    Result,
    targets,
    visit_state,
)
from tablewright.systems.travel.service import open_travel
from tablewright.testing import Clock

DEVICES = ("phone", "tablet", "laptop")
SPOTS: tuple[Spot, ...] = (("country", "FR"), ("country", "GL"), ("us_state", "US-NY"))
NOTES = ("a", "bb", "c" * 300, "d" * 300, None)
TRIPS: tuple[Any, ...] = ({"start": "2024"}, {"start": "2025-03", "end": "2025-04"}, None)
KINDS: tuple[OperationType, ...] = ("create", "update", "update", "delete", "restore")
CLASHES = TypeAdapter(list[FieldConflict])

devices = st.integers(0, len(DEVICES) - 1)
spots = st.sampled_from(SPOTS)
kinds = st.sampled_from(KINDS)
datas = st.fixed_dictionaries(
    {},
    optional={
        "notes": st.sampled_from(NOTES),
        "visited_date": st.sampled_from(("2024", "2024-05-01", None)),
        "trips": st.fixed_dictionaries(
            {}, optional={"one": st.sampled_from(TRIPS), "two": st.sampled_from(TRIPS)}
        ),
    },
)


@dataclass(frozen=True)
class Done:
    """An operation that was done: whose, what it said about one place, and the version that came of it.

    `agreed` are the versions of fields that had the value already: who has seen those has seen what this one says.
    """

    order: int
    device: str
    edit: Edit
    spot: Spot
    fields: dict[str, Any]
    base: int
    version: int
    is_deletion: bool
    agreed: dict[str, int]


@dataclass(frozen=True)
class Sent:
    """A push on its way: to the server, or back as an answer."""

    device: int
    edits: Sequence[Edit]
    answer: Pushed | None = None


class Travellers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock(START)
        self._engine = testing.engine(world=self.clock.world())
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
        self.log: list[Done] = []

    # --- offline ---

    @rule(device=devices, kind=kinds, spot=spots, data=datas)
    def edit(self, device: int, kind: OperationType, spot: Spot, data: dict[str, Any]) -> None:
        self.gadgets[device].edit(kind, spot, {} if kind == "delete" else data)

    @rule(device=devices, kind=st.sampled_from(("batch_create", "batch_delete")), data=datas)
    def edit_all(self, device: int, kind: OperationType, data: dict[str, Any]) -> None:
        if not self.gadgets[device].queue:
            self.gadgets[device].batch(kind, SPOTS, **({} if kind == "batch_delete" else data))

    # --- the network ---

    @rule(device=devices)
    def push(self, device: int) -> None:
        sent = Sent(device, list(self.gadgets[device].queue))
        self.gadgets[device].answered(sent.edits, self.serve(sent))

    @rule(device=devices)
    def push_into_the_dark(self, device: int) -> None:
        """It may come late, twice or never."""
        self.requests.append(Sent(device, list(self.gadgets[device].queue)))

    @rule(which=st.integers(0, 100), is_kept=st.booleans(), is_told=st.booleans())
    def request_arrives(self, which: int, is_kept: bool, is_told: bool) -> None:
        if not self.requests:
            return
        sent = self.requests[which % len(self.requests)]
        if not is_kept:
            self.requests.remove(sent)
        answer = self.serve(sent)
        if is_told:
            self.answers.append(Sent(sent.device, sent.edits, answer))

    @rule(which=st.integers(0, 100), is_kept=st.booleans())
    def answer_arrives(self, which: int, is_kept: bool) -> None:
        if not self.answers:
            return
        sent = self.answers[which % len(self.answers)]
        if not is_kept:
            self.answers.remove(sent)
        assert sent.answer is not None
        self.gadgets[sent.device].answered(sent.edits, sent.answer)

    @rule(device=devices, size=st.integers(1, 5))
    def pull(self, device: int, size: int) -> None:
        self.gadgets[device].pull(size)

    @rule(device=devices)
    def pull_into_the_dark(self, device: int) -> None:
        gadget = self.gadgets[device]
        pulled = self.travel.feed.pull(ANNA, gadget.device_id, gadget.since, size=2)
        self.pulls.append((device, gadget.since, pulled))

    @rule(which=st.integers(0, 100))
    def pulled_arrives(self, which: int) -> None:
        if self.pulls:
            device, asked, pulled = self.pulls.pop(which % len(self.pulls))
            self.gadgets[device].told_of(asked, pulled)

    @rule(device=devices, size=st.integers(1, 3))
    def resync(self, device: int, size: int) -> None:
        self.gadgets[device].resync(size)

    # --- besides ---

    @rule(kind=kinds, spot=spots, data=datas)
    def edit_on_the_web(self, kind: OperationType, spot: Spot, data: dict[str, Any]) -> None:
        web = Gadget(self.travel, self.clock, ANNA, "server")
        there = self.travel.repository.visits_at(ANNA, [spot])[0]
        if there is not None:
            web.take(visit_state(there))
        edit = web.edit(kind, spot, {} if kind == "delete" else data)
        self.note("server", [edit], [self.travel.sync.apply(ANNA, edit)])

    @rule(choice=st.sampled_from(("server_wins", "client_wins", "merged")))
    def settle(self, choice: Strategy) -> None:
        page = self.travel.sync.conflicts(ANNA)
        if page.items:
            self.travel.sync.resolve(ANNA, page.items[0].operation_id, choice)

    @rule(shares=st.booleans())
    def turn_the_switch(self, shares: bool) -> None:
        self.travel.sync.change_user(ANNA, {"privacy_settings": {"share_visits": shares}})

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

    # --- the server, and what it did ---

    def serve(self, sent: Sent) -> Pushed:
        self.clock.move(timedelta(seconds=2))  # below the pace
        device = DEVICES[sent.device]
        pushed = self.travel.sync.push(ANNA, device, sent.edits)
        self.note(device, sent.edits, pushed.results)
        return pushed

    def note(self, device: str, edits: Sequence[Edit], results: Sequence[Result]) -> None:
        for edit, result in zip(edits, results, strict=True):
            assert result.status != "failed", result
            if result.replayed or result.status == "waiting":
                continue
            states = {state.entity_id: state for state in result.entities}
            for target in targets(edit):
                spot = (target.region_type, target.region_code)
                state = states[f"{ANNA}#{spot[0]}#{spot[1]}"]
                fields = rules.visit_edit(target.entity_data, START.date())
                self.log.append(
                    Done(
                        len(self.log),
                        device,
                        edit,
                        spot,
                        fields,
                        target.client_version,
                        state.entity_version,
                        edit.operation_type in ("delete", "batch_delete"),
                        self._agreed(spot, fields, state.entity_version),
                    )
                )

    def _agreed(self, spot: Spot, fields: dict[str, Any], version: int) -> dict[str, int]:
        visit = self.travel.repository.visits_at(ANNA, [spot])[0]
        now = rules.visit_fields(visit) if visit is not None else {}
        return {
            name: visit.stamps[name].version
            for name, value in fields.items()
            if visit is not None and now.get(name) == value and name in visit.stamps
            if visit.stamps[name].version < version
        }

    # --- what holds ---

    @invariant()
    def the_feed_has_no_gaps(self) -> None:
        head = self.travel.repository.head(ANNA)
        assert head is not None
        told = [change.server_version for change in self.db.all(d.changes_between(user_id=ANNA))]
        assert told == list(range(1, head.server_version + 1))

    @property
    def db(self) -> Db:
        return self.travel.repository.db

    def teardown(self) -> None:
        try:
            self.network_is_well_again()
            self.everybody_has_the_same()
            self.nothing_was_lost_in_silence()
        finally:
            self._engine.__exit__(None, None, None)

    def network_is_well_again(self) -> None:
        for number, gadget in enumerate(self.gadgets):
            self.push(number)
            assert not gadget.queue
        for gadget in self.gadgets:
            gadget.pull()

    def everybody_has_the_same(self) -> None:
        visits = self.travel.visits.all(ANNA)
        shown = {f"{visit.region_type}#{visit.region_code}": visit_state(visit).data for visit in visits}
        for gadget in self.gadgets:
            assert gadget.places() == shown
        assert self.travel.statistics.repair(ANNA) is None
        self.look_at_the_figures()
        self.follower.run_once()
        shares = self.travel.repository.profile(ANNA).privacy_settings.share_visits
        for spot in SPOTS:
            is_marked = any((visit.region_type, visit.region_code) == spot for visit in visits)
            assert self.travel.regions.count(*spot) == (is_marked and shares)
            assert len(self.travel.regions.visitors(*spot).items) == (is_marked and shares)

    def nothing_was_lost_in_silence(self) -> None:
        records = [
            clash
            for operation in self.db.all(d.operations_of(user_id=ANNA))
            if operation.conflict_details is not None
            for clash in CLASHES.validate_python(operation.conflict_details["fields"])
        ]
        for done in self.log:
            for field, value in ({WHOLE: None} if done.is_deletion else done.fields).items():
                assert self._is_accounted_for(done, field, value, records), (done, field)

    def _is_accounted_for(self, done: Done, field: str, value: Any, records: list[FieldConflict]) -> bool:
        visit = self.travel.repository.visits_at(ANNA, [done.spot])[0]
        if field == WHOLE:
            is_there = visit is None or visit.is_deleted
        else:
            now = rules.visit_fields(visit).get(field) if visit is not None and not visit.is_deleted else None
            is_there = now == value or (field == "notes" and bool(value) and value in str(now))
        if is_there:
            return True
        entity = f"{ANNA}#{done.spot[0]}#{done.spot[1]}"
        if any(clash.entity_id == entity and _mentions(clash, field, value) for clash in records):
            return True
        after = [
            later for later in self.log if later.order > done.order and _touches(later, done.spot, field)
        ]
        # To clear what is not there says nothing; but what was cleared may not come back by itself.
        version = done.agreed.get(field, done.version)
        return any(_knew(later, done, version) or (value is None and field != WHOLE) for later in after)


def _mentions(clash: FieldConflict, field: str, value: Any) -> bool:
    if field == WHOLE:
        return clash.field == WHOLE
    sides = (clash.server, clash.client, clash.kept)
    if clash.field == WHOLE:
        return any(isinstance(side, dict) and side.get(field) == value for side in sides)
    return clash.field == field and value in sides


def _touches(later: Done, spot: Spot, field: str) -> bool:
    """Whether an operation says something about the same: a deletion says something about everything."""
    if later.spot != spot:
        return False
    is_marking = later.edit.operation_type in ("create", "restore", "batch_create", "update")
    return later.is_deletion or field in later.fields or (field == WHOLE and is_marking)


def _knew(later: Done, done: Done, version: int) -> bool:
    """Whether who made the later operation had seen the earlier: told of its version, or its own author."""
    return later.base >= version or (later.device == done.device and later.edit.previous is not None)


TestTravellers = Travellers.TestCase
TestTravellers.settings = effort(25, steps=40)
