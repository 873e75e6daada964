"""Mistakes that a type checker must find: one on each line marked `wrong`, and none on any other.

Both mypy --strict and pyright strict are held to it (tests/design/test_typing.py). Never imported.
"""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import assert_never

from tests.design.typing.right import (
    ANA,
    Collar,
    Mood,
    Owner,
    Pet,
    PetName,
    Toy,
    by_mood,
    dear_toys,
    household,
    main,
    names_by_mood,
    owners,
    pet,
    pet_key,
    pets,
    pets_of_kind,
    toys,
    zoo,
)
from tests.design.typing.stand_in import Db, Page

from tablewright.design import Alarm, Environment, Get, Keys, Load, Query, Unique, Write, begins, one_of

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def keys() -> None:
    owners.get("ana")  # wrong: text is no OwnerId
    owners.get()  # wrong: the key is missing
    owners.get(ANA, "more")  # wrong: the key has one part
    owners.get(user_id=ANA)  # wrong: no such part
    pets.get(ANA, "cow", "Tom")  # wrong: not one of the kinds
    pets.get(ANA, "cat", 5)  # wrong: a name is text
    pets.update(ANA, "Tom", "cat")  # wrong: the parts are swapped
    toys.discard(ANA)  # wrong: a part is missing
    pets.check(ANA, "cat", nickname="Tom")  # wrong: no such part


def patterns() -> None:
    household(owner=ANA)  # wrong: no such parameter
    household()  # wrong: a parameter is missing
    household(ANA)  # wrong: it goes by name only
    pets_of_kind(ANA, "cow")  # wrong: not one of the kinds
    names_by_mood(mood="calm")  # wrong: text is no Mood
    names_by_mood(mood=Mood.CALM, low="3")  # wrong: an age is a number
    dear_toys(owner_id=ANA, price=2.5)  # wrong: money is Decimal
    pet(owner_id=ANA, kind="cat")  # wrong: a parameter is missing


def whole_items(owner: Owner, tom: Pet, ball: Toy) -> None:
    owners.create(tom)  # wrong: a pet is no owner
    pets.change(tom, ball)  # wrong: a toy is no pet
    pets.move(tom, tom)  # wrong: nobody moves it
    toys.upsert(owner)  # wrong: an owner is no toy
    pets.delete(ANA, "cat", "Tom")  # wrong: what is deleted was read before


def steps() -> None:
    owner, tom = owners.update(ANA), pets.update(ANA, "cat", "Tom")
    tom.at(lambda p: p.nope).set(1)  # wrong: no such field
    tom.at(lambda p: p.collar.colour).set("red")  # wrong: the collar may be absent
    tom.at(lambda p: p.age).set("3")  # wrong: an age is a number
    tom.at(lambda p: p.age).set(None)  # wrong: the age is required
    tom.at(lambda p: p.name).add(1)  # wrong: text is not counted
    tom.at(lambda p: p.name).add("x")  # wrong: text is not counted
    tom.at(lambda p: p.age).add("1")  # wrong: numbers are counted by numbers
    owner.at(lambda o: o.credit).add(1.5)  # wrong: money is Decimal
    tom.at(lambda p: p.age).remove()  # wrong: the age is required
    owner.at(lambda o: o.notes).append(5)  # wrong: a note is text
    owner.at(lambda o: o.friends).append("bob")  # wrong: friends are a set
    owner.at(lambda o: o.notes).include("x")  # wrong: notes are a list
    owner.at(lambda o: o.friends).include(5)  # wrong: a friend is text
    tom.at(lambda p: p.shots["rabies"]).set("today")  # wrong: a shot has a date
    tom.at(lambda p: p.gone_at).highest(date(2026, 1, 31))  # wrong: a date is no time
    tom.at(lambda p: p.collar).set(Collar(color="red"))  # wrong: no such field of a collar


def conditions() -> None:
    tom = pets.update(ANA, "cat", "Tom")
    tom.when(lambda p: p.nope > 1)  # wrong: no such field
    tom.when(lambda p: p.age < "3")  # wrong: an age is a number
    tom.when(lambda p: p.age)  # wrong: a number is no condition
    tom.when(lambda p: p.treats > 1)  # wrong: treats may be absent
    tom.when(lambda p: one_of(p.age, 5))  # wrong: one of several
    pets_of_kind(ANA, "cat").where(lambda p: p.toy_id == "x")  # wrong: no such field
    household(owner_id=ANA).where(lambda p: p.name == "x")  # wrong: not all of them have a name


def answers(db: Db) -> None:
    owner = db.one(owners.get(ANA))
    print(owner.email)  # wrong: there may be none
    found: Pet = db.page(names_by_mood(mood=Mood.CALM), size=5).items[0]  # wrong: it is a view
    page: Page[Pet] = db.page(household(owner_id=ANA), size=5)  # wrong: there are others in it
    get: Get[Toy] = pets.get(ANA, "cat", "Tom")  # wrong: a pet is no toy
    query: Query[Pet] = names_by_mood(mood=Mood.CALM)  # wrong: it is a view
    changed: Write[Pet] = owners.update(ANA)  # wrong: an owner is no pet
    print(found, page, get, query, changed)
    for item in db.page(household(owner_id=ANA), size=5).items:
        match item:
            case Owner() | Pet():
                pass
            case _:
                assert_never(item)  # wrong: toys are forgotten


def declarations() -> None:
    zoo.query(pets, pk="OWNER#{owner_id}", sk="PET#")  # wrong: a sort condition is begins, between or another
    zoo.query(pk="OWNER#{owner_id}", sk=begins("PET#"))  # wrong: of what
    zoo.query(Pet, pk="OWNER#{owner_id}")  # wrong: a model is no entity
    zoo.get(pets.view(PetName))  # wrong: a view is not got by key
    main.entity(Pet, pet_key, tag="pet")  # wrong: where does it live
    main.entity(dict, pet_key, tag="pet", pk="X")  # wrong: not a model
    main.entity(Pet, pet_key, tag="pet", pk="X", on={by_mood: "X"})  # wrong: Keys are missing
    main.entity(Pet, pet_key, tag="pet", pk="X", on={"by-mood": Keys("X")})  # wrong: a name is no index
    main.entity(Pet, pet_key, tag="pet", pk="X", unique=["email"])  # wrong: Unique is missing
    pets.view(dict)  # wrong: not a model
    Unique("email")  # wrong: the value is missing
    Load(per_week=5)  # wrong: by the second or by the month
    zoo.table("more", pk="PK", stream="EVERYTHING")  # wrong: not one of the streams
    zoo.environment(Alarm("a", "m", Decimal(1), 1))  # wrong: an alarm is no environment
    Environment("prod")  # wrong: the region is missing
