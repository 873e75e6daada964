"""Fields as attributes: types, names, and the two ways between."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NewType
from uuid import UUID

import pytest
from pydantic import AliasChoices, BaseModel, Field, JsonValue, create_model

from tablewright.design import KeyPartUnusable, NotStorable
from tablewright.design.attributes import attributes, decode_values, encode_item

PetId = NewType("PetId", str)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Mood(Enum):
    CALM = "calm"


class Level(IntEnum):
    ONE = 1


class Collar(BaseModel):
    colour: str = Field(serialization_alias="Colour")
    size: int | None = None


def model_with(annotation: Any) -> type[BaseModel]:
    return create_model("Pet", value=(annotation, ...))


def wire(annotation: Any, value: object) -> object:
    """The stored form of a value under an annotation; it must also come back as it was."""
    model = model_with(annotation)
    pet = model(value=value)
    item = encode_item(pet)
    assert model.model_validate(decode_values(model, item)) == pet
    return item.get("value")


@pytest.mark.parametrize(
    ("annotation", "value", "stored"),
    [
        (str, "rex", {"S": "rex"}),
        (str, "", {"S": ""}),
        (PetId, "p1", {"S": "p1"}),
        (Annotated[str, Field(max_length=9)], "rex", {"S": "rex"}),
        (int, -3, {"N": "-3"}),
        (Decimal, Decimal("1.50"), {"N": "1.50"}),
        (bool, False, {"BOOL": False}),
        (bytes, b"\x00\xff", {"B": "AP8="}),
        (datetime, NOON, {"S": "2026-01-31T12:00:00.000Z"}),
        (date, date(2026, 1, 31), {"S": "2026-01-31"}),
        (UUID, UUID(int=1), {"S": "00000000-0000-0000-0000-000000000001"}),
        (Literal["cat", "dog"], "cat", {"S": "cat"}),
        (Literal[1, 2], 2, {"N": "2"}),
        (Mood, Mood.CALM, {"S": "calm"}),
        (Level, Level.ONE, {"N": "1"}),
        (Collar, {"colour": "red"}, {"M": {"Colour": {"S": "red"}}}),
        (list[int], [2, 1], {"L": [{"N": "2"}, {"N": "1"}]}),
        (list[str | None], ["a", None], {"L": [{"S": "a"}, {"NULL": True}]}),
        (tuple[int, ...], (1,), {"L": [{"N": "1"}]}),
        (Sequence[str], ["a"], {"L": [{"S": "a"}]}),
        (list[Collar], [{"colour": "red"}], {"L": [{"M": {"Colour": {"S": "red"}}}]}),
        (dict[str, int], {"a": 1}, {"M": {"a": {"N": "1"}}}),
        (dict[Literal["a"], int | None], {"a": None}, {"M": {"a": {"NULL": True}}}),
        (Mapping[str, str], {"a": "b"}, {"M": {"a": {"S": "b"}}}),
        (set[str], {"b", "a"}, {"SS": ["a", "b"]}),
        (frozenset[int], {1}, {"NS": ["1"]}),
        (set[bytes], {b"a"}, {"BS": ["YQ=="]}),
        (set[Mood], {Mood.CALM}, {"SS": ["calm"]}),
        (set[date], {date(2026, 1, 31)}, {"SS": ["2026-01-31"]}),
        (JsonValue, {"a": [1, 1.5, None, True, "x"]},
         {"M": {"a": {"L": [{"N": "1"}, {"N": "1.5"}, {"NULL": True}, {"BOOL": True}, {"S": "x"}]}}}),
    ],
)  # fmt: skip
def test_a_value_is_stored_by_its_type_and_comes_back(annotation: Any, value: object, stored: object) -> None:
    assert wire(annotation, value) == stored


@pytest.mark.parametrize("annotation", [str | None, int | None, Collar | None, set[str] | None, JsonValue])
def test_none_is_left_out_and_comes_back_without_a_default_to_help(annotation: Any) -> None:
    assert wire(annotation, None) is None


def test_none_comes_back_as_none_where_the_default_is_something_else() -> None:
    class Pet(BaseModel):
        nick: str | None = "buddy"

    assert Pet.model_validate(decode_values(Pet, encode_item(Pet(nick=None)))) == Pet(nick=None)


@pytest.mark.parametrize("annotation", [set[str], frozenset[int]])
def test_an_empty_set_is_left_out_and_comes_back_empty(annotation: Any) -> None:
    assert wire(annotation, set()) is None


def test_an_empty_set_comes_back_empty_where_the_default_is_not() -> None:
    class Pet(BaseModel):
        tags: set[str] = {"new"}

    assert Pet.model_validate(decode_values(Pet, encode_item(Pet(tags=set())))) == Pet(tags=set())


@pytest.mark.parametrize(
    ("annotation", "value"), [(list[set[str]], [set()]), (dict[str, set[int]], {"a": set()})]
)
def test_an_empty_set_inside_a_list_or_map_keeps_its_place(annotation: Any, value: object) -> None:
    assert wire(annotation, value) is not None


def test_an_absent_field_with_a_default_takes_the_default() -> None:
    class Pet(BaseModel):
        name: str
        age: int = 7

    assert decode_values(Pet, {"name": {"S": "rex"}}) == {"name": "rex"}


def test_a_stored_null_is_none() -> None:
    assert decode_values(Collar, {"Colour": {"S": "red"}, "size": {"NULL": True}}) == {
        "colour": "red",
        "size": None,
    }


def test_the_stored_name_is_the_serialization_alias() -> None:
    class Pet(BaseModel):
        pet_name: str = Field(alias="petName")
        born_on: date = Field(serialization_alias="bornOn")

    pet = Pet(petName="rex", born_on=date(2026, 1, 31))
    assert encode_item(pet) == {"petName": {"S": "rex"}, "bornOn": {"S": "2026-01-31"}}
    assert Pet.model_validate(decode_values(Pet, encode_item(pet))) == pet


def test_times_are_cut_to_milliseconds() -> None:
    class Pet(BaseModel):
        fed: datetime

    fine = Pet(fed=NOON.replace(microsecond=123_999))
    assert Pet.model_validate(decode_values(Pet, encode_item(fine))).fed == NOON.replace(microsecond=123_000)


def test_times_of_a_set_that_are_one_after_the_cut_are_stored_once() -> None:
    class Pet(BaseModel):
        fed: set[datetime]

    stored = encode_item(Pet(fed={NOON, NOON.replace(microsecond=1)}))
    assert stored == {"fed": {"SS": ["2026-01-31T12:00:00.000Z"]}}


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(KeyPartUnusable, match="has no time zone"):
        encode_item(model_with(datetime)(value=datetime(2026, 1, 31)))


class Tree(BaseModel):
    branches: list["Tree"] = Field(default_factory=list)


class Chain(BaseModel):
    next: "Chain | None" = None


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        (float, "float loses digits"),
        (complex, "complex is not storable"),
        (list, "list is not storable"),
        (Any, "is not storable"),
        (int | str, "is not storable"),
        (tuple[int, str], "fixed length"),
        (dict[int, str], "keys must be texts"),
        (set[bool], "texts, numbers or binaries only"),
        (set[Collar], "texts, numbers or binaries only"),
        (Literal["a", 1], "not all texts"),
        (Literal[True], "not all texts"),
        (Tree, "Tree contains itself"),
        (Chain, "Chain contains itself"),
    ],
)
def test_a_type_that_no_attribute_can_hold_is_named_with_its_field(annotation: Any, why: str) -> None:
    with pytest.raises(NotStorable, match=why) as caught:
        attributes(model_with(annotation))
    assert caught.value.where.split(".")[-1] in ("value", "branches", "next")
    assert caught.value.fix


def test_a_model_may_occur_twice_as_long_as_it_is_not_inside_itself() -> None:
    class Pair(BaseModel):
        left: Collar
        right: list[Collar]

    assert [attribute.field for attribute in attributes(Pair)] == ["left", "right"]


def test_two_fields_under_one_stored_name_are_refused() -> None:
    class Pet(BaseModel):
        name: str
        label: str = Field(serialization_alias="name")

    with pytest.raises(NotStorable, match="stored as 'name', and so is 'name'"):
        attributes(Pet)


def test_a_field_with_several_names_to_be_read_by_is_refused() -> None:
    class Pet(BaseModel):
        name: str = Field(validation_alias=AliasChoices("name", "label"))

    with pytest.raises(NotStorable, match="not one plain name"):
        attributes(Pet)
