"""Entities: keys from arguments, whole items, changes, moves, and who may do what."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel
from tests.design.travel import (
    Invite,
    Trip,
    User,
    Visit,
    VisitLine,
    gsi1,
    invites,
    trips,
    users,
    visits,
)

from tablewright.design import (
    Design,
    FieldIsFixed,
    Get,
    KeyPartUnusable,
    MoveNotAllowed,
    StateNeedsAMove,
    States,
    Unique,
)
from tablewright.design.attributes import decode_values, encode_item
from tablewright.expressions.nodes import Compare, In

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ANA = User(user_id="u1", email="Ana@X.org", name="Ana")
TOKYO = Visit(user_id="u1", region_type="city", region_code="TYO", visited_at=NOON)
TRIP = Trip(trip_id="t1", starts=date(2026, 5, 1))


def key(pk: str, sk: str) -> dict[str, Any]:
    return {"PK": {"S": pk}, "SK": {"S": sk}}


# --- keys ---


def test_a_get_names_one_item_by_its_key() -> None:
    assert users.get("u1") == Get("user.get", users.shape, key("USER#u1", "PROFILE"))


def test_the_arguments_of_a_key_may_be_named() -> None:
    named = visits.get(region_code="TYO", user_id="u1", region_type="city")
    assert named == visits.get("u1", "city", "TYO")
    assert named.key == key("USER#u1", "VISIT#city#TYO")


@pytest.mark.parametrize("arguments", [(), ("u1",), ("u1", "city", "TYO", "more")])
def test_a_key_with_too_few_or_too_many_arguments_is_refused(arguments: Any) -> None:
    with pytest.raises(TypeError):
        visits.get(*arguments)


def test_an_argument_of_a_key_may_have_a_default() -> None:
    class Note(BaseModel):
        owner: str
        title: str

    def note_key(owner: str, title: str = "main") -> None: ...

    design = Design("d")
    notes = design.table("notes", pk="PK", sk="SK").entity(
        Note, note_key, tag="note", pk="{owner}", sk="NOTE#{title}"
    )
    design.build()
    assert notes.get("ana").key == key("ana", "NOTE#main")


@pytest.mark.parametrize("user_id", ["", None, 5])
def test_a_key_cannot_be_made_of_nothing_or_of_another_type(user_id: Any) -> None:
    with pytest.raises(KeyPartUnusable):
        users.get(user_id)


@pytest.mark.parametrize("trip_id", ["", None])
def test_a_key_that_is_a_field_itself_cannot_be_empty(trip_id: Any) -> None:
    with pytest.raises(KeyPartUnusable):
        trips.get(trip_id)


def test_a_key_that_is_a_field_itself_is_not_escaped() -> None:
    assert trips.get("a#b%").key == {"trip_id": {"S": "a#b%"}}


def test_an_entity_recognises_its_own_keys_and_no_others() -> None:
    mine = visits.get("u#1", "city", "TYO").key
    assert visits.shape.recognises(mine)
    assert not users.shape.recognises(mine)
    assert not visits.shape.recognises({"PK": {"S": "USER#u1"}})
    assert not visits.shape.recognises({"PK": {"S": "USER#u1"}, "SK": {"N": "5"}})


def test_an_entity_can_be_printed() -> None:
    assert (repr(users), repr(users.shape)) == ("<entity travel.user>", "<entity spec travel.user>")


# --- what is derived ---


def test_index_keys_are_made_from_fields() -> None:
    assert users.shape.derive(ANA.__dict__) == {"GSI1PK": {"S": "EMAIL#ana@x.org"}, "GSI1SK": {"S": "USER"}}


def test_an_entity_with_an_absent_field_stays_out_of_the_index() -> None:
    derived = visits.shape.derive(TOKYO.__dict__)
    assert "GSI1PK" in derived
    assert "GSI2PK" not in derived


def test_an_index_key_that_is_a_field_is_not_derived() -> None:
    assert {*trips.shape.derive(TRIP.__dict__)} == {"day", "order"}


def test_the_time_of_death_is_derived_in_epoch_seconds() -> None:
    invite = Invite(user_id="u1", invite_id="i1", email="b@x.org", sent_at=NOON, expires_at=NOON)
    dies = int((NOON + timedelta(days=1)).timestamp())
    assert invites.shape.derive(invite.__dict__)["ttl"] == {"N": str(dies)}


def test_a_time_that_stands_in_a_key_with_six_digits_is_stored_with_six() -> None:
    class Line(BaseModel):
        room: str
        at: datetime
        seen: datetime | None = None

    def line_key(room: str, at: datetime) -> None: ...

    design = Design("d")
    lines = design.table("lines", pk="PK", sk="SK").entity(
        Line, line_key, tag="line", pk="ROOM#{room}", sk="AT#{at:us}"
    )
    design.build()
    fine = NOON.replace(microsecond=123_456)
    item = encode_item(Line(room="r", at=fine, seen=fine), lines.shape.attributes)
    assert item["at"] == {"S": "2026-01-31T12:00:00.123456Z"}
    assert item["seen"] == {"S": "2026-01-31T12:00:00.123Z"}
    read = Line.model_validate(decode_values(Line, item))
    assert lines.shape.key_of(read.__dict__) == lines.get("r", fine).key
    (noted,) = lines.check("r", fine).when(lambda line: line.at == fine).when_
    assert isinstance(noted, Compare)
    assert noted.right == item["at"]


def test_a_guard_lies_at_the_normalised_value() -> None:
    (guard,) = users.shape.guards
    assert guard.key(ANA.__dict__) == key("UNIQUE#user#email#ana@x.org", "UNIQUE")
    assert guard.key({"email": None}) is None


# --- whole items ---


def test_a_create_carries_the_item_and_its_key() -> None:
    write = users.create(ANA)
    assert (write.kind, write.name, write.item, write.key) == (
        "create",
        "user.create",
        ANA,
        key("USER#u1", "PROFILE"),
    )


def test_an_entity_stores_its_own_model_only() -> None:
    with pytest.raises(TypeError, match="user stores User, not Visit"):
        users.create(TOKYO)  # type: ignore[arg-type]  # the mistake under test


def test_a_put_is_for_what_nobody_guards() -> None:
    assert visits.put(TOKYO).kind == "put"
    with pytest.raises(FieldIsFixed, match=r"write user.create\(item\) or user.change"):
        users.put(ANA)
    with pytest.raises(FieldIsFixed):
        trips.put(TRIP)


def test_a_change_carries_what_was_and_what_shall_be() -> None:
    after = TOKYO.model_copy(update={"note": "again"})
    write = visits.change(TOKYO, after)
    assert (write.kind, write.before, write.item) == ("change", TOKYO, after)


def test_a_change_counts_the_version_up_whatever_it_was_given() -> None:
    for rev in (0, 7):
        write = users.change(ANA, ANA.model_copy(update={"name": "Ana B", "rev": rev}))
        assert write.item == ANA.model_copy(update={"name": "Ana B", "rev": 1})


def test_a_change_may_change_a_unique_value() -> None:
    write = users.change(ANA, ANA.model_copy(update={"email": "b@x.org"}))
    assert users.shape.guards[0].key(write.values) == key("UNIQUE#user#email#b@x.org", "UNIQUE")


def test_a_key_never_changes() -> None:
    with pytest.raises(FieldIsFixed, match="'user_id' never changes"):
        users.change(ANA, ANA.model_copy(update={"user_id": "u2"}))


def test_an_immutable_field_never_changes() -> None:
    class Note(BaseModel):
        owner: str
        text: str

    def note_key(owner: str) -> None: ...

    notes = (
        Design("d")
        .table("notes", pk="PK")
        .entity(Note, note_key, tag="note", pk="{owner}", immutable=["text"])
    )
    before = Note(owner="ana", text="a")
    with pytest.raises(FieldIsFixed, match="'text' never changes"):
        notes.change(before, Note(owner="ana", text="b"))
    with pytest.raises(FieldIsFixed, match="declared immutable"):
        notes.update("ana").at(lambda n: n.text)


def test_a_delete_carries_the_item_that_was_read() -> None:
    write = users.delete(ANA)
    assert (write.kind, write.before) == ("delete", ANA)


def test_what_has_guards_is_not_discarded_unread() -> None:
    assert visits.discard("u1", "city", "TYO").kind == "delete"
    with pytest.raises(FieldIsFixed, match=r"write user.delete\(item\)"):
        users.discard("u1")


def test_what_has_guards_is_not_begun_by_an_upsert() -> None:
    assert visits.upsert(TOKYO).kind == "upsert"
    with pytest.raises(FieldIsFixed, match="get_or_create"):
        users.upsert(ANA)


def test_a_check_writes_nothing() -> None:
    write = users.check("u1").when(lambda u: u.logins > 3)
    assert (write.kind, write.steps, len(write.when_)) == ("check", (), 1)


# --- states ---


def test_a_move_the_machine_knows_is_made_by_who_may() -> None:
    booked = TRIP.model_copy(update={"stage": "booked"})
    write = trips.move(TRIP, booked, by="agent")
    assert (write.kind, write.moved, write.item) == ("change", True, booked)


@pytest.mark.parametrize(
    ("end", "actor", "who"),
    [
        ("booked", "stranger", "only admin or agent or traveller may"),
        ("done", "agent", "only admin may"),
        ("draft", "agent", "only admin may"),
    ],
)
def test_any_other_move_is_refused_and_says_who_may(end: str, actor: str, who: str) -> None:
    with pytest.raises(MoveNotAllowed, match=who):
        trips.move(TRIP, TRIP.model_copy(update={"stage": end}), by=actor)


def test_who_overrides_may_make_any_move() -> None:
    done = TRIP.model_copy(update={"stage": "done"})
    assert trips.move(TRIP, done, by="admin").moved


def test_a_change_does_not_move_a_state() -> None:
    with pytest.raises(StateNeedsAMove, match=r"write trip.move\(before, after, by=actor\)"):
        trips.change(TRIP, TRIP.model_copy(update={"stage": "booked"}))
    assert not trips.change(TRIP, TRIP.model_copy(update={"price": 5})).moved


def test_an_update_does_not_move_a_state() -> None:
    with pytest.raises(StateNeedsAMove):
        trips.update("t1").at(lambda t: t.stage)


def test_an_update_moves_a_state_from_those_that_have_the_move() -> None:
    write = trips.update("t1").at(lambda t: t.price).set(Decimal(5)).move("booked", by="agent")
    assert [(step.op, str(step.path), step.value) for step in write.steps][1:] == [
        ("set", "stage", {"S": "booked"})
    ]
    assert write.when_ == (In(("stage",), ({"S": "draft"},)),)
    every = trips.update("t1").move("draft", by="admin").when_
    assert every == (In(("stage",), tuple({"S": each} for each in ("draft", "booked", "done"))),)


def test_an_update_makes_no_move_that_no_state_has() -> None:
    with pytest.raises(MoveNotAllowed, match="agent cannot move any state to draft; only admin may"):
        trips.update("t1").move("draft", by="agent")
    with pytest.raises(FieldIsFixed, match=r"write visit\.update\(\.\.\.\)\.move"):
        visits.update("u1", "city", "TYO").move("booked", by="agent")


class Stay(BaseModel):
    stay_id: str
    room: str
    status: Literal["draft", "live"] = "draft"


def stay_key(stay_id: str) -> None: ...


@pytest.mark.parametrize(
    "guard", [Unique("place", "{room}#{status}"), Unique("place", "{room}", keep={"status": "{status}"})]
)
def test_an_update_does_not_move_a_state_that_a_guard_holds(guard: Unique) -> None:
    table = Design("stays").table("stays", pk="PK", sk="SK")
    moves = {"draft": {"live": ("guest",)}}
    stays = table.entity(
        Stay, stay_key, tag="stay", pk="STAY#{stay_id}", sk="STAY", unique=[guard],
        states=States("status", start="draft", moves=moves),
    )  # fmt: skip
    with pytest.raises(FieldIsFixed, match=r"'status' is in the guard of place.* write stay\.move\(before"):
        stays.update("s1").move("live", by="guest")


def test_what_has_no_states_cannot_be_moved() -> None:
    with pytest.raises(FieldIsFixed, match=r"write visit.change\(before, after\)"):
        visits.move(TOKYO, TOKYO, by="agent")


# --- views ---


def test_a_view_returns_its_model_under_the_keys_of_its_entity() -> None:
    view = visits.view(VisitLine)
    assert view.model is view.shape.model is VisitLine
    assert [attribute.field for attribute in view.shape.attributes] == ["user_id", "times"]
    assert view.shape.primary == visits.shape.primary
    assert view.shape.index_keys.keys() == visits.shape.index_keys.keys()
    assert gsi1 in view.shape.on


def test_a_view_without_the_field_that_is_a_key_still_knows_it_as_one() -> None:
    class Price(BaseModel):
        price: int

    (stage, starts) = trips.view(Price).shape.index_keys["by-stage"]
    assert stage.native is not None
    assert starts.native is not None
