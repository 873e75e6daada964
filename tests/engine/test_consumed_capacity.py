"""Units: the tables of the fact sheet, row by row."""

from typing import Any

import pytest
from tests.engine.table_values import AGE, COLOUR, WHOLE, pet, pets

from tablewright.engine.consumed_capacity import Consumed, capacity_members, read_units, write_units
from tablewright.engine.indexes import changes
from tablewright.engine.keys import item_key
from tablewright.values import Item, item_size

KB = 1024


@pytest.mark.parametrize(
    ("size", "strong", "eventual"),
    [(0, 1, 0.5), (1, 1, 0.5), (4 * KB, 1, 0.5), (4 * KB + 1, 2, 1), (8 * KB, 2, 1), (400 * KB, 100, 50)],
)
def test_reads_count_four_kilobytes_and_an_eventual_one_half(
    size: int, strong: float, eventual: float
) -> None:
    assert read_units(size, consistent=True) == strong
    assert read_units(size, consistent=False) == eventual


@pytest.mark.parametrize(
    ("sizes", "units"), [((0,), 1), ((KB,), 1), ((KB + 1,), 2), ((5 * KB, 1), 5), ((1, 5 * KB), 5)]
)
def test_writes_count_one_kilobyte_of_the_larger_image(sizes: tuple[int, ...], units: float) -> None:
    assert write_units(*sizes) == units


def sized(kilobytes: int, **attributes: str | int) -> Item:
    """A pet whose every index entry has about so many kilobytes."""
    return pet(**attributes) | {"note": {"S": "x" * (kilobytes * KB - 100)}}  # type: ignore[arg-type] # not pk, sk


def index_units(old: Item | None, new: Item | None) -> float:
    """What a write costs an index of everything."""
    table = pets(WHOLE)
    some = old if old is not None else new
    assert some is not None
    sizes = [0 if item is None else item_size(item) for item in (old, new)]
    consumed = Consumed(table)
    consumed.add_entries(changes(table, item_key(table, some), 1, old, sizes[0], new, sizes[1]), old, new)
    return consumed.other.get("whole", 0.0)


RED: dict[str, Any] = {"colour": "red", "size": 1}


@pytest.mark.parametrize(
    ("old", "new", "units"),
    [
        (sized(3), sized(5), 0),
        (None, sized(3), 0),
        (None, sized(3, **RED), 3),
        (sized(2), sized(3, **RED), 3),
        (sized(3, **RED), None, 3),
        (sized(3, **RED), sized(2), 3),
        (sized(3, **RED), sized(3, **RED), 0),
        (sized(3, **RED), sized(2, **RED), 3),
        (sized(1, **RED), sized(3, **RED), 3),
        (sized(3, **RED), sized(2, colour="blue", size=1), 5),
    ],
    ids=[
        "absent to absent", "nothing to absent", "nothing to present", "absent to present", "present to nothing",
        "present to absent", "unchanged", "shrunk in place", "grown in place", "key changed",
    ],
)  # fmt: skip
def test_what_a_write_costs_an_index(old: Item | None, new: Item | None, units: float) -> None:
    assert index_units(old, new) == units


def consumed() -> Consumed:
    used = Consumed(pets(AGE, COLOUR), 2.0)
    used.add_index(AGE, 1.0)
    used.add_index(COLOUR, 3.0)
    used.add_index(COLOUR, 0.5)
    return used


def units(one: float, **more: Any) -> dict[str, Any]:
    return {"CapacityUnits": one, **more}


@pytest.mark.parametrize("how", [None, "NONE"])
def test_nothing_is_shown_unless_asked_for(how: str | None) -> None:
    assert consumed().as_member(how) is None
    assert capacity_members([consumed()], how) == {}


def test_the_total_is_the_sum_of_all_arms() -> None:
    assert consumed().as_member("TOTAL") == {"TableName": "pets", "CapacityUnits": 6.5}


def test_indexes_shows_each_arm_that_was_touched() -> None:
    assert consumed().as_member("INDEXES") == {
        "TableName": "pets",
        "CapacityUnits": 6.5,
        "Table": units(2.0),
        "LocalSecondaryIndexes": {"age": units(1.0)},
        "GlobalSecondaryIndexes": {"colour": units(3.5)},
    }
    assert Consumed(pets(AGE, COLOUR), 1.0).as_member("INDEXES") == {
        "TableName": "pets",
        "CapacityUnits": 1.0,
        "Table": units(1.0),
    }


def test_a_transaction_tells_the_kind_of_units_at_every_level() -> None:
    assert consumed().as_member("INDEXES", "Write") == {
        "TableName": "pets",
        "CapacityUnits": 6.5,
        "WriteCapacityUnits": 6.5,
        "Table": units(2.0, WriteCapacityUnits=2.0),
        "LocalSecondaryIndexes": {"age": units(1.0, WriteCapacityUnits=1.0)},
        "GlobalSecondaryIndexes": {"colour": units(3.5, WriteCapacityUnits=3.5)},
    }
