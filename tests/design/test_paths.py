"""Lambdas read as paths and conditions."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from tablewright.design import NotAPath, UnknownField, begins_with, contains, exists, one_of, paths, size
from tablewright.design.attributes import by_field
from tablewright.design.paths import FieldPath
from tablewright.expressions import Condition, PlaceholderAllocator, render

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Mood(Enum):
    CALM = "calm"


class Collar(BaseModel):
    colour: str = Field(serialization_alias="Colour")


class Pet(BaseModel):
    name: str
    age: int
    limit: int = 9
    weight: Decimal = Decimal(1)
    tame: bool = True
    kind: Literal["cat", "dog"] = "cat"
    mood: Mood = Mood.CALM
    fed_at: datetime = Field(default=NOON, serialization_alias="fedAt")
    born: date = date(2026, 1, 1)
    nick: str | None = None
    collar: Collar | None = None
    tags: set[str] = Field(default_factory=set)
    moods: set[Mood] = Field(default_factory=set)
    meals: set[datetime] = Field(default_factory=set)
    chips: set[bytes] = Field(default_factory=set)
    friends: list[str] = Field(default_factory=list)
    collars: list[Collar] = Field(default_factory=list)
    shots: dict[str, int] = Field(default_factory=dict)


PETS = paths.field_paths(by_field(Pet))


def path_of(path: Callable[[Pet], object]) -> FieldPath:
    return paths.field_path(PETS, path, "pets")


def condition_of(condition: Callable[[Pet], object]) -> Condition:
    return paths.condition(PETS, condition, "pets")


def text_of(condition: Callable[[Pet], object]) -> str:
    """A condition as text, with its names and values in the place of placeholders."""
    placeholders = PlaceholderAllocator()
    text = render(condition_of(condition), placeholders)
    for known in (placeholders.names, placeholders.values):
        for placeholder, value in known.items():
            text = text.replace(placeholder, str(value))
    return text


# --- paths ---


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (lambda v: v.age, "age"),
        (lambda v: v.fed_at, "fedAt"),
        (lambda v: v.collar.colour, "collar.Colour"),
        (lambda v: v.friends[2], "friends[2]"),
        (lambda v: v.collars[0].colour, "collars[0].Colour"),
        (lambda v: v.shots["rabies"], "shots.rabies"),
    ],
)
def test_a_path_is_the_stored_names_down_to_a_value(path: Callable[[Any], object], text: str) -> None:
    assert str(path_of(path)) == text


def test_a_path_knows_the_field_of_the_model_it_begins_at() -> None:
    assert path_of(lambda v: v.collars[0].colour).field == "collars"


@pytest.mark.parametrize("field", PETS)
def test_a_lambda_that_reads_one_field_needs_no_tracer(field: str) -> None:
    read = eval(f"lambda v: v.{field}")
    assert paths.known_path(PETS, read) is PETS[field]
    assert path_of(read) == PETS[field]


OTHER = Pet(name="rex", age=3)


@pytest.mark.parametrize(
    "path",
    [
        lambda v: v.nope,
        lambda v: v.collar.colour,
        lambda v: v.friends[0],
        lambda v: v.age < 5,
        lambda v: OTHER.age,
        lambda v: v,
        lambda v, other=OTHER: other.age,
        lambda *v: v.age,
    ],
)
def test_only_a_lambda_that_reads_one_field_and_nothing_else_is_known_without_a_tracer(
    path: Callable[[Any], object],
) -> None:
    other = OTHER
    assert paths.known_path(PETS, path) is None
    assert paths.known_path(PETS, lambda v: other.age) is None


def test_equal_paths_are_equal_whichever_model_they_were_read_from() -> None:
    class Other(BaseModel):
        kind: Literal["cat", "dog"]

    others = paths.field_paths(by_field(Other))
    assert path_of(lambda v: v.kind) == paths.field_path(others, lambda v: v.kind, "others")


@pytest.mark.parametrize(
    "path", [lambda v: v.nope, lambda v: v.collar.nope, lambda v: v.age.nope, lambda v: v.name.lower()]
)
def test_a_field_that_is_not_there_is_refused(path: Callable[[Any], object]) -> None:
    with pytest.raises(UnknownField):
        path_of(path)


def test_an_unknown_field_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownField, match="pets: Collar has no field 'size'; it has colour"):
        path_of(lambda v: v.collar.size)  # type: ignore[union-attr]  # the mistake under test


@pytest.mark.parametrize(
    "path",
    [
        lambda v: 5,
        lambda v: v,
        lambda v: v.age < 5,
        lambda v: v.friends[-1],
        lambda v: v.friends["a"],
        lambda v: v.shots[0],
        lambda v: v.tags[0],
        lambda v: v.name[0],
        lambda v: size(v.friends),
        lambda v: list(v.friends),
        lambda v: len(v.friends),
        lambda v: v.age or v.limit,
    ],
)
def test_what_is_no_path_is_refused(path: Callable[[Any], object]) -> None:
    with pytest.raises(NotAPath):
        path_of(path)


# --- conditions ---


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (lambda v: v.age < 5, "age < {'N': '5'}"),
        (lambda v: v.age >= v.limit, "age >= limit"),
        (lambda v: v.age > 5, "age > {'N': '5'}"),
        (lambda v: v.age <= 5, "age <= {'N': '5'}"),
        (lambda v: v.weight < 5, "weight < {'N': '5'}"),
        (lambda v: v.name == "rex", "name = {'S': 'rex'}"),
        (lambda v: v.name != "rex", "name <> {'S': 'rex'}"),
        (lambda v: v.tame == True, "tame = {'BOOL': True}"),  # noqa: E712  a bare field cannot be noted
        (lambda v: v.mood == Mood.CALM, "mood = {'S': 'calm'}"),
        (lambda v: v.fed_at <= NOON, "fedAt <= {'S': '2026-01-31T12:00:00.000Z'}"),
        (lambda v: v.nick == None, "attribute_not_exists(nick)"),  # noqa: E711  an identity cannot be noted
        (lambda v: v.nick != None, "attribute_exists(nick)"),  # noqa: E711
        (lambda v: exists(v.collar), "attribute_exists(collar)"),
        (lambda v: ~exists(v.collar), "NOT attribute_exists(collar)"),
        (lambda v: (v.age < 5) & (v.name == "x"), "age < {'N': '5'} AND name = {'S': 'x'}"),
        (lambda v: (v.age < 5) | exists(v.nick), "age < {'N': '5'} OR attribute_exists(nick)"),
        (lambda v: one_of(v.kind, ["cat", "dog"]), "kind IN ({'S': 'cat'}, {'S': 'dog'})"),
        (lambda v: begins_with(v.name, "re"), "begins_with(name, {'S': 're'})"),
        (lambda v: contains(v.name, "e"), "contains(name, {'S': 'e'})"),
        (lambda v: contains(v.friends, "ann"), "contains(friends, {'S': 'ann'})"),
        (lambda v: contains(v.tags, "shy"), "contains(tags, {'S': 'shy'})"),
        (lambda v: contains(v.moods, Mood.CALM), "contains(moods, {'S': 'calm'})"),
        (lambda v: contains(v.meals, NOON), "contains(meals, {'S': '2026-01-31T12:00:00.000Z'})"),
        (lambda v: contains(v.chips, b"a"), "contains(chips, {'B': 'YQ=='})"),
        (lambda v: size(v.friends) < 3, "size(friends) < {'N': '3'}"),
        (lambda v: 3 > size(v.friends), "size(friends) < {'N': '3'}"),  # noqa: SIM300  also from the left
        (lambda v: size(v.friends) < v.limit, "size(friends) < limit"),
        (lambda v: v.limit > size(v.friends), "size(friends) < limit"),
    ],
)
def test_a_condition_is_noted_as_it_reads(condition: Callable[[Any], object], text: str) -> None:
    assert text_of(condition) == text


@pytest.mark.parametrize(
    "condition",
    [
        lambda v: True,
        lambda v: v.tame,
        lambda v: v.age < 5 and v.age > 2,
        lambda v: v.age < 5 or v.age > 7,
        lambda v: not v.age < 5,
        lambda v: 2 < v.age < 5,
        lambda v: v.name in ("a", "b"),
        lambda v: "a" in v.tags,
        lambda v: "a" in v.friends,
        lambda v: v.nick is None,
        lambda v: (v.age < 5) & True,
        lambda v: any(friend == "ann" for friend in v.friends),
        lambda v: len(v.friends) > 2,
        lambda v: size(v.friends) == size(v.collars),
        lambda v: size(v.friends) == None,  # noqa: E711
        lambda v: size(v.friends) > "2",  # type: ignore[operator]  # the mistake under test
        lambda v: size(v.age) > 2,
        lambda v: begins_with(v.age, "1"),
        lambda v: contains(v.age, 1),
        lambda v: contains(v.name, 1),
        lambda v: one_of(v.age, []),
        lambda v: one_of(v.age, list(range(101))),
    ],
)
def test_what_cannot_be_noted_is_refused(condition: Callable[[Any], object]) -> None:
    with pytest.raises(NotAPath):
        condition_of(condition)


@pytest.mark.parametrize(
    "condition",
    [
        lambda v: v.age == "five",
        lambda v: v.age == True,  # noqa: E712
        lambda v: v.weight < 1.5,
        lambda v: v.weight < Decimal("NaN"),
        lambda v: v.name == 5,
        lambda v: v.kind == "cow",
        lambda v: v.fed_at < "2026",
        lambda v: v.fed_at < datetime(2026, 1, 1),
        lambda v: v.born < NOON,
        lambda v: v.collar == "red",
    ],
)
def test_a_value_of_another_type_is_refused(condition: Callable[[Any], object]) -> None:
    with pytest.raises(NotAPath):
        condition_of(condition)


@pytest.mark.parametrize("word", [exists, size, lambda v: one_of(v, ["a"]), lambda v: contains(v, "a"),
                                  lambda v: begins_with(v, "a")])  # fmt: skip
def test_the_words_of_conditions_mean_nothing_outside_of_them(word: Callable[[Any], object]) -> None:
    with pytest.raises(NotAPath, match="belongs inside a condition"):
        word("rex")
