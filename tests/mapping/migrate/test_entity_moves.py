"""The functions of a migration on models: what they make, what is copied as it is, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tablewright.design import Design, Keys, Unique
from tablewright.mapping.items import item_of
from tablewright.mapping.migrate import TableUnsuitable, TableVersion, by_entity
from tablewright.values import Item


class Pet(BaseModel):
    owner: str
    name: str
    age: int = 0


class Visit(BaseModel):
    owner: str


def by_name(owner: str, name: str) -> None: ...
def by_owner(owner: str) -> None: ...


def version(name: str, *, sk: str = "PET#{name}", has_index: bool = False, **more: Any) -> TableVersion:
    design = Design("pets")
    table = design.table("pets", pk="PK", sk="SK", stream="NEW_AND_OLD_IMAGES")
    on = {table.gsi("ByName", pk="GPK", sk="GSK"): Keys("{name}", "{owner}")} if has_index else {}
    table.entity(Pet, by_name, tag="pet", pk="OWNER#{owner}", sk=sk, on=on, **more)
    table.entity(Visit, by_owner, tag="visit", pk="OWNER#{owner}", sk="VISIT")
    return TableVersion(design.build(), design.tables["pets"], name=name)


OLD, NEW = version("pets"), version("pets-2", sk="NAME#{name}", has_index=True)
REX = item_of(OLD.design.shape("pet"), Pet(owner="ada", name="rex", age=3))
VISIT = item_of(OLD.design.shape("visit"), Visit(owner="ada"))


def older(pet: Any) -> tuple[Pet, ...]:
    return (Pet(**{**pet.model_dump(), "age": pet.age + 1}),)


def test_an_entity_without_a_function_gets_the_keys_of_the_goal_and_keeps_what_it_has() -> None:
    strange: Item = {**REX, "colour": {"S": "red"}}
    (made,) = by_entity(OLD, NEW, {})(strange)
    new_keys = {"SK": {"S": "NAME#rex"}, "GPK": {"S": "rex"}, "GSK": {"S": "ada"}}
    assert made == {**strange, **new_keys}
    assert by_entity(NEW, OLD, {})(made) == (strange,)


def test_a_function_makes_models_of_the_goal() -> None:
    (made,) = by_entity(OLD, NEW, {"pet": older})(REX)
    assert (made["SK"], made["age"]) == ({"S": "NAME#rex"}, {"N": "4"})
    assert by_entity(OLD, NEW, {"pet": lambda pet: ()})(REX) == ()


def test_items_of_other_entities_and_of_none_and_unreadable_ones_are_copied_as_they_are() -> None:
    odd: Item = {**REX, "age": {"S": "old"}}
    stranger: Item = {"PK": {"S": "X"}, "SK": {"S": "Y"}}
    move = by_entity(OLD, NEW, {"pet": older})
    assert [move(item) for item in (VISIT, odd, stranger)] == [(VISIT,), (odd,), (stranger,)]


def test_guards_and_unknown_entities_are_refused() -> None:
    one, other = (version(name, sk=sk, unique=[Unique("name", "{name}")])
                  for name, sk in (("pets", "PET#{name}"), ("pets-2", "NAME#{name}")))  # fmt: skip
    with pytest.raises(TableUnsuitable, match="their guards name its key"):
        by_entity(one, other, {})
    with pytest.raises(TableUnsuitable, match="cat is not an entity of both versions"):
        by_entity(OLD, NEW, {"cat": older})
