"""A design as a value: what is in it, when it is closed, and how a refusal reads."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import BaseModel
from tests.design.travel import by_stage, gsi1, main, spread, travel, trips, users, visits

from tablewright import design as room
from tablewright.design import (
    Alarm,
    Design,
    DesignClosed,
    DesignMistake,
    DesignRefused,
    Environment,
    Finding,
    Keys,
    States,
)

ROOM = Path(room.__file__).parent


class Pet(BaseModel):
    """A pet."""

    name: str
    age: int = 0


def pet_key(name: str) -> None: ...


def test_a_built_design_holds_what_was_written() -> None:
    assert travel.is_built
    assert {*travel.tables} == {"travel", "trips"}
    assert [shape.tag for shape in travel.shapes] == ["user", "visit", "invite", "trip"]
    assert travel.shape("trip") is trips.shape
    assert travel.plan("by_email").index == gsi1
    assert travel.plan("trips_on_day").shards == (("trip_id", 4),)
    assert [index.name for index in travel.indexes] == ["GSI1", "GSI2", "by-stage", "spread"]
    assert (by_stage.key_names, spread.table.key_names) == (("stage", "starts"), ("trip_id",))
    assert repr(travel) == "<design travel version 3>"


def test_an_entity_is_described_by_its_model_unless_it_says_more() -> None:
    assert users.shape.about == "Somebody who travels."
    assert visits.shape.about == ""


def test_a_built_design_takes_nothing_more() -> None:
    for add in (
        lambda: travel.table("more", pk="PK"),
        lambda: main.gsi("GSI9", pk="X"),
        lambda: main.lsi("LSI9", sk="X"),
        lambda: main.entity(Pet, pet_key, tag="pet", pk="PET#{name}", sk="PET"),
        lambda: travel.environment(Environment("prod", "eu-central-1")),
        lambda: travel.alarm(Alarm("slow", "SuccessfulRequestLatency", Decimal(50), 5)),
        lambda: travel.query(users, pk="USER#{user_id}")(lambda *, user_id: None),
        lambda: travel.get(users)(lambda *, user_id: None),
    ):
        with pytest.raises(DesignClosed, match="add to it before build"):
            add()


def test_building_twice_is_building_once() -> None:
    assert travel.build() is travel


def test_a_refusal_lists_every_mistake_of_a_layer() -> None:
    design = Design("d")
    table = design.table("pets", pk="PK", sk="SK")
    table.entity(Pet, pet_key, tag="pet", pk="PET#{nam}", sk="AGE#{ag}")
    with pytest.raises(DesignRefused) as caught:
        design.build()
    assert [(finding.rule, finding.where) for finding in caught.value.findings] == [
        ("K001", "d.pet.PK"),
        ("K001", "d.pet.SK"),
    ]
    assert str(caught.value).startswith("the design 'd' has 2 mistakes\n  K001 at d.pet.PK: ")
    assert isinstance(caught.value, DesignMistake)
    assert not design.is_built


def test_a_refused_design_can_be_asked_again_and_refuses_again() -> None:
    design = Design("d")
    design.table("pets", pk="PK").entity(Pet, pet_key, tag="pet", pk="{nam}")
    for _ in range(2):
        with pytest.raises(DesignRefused, match="has 1 mistake"):
            design.build()


def test_a_finding_reads_as_rule_place_reason_and_fix() -> None:
    assert (
        str(Finding("K001", "d.pet.PK", "it is so", "do this")) == "K001 at d.pet.PK: it is so. Fix: do this"
    )


def test_a_local_index_shares_the_partition_of_its_table() -> None:
    design = Design("d")
    table = design.table("pets", pk="PK", sk="SK")
    by_age = table.lsi("by-age", sk="age")
    pets = table.entity(
        Pet, pet_key, tag="pet", pk="PET#{name}", sk="PET", on={by_age: Keys("PET#{name}", "{age}")}
    )
    design.build()
    assert by_age.local
    assert pets.shape.derive({"name": "rex", "age": 3}) == {}


def test_a_derived_attribute_is_kept_for_readers_without_the_model() -> None:
    design = Design("d")
    pets = design.table("pets", pk="PK").entity(
        Pet, pet_key, tag="pet", pk="PET#{name}", derived={"search": "{name:lower}"}
    )
    design.build()
    assert pets.shape.derive({"name": "Rex", "age": 3}) == {"search": {"S": "rex"}}
    assert pets.update("Rex").at(lambda p: p.age).set(4).derived == {}


def test_a_table_with_a_discriminator_has_the_tag_of_its_entity_in_every_item() -> None:
    design = Design("d")
    table = design.table("pets", pk="PK", discriminator="item_type")
    pets = table.entity(Pet, pet_key, tag="pet", pk="PET#{name}")
    design.build()
    assert pets.shape.derive({"name": "Rex", "age": 3}) == {"item_type": {"S": "pet"}}


# --- environments and facets ---


def test_an_environment_names_its_tables() -> None:
    assert Environment("prod", "eu-central-1").physical("pets") == "pets"
    assert Environment("prod", "eu-central-1", table_name="{env}-{table}").physical("pets") == "prod-pets"


def test_a_machine_knows_its_states() -> None:
    machine = States("s", "new", {"new": {"old": ("a", "b")}}, overrides=("root",))
    assert machine.states == ("new", "old")


# --- the room's own page ---


def test_the_readme_lists_every_file_of_the_room_and_no_other() -> None:
    rows = [line.rpartition("| ")[0] for line in readme().splitlines() if line.startswith("| `")]
    listed = [name for row in rows for name in row.split("`") if name.endswith(".py")]
    files = [*ROOM.glob("*.py"), *ROOM.glob("*/*.py")]
    assert sorted(listed) == sorted(
        str(file.relative_to(ROOM)) for file in files if file.name != "__init__.py"
    )


def test_the_tour_of_the_readme_runs() -> None:
    code = readme().partition("```python\n")[2].partition("```")[0]
    names = {name: getattr(room, name) for name in room.__all__} | {
        "BaseModel": BaseModel,
        "datetime": datetime,
    }
    exec(code, names)
    assert names["travel"].is_built


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in room.__all__ if not hasattr(room, name)] == []
    assert room.__all__ == sorted(room.__all__)


def readme() -> str:
    return (ROOM / "README.md").read_text()
