"""Rules K*: for each, a design that breaks it and the same design mended."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.design.check.refusals import refuses

from tablewright.design import (
    Copy,
    Data,
    Design,
    DesignRefused,
    Expires,
    Keys,
    Refresh,
    SoftDelete,
    States,
    Unique,
)

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Level(IntEnum):
    ONE = 1


class Pet(BaseModel):
    name: str
    age: int = 0
    level: Level = Level.ONE
    weight: Decimal = Decimal(1)
    tame: bool = True
    kind: Literal["cat", "dog"] = "cat"
    born: date = date(2026, 1, 31)
    fed_at: datetime = NOON
    dies_at: int = 0
    nick: str | None = None
    chip: bytes = b""
    tags: list[str] = Field(default_factory=list)
    marks: set[str] = Field(default_factory=set)
    rev: int = 0


class Cat(BaseModel):
    name: str


def pet_key(name: str) -> None: ...


def pets(*, key: Callable[..., None] = pet_key, ttl: str | None = "ttl", **more: Any) -> Design:
    """A design with one table (PK, SK), one index (GPK, GSK) and one entity, as the test asks."""
    design = Design("d")
    table = design.table("pets", pk="PK", sk="SK", ttl=ttl)
    index = table.gsi("index", pk="GPK", sk="GSK")
    on = more.pop("index", None)
    table.entity(
        Pet, key, tag="pet", pk=more.pop("pk", "PET#{name}"), sk=more.pop("sk", "PET"),
        on={index: on} if on else None, **more,
    )  # fmt: skip
    return design


# --- K001: templates can be read, and speak of fields ---


def test_a_template_names_fields_the_model_has() -> None:
    refuses(pets(pk="PET#{nam}"), "K001", "d.pet.PK", why="names 'nam'", fix="use one of name, age")
    pets(pk="PET#{name}").build()


@pytest.mark.parametrize("text", ["PET#{name", "", "100%#{name}", "{name:wide}"])
def test_a_template_can_be_read(text: str) -> None:
    finding = refuses(pets(pk=text), "K001", "d.pet", why=f"the template '{text}'", fix="")
    assert finding.fix


def test_every_template_of_an_entity_is_read() -> None:
    refuses(pets(index=Keys("{nam}", "X")), "K001", "d.pet.index.GPK", fix="use one of")
    refuses(pets(derived={"search": "{nam}"}), "K001", "d.pet.search", fix="use one of")
    for unique in (Unique("nick", "{nic}"), Unique("nick", "{nick}", keep={"owner": "{nam}"})):
        refuses(pets(unique=[unique]), "K001", "d.pet.unique nick", fix="use one of")
    refuses(pets(unique=[Unique("nick", "{nick")]), "K001", "d.pet", fix="write parts as")


# --- K002 to K005: parts fit their fields ---


def test_true_and_false_are_written_in_words_or_as_a_flag() -> None:
    refuses(pets(index=Keys("{tame}", "X")), "K002", "d.pet.index.GPK", fix="{tame:bool}")
    pets(index=Keys("{tame:bool}", "X")).build()
    pets(index=Keys("T#{tame:flag}", "X")).build()


@pytest.mark.parametrize(
    ("field", "fix"), [("age", "{age:12}"), ("level", "{level:12}"), ("weight", "{weight:8.2}")]
)
def test_a_number_in_a_text_key_has_a_width(field: str, fix: str) -> None:
    refuses(pets(index=Keys("ALL", f"N#{{{field}}}")), "K003", "d.pet.index.GSK", fix=fix)
    pets(index=Keys("ALL", f"N#{fix}")).build()


def test_a_number_that_is_the_key_itself_needs_no_width_but_beside_it_still_does() -> None:
    def design(text: str) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK")
        by_age = table.gsi("by-age", pk="age")
        other = table.gsi("other", pk="OPK")
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on={by_age: Keys("{age}"), other: Keys(text)})
        return design

    refuses(design("{age}"), "K003", "d.pet.other.OPK", fix="{age:12}")
    design("{age:12}").build()


def test_a_time_in_a_key_has_a_width() -> None:
    refuses(pets(index=Keys("ALL", "AT#{fed_at}")), "K004", "d.pet.index.GSK", fix="{fed_at:ms}")
    pets(index=Keys("ALL", "AT#{fed_at:ms}")).build()


@pytest.mark.parametrize(
    ("text", "why", "fix", "mended"),
    [
        ("{tags}", "'tags' is a list", "use a text, number", "{name}"),
        ("{marks}", "'marks' is a set", "use a text, number", "{name}"),
        ("{chip}", "'chip' is bytes", "use a text, number", "{name}"),
        ("{name:12}", "'name' is str and cannot be written as '12'", "a way that fits", "{name}"),
        ("{age:ms}", "'age' is int and cannot be written as 'ms'", "a way that fits", "{age:12}"),
        ("{born:ms}", "'born' is date and cannot be written as 'ms'", "a way that fits", "{born}"),
        ("{kind:ms}", "'kind' is a choice and cannot be written as 'ms'", "a way that fits", "{kind}"),
        ("{level:lower}", "cannot be written as 'lower'", "a way that fits", "{level:2}"),
        ("{kind:only.cow}", "'kind' is never cow", "use cat, dog", "{kind:only.cat}"),
    ],
)
def test_a_part_is_written_as_its_type_can_be(text: str, why: str, fix: str, mended: str) -> None:
    refuses(pets(index=Keys(text, "X")), "K005", "d.pet.index.GPK", why=why, fix=fix)
    pets(index=Keys(mended, "X")).build()


# --- K006, K012: the key function ---


def test_a_key_function_takes_the_fields_of_the_key() -> None:
    def wrong(name: str, age: int) -> None: ...

    refuses(
        pets(key=wrong), "K006", "d.pet",
        why="takes age, name; the key is made of name", fix="make them equal",
    )  # fmt: skip
    pets(key=wrong, sk="AGE#{age:3}").build()


def test_a_key_function_takes_the_types_of_the_fields() -> None:
    def wrong(name: int) -> None: ...

    refuses(
        pets(key=wrong), "K006", "d.pet",
        why="takes 'name' as int, and the field is str", fix="the field's type",
    )  # fmt: skip
    pets(key=pet_key).build()


def test_a_primary_key_is_never_absent() -> None:
    def by_nick(nick: str) -> None: ...

    refuses(pets(key=by_nick, pk="PET#{nick}"), "K012", "d.pet.PK", fix="make the field required")

    def by_kind(name: str, kind: Literal["cat", "dog"]) -> None: ...

    refuses(pets(key=by_kind, sk="{kind:only.cat}"), "K012", "d.pet.SK", fix="make the field required")
    pets(key=by_kind, sk="{kind}").build()


# --- K007: no two tuples, one text ---


def test_two_parts_of_varying_width_are_kept_apart() -> None:
    refuses(
        pets(index=Keys("{name}{nick}", "X")), "K007", "d.pet.index.GPK",
        why="{name} and {nick} stand side by side", fix="put a '#' between them",
    )  # fmt: skip
    pets(index=Keys("{name}#{nick}", "X")).build()


def test_a_literal_that_is_no_delimiter_does_not_keep_parts_apart() -> None:
    refuses(pets(index=Keys("{name}-{nick}", "X")), "K007", "d.pet.index.GPK", fix="put a '#'")


def test_parts_of_fixed_width_may_stand_beside_one_that_varies() -> None:
    pets(index=Keys("{name}{age:3}{fed_at:ms}", "X")).build()


# --- K008: no two owners, one key ---


def two(pk: str = "CAT#{name}", sk: str = "CAT", **more: Any) -> Design:
    """A design with pets at PET#name / PET and cats where the test says."""
    design = Design("d")
    table = design.table("pets", pk="PK", sk="SK")
    table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", sk="PET", **more)
    table.entity(Cat, pet_key, tag="cat", pk=pk, sk=sk)
    return design


def test_two_entities_never_have_the_same_key() -> None:
    refuses(
        two("{name}#{name}", "PET"), "K008", "d.pets",
        why="pet (PET#{name} / PET) and cat ({name}#{name} / PET) can have the same key", fix="a literal of its own",
    )  # fmt: skip
    two("CAT#{name}", "PET").build()
    two("PET#{name}", "CAT").build()


def test_a_guard_never_lies_on_an_item() -> None:
    def design(pk: str) -> Design:
        return two("CAT#{name}", "UNIQUE", unique=[Unique("nick", "{nick:lower}", pk=pk)])

    refuses(
        design("CAT#{nick:lower}"), "K008", "d.pets",
        why="the guard pet.nick", fix="a literal of its own",
    )  # fmt: skip
    design("NICK#{nick:lower}").build()


def test_two_guards_never_lie_on_each_other() -> None:
    def design(pk: str) -> Design:
        return pets(unique=[Unique("one", "{nick}", pk="NICK#{nick}"), Unique("two", "{kind}#{nick}", pk=pk)])

    refuses(design("{kind}#{nick}"), "K008", "d.pets", why="the guard pet.two", fix="a literal of its own")
    design("KIND#{kind}#{nick}").build()


def test_a_field_as_a_key_may_be_any_text_so_nothing_else_lives_there() -> None:
    def design(sk: str) -> Design:
        design = Design("d")
        table = design.table("pets", pk="name", sk="SK")
        table.entity(Pet, pet_key, tag="pet", pk="{name}", sk="PET")
        table.entity(Cat, pet_key, tag="cat", pk="{name}", sk=sk)
        return design

    refuses(design("PET"), "K008", "d.pets", fix="a literal of its own")
    design("CAT").build()


# --- K009, K014: an attribute is one thing ---


def named(pk: str, text: str) -> Design:
    design = Design("d")
    table = design.table("pets", pk="PK")
    index = table.gsi("index", pk=pk)
    table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on={index: Keys(text)})
    return design


def test_a_key_attribute_that_is_a_field_is_that_field() -> None:
    refuses(named("kind", "KIND#{kind}"), "K009", "d.pet.kind", fix="write {kind}, or name")
    named("kind", "{kind}").build()
    named("GPK", "KIND#{kind}").build()


def test_a_field_that_is_a_key_is_text_number_or_binary() -> None:
    refuses(named("tame", "{tame}"), "K009", "d.pet.tame", why="'tame' is bool", fix="derive it")
    named("age", "{age}").build()
    named("chip", "{chip}").build()


def test_a_key_attribute_has_one_type_for_all_entities() -> None:
    class Fish(BaseModel):
        name: str
        age: str

    class Bird(BaseModel):
        name: str
        age: int

    def design(other: type[BaseModel], *, placed: bool) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK")
        index = table.gsi("index", pk="age", sk="GSK")
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on={index: Keys("{age}", "PET")})
        on = {index: Keys("{age}", "OTHER")} if placed else None
        table.entity(other, pet_key, tag="other", pk="OTHER#{name}", on=on)
        return design

    # Also where it stays out of the index: the store refuses the item for its type alone.
    for placed in (True, False):
        refuses(
            design(Fish, placed=placed), "K009", "d.other.age",
            why="it is S here and N for pet", fix="store both the same way",
        )  # fmt: skip
        design(Bird, placed=placed).build()


def test_an_attribute_has_one_template() -> None:
    def design(text: str) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK")
        one = table.gsi("one", pk="GPK")
        two = table.gsi("two", pk="GPK", sk="GSK")
        on = {one: Keys("{name}"), two: Keys(text, "X")}
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on=on)
        return design

    refuses(
        design("{nick}"), "K014", "d.pet.GPK", why="'{name}' in one place and '{nick}'", fix="one template"
    )
    design("{name}").build()


def test_a_derived_attribute_is_no_field_no_key_and_no_ttl() -> None:
    index = Keys("{name}", "X")
    refuses(pets(derived={"nick": "{name:lower}"}), "K014", "d.pet.nick", fix="rename one of them")
    refuses(pets(derived={"GPK": "{nick}"}, index=index), "K014", "d.pet.GPK", fix="one template")
    refuses(pets(derived={"PK": "{nick}"}), "K014", "d.pet.PK", fix="one template")
    refuses(
        pets(derived={"ttl": "{name}"}), "K014", "d.pet.ttl", fix="say by which field the entity `expires`"
    )
    pets(derived={"search": "{name:lower}", "GPK": "{name}"}, index=index).build()


def test_a_local_index_has_the_partition_of_its_table() -> None:
    def design(pk: str) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK", sk="SK")
        index = table.lsi("local", sk="LSK")
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", sk="PET", on={index: Keys(pk, "{kind}")})
        return design

    refuses(design("OTHER#{name}"), "K014", "d.pet.PK", fix="one template")
    design("PET#{name}").build()


# --- K010: models can be stored ---


def test_a_model_can_be_stored() -> None:
    class Wrong(BaseModel):
        name: str
        weight: float

    class Right(BaseModel):
        name: str
        weight: Decimal

    def design(model: type[BaseModel]) -> Design:
        design = Design("d")
        design.table("pets", pk="PK").entity(model, pet_key, tag="pet", pk="PET#{name}")
        return design

    refuses(design(Wrong), "K010", "d.Wrong.weight", why="float loses digits", fix="use Decimal or int")
    design(Right).build()


# --- K011: nothing stands in an index by accident ---


def test_an_entity_stands_only_in_the_indexes_it_names() -> None:
    def design(*, placed: bool) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK")
        index = table.gsi("index", pk="kind", sk="born")
        on = {index: Keys("{kind}", "{born}")} if placed else None
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on=on)
        return design

    refuses(
        design(placed=False),
        "K011",
        "d.pet",
        why="kind, born and so appears in index",
        fix="give the entity a key in the index",
    )
    design(placed=True).build()


# --- K013: limits ---


def indexed(globals_: int = 0, locals_: int = 0, *, sk: str | None = "SK", **more: Any) -> Design:
    design = Design("d")
    table = design.table("pets", pk="PK", sk=sk)
    for number in range(globals_):
        table.gsi(f"global-{number}", pk=f"G{number}", **more)
    for number in range(locals_):
        table.lsi(f"local-{number}", sk=f"L{number}")
    return design


def test_a_table_has_as_many_indexes_as_dynamodb_allows() -> None:
    refuses(indexed(21), "K013", "d.pets", why="21 global indexes; DynamoDB allows 20", fix="share an index")
    refuses(indexed(0, 6), "K013", "d.pets", why="6 local indexes; DynamoDB allows 5", fix="share an index")
    indexed(20, 5).build()


def test_indexes_project_as_much_as_dynamodb_allows() -> None:
    names = tuple(f"a{n}" for n in range(51))
    refuses(indexed(2, project=names), "K013", "d.pets", why="102 projected attributes", fix="project ALL")
    indexed(2, project=names[:50]).build()


def test_each_half_of_an_index_key_has_one_to_four_attributes() -> None:
    def design(**keys: Any) -> Design:
        design = Design("d")
        design.table("pets", pk="PK").gsi("index", **keys)
        return design

    five = ("a", "b", "c", "d", "e")
    for keys in ({"pk": five}, {"pk": "a", "sk": five}, {"pk": ()}):
        refuses(design(**keys), "K013", "d.pets.index", fix="join some of them in a template")
    design(pk=five[:4], sk=("f", "g", "h", "i")).build()


def test_a_local_index_needs_a_table_with_a_sort_key() -> None:
    refuses(indexed(0, 1, sk=None), "K013", "d.pets.local-0", fix="use gsi()")
    indexed(0, 1).build()


# --- K015: promises about fields ---


@pytest.mark.parametrize(
    ("promise", "mended"),
    [
        ({"version": "revision"}, {"version": "rev"}),
        ({"expires": "gone_at"}, {"expires": "fed_at"}),
        ({"soft_delete": "gone"}, {"soft_delete": "tame"}),
        ({"states": States("state", "cat", {})}, {"states": States("kind", "cat", {})}),
        ({"immutable": ["nam"]}, {"immutable": ["name"]}),
        ({"data": {"nam": Data.PERSONAL}}, {"data": {"name": Data.PERSONAL}}),
        (
            {"copies": [Copy("owner", "pet", "name", Refresh.STREAM)]},
            {"copies": [Copy("nick", "pet", "name", Refresh.STREAM)]},
        ),
    ],
    ids=lambda promise: next(iter(promise)),
)
def test_a_promise_names_a_field_the_model_has(promise: dict[str, Any], mended: dict[str, Any]) -> None:
    refuses(pets(**promise), "K015", "d.pet", why="which Pet does not have", fix="use one of name, age")
    pets(**mended).build()


@pytest.mark.parametrize(
    ("promise", "fix"),
    [
        ({"version": "nick"}, "make 'nick' a whole number that is never absent"),
        ({"version": "weight"}, "make 'weight' a whole number"),
        ({"expires": "name"}, "make 'name' a time, or epoch seconds"),
        ({"soft_delete": SoftDelete("kind")}, "make 'kind' true or false"),
    ],
)
def test_a_promise_is_about_a_field_of_the_right_type(promise: dict[str, Any], fix: str) -> None:
    refuses(pets(**promise), "K015", "d.pet", fix=fix)


def test_what_expires_lives_in_a_table_with_a_ttl_attribute() -> None:
    refuses(pets(expires="fed_at", ttl=None), "K015", "d.pet", fix="give the table a TTL attribute")
    pets(expires="fed_at", ttl="ttl").build()


def test_no_field_is_stored_as_the_ttl_attribute_unless_it_is_just_that() -> None:
    later = Expires("dies_at", after=timedelta(days=1))
    for more in ({}, {"expires": "fed_at"}, {"expires": later}):
        refuses(
            pets(ttl="dies_at", **more),
            "K015",
            "d.pet",
            why="'dies_at' is stored as",
            fix="a name of its own",
        )
    pets(ttl="dies_at", expires="dies_at").build()


def test_a_state_is_a_choice_that_knows_the_machines_states() -> None:
    def machine(field: str, state: str) -> Design:
        return pets(states=States(field, state, {}))

    refuses(machine("name", "cat"), "K015", "d.pet", why="any text", fix="a Literal or an Enum")
    refuses(machine("kind", "cow"), "K015", "d.pet", why="knows cow", fix="use cat, dog")
    machine("kind", "cat").build()


# --- K016, K021: names ---


def test_two_tables_have_two_names() -> None:
    def design(name: str) -> Design:
        design = Design("d")
        design.table("pets", pk="PK")
        design.table(name, pk="PK")
        return design

    refuses(design("pets"), "K016", "d.pets", fix="name one of them differently")
    design("cats").build()


def test_two_indexes_of_a_table_have_two_names() -> None:
    def design(name: str, alias: str = "by-mood") -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK")
        table.gsi("by-age", pk="a", aliases=["by-years"])
        table.gsi(name, pk="b", aliases=[alias])
        # In another table the name is free.
        design.table("cats", pk="PK").gsi("by-age", pk="a")
        return design

    refuses(design("by-age"), "K016", "d.pets.by-age", fix="name one of them differently")
    refuses(design("by-years"), "K016", "d.pets.by-years", fix="name one of them differently")
    refuses(design("by-name", "by-years"), "K016", "d.pets.by-years", fix="name one of them differently")
    design("by-name").build()


def test_two_entities_have_two_tags() -> None:
    def design(tag: str) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK")
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}")
        table.entity(Cat, pet_key, tag=tag, pk="CAT#{name}")
        return design

    refuses(design("pet"), "K016", "d.pet", fix="name one of them differently")
    design("cat").build()


@pytest.mark.parametrize("name", ["ab", "my pets", "p" * 256, ""])
def test_a_table_has_a_name_dynamodb_takes(name: str) -> None:
    def design(name: str) -> Design:
        design = Design("d")
        design.table(name, pk="PK")
        return design

    refuses(design(name), "K021", f"d.{name}", fix="choose such a name")
    design("my.pets-1_").build()


def test_an_index_has_a_name_dynamodb_takes() -> None:
    def design(name: str) -> Design:
        design = Design("d")
        design.table("pets", pk="PK").gsi(name, pk="X")
        return design

    refuses(design("by age"), "K021", "d.pets.by age", fix="choose such a name")
    design("by-age").build()


# --- K017: guards ---


def test_a_guard_lies_at_the_value_it_guards_and_at_nothing_else() -> None:
    wrong = [
        Unique("nick", "{nick}", pk="NICK#{nick:lower}"),
        Unique("nick", "{nick}", pk="NICK#{nick}#{name}"),
        Unique("nick", "{nick}", pk="NICK#{nick}", sk="PET#{name}"),
        Unique("nick", "{kind}#{nick}", pk="NICK#{nick}"),
    ]
    for unique in wrong:
        refuses(
            pets(unique=[unique]), "K017", "d.pet.nick",
            why="is not made of the value", fix="use the same parts in both",
        )  # fmt: skip
    pets(unique=[Unique("nick", "{nick}", pk="NICK#{nick}")]).build()
    pets(unique=[Unique("nick", "{kind}#{nick}", pk="KIND#{kind}", sk="NICK#{nick}")]).build()


def test_a_unique_value_differs_from_item_to_item() -> None:
    refuses(pets(unique=[Unique("one", "ONLY")]), "K017", "d.pet.one", fix="write a part")


def test_a_guard_appears_in_no_index() -> None:
    def design(keep: str) -> Design:
        return pets(unique=[Unique("nick", "{nick}", keep={keep: "{name}", "GSK": "X"})])

    refuses(design("GPK"), "K017", "d.pet.nick", why="would appear in index", fix="under another name")
    design("owner").build()


def test_guards_need_a_table_with_a_text_key() -> None:
    def by_age(age: int) -> None: ...

    def design(*, elsewhere: bool) -> Design:
        design = Design("d")
        guards = design.table("guards", pk="PK")
        table = design.table("pets", pk="age")
        unique = Unique("nick", "{nick}", table=guards.table if elsewhere else None)
        table.entity(Pet, by_age, tag="pet", pk="{age}", unique=[unique])
        return design

    with pytest.raises(DesignRefused, match=r"K017 at d\.pet\.nick: the key age of pets is not text"):
        design(elsewhere=False).build()
    design(elsewhere=True).build()


def test_a_guard_dies_with_its_item() -> None:
    def design(ttl: str | None) -> Design:
        design = Design("d")
        guards = design.table("guards", pk="PK", ttl=ttl)
        table = design.table("pets", pk="PK", ttl="ttl")
        unique = Unique("nick", "{nick}", table=guards.table)
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", unique=[unique], expires="fed_at")
        return design

    refuses(design(None), "K017", "d.pet.nick", why="guards in guards never would", fix="give guards a TTL")
    design("ttl").build()


# --- K018, K022: a template for each key attribute ---


def test_an_entity_has_a_sort_key_where_its_table_has_one() -> None:
    def design(table_sk: str | None, sk: str | None) -> Design:
        design = Design("d")
        design.table("pets", pk="PK", sk=table_sk).entity(Pet, pet_key, tag="pet", pk="PET#{name}", sk=sk)
        return design

    refuses(design("SK", None), "K018", "d.pet", why="has the sort key SK", fix="add sk")
    refuses(design(None, "PET"), "K018", "d.pet", why="has no sort key", fix="remove sk")
    design("SK", "PET").build()
    design(None, None).build()


def test_an_entity_has_a_template_for_each_attribute_of_an_index() -> None:
    def design(keys: Keys) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK")
        index = table.gsi("index", pk=("A", "B"), sk="C")
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on={index: keys})
        return design

    wrong = [Keys("{kind}"), Keys(("{kind}", "{name}")), Keys("{kind}", ("{name}", "X"))]
    for keys in wrong:
        refuses(design(keys), "K018", "d.pet.index", fix="one template for each attribute")
    design(Keys(("{kind}", "{name}"), "X")).build()


def test_an_entity_stands_in_indexes_of_its_own_table() -> None:
    def design(*, same: bool) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK")
        other = design.table("cats", pk="PK")
        index = (table if same else other).gsi("index", pk="X")
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on={index: Keys("{kind}")})
        return design

    refuses(design(same=False), "K022", "d.pet", why="belongs to the table cats", fix="an index of pets")
    design(same=True).build()


# --- K023: what hides an item is in the index ---


@pytest.mark.parametrize(
    "promise", [{"expires": "fed_at"}, {"soft_delete": "tame"}], ids=["expires", "deleted"]
)
def test_an_index_of_keys_only_holds_nothing_that_can_be_hidden(promise: dict[str, Any]) -> None:
    def design(project: Any) -> Design:
        design = Design("d")
        table = design.table("pets", pk="PK", ttl="ttl")
        index = table.gsi("index", pk="X", project=project)
        table.entity(Pet, pet_key, tag="pet", pk="PET#{name}", on={index: Keys("{kind}")}, **promise)
        return design

    refuses(design("KEYS_ONLY"), "K023", "d.pet.index", fix="attributes that hide items are added")
    design(("name",)).build()


# --- K019: copies ---


def test_a_copy_needs_a_source_that_exists() -> None:
    nowhere = pets(copies=[Copy("name", "horse", "name", Refresh.STREAM)])
    refuses(nowhere, "K019", "d.pet.name", why="not an entity", fix="use one of none")
    wrong = pets(copies=[Copy("name", "pet", "colour", Refresh.STREAM)])
    refuses(wrong, "K019", "d.pet.name", why="which pet does not have", fix="use one of name, age")
    pets(copies=[Copy("name", "pet", "nick", Refresh.STREAM)]).build()


# --- K024: what is followed has a stream ---


def test_a_table_without_a_stream_cannot_be_followed() -> None:
    def design(stream: Any) -> Design:
        design = Design("d")
        design.table("pets", pk="PK", stream=stream, followed=True)
        return design

    refuses(design(None), "K024", "d.pets", why="it is followed and has no stream", fix="name a stream")
    design("KEYS_ONLY").build()
