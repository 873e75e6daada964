"""The units of the calls a design makes: each rule with figures computed by hand."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.design.costed import HERE, MILLION, Pet, line, pet_key, pets, units

from tablewright.design import Design, DesignRefused, Keys, Load, Unique
from tablewright.design.cost import cost_of
from tablewright.design.units import read_units, write_units

# --- reads ---


def test_a_figure_carries_its_arithmetic_as_a_sentence() -> None:
    report = cost_of(pets(reads=Load(per_month=900_000)), HERE)
    assert line(report, "by_name").how == (
        "900 000 reads a month x 0.5 unit (1 KB, eventually consistent) = 450 000 units "
        "x $0.125 per million read units = $0.06"
    )
    assert report.total == Decimal("0.05625")


@pytest.mark.parametrize(
    ("size", "shards", "consistent", "transaction", "expected"),
    [
        (0, 1, True, False, "1"),
        (0, 1, False, False, "0.5"),
        (4096, 1, True, False, "1"),
        (4097, 1, True, False, "2"),
        (4097, 1, False, False, "1"),
        (4097, 1, True, True, "4"),
        (28_000, 1, True, False, "7"),  # 40 items of 700 bytes, added up and rounded once
        (28_000, 16, False, False, "8"),  # 1 750 bytes in each shard: half a unit each
        (0, 16, False, False, "8"),
        (160_000, 16, False, False, "24"),  # 10 000 bytes in each: 3 x 0.5
    ],
)
def test_read_units_by_hand(
    size: int, shards: int, consistent: bool, transaction: bool, expected: str
) -> None:
    assert read_units(size, consistent=consistent, transaction=transaction, shards=shards) == Decimal(
        expected
    )


def test_a_query_adds_up_its_items_and_a_sharded_one_pays_for_every_shard() -> None:
    design = Design("d")
    table = design.table("pets", pk="PK", sk="SK")
    by = table.gsi("ByKind", pk="GK")
    pet = table.entity(Pet, pet_key, tag="pet", pk="{name}", sk="PET", on={by: Keys("{kind}#{name:shard.8}")})

    @design.query(
        pet, on=by, pk="{kind}#{name:shard.8}", load=Load(per_month=MILLION, items=3, item_bytes=100)
    )
    def of_kind(*, kind: str) -> None:
        """Pets of a kind."""

    @design.query(pet, pk="{name}", consistent=True, load=Load(per_month=MILLION, items=100, item_bytes=700))
    def named(*, name: str) -> None:
        """Pets of a name."""

    design.build()
    assert units(design, "of_kind")[0] == 4  # eight queries of half a unit
    assert units(design, "named")[0] == 18  # 70 000 bytes
    assert "in 8 shards" in line(cost_of(design, HERE), "of_kind").how


def test_a_get_of_an_entity_is_taken_to_be_consistent_and_says_so() -> None:
    design = pets({"get": Load(per_month=1)})
    assert units(design, "pet.get") == (
        1,
        ("the read is consistent, as who gets an item by its key may ask",),
    )


# --- writes ---

ONCE = Load(per_month=MILLION, item_bytes=1500)


@pytest.mark.parametrize(
    ("verb", "load", "expected", "assumed"),
    [
        ("create", ONCE, 4, ""),
        ("create", replace(ONCE, transaction=True), 6, ""),  # the index is not doubled
        ("create", replace(ONCE, indexes=()), 2, ""),
        ("delete", ONCE, 4, ""),
        ("put", ONCE, 6, "the key in ByKind moves (kind and owner may change)"),
        ("put", replace(ONCE, changes=("note",)), 4, ""),
        ("change", ONCE, 6, "the key in ByKind moves"),
        ("change", replace(ONCE, changes=("owner",)), 6, ""),
        ("change", replace(ONCE, changes=("note",)), 4, ""),
        ("update", replace(ONCE, changes=("note",)), 4, ""),
        ("upsert", replace(ONCE, changes=("note",)), 4, "a refused try is paid for"),
        ("check", ONCE, 4, ""),  # always in a transaction, and nothing in an index
    ],
)
def test_write_units_of_each_verb_by_hand(verb: str, load: Load, expected: int, assumed: str) -> None:
    found, notes = units(pets({verb: load}), f"pet.{verb}")
    assert found == expected
    assert assumed in "; ".join(notes)
    assert bool(assumed) == bool(notes)


def test_a_key_that_never_changes_never_moves() -> None:
    design = pets({"change": ONCE}, immutable=("kind", "owner"))
    assert units(design, "pet.change") == (4, ())


def test_an_index_that_holds_nothing_of_the_change_takes_nothing() -> None:
    only_note = replace(ONCE, changes=("note",))
    assert units(pets({"update": only_note}, project="KEYS_ONLY"), "pet.update")[0] == 2
    assert units(pets({"update": only_note}, project=("rev",)), "pet.update")[0] == 2
    assert units(pets({"update": only_note}, project=("note",)), "pet.update")[0] == 4
    found, notes = units(pets({"create": ONCE}, project="KEYS_ONLY"), "pet.create")
    assert (found, notes) == (4, ("an entry of ByKind is as large as the item, though it holds less of it",))


def test_an_index_that_not_every_item_is_in_is_assumed_to_hold_it() -> None:
    design = pets({"create": ONCE}, sort="{chip}")
    assert units(design, "pet.create") == (4, ("the item is in ByKind, where not every one is",))


CHIP = Unique("chip", "{chip}")


@pytest.mark.parametrize(
    ("verb", "load", "expected", "assumed"),
    [
        ("create", ONCE, 4 + 2, False),  # both doubled: the item and its guard
        ("delete", ONCE, 4 + 2, False),
        ("change", ONCE, 4 + 4, True),  # the old guard and the new one
        ("change", replace(ONCE, changes=("chip",)), 4 + 4, False),
        ("change", replace(ONCE, changes=("note",)), 2, False),  # no guard, no transaction
        ("update", ONCE, 2, False),  # never of a unique value
    ],
)
def test_a_unique_value_makes_a_transaction_and_a_guard(
    verb: str, load: Load, expected: int, assumed: bool
) -> None:
    found, notes = units(pets({verb: load}, index=False, unique=[CHIP]), f"pet.{verb}")
    assert found == expected
    assert any("guard" in note for note in notes) == assumed


def test_what_is_done_once_writes_a_receipt_in_the_same_transaction() -> None:
    assert units(pets({"create": replace(ONCE, once=True)}, index=False), "pet.create")[0] == 4 + 2


def test_a_load_of_something_that_is_not_there_is_refused() -> None:
    for load, why in (
        ({"drop": Load()}, "is of 'drop'"),
        ({"change": Load(changes=("colour",))}, "changes 'colour'"),
        ({"create": Load(indexes=("ByColour",))}, "is in the index 'ByColour'"),
    ):
        with pytest.raises(DesignRefused, match=f"K015.*a load {why}, which pet does not have"):
            pets(load)


# --- whatever the figures are ---


@given(size=st.integers(0, 500_000), more=st.integers(0, 10_000), shards=st.integers(1, 64))
def test_more_bytes_never_take_fewer_units(size: int, more: int, shards: int) -> None:
    assert write_units(size) <= write_units(size + more)
    for consistent in (True, False):
        fewer = read_units(size, consistent=consistent, shards=shards)
        assert fewer <= read_units(size + more, consistent=consistent, shards=shards)
        assert fewer >= read_units(size, consistent=consistent)


@settings(max_examples=40)
@given(
    verb=st.sampled_from(["create", "put", "change", "update", "upsert", "delete"]),
    size=st.integers(1, 400_000),
    transaction=st.booleans(),
)
def test_what_a_design_does_not_say_is_never_taken_to_be_cheaper(
    verb: str, size: int, transaction: bool
) -> None:
    silent = Load(per_month=1, item_bytes=size, transaction=transaction)
    worse, _ = units(pets({verb: silent}, unique=[CHIP]) if verb not in ("put", "upsert") else pets({verb: silent}),
                     f"pet.{verb}")  # fmt: skip
    for said in (
        replace(silent, changes=("note",)),
        replace(silent, changes=("kind", "chip")),
        replace(silent, indexes=()),
    ):
        promises: dict[str, Any] = {"unique": [CHIP]} if verb not in ("put", "upsert") else {}
        assert units(pets({verb: said}, **promises), f"pet.{verb}")[0] <= worse
