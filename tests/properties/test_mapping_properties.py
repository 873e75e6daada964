"""A design's live table against plain dicts: whatever is written, keys, guards and patterns say what the items say.

Hypothesis walks through creations, changes, partial updates, upserts, deletes, transactions and moves of the clock
on two entities whose index keys are derived, sparse, sharded, local and made of several attributes. After each step
every stored item equals what its own fields make of it, and the guards are those of the living; now and then, and
in the end, all patterns are asked and compared with a reckoning over the dicts, and the store is verified.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from pydantic import BaseModel
from tests.properties.effort import effort

from tablewright import Engine
from tablewright.client import embedded
from tablewright.design import Design, Expires, IndexKeyNeedsTheItem, Keys, Query, Unique, Write, at_least
from tablewright.mapping import AlreadyExists, Db, Missing, NotUnique, Stale
from tablewright.mapping.items import item_of, model_of
from tablewright.testing import Clock
from tablewright.values import admit_item

START = datetime(2040, 1, 1, tzinfo=UTC)
State = Literal["A", "B"]


class Card(BaseModel):
    """Versioned, unique by e-mail while it lives, deleted softly."""

    owner: str
    id: str
    email: str | None = None
    label: str = "x"
    state: State = "A"
    urgent: bool = False
    price: Decimal = Decimal(1)
    at: datetime = START
    until: datetime | None = None
    live: bool = True
    rev: int = 0


class Note(BaseModel):
    """Neither versioned nor unique: put, upserted and updated unread."""

    owner: str
    id: str
    state: State = "A"
    group: str | None = None
    urgent: bool = False
    score: int = 0
    at: datetime = START
    until: datetime | None = None
    first: datetime | None = None
    tags: set[str] = set()
    counts: dict[str, int] = {}
    log: list[str] = []


def key(owner: str, id: str) -> None: ...


desk = Design("desk")
main = desk.table("desk", pk="PK", sk="SK", ttl="ttl")
gsi1 = main.gsi("GSI1", pk="GSI1PK", sk="GSI1SK")
gsi2 = main.gsi("GSI2", pk="GSI2PK", sk="GSI2SK", project=("id", "owner"))
by_score = main.gsi("ByScore", pk=("state", "kind"), sk=("score", "SK"))
by_price = main.lsi("ByPrice", sk="LSI1")
cards = main.entity(
    Card,
    key,
    tag="card",
    pk="OWNER#{owner}",
    sk="CARD#{id}",
    on={
        gsi1: Keys("EMAIL#{email:lower}", "CARD#{owner}#{id}"),
        gsi2: Keys("URGENT#{urgent:flag}#{id:shard.3}", "AT#{at:us}#{owner}#{id}"),
        by_price: Keys("OWNER#{owner}", "PRICE#{price:4.2}#{id}"),
    },
    unique=[Unique("email", "{email:lower}", keep={"label": "{label}"})],
    version="rev",
    expires=Expires("until", timedelta(minutes=5)),
    soft_delete="live",
)
notes = main.entity(
    Note,
    key,
    tag="note",
    pk="OWNER#{owner}",
    sk="NOTE#{id}",
    on={
        gsi1: Keys("GROUP#{group}#{state:only.A}", "NOTE#{owner}#{id}"),
        gsi2: Keys("NOTES#{urgent:flag}#{id:shard.2}", "AT#{at:us}#{owner}#{id}"),
        by_score: Keys(("{state}", "KIND#NOTE"), ("{score}", "NOTE#{id}")),
    },
    expires="until",
)


class Head(BaseModel):
    owner: str
    id: str


@desk.query(cards, notes, pk="OWNER#{owner}")
def all_of(*, owner: str) -> None:
    """Everything of an owner."""


@desk.query(cards, on=gsi1, pk="EMAIL#{email:lower}")
def by_email(*, email: str) -> None:
    """Cards by address."""


@desk.query(cards.view(Head), on=gsi2, pk="URGENT#{urgent:flag}#{id:shard.3}")
def urgent_cards(*, urgent: bool) -> None:
    """Urgent cards, oldest first."""


@desk.query(notes.view(Head), on=gsi2, pk="NOTES#{urgent:flag}#{id:shard.2}", descending=True)
def urgent_notes(*, urgent: bool) -> None:
    """Urgent notes, newest first."""


@desk.query(cards, on=by_price, pk="OWNER#{owner}", sk=at_least("PRICE#{price:4.2}"))
def dear_cards(*, owner: str, price: Decimal) -> None:
    """An owner's cards from a price."""


@desk.query(notes, on=gsi1, pk="GROUP#{group}#{state:only.A}")
def notes_of_group(*, group: str, state: State) -> None:
    """Notes of a group in state A."""


@desk.query(notes, on=by_score, pk=("{state}", "KIND#NOTE"))
def notes_by_score(*, state: State) -> None:
    """Notes of a state, the lowest score first."""


desk.build()

OWNERS, IDS, GROUPS = ("o#1", "o%2"), ("a", "b", "c"), ("g", "h#")
owners, ids = st.sampled_from(OWNERS), st.sampled_from(IDS)
states: st.SearchStrategy[State] = st.sampled_from(("A", "B"))
moments = st.integers(0, 40).map(lambda n: START + timedelta(minutes=n, microseconds=n * 1001))
# Only `at` stands in a key with microseconds, and is stored with them.
untils = st.none() | st.integers(0, 40).map(lambda n: START + timedelta(minutes=n, milliseconds=n * 101))
card_fields: dict[str, st.SearchStrategy[Any]] = {
    "email": st.sampled_from((None, "x@e", "Y@e", "y@e", "z@e")),
    "label": st.sampled_from(("x", "y")),
    "state": states,
    "urgent": st.booleans(),
    "price": st.decimals(0, 99, places=2),
    "at": moments,
    "until": untils,
    "live": st.booleans(),
}
some_cards = st.builds(Card, owner=owners, id=ids, **card_fields)
some_notes = st.builds(
    Note,
    owner=owners,
    id=ids,
    state=states,
    group=st.none() | st.sampled_from(GROUPS),
    urgent=st.booleans(),
    score=st.integers(-3, 12),
    at=moments,
    until=untils,
    tags=st.sets(st.sampled_from("xyz")),
    counts=st.dictionaries(st.sampled_from("ab"), st.integers(0, 5)),
)

Edit = tuple[Callable[[Write[Note]], Write[Note]], Callable[[Note], dict[str, Any]]]


def _set(name: str, value: Any) -> Edit:
    return lambda w: w.at(lambda n: getattr(n, name)).set(value), lambda n: {name: value}


def _both(group: str | None, state: State) -> Edit:
    """The two a key is made of; one alone is refused."""
    return (
        lambda w: w.at(lambda n: n.group).set(group).at(lambda n: n.state).set(state),
        lambda n: {"group": group, "state": state},
    )


def _count(name: str, by: int) -> Edit:
    return (
        lambda w: w.at(lambda n: n.counts[name]).add(by),
        lambda n: {"counts": {**n.counts, name: n.counts.get(name, 0) + by}},
    )


def _first(moment: datetime) -> Edit:
    # Stored to the millisecond: no key asks for more.
    cut = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    return (
        lambda w: w.at(lambda n: n.first).lowest(moment),
        lambda n: {"first": cut if n.first is None else min(n.first, cut)},
    )


# By the field they touch: one update has one step for each.
edits: dict[str, st.SearchStrategy[Edit]] = {
    "group and state": st.builds(_both, st.none() | st.sampled_from(GROUPS), states),
    "urgent": st.builds(_set, st.just("urgent"), st.booleans()),
    "at": st.builds(_set, st.just("at"), moments),
    "until": st.builds(_set, st.just("until"), untils),
    "score": st.integers(-3, 3).map(
        lambda by: (lambda w: w.at(lambda n: n.score).add(by), lambda n: {"score": n.score + by})
    ),
    "tags in": st.sets(st.sampled_from("xyz"), min_size=1).map(
        lambda some: (lambda w: w.at(lambda n: n.tags).include(*some), lambda n: {"tags": n.tags | some})
    ),
    "counts": st.builds(_count, st.sampled_from("ab"), st.integers(-2, 2)),
    "first": st.builds(_first, moments),
    "log": st.sampled_from("pq").map(
        lambda one: (lambda w: w.at(lambda n: n.log).append(one), lambda n: {"log": [*n.log, one]})
    ),
}
some_edits = st.lists(st.sampled_from(sorted(edits)), min_size=1, max_size=4, unique=True).flatmap(
    lambda names: st.tuples(*(edits[name] for name in names))
)


class Story(RuleBasedStateMachine):
    """One table, and the same as a dict: by key, the model that was written last, dead or alive."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock(START)
        self.engine = Engine.open(world=self.clock.world())
        self.db = Db(embedded(self.engine), desk, world=self.clock.world())
        self.db.create_tables()
        self.cards: dict[tuple[str, str], Card] = {}
        self.notes: dict[tuple[str, str], Note] = {}
        # By value: who holds it, and until when. What the sweeper would take stays, as it does in the table.
        self.guards: dict[str, tuple[Card, int | None]] = {}

    # --- the model ---

    def now(self) -> int:
        return int(self.clock.now().timestamp())

    def is_dead(self, item: Card | Note) -> bool:
        until = _dies(item)
        return until is not None and until <= self.now()

    def holder(self, card: Card) -> Card | None:
        """Another card that has this one's address."""
        held = self.guards.get(card.email.lower()) if card.email else None
        if held is None or (held[1] is not None and held[1] <= self.now()) or _key(held[0]) == _key(card):
            return None
        return held[0]

    def keep(self, card: Card, before: Card | None) -> None:
        if before is not None and before.email and (card.email or "").lower() != before.email.lower():
            del self.guards[before.email.lower()]
        if card.email:
            self.guards[card.email.lower()] = (card, _dies(card))
        self.cards[_key(card)] = card

    @initialize(some=st.lists(some_cards, min_size=3, max_size=6), others=st.lists(some_notes, min_size=3))
    def begin(self, some: list[Card], others: list[Note]) -> None:
        """A story about an empty table tells little."""
        for card in some:
            self.create(card)
        self.batch(others[:6])

    # --- cards ---

    @rule(card=some_cards)
    def create(self, card: Card) -> None:
        there = self.cards.get(_key(card))
        taken = self.guards.get(card.email.lower()) if card.email else None
        if there is not None and not self.is_dead(there):
            with pytest.raises(AlreadyExists) as refused:
                self.db.write(cards.create(card))
            assert refused.value.current == there
        elif taken is not None and not (taken[1] is not None and taken[1] <= self.now()):
            with pytest.raises(NotUnique) as unique:
                self.db.write(cards.create(card))
            assert unique.value.owner == cards.get(*_key(taken[0])).key
        else:
            self.db.write(cards.create(card))
            self.keep(card, None)

    @precondition(lambda self: self.cards)
    @rule(data=st.data(), update=st.fixed_dictionaries({}, optional=card_fields))
    def change(self, data: st.DataObject, update: dict[str, Any]) -> None:
        before = self._any_card(data)
        after = before.model_copy(update=update)
        if self.is_dead(before):
            with pytest.raises(Missing):
                self.db.write(cards.change(before, after))
        elif self.holder(after) is not None:
            with pytest.raises(NotUnique):
                self.db.write(cards.change(before, after))
        else:
            write = cards.change(before, after)
            self.db.write(write)
            assert write.item is not None
            self.keep(write.item, before)

    @precondition(lambda self: self.cards)
    @rule(data=st.data(), update=st.fixed_dictionaries({}, optional=card_fields))
    def change_what_is_no_more(self, data: st.DataObject, update: dict[str, Any]) -> None:
        there = self._any_card(data)
        old = there.model_copy(update={"rev": there.rev - 1})
        with pytest.raises(Missing if self.is_dead(there) else Stale):
            self.db.write(cards.change(old, old.model_copy(update=update)))

    @precondition(lambda self: self.cards)
    @rule(data=st.data(), urgent=st.booleans(), price=st.decimals(0, 99, places=2))
    def update(self, data: st.DataObject, urgent: bool, price: Decimal) -> None:
        there = self._any_card(data)
        write = cards.update(*_key(there)).at(lambda c: c.urgent).set(urgent).at(lambda c: c.price).set(price)
        if self.is_dead(there):
            with pytest.raises(Missing):
                self.db.write(write)
            return
        after = there.model_copy(update={"urgent": urgent, "price": price, "rev": there.rev + 1})
        assert self.db.apply(write) == after
        self.cards[_key(there)] = after

    @precondition(lambda self: self.cards)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        there = self._any_card(data)
        if self.is_dead(there):
            with pytest.raises(Missing):
                self.db.write(cards.delete(there))
            return
        self.db.write(cards.delete(there))
        del self.cards[_key(there)]
        if there.email:
            del self.guards[there.email.lower()]

    def _any_card(self, data: st.DataObject) -> Card:
        return self.cards[data.draw(st.sampled_from(sorted(self.cards)))]

    @rule(one=some_cards, other=some_cards, note=some_notes)
    def create_together(self, one: Card, other: Card, note: Note) -> None:
        """All or nothing; whichever it is, the dicts say the same."""
        if _key(one) == _key(other) or (one.email and one.email.lower() == (other.email or "").lower()):
            return
        with suppress(AlreadyExists, NotUnique):
            self.db.write(cards.create(one), cards.create(other), notes.create(note))
            for card in (one, other):
                assert card.email is None or not (
                    (held := self.guards.get(card.email.lower()))
                    and (held[1] is None or held[1] > self.now())
                )
                self.keep(card, None)
            self.notes[_key(note)] = note

    # --- notes ---

    @rule(note=some_notes)
    def put(self, note: Note) -> None:
        self.db.write(notes.put(note))
        self.notes[_key(note)] = note

    @rule(some=st.lists(some_notes, max_size=4))
    def batch(self, some: list[Note]) -> None:
        assert self.db.batch(notes.put(note) for note in some) == []
        self.notes |= {_key(note): note for note in some}

    @rule(owner=owners, id=ids)
    def discard(self, owner: str, id: str) -> None:
        self.db.write(notes.discard(owner, id))
        self.notes.pop((owner, id), None)

    @rule(owner=owners, id=ids, steps=some_edits)
    def edit(self, owner: str, id: str, steps: tuple[Edit, ...]) -> None:
        there = self.notes.get((owner, id))
        write = _edited(notes.update(owner, id), steps)
        if there is None or self.is_dead(there):
            with pytest.raises(Missing):
                self.db.write(write)
        else:
            self.notes[owner, id] = _after(there, steps)
            assert self.db.apply(write) == self.notes[owner, id]

    @rule(owner=owners, id=ids, state=states)
    def edit_half_a_key(self, owner: str, id: str, state: State) -> None:
        with pytest.raises(IndexKeyNeedsTheItem):
            self.db.write(notes.update(owner, id).at(lambda n: n.state).set(state))

    @rule(start=some_notes, steps=some_edits)
    def upsert(self, start: Note, steps: tuple[Edit, ...]) -> None:
        there = self.notes.get(_key(start))
        base = start if there is None or self.is_dead(there) else there
        self.db.write(_edited(notes.upsert(start), steps))
        self.notes[_key(start)] = _after(base, steps)

    @rule(one=some_notes, other=some_notes, steps=some_edits)
    def upsert_together(self, one: Note, other: Note, steps: tuple[Edit, ...]) -> None:
        if _key(one) == _key(other) or any("first" in step[1](one) for step in steps):
            return
        pairs = [(note, self.notes.get(_key(note))) for note in (one, other)]
        self.db.write(*(_edited(notes.upsert(note), steps) for note in (one, other)))
        for start, there in pairs:
            base = start if there is None or self.is_dead(there) else there
            self.notes[_key(start)] = _after(base, steps)

    @rule(minutes=st.integers(1, 15))
    def wait(self, minutes: int) -> None:
        self.clock.move(timedelta(minutes=minutes))

    # --- what must hold ---

    @invariant()
    def every_item_is_what_its_fields_make_of_it(self) -> None:
        items = self.engine.call("Scan", {"TableName": "desk", "ConsistentRead": True})["Items"]
        found: dict[str, dict[Any, Any]] = {"card": {}, "note": {}, "guard": {}}
        for item in items:
            shape = next((shape for shape in desk.shapes if shape.recognises(item)), None)
            if shape is None:
                found["guard"][item["PK"]["S"].rpartition("#")[2]] = item
                continue
            model = model_of(shape, item)
            assert admit_item(item_of(shape, model))[0] == item
            found[shape.tag][_key(model)] = model
        assert found["card"] == self.cards
        assert found["note"] == self.notes
        self._guards_are(found["guard"])

    def _guards_are(self, found: dict[str, dict[str, Any]]) -> None:
        assert set(found) == set(self.guards)
        for value, (card, _) in self.guards.items():
            until = _dies(card)
            assert found[value]["owner"]["M"] == cards.get(*_key(card)).key
            assert found[value]["label"] == {"S": card.label}
            assert found[value].get("ttl") == (None if until is None else {"N": str(until)})

    @rule()
    def look(self) -> None:
        """Ask every pattern."""
        live = [card for card in self.cards.values() if not self.is_dead(card)]
        shown = [card for card in live if card.live]
        there = [note for note in self.notes.values() if not self.is_dead(note)]
        for owner in OWNERS:
            both: list[Card | Note] = [*shown, *there]
            mine = [item for item in both if item.owner == owner]
            self._same(all_of(owner=owner), sorted(mine, key=lambda i: (type(i).__name__, i.id)))
            dear = [card for card in mine if isinstance(card, Card) and card.price >= 40]
            dear.sort(key=lambda card: (card.price, card.id))
            self._same(dear_cards(owner=owner, price=Decimal(40)), dear)
        for email in ("x@e", "y@e", "z@e"):
            held = [card for card in shown if (card.email or "").lower() == email]
            self._same(by_email(email=email), held)
            assert self.db.count(by_email(email=email), deleted=True) == sum(
                (card.email or "").lower() == email for card in live
            )
        self._same(urgent_cards(urgent=True), _heads(shown))
        self._same(urgent_notes(urgent=True), _heads(there)[::-1])
        for group in GROUPS:
            some = [note for note in there if note.group == group and note.state == "A"]
            self._same(notes_of_group(group=group, state="A"), sorted(some, key=lambda n: (n.owner, n.id)))
        for state in ("A", "B"):
            scored = [note for note in there if note.state == state]
            found = [*self.db.all(notes_by_score(state=state))]
            assert [note.score for note in found] == sorted(note.score for note in scored)
            assert sorted(found, key=_key) == sorted(scored, key=_key)

    def _same(self, query: Query[Any], expected: list[Any]) -> None:
        assert [*self.db.all(query)] == expected
        assert self.db.count(query) == len(expected)
        assert self.db.first(query) == (expected[0] if expected else None)
        paged: list[Any] = []
        token = None
        while True:
            page = self.db.page(query, size=2, after=token)
            paged += page.items
            token = page.next
            if token is None:
                break
            assert len(page.items) == 2
        assert paged == expected

    def teardown(self) -> None:
        try:
            self.look()
            assert self.engine.verify() == []
        finally:
            self.engine.close()


def _key(item: Card | Note) -> tuple[str, str]:
    return item.owner, item.id


def _dies(item: Card | Note) -> int | None:
    if item.until is None:
        return None
    after = timedelta(minutes=5) if isinstance(item, Card) else timedelta()
    return int((item.until + after).timestamp())


def _heads(items: list[Any]) -> list[Head]:
    urgent = [item for item in items if item.urgent]
    return [Head(owner=i.owner, id=i.id) for i in sorted(urgent, key=lambda i: (i.at, i.owner, i.id))]


def _edited(write: Write[Note], steps: tuple[Edit, ...]) -> Write[Note]:
    for ours, _ in steps:
        write = ours(write)
    return write


def _after(note: Note, steps: tuple[Edit, ...]) -> Note:
    for _, plain in steps:
        note = note.model_copy(update=plain(note))
    return note


TestTheMappingAgainstDicts = Story.TestCase
TestTheMappingAgainstDicts.settings = effort(60, steps=40)
