"""Updates as values: places, steps, conditions, and the index keys that follow."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel
from tests.design.travel import (
    Address,
    Trip,
    User,
    Visit,
    by_email,
    invites,
    profile_with_visits,
    trips,
    users,
    visits,
    visits_of_kind,
)

from tablewright.design import (
    Design,
    FieldIsFixed,
    IndexKeyNeedsTheItem,
    Keys,
    NotAPath,
    Unique,
    UnknownField,
    Write,
)
from tablewright.expressions import top_level_names

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TOKYO = Visit(user_id="u1", region_type="city", region_code="TYO", visited_at=NOON)


def steps(write: Write[Any]) -> list[tuple[str, str, Any]]:
    return [(step.op, str(step.path), step.value) for step in write.steps]


# --- steps ---


def test_steps_happen_in_the_order_they_are_written() -> None:
    write = users.update("u1").at(lambda u: u.name).set("Ana").at(lambda u: u.home).remove()
    assert steps(write) == [("set", "name", {"S": "Ana"}), ("remove", "home", None)]


def test_numbers_are_counted_up_and_down() -> None:
    write = users.update("u1").at(lambda u: u.logins).add(1).at(lambda u: u.credit).add(Decimal("-1.50"))
    assert steps(write) == [("add", "logins", {"N": "1"}), ("add", "credit", {"N": "-1.50"})]
    assert steps(users.update("u1").at(lambda u: u.bonus).add(2)) == [("add", "bonus", {"N": "2"})]


def test_lists_grow_at_their_end() -> None:
    write = users.update("u1").at(lambda u: u.phones).append("1", "2")
    assert steps(write) == [("append", "phones", {"L": [{"S": "1"}, {"S": "2"}]})]


def test_sets_take_members_in_and_let_them_go() -> None:
    write = users.update("u1").at(lambda u: u.tags).include("b", "a")
    assert steps(write) == [("include", "tags", {"SS": ["a", "b"]})]
    write = users.update("u1").at(lambda u: u.tags).exclude("a")
    assert steps(write) == [("exclude", "tags", {"SS": ["a"]})]


def test_the_lowest_and_the_highest_ever_seen_are_kept() -> None:
    write = users.update("u1").at(lambda u: u.first_seen).lowest(NOON).at(lambda u: u.logins).highest(9)
    assert steps(write) == [
        ("lowest", "firstSeen", {"S": "2026-01-31T12:00:00.000Z"}),
        ("highest", "logins", {"N": "9"}),
    ]


def test_a_step_reaches_inside_models_lists_and_maps() -> None:
    write = users.update("u1").at(lambda u: u.scores["chess"]).set(7).at(lambda u: u.phones[0]).set("1")
    assert steps(write) == [("set", "scores.chess", {"N": "7"}), ("set", "phones[0]", {"S": "1"})]
    write = users.update("u1").at(lambda u: u.home).set(Address(city="Rome"))
    assert steps(write) == [("set", "home", {"M": {"city": {"S": "Rome"}}})]


def test_setting_none_takes_the_field_away() -> None:
    assert steps(users.update("u1").at(lambda u: u.bonus).set(None)) == [("remove", "bonus", None)]
    assert steps(users.update("u1").at(lambda u: u.bonus).remove()) == [("remove", "bonus", None)]


def test_setting_an_empty_set_takes_the_field_away() -> None:
    assert steps(users.update("u1").at(lambda u: u.tags).set(set())) == [("remove", "tags", None)]


def test_a_step_leaves_the_write_it_was_made_from_as_it_was() -> None:
    write = users.update("u1")
    write.at(lambda u: u.logins).add(1)
    assert write.steps == ()


def test_a_required_field_cannot_be_taken_away() -> None:
    slot: Any = users.update("u1").at(lambda u: u.name)
    with pytest.raises(FieldIsFixed, match="'name' is required"):
        slot.remove()
    with pytest.raises(FieldIsFixed, match="'name' is required"):
        slot.set(None)


@pytest.mark.parametrize(
    ("path", "op", "value"),
    [
        (lambda u: u.name, "add", 1),
        (lambda u: u.active, "add", 1),
        (lambda u: u.logins, "add", "1"),
        (lambda u: u.logins, "add", True),
        (lambda u: u.credit, "add", 1.5),
        (lambda u: u.tags, "append", "a"),
        (lambda u: u.phones, "include", "a"),
        (lambda u: u.phones, "exclude", "a"),
        (lambda u: u.tags, "lowest", {"a"}),
        (lambda u: u.active, "highest", True),
        (lambda u: u.logins, "set", "1"),
        (lambda u: u.name, "set", 1),
        (lambda u: u.first_seen, "set", "2026"),
        (lambda u: u.first_seen, "set", datetime(2026, 1, 1)),
        (lambda u: u.home, "set", "Rome"),
        (lambda u: u.phones, "set", 5),
    ],
)
def test_a_step_that_does_not_fit_the_type_is_refused_though_no_type_checker_ran(
    path: Any, op: str, value: object
) -> None:
    slot = users.update("u1").at(path)
    with pytest.raises(NotAPath):
        getattr(slot, op)(value)


@pytest.mark.parametrize("op", ["include", "exclude"])
def test_no_members_at_all_are_refused(op: str) -> None:
    with pytest.raises(NotAPath, match="empty"):
        getattr(users.update("u1").at(lambda u: u.tags), op)()


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(UnknownField, match=r"user\.update: .* has no field 'nope'"):
        users.update("u1").at(lambda u: u.nope)  # type: ignore[attr-defined]  # the mistake under test


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (lambda u: u.user_id, "part of the key"),
        (lambda u: u.rev, "is the version"),
        (lambda u: u.email, "in the guard of email"),
    ],
)
def test_keys_versions_and_unique_values_are_not_updated(path: Any, why: str) -> None:
    with pytest.raises(FieldIsFixed, match=why):
        users.update("u1").at(path)


def test_what_a_guard_keeps_or_dies_by_is_not_updated_without_it() -> None:
    class Badge(BaseModel):
        badge_id: str
        code: str
        owner: str
        dies: datetime
        note: str = ""

    def badge_key(badge_id: str) -> None: ...

    design = Design("d")
    badges = design.table("badges", pk="PK", sk="SK", ttl="ttl").entity(
        Badge, badge_key, tag="badge", pk="{badge_id}", sk="BADGE",
        unique=[Unique("code", "{code}", keep={"holder": "{owner}"})], expires="dies",
    )  # fmt: skip
    design.build()
    for path in (lambda b: b.code, lambda b: b.owner, lambda b: b.dies):
        with pytest.raises(FieldIsFixed, match=r"in the guard of code; read the item"):
            badges.update("b1").at(path)
    assert badges.update("b1").at(lambda b: b.note).set("x").steps


@pytest.mark.parametrize(
    "write",
    [
        visits.create(TOKYO),
        visits.put(TOKYO),
        visits.change(TOKYO, TOKYO),
        visits.delete(TOKYO),
        visits.discard("u1", "city", "TYO"),
        visits.check("u1", "city", "TYO"),
    ],
    ids=lambda write: str(write.kind),
)
def test_only_updates_and_upserts_have_steps(write: Write[Visit]) -> None:
    with pytest.raises(FieldIsFixed, match="is about a whole item"):
        write.at(lambda v: v.note)


def test_conditions_add_up() -> None:
    write = users.update("u1").when(lambda u: u.logins < 5).when(lambda u: u.active == True)  # noqa: E712
    assert [top_level_names(condition) for condition in write.when_] == [("logins",), ("active",)]


# --- index keys that follow ---


def test_an_index_key_follows_a_field_that_is_set() -> None:
    write = visits.update("u1", "city", "TYO").at(lambda v: v.visited_at).set(NOON)
    assert write.derived == {"GSI1SK": {"S": "AT#2026-01-31T12:00:00.000Z#u1"}}


def test_an_index_key_goes_when_a_field_it_needs_goes() -> None:
    write = visits.update("u1", "city", "TYO").at(lambda v: v.guide).remove()
    assert write.derived == {"GSI2PK": None}


def test_fields_that_no_index_key_is_made_of_bring_nothing_along() -> None:
    assert visits.update("u1", "city", "TYO").at(lambda v: v.note).set("again").derived == {}
    assert visits.update("u1", "city", "TYO").derived == {}


def test_what_the_store_computes_cannot_be_followed_by_an_index_key() -> None:
    with pytest.raises(IndexKeyNeedsTheItem, match="'times' is part of the key attribute GSI2SK") as caught:
        visits.update("u1", "city", "TYO").at(lambda v: v.times).add(1)
    assert caught.value.missing == ()
    with pytest.raises(IndexKeyNeedsTheItem):
        visits.update("u1", "city", "TYO").at(lambda v: v.visited_at).highest(NOON)


class Task(BaseModel):
    task_id: str
    owner: str
    state: Literal["open", "shut"]
    due: date


def task_key(task_id: str) -> None: ...


def test_an_index_key_made_of_two_fields_needs_both() -> None:
    design = Design("d")
    table = design.table("tasks", pk="PK")
    mine = table.gsi("mine", pk="MPK")
    tasks = table.entity(Task, task_key, tag="task", pk="{task_id}", on={mine: Keys("{owner}#{state}")})
    design.build()
    alone = tasks.update("t1").at(lambda t: t.state).set("shut")
    with pytest.raises(IndexKeyNeedsTheItem, match="is made from owner too") as caught:
        assert alone.derived
    assert caught.value.missing == ("owner",)
    both = alone.at(lambda t: t.owner).set("ana")
    assert both.derived == {"MPK": {"S": "ana#shut"}}
    # The owner of an upsert's start is not the owner of an item that was there before.
    begun = tasks.upsert(Task(task_id="t1", owner="ana", state="open", due=date(2026, 1, 31)))
    with pytest.raises(IndexKeyNeedsTheItem):
        assert begun.at(lambda t: t.state).set("shut").derived


def test_the_time_of_death_follows_its_field() -> None:
    write = invites.update("u1", "i1").at(lambda i: i.expires_at).set(NOON)
    assert write.derived == {"ttl": {"N": str(int((NOON + timedelta(days=1)).timestamp()))}}
    with pytest.raises(IndexKeyNeedsTheItem, match="ttl"):
        invites.update("u1", "i1").at(lambda i: i.expires_at).highest(NOON)


def test_an_upsert_trusts_its_start_for_the_key_only() -> None:
    assert visits.upsert(TOKYO).at(lambda v: v.note).set("x").derived == {}
    write = visits.upsert(TOKYO).at(lambda v: v.guide).set("Ken")
    assert write.derived == {"GSI2PK": {"S": "GUIDE#Ken"}}
    trip = (
        trips.upsert(Trip(trip_id="t1", starts=date(2026, 5, 1))).at(lambda t: t.starts).set(date(2026, 6, 1))
    )
    assert (
        trip.derived["day"]
        == trips.shape.derive({"starts": date(2026, 6, 1), "trip_id": "t1", "price": 0})["day"]
    )


# --- filters ---


def test_a_filter_is_noted_on_the_query() -> None:
    query = visits_of_kind(user_id="u1", region_type="city")
    filtered = query.where(lambda v: v.times > 1).where(lambda v: v.note == "x")
    assert (len(filtered.filters), query.filters) == (2, ())


def test_a_filter_over_several_entities_reads_fields_they_share() -> None:
    assert profile_with_visits(user_id="u1").where(lambda v: v.user_id == "u1").filters
    with pytest.raises(UnknownField):
        profile_with_visits(user_id="u1").where(lambda v: v.note == "x")  # type: ignore[union-attr]


def test_a_filter_over_several_entities_takes_a_choice_they_share() -> None:
    class Cat(BaseModel):
        name: str
        mood: Literal["calm", "wild"]

    class Dog(BaseModel):
        name: str
        mood: Literal["calm", "wild"]

    def pet_key(name: str) -> None: ...

    design = Design("d")
    table = design.table("pets", pk="PK", sk="SK")
    cats = table.entity(Cat, pet_key, tag="cat", pk="{name}", sk="CAT")
    dogs = table.entity(Dog, pet_key, tag="dog", pk="{name}", sk="DOG")

    @design.query(cats, dogs, pk="{name}")
    def named(*, name: str) -> None: ...

    design.build()
    assert len(named(name="rex").where(lambda pet: pet.mood == "calm").filters) == 1


def test_a_filter_on_what_is_stored_differently_is_refused() -> None:
    query = by_email(email="a@x.org")
    assert query.where(lambda v: v.email == "a@x.org").filters

    class Cat(BaseModel):
        name: str
        age: int

    class Dog(BaseModel):
        name: str
        age: str

    def pet_key(name: str) -> None: ...

    design = Design("d")
    table = design.table("pets", pk="PK", sk="SK")
    cats = table.entity(Cat, pet_key, tag="cat", pk="{name}", sk="CAT")
    dogs = table.entity(Dog, pet_key, tag="dog", pk="{name}", sk="DOG")

    @design.query(cats, dogs, pk="{name}")
    def named(*, name: str) -> None: ...

    design.build()
    with pytest.raises((FieldIsFixed, NotAPath)):
        named(name="rex").where(lambda pet: pet.age == "3")


def test_a_write_is_counted_under_its_entity_and_kind() -> None:
    assert users.update("u1").name == "user.update"
    assert users.create(User(user_id="u", email="e", name="n")).name == "user.create"
