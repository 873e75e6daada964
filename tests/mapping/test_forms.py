"""Items of older forms: read as today's, written whole, never changed by halves. And keys that a flag takes away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from tablewright import testing
from tablewright.client import Call, embedded
from tablewright.design import Design, Keys, Schema, begins
from tablewright.mapping import Db, ItemUnreadable, Outdated, Stale

Item = dict[str, Any]


class Pet(BaseModel):
    """The third form. The first had one name, the second none of `is_gone`."""

    form: int = 3
    owner: str
    id: str
    first: str
    last: str | None = None
    is_gone: bool


def split_name(item: Item) -> Item:
    first, _, last = item.pop("name")["S"].partition(" ")
    return {**item, "first": {"S": first}} | ({"last": {"S": last}} if last else {})


def pet_key(owner: str, id: str) -> None: ...


forms = Design("forms")
table = forms.table("pets", pk="PK", sk="SK")
names = table.gsi("names", pk="GPK", sk="GSK")
pets = table.entity(
    Pet,
    pet_key,
    tag="pet",
    pk="OWNER#{owner}",
    sk="PET#{id}",
    on={names: Keys("FIRST#{first}{is_gone:unless}", "PET#{id}{is_gone:unless}")},
    schema=Schema("form", (split_name, lambda item: {**item, "is_gone": {"BOOL": False}})),
)


@forms.query(pets, on=names, pk="FIRST#{first}", sk=begins("PET#"))
def pets_called(*, first: str) -> None: ...


@pytest.fixture
def call() -> Iterator[Call]:
    with testing.engine() as engine:
        yield embedded(engine)


@pytest.fixture
def db(call: Call) -> Db:
    db = Db(call, forms)
    db.create_tables()
    return db


def put(call: Call, **more: Item) -> None:
    key = {"PK": {"S": "OWNER#ana"}, "SK": {"S": "PET#1"}}
    item = {**key, "owner": {"S": "ana"}, "id": {"S": "1"}, **more}
    call("PutItem", {"TableName": "pets", "Item": item})


def stored(call: Call) -> Item:
    (item,) = call("Scan", {"TableName": "pets"})["Items"]
    return dict(item)


def old(call: Call) -> None:
    put(call, name={"S": "Rex Smith"}, form={"N": "1"})


def read(db: Db) -> Pet:
    found = db.one(pets.get("ana", "1"))
    assert found is not None
    return found


def test_an_item_of_any_older_form_is_read_as_one_of_today(db: Db, call: Call) -> None:
    old(call)
    assert read(db) == Pet(form=1, owner="ana", id="1", first="Rex", last="Smith", is_gone=False)
    put(call, first={"S": "Rex"}, form={"N": "2"})
    assert read(db) == Pet(form=2, owner="ana", id="1", first="Rex", is_gone=False)


def test_an_item_without_a_number_is_of_the_first_form(db: Db, call: Call) -> None:
    put(call, name={"S": "Rex"})
    assert read(db).first == "Rex"


def test_an_item_of_a_later_form_cannot_be_read(db: Db, call: Call) -> None:
    put(call, first={"S": "Rex"}, is_gone={"BOOL": False}, form={"N": "4"})
    with pytest.raises(ItemUnreadable):
        read(db)


def test_a_change_of_an_older_item_makes_it_one_of_today(db: Db, call: Call) -> None:
    old(call)
    before = read(db)
    db.write(pets.change(before, before.model_copy(update={"last": None})))
    assert stored(call) == {
        "PK": {"S": "OWNER#ana"},
        "SK": {"S": "PET#1"},
        "GPK": {"S": "FIRST#Rex"},
        "GSK": {"S": "PET#1"},
        "form": {"N": "3"},
        "owner": {"S": "ana"},
        "id": {"S": "1"},
        "first": {"S": "Rex"},
        "is_gone": {"BOOL": False},
    }


def test_of_two_changes_of_an_older_item_one_is_told_that_it_came_late(db: Db, call: Call) -> None:
    old(call)
    before = read(db)
    db.write(pets.change(before, before.model_copy(update={"last": "Jones"})))
    with pytest.raises(Stale):
        db.write(pets.change(before, before.model_copy(update={"first": "Max"})))
    with pytest.raises(Stale):
        db.write(pets.delete(before))
    assert read(db).last == "Jones"


def test_an_older_item_that_was_read_can_be_deleted(db: Db, call: Call) -> None:
    old(call)
    db.write(pets.delete(read(db)))
    assert db.one(pets.get("ana", "1")) is None


def test_single_fields_of_an_older_item_are_not_changed(db: Db, call: Call) -> None:
    old(call)
    with pytest.raises(Outdated) as refused:
        db.write(pets.update("ana", "1").at(lambda pet: pet.last).set("Jones"))
    assert isinstance(refused.value.current, Pet)
    assert "last" not in stored(call)


def test_single_fields_of_an_item_of_today_are(db: Db, call: Call) -> None:
    db.write(pets.create(Pet(owner="ana", id="1", first="Rex", is_gone=False)))
    db.write(pets.update("ana", "1").at(lambda pet: pet.last).set("Jones"))
    assert (read(db).last, read(db).form) == ("Jones", 3)


def test_a_flag_takes_an_item_out_of_an_index_and_brings_it_back(db: Db, call: Call) -> None:
    pet = Pet(owner="ana", id="1", first="Rex", is_gone=False)
    db.write(pets.create(pet))
    assert list(db.all(pets_called(first="Rex"))) == [pet]
    gone = pet.model_copy(update={"is_gone": True})
    db.write(pets.change(pet, gone))
    assert not list(db.all(pets_called(first="Rex")))
    assert not {"GPK", "GSK"} & stored(call).keys()
    db.write(pets.change(gone, pet))
    assert list(db.all(pets_called(first="Rex"))) == [pet]
