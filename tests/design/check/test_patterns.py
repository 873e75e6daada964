"""Rules P*: for each, a design that breaks it and the same design mended."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.design.check.refusals import refuses

from tablewright.design import (
    Design,
    Keys,
    above,
    at_least,
    at_most,
    begins,
    below,
    between,
    equals,
)
from tablewright.design.patterns import Sort

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
Kind = Literal["cat", "dog"]


class Pet(BaseModel):
    owner: str
    name: str
    kind: Kind = "cat"
    age: int = 0
    born: date = date(2026, 1, 31)
    fed_at: datetime = NOON
    nick: str | None = None


class Toy(BaseModel):
    owner: str
    toy_id: str


class Line(BaseModel):
    name: str
    age: int


def pet_key(owner: str, kind: Kind, name: str) -> None: ...


def toy_key(owner: str, toy_id: str) -> None: ...


def one_owner(*, owner: str) -> None: ...


def owner_and_kind(*, owner: str, kind: Kind) -> None: ...


def by_age(*, kind: Kind, age: int) -> None: ...


class World:
    """Pets and toys of owners in one table, pets in five indexes: a place to write one pattern into."""

    def __init__(self, *, project: Any = "ALL") -> None:
        self.design = Design("d")
        self.table = self.design.table("pets", pk="PK", sk="SK")
        self.by_kind = self.table.gsi("by-kind", pk="GPK", sk="GSK", project=project)
        self.wide = self.table.gsi("wide", pk=("kind", "born"), sk=("age", "name"))
        self.local = self.table.lsi("local", sk="LSK")
        self.spread = self.table.gsi("spread", pk="SPK")
        self.named = self.table.gsi("named", pk="NPK", sk="NSK")
        self.pets = self.table.entity(
            Pet,
            pet_key,
            tag="pet",
            pk="OWNER#{owner}",
            sk="PET#{kind}#{name}",
            on={
                self.by_kind: Keys("KIND#{kind}", "AGE#{age:4}#{name}"),
                self.wide: Keys(("{kind}", "{born}"), ("{age}", "{name}")),
                self.local: Keys("OWNER#{owner}", "{name}"),
                self.spread: Keys("{born}#{name:shard.8}"),
                self.named: Keys("{born}#{name:shard.8}", "N#{name}"),
            },
        )
        self.toys = self.table.entity(Toy, toy_key, tag="toy", pk="OWNER#{owner}", sk="TOY#{toy_id}")

    def asked(self, function: Callable[..., None], *of: Any, **more: Any) -> Design:
        """The design with one pattern, called `found`."""
        function.__name__ = "found"
        self.design.query(*(of or (self.pets,)), **more)(function)
        return self.design


def pets_of_owner(function: Callable[..., None] = one_owner, **more: Any) -> Design:
    return World().asked(function, **{"pk": "OWNER#{owner}", "sk": begins("PET#")} | more)


def test_the_design_these_tests_break_is_sound() -> None:
    World().design.build()
    pets_of_owner().build()


# --- P001: parameters and holes ---


def test_every_hole_is_filled_and_every_parameter_used() -> None:
    refuses(
        pets_of_owner(owner_and_kind), "P001", "d.found",
        why="it takes kind, owner; its keys need owner", fix="make them equal",
    )  # fmt: skip
    refuses(
        pets_of_owner(sk=begins("PET#{kind}#")),
        "P001",
        "d.found",
        why="keys need kind, owner",
        fix="make them",
    )
    pets_of_owner(owner_and_kind, sk=begins("PET#{kind}#")).build()


def test_a_shard_in_a_partition_needs_no_parameter_but_a_part_beside_it_does() -> None:
    def on_day(*, born: date) -> None: ...

    def with_name(*, born: date, name: str) -> None: ...

    def design(function: Callable[..., None]) -> Design:
        sk = equals("N#{name}")
        return World().asked(function, on=World().named, pk="{born}#{name:shard.8}", sk=sk)

    World().asked(on_day, **spread()).build()
    refuses(design(on_day), "P001", "d.found", why="its keys need born, name", fix="make them equal")
    design(with_name).build()


def spread(shards: int = 8) -> dict[str, Any]:
    world = World()
    return {"on": world.spread, "pk": f"{{born}}#{{name:shard.{shards}}}"}


def test_a_get_takes_the_parameters_of_the_key() -> None:
    def found(*, owner: str, toy_id: str) -> None: ...

    def wrong(*, owner: str) -> None: ...

    def design(function: Callable[..., None]) -> Design:
        world = World()
        function.__name__ = "found"
        world.design.get(world.toys)(function)
        return world.design

    refuses(design(wrong), "P001", "d.found", why="its keys need owner, toy_id", fix="make them equal")
    design(found).build()


# --- P002: prefixes end at a delimiter ---


def test_a_prefix_ends_at_a_delimiter() -> None:
    refuses(
        pets_of_owner(owner_and_kind, sk=begins("PET#{kind}")), "P002", "d.found",
        why="does not end at '#'", fix="write 'PET#{kind}#', or compare the whole key (equals)",
    )  # fmt: skip
    refuses(pets_of_owner(sk=begins("PET")), "P002", "d.found", fix="write 'PET#'")
    pets_of_owner(owner_and_kind, sk=begins("PET#{kind}#")).build()


def test_a_part_of_fixed_width_is_an_end_too() -> None:
    World().asked(by_age, on=World().by_kind, pk="KIND#{kind}", sk=begins("AGE#{age:4}")).build()


# --- P003, P004, P006, P012, P014: the index can answer ---


def test_an_entity_is_in_the_index_it_is_read_from() -> None:
    def toys(*, kind: Kind) -> None: ...

    world = World()
    design = world.asked(toys, world.toys, on=world.by_kind, pk="KIND#{kind}")
    refuses(
        design,
        "P003",
        "d.found",
        why="toy is not in the index by-kind",
        fix="give the entity a key in by-kind",
    )
    World().asked(toys, on=World().by_kind, pk="KIND#{kind}").build()


def test_a_pattern_has_a_template_for_each_attribute_of_the_partition() -> None:
    def found(*, kind: Kind, born: date) -> None: ...

    def only_kind(*, kind: Kind) -> None: ...

    wide = World().wide
    refuses(
        World().asked(only_kind, on=wide, pk="{kind}"), "P004", "d.found",
        why="has 2 attribute(s), the pattern 1", fix="one template for each",
    )  # fmt: skip
    World().asked(found, on=wide, pk=("{kind}", "{born}")).build()


def test_a_pattern_asks_for_no_more_than_the_sort_key_has() -> None:
    def found(*, born: date, name: str) -> None: ...

    def without(*, born: date) -> None: ...

    design = World().asked(found, **spread(), sk=equals("{name}"))
    refuses(design, "P004", "d.found", why="has 0 attribute(s), the pattern asks for 1", fix="remove sk")
    World().asked(without, **spread()).build()


def test_only_the_last_of_several_sort_conditions_is_a_range() -> None:
    def found(*, kind: Kind, born: date, age: int, name: str) -> None: ...

    def design(*sk: Sort) -> Design:
        return World().asked(found, on=World().wide, pk=("{kind}", "{born}"), sk=sk)

    refuses(
        design(at_least("{age}"), equals("{name}")), "P004", "d.found", why="only the last", fix="(equals)"
    )
    design(equals("{age}"), at_least("{name}")).build()


def test_a_global_index_is_not_read_consistently() -> None:
    def toys(*, kind: Kind) -> None: ...

    def design(*, consistent: bool) -> Design:
        return World().asked(toys, on=World().by_kind, pk="KIND#{kind}", consistent=consistent)

    refuses(design(consistent=True), "P006", "d.found", fix="read the table, or drop consistent")
    design(consistent=False).build()
    pets_of_owner(consistent=True).build()
    World().asked(one_owner, on=World().local, pk="OWNER#{owner}", consistent=True).build()


@pytest.mark.parametrize(("page", "at_most"), [(0, 10), (11, 10), (-1, 10)])
def test_a_page_is_no_larger_than_all_pages(page: int, at_most: int) -> None:
    refuses(pets_of_owner(page=page, at_most=at_most), "P012", "d.found", fix="1 <= page <= at_most")
    pets_of_owner(page=10, at_most=10).build()


def test_a_pattern_reads_one_table() -> None:
    world = World()
    other = world.design.table("toys", pk="PK").entity(Toy, toy_key, tag="lone", pk="{owner}#{toy_id}")
    design = world.asked(one_owner, world.pets, other, pk="OWNER#{owner}")
    refuses(design, "P014", "d.found", fix="one pattern for each table")
    both = World()
    both.asked(one_owner, both.pets, both.toys, pk="OWNER#{owner}").build()


# --- P005, P010: templates are the entity's ---


def test_a_partition_is_written_as_the_entity_writes_it() -> None:
    refuses(
        pets_of_owner(pk="OWN#{owner}"), "P005", "d.found",
        why="'OWN#{owner}' never equals pet's PK 'OWNER#{owner}'", fix="write it as the entity does",
    )  # fmt: skip
    refuses(pets_of_owner(pk="OWNER#{owner:lower}"), "P005", "d.found", fix="write it as the entity does")


def test_the_names_of_parameters_are_the_patterns_own() -> None:
    def found(*, who: str) -> None: ...

    pets_of_owner(found, pk="OWNER#{who}").build()


@pytest.mark.parametrize("sort", [begins, at_least, at_most, above, below, equals])
def test_a_sort_condition_is_written_as_the_entity_writes_it(sort: Callable[[str], Sort]) -> None:
    design = pets_of_owner(sk=sort("DOG#"), others=True)
    refuses(design, "P005", "d.found", fix="write it as the entity does")


def test_both_ends_of_a_range_are_written_as_the_entity_writes_them() -> None:
    def design(low: str, high: str) -> Design:
        return World().asked(by_age, on=World().by_kind, pk="KIND#{kind}", sk=between(low, high))

    refuses(
        design("AGE#{age:4}", "AGE#{age:5}"),
        "P005",
        "d.found",
        why="'AGE#{age:5}' is not a prefix",
        fix="left",
    )
    design("AGE#{age:4}", "AGE#{age:4}").build()


def test_an_equal_is_a_whole_key() -> None:
    def whole(*, owner: str, kind: Kind, name: str) -> None: ...

    refuses(
        pets_of_owner(owner_and_kind, sk=equals("PET#{kind}")), "P005", "d.found",
        why="'PET#{kind}' never equals pet's SK", fix="write it as the entity does",
    )  # fmt: skip
    pets_of_owner(whole, sk=equals("PET#{kind}#{name}")).build()


def test_a_key_that_is_a_field_is_asked_with_one_part() -> None:
    def found(*, kind: Kind, born: date, age: int) -> None: ...

    def design(*sk: Sort) -> Design:
        return World().asked(found, on=World().wide, pk=("{kind}", "{born}"), sk=sk)

    refuses(
        design(at_least("AGE#{age}")),
        "P005",
        "d.found",
        why="is the field 'age' itself",
        fix="write one part",
    )
    refuses(design(begins("{age}")), "P005", "d.found", why="age is not text", fix="use equals, between")
    design(at_least("{age}")).build()


def test_a_key_that_is_a_field_here_and_a_template_there_is_not_asked_at_once() -> None:
    class Dog(BaseModel):
        keeper: str

    def dog_key(keeper: str) -> None: ...

    def found(*, owner: str) -> None: ...

    def design(*, at_once: bool) -> Design:
        design = Design("d")
        table = design.table("pets", pk="owner", sk="SK")
        toys = table.entity(Toy, toy_key, tag="toy", pk="{owner}", sk="TOY#{toy_id}")

        dogs = table.entity(Dog, dog_key, tag="dog", pk="{keeper}", sk="DOG")
        of = (toys, dogs) if at_once else (toys,)
        design.query(*of, pk="{owner}", sk=None if at_once else begins("TOY#"))(found)
        return design

    refuses(
        design(at_once=True), "P005", "d.found",
        why="owner is a field of one entity and a template of another", fix="one pattern for each",
    )  # fmt: skip
    design(at_once=False).build()


def test_a_pattern_reads_as_many_shards_as_are_written() -> None:
    def on_day(*, born: date) -> None: ...

    refuses(
        World().asked(on_day, **spread(4)), "P010", "d.found",
        why="it reads {:shard.4} while pet writes {:shard.8}", fix="use the same number",
    )  # fmt: skip
    World().asked(on_day, **spread(8)).build()


# --- P007: nothing else in the range ---


@pytest.mark.parametrize("sk", [None, at_least("PET#{kind}#"), below("PET#{kind}#")])
def test_a_range_holds_the_patterns_entities_only(sk: Sort | None) -> None:
    function = one_owner if sk is None else owner_and_kind
    refuses(
        pets_of_owner(function, sk=sk), "P007", "d.found",
        why="its range also holds items of toy", fix="add toy to the pattern, or set `others` to pass over them",
    )  # fmt: skip
    pets_of_owner(function, sk=sk, others=True).build()


def test_a_range_of_an_index_holds_the_patterns_entities_only() -> None:
    class Nest(BaseModel):
        nest_id: str
        kind: Kind

    def nest_key(nest_id: str) -> None: ...

    def found(*, kind: Kind) -> None: ...

    def design(pk: str) -> Design:
        world = World()
        keys = Keys(pk, "NEST#{nest_id}")
        world.table.entity(Nest, nest_key, tag="nest", pk="{nest_id}", sk="NEST", on={world.by_kind: keys})
        return world.asked(found, on=world.by_kind, pk="KIND#{kind}")

    refuses(design("KIND#{kind}"), "P007", "d.found", why="also holds items of nest", fix="narrow sk")
    design("NEST#{kind}").build()


@pytest.mark.parametrize("sk", [begins("PET#{kind}#"), between("PET#{kind}", "PET#{kind}"), begins("PET#")])
def test_a_range_within_a_literal_of_its_own_holds_nothing_else(sk: Sort) -> None:
    pets_of_owner(owner_and_kind if "{kind}" in sk.texts[0] else one_owner, sk=sk).build()


# --- P008, P013: models and views ---


def test_an_index_carries_all_that_is_returned() -> None:
    def found(*, kind: Kind) -> None: ...

    def design(project: Any, view: type[BaseModel] | None = None) -> Design:
        world = World(project=project)
        of = world.pets.view(view) if view else world.pets
        return world.asked(found, of, on=world.by_kind, pk="KIND#{kind}")

    refuses(
        design(("name", "age")), "P008", "d.found",
        why="by-kind does not carry owner, kind, born, fed_at, nick of Pet", fix="entity.view(SmallerModel)",
    )  # fmt: skip
    refuses(design("KEYS_ONLY", Line), "P008", "d.found", why="carry name, age of Line", fix="project them")
    design(("name", "age"), Line).build()
    design("ALL").build()


def test_what_hides_an_item_is_in_the_index_without_being_listed() -> None:
    class Card(BaseModel):
        name: str
        live: bool

    def card_key(name: str) -> None: ...

    def found(*, name: str) -> None: ...

    design = Design("d")
    table = design.table("cards", pk="PK")
    index = table.gsi("index", pk="GPK", project=("name",))
    on = {index: Keys("{name:lower}")}
    cards = table.entity(Card, card_key, tag="card", pk="{name}", on=on, soft_delete="live")
    design.query(cards, on=index, pk="{name:lower}")(found)
    design.build()


def test_a_view_shows_fields_of_its_entity_as_they_are() -> None:
    class Stranger(BaseModel):
        name: str
        size: int

    class OtherType(BaseModel):
        age: str

    class OtherName(BaseModel):
        age: int = Field(serialization_alias="years")

    class Surer(BaseModel):
        nick: str

    class Same(BaseModel):
        nick: str | None
        kind: Kind

    def design(view: type[BaseModel]) -> Design:
        world = World()
        return world.asked(one_owner, world.pets.view(view), pk="OWNER#{owner}", sk=begins("PET#"))

    for view, name in ((Stranger, "size"), (OtherType, "age"), (OtherName, "age"), (Surer, "nick")):
        why = f"the view {view.__name__} has '{name}'"
        refuses(design(view), "P013", "d.found", why=why, fix="use fields of Pet")
    design(Same).build()
    design(Line).build()


# --- P009: types of parameters ---


def test_a_parameter_has_the_type_of_its_field() -> None:
    def wrong(*, owner: int) -> None: ...

    def any_text(*, owner: str, kind: str) -> None: ...

    refuses(
        pets_of_owner(wrong), "P009", "d.found",
        why="'owner' is int, and pet.owner is str", fix="the field's type",
    )  # fmt: skip
    refuses(pets_of_owner(any_text, sk=begins("PET#{kind}#")), "P009", "d.found", fix="the field's type")
    pets_of_owner(owner_and_kind, sk=begins("PET#{kind}#")).build()


def test_a_parameter_of_a_range_may_be_left_out() -> None:
    def found(*, kind: Kind, low: int | None = None, high: int | None = None) -> None: ...

    sk = between("AGE#{low:4}", "AGE#{high:4}")
    World().asked(found, on=World().by_kind, pk="KIND#{kind}", sk=sk).build()


def test_a_parameter_is_compared_with_the_field_of_a_view_that_does_not_show_it() -> None:
    def wrong(*, owner: int) -> None: ...

    def design(function: Callable[..., None]) -> Design:
        world = World()
        return world.asked(function, world.pets.view(Line), pk="OWNER#{owner}", sk=begins("PET#"))

    refuses(design(wrong), "P009", "d.found", fix="the field's type")
    design(one_owner).build()


def test_a_parameter_of_a_get_has_the_type_of_its_field() -> None:
    def wrong(*, owner: str, toy_id: int) -> None: ...

    wrong.__name__ = "found"
    world = World()
    world.design.get(world.toys)(wrong)
    refuses(
        world.design, "P009", "d.found", why="'toy_id' is int, and toy.toy_id is str", fix="the field's type"
    )


# --- P011: names ---


def test_two_patterns_have_two_names() -> None:
    def design(names: Sequence[str]) -> Design:
        world = World()
        for name in names:

            def found(*, owner: str) -> None: ...

            found.__name__ = name
            world.design.query(world.pets, pk="OWNER#{owner}", sk=begins("PET#"))(found)
        return world.design

    refuses(design(["found", "found"]), "P011", "d.found", fix="name one of them differently")
    design(["found", "seen"]).build()
