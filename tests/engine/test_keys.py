"""Key bytes: a partition is one range, a segment is one range, an index entry is one place.

Elsewhere: that key parts sort as their values do (tests/properties/test_value_laws.py).
"""

import itertools

import pytest
from tests.engine.table_values import AGE, COLOUR, WHOLE, pet, pets

from tablewright.engine.catalog import Index
from tablewright.engine.keys import (
    HASH_SPACE,
    after,
    entry_key,
    item_key,
    key_names,
    partition_bytes,
    partition_of,
    plan_range,
    position,
    segment_range,
)
from tablewright.expressions import KeyPlan, KeyTest
from tablewright.values import Value, key_part

PETS = pets(AGE, COLOUR, WHOLE)


def text(value: str) -> Value:
    return {"S": value}


def number(value: int) -> Value:
    return {"N": str(value)}


def test_items_of_one_partition_share_a_prefix_and_sort_by_their_sort_key() -> None:
    keys = [item_key(PETS, pet("rex", sk)) for sk in (-10, -9, 0, 1, 2, 10)]
    assert keys == sorted(keys)
    assert all(key.startswith(partition_of(PETS, pet("rex"))) for key in keys)


def test_a_partition_holds_no_item_of_another_whose_name_begins_alike() -> None:
    prefix = partition_of(PETS, pet("rex"))
    for other in ("re", "rex ", "rexa", "rex\0", "rex\0\0"):
        key = item_key(PETS, pet(other))
        assert not prefix <= key < after(prefix)


def test_a_table_without_a_sort_key_has_one_place_for_each_partition() -> None:
    table = pets(ranged=False)
    assert item_key(table, pet("rex", 1)) == item_key(table, pet("rex", 2)) == partition_of(table, pet("rex"))


def test_every_key_sorts_inside_the_hash_space() -> None:
    for name in map(str, range(1000)):
        assert 0 <= int.from_bytes(partition_bytes([text(name)])[:4]) < HASH_SPACE


@pytest.mark.parametrize("total", [1, 2, 3, 7, 100, 999_999, 1_000_000])
def test_segments_tile_the_hash_space(total: int) -> None:
    some = range(total) if total < 1000 else [0, 1, 2, total // 2, total - 2, total - 1]
    ranges = {segment: segment_range(segment, total) for segment in some}
    assert ranges[0][0] == bytes(4)
    assert ranges[total - 1][1] == HASH_SPACE.to_bytes(4)
    for one, next_one in itertools.pairwise(some):
        if next_one == one + 1:
            assert ranges[one][1] == ranges[next_one][0]
    assert all(low < high for low, high in ranges.values())


@pytest.mark.parametrize(
    ("prefix", "least"),
    [(b"a", b"b"), (b"a\xff", b"b"), (b"a\xff\xff", b"b"), (b"\0\xff", b"\x01"), (b"\x7f\0", b"\x7f\x01")],
)
def test_after_a_prefix_comes_the_least_that_does_not_begin_with_it(prefix: bytes, least: bytes) -> None:
    assert after(prefix) == least


# --- key conditions ---

SORTS = (-2, -1, 0, 1, 2, 3)


def found(op: str, *values: int) -> list[int]:
    """Which sort keys of one partition a condition finds."""
    low, high = plan_range(KeyPlan((text("rex"),), (), KeyTest("sk", op, tuple(map(number, values)))))
    return [sk for sk in SORTS if low <= item_key(PETS, pet("rex", sk)) < high]


@pytest.mark.parametrize(
    ("op", "values", "sorts"),
    [
        ("=", (1,), [1]),
        ("=", (9,), []),
        ("<", (1,), [-2, -1, 0]),
        ("<=", (1,), [-2, -1, 0, 1]),
        (">", (1,), [2, 3]),
        (">=", (1,), [1, 2, 3]),
        ("<", (-1,), [-2]),
        (">", (-1,), [0, 1, 2, 3]),
        ("BETWEEN", (-1, 2), [-1, 0, 1, 2]),
        ("BETWEEN", (1, 1), [1]),
        ("<", (-2,), []),
        (">", (3,), []),
    ],
)
def test_a_key_condition_is_a_range_of_bytes(op: str, values: tuple[int, ...], sorts: list[int]) -> None:
    assert found(op, *values) == sorts


def test_begins_with_is_the_range_of_a_prefix() -> None:
    low, high = plan_range(KeyPlan((text("rex"),), (), KeyTest("sk", "begins_with", (text("a"),))))
    inside = [name for name in ("", "a", "a\0", "ab", "a\uffff", "b", "B") if low <= _place(name) < high]
    assert inside == ["a", "a\0", "ab", "a\uffff"]


def _place(sort: str) -> bytes:
    """Where an item of rex's with a text for its sort key would live."""
    return partition_bytes([text("rex")]) + key_part(text(sort))


def test_a_condition_on_the_partition_alone_is_the_whole_partition() -> None:
    low, high = plan_range(KeyPlan((text("rex"),), (), None))
    assert all(low <= item_key(PETS, pet("rex", sk)) < high for sk in SORTS)
    assert not low <= item_key(PETS, pet("tom")) < high


# --- indexes ---


def entry(**attributes: str | int) -> bytes | None:
    item = pet(**attributes)  # type: ignore[arg-type] # pk and sk keep their defaults
    return entry_key(PETS, COLOUR, item, item_key(PETS, item))


def test_an_item_without_one_of_the_index_keys_is_not_in_the_index() -> None:
    assert entry(colour="red", size=1) is not None
    assert entry(colour="red") is None
    assert entry(size=1) is None
    assert entry() is None


def test_an_item_whose_index_key_has_the_wrong_type_or_is_empty_or_too_long_is_not_in_the_index() -> None:
    assert entry(colour=3, size=1) is None
    assert entry(colour="red", size="big") is None
    assert entry(colour="", size=1) is None
    assert entry(colour="x" * 2048, size=1) is not None
    assert entry(colour="x" * 2049, size=1) is None
    assert entry(colour="é" * 1024, size=1) is not None
    assert entry(colour="é" * 1025, size=1) is None


def test_two_items_with_the_same_index_key_have_two_places_ordered_by_their_own_keys() -> None:
    items = [pet("rex", sk, colour="red", size=1) for sk in (1, 2, 3)]
    places = [entry_key(PETS, COLOUR, item, item_key(PETS, item)) or b"" for item in items]
    assert len(set(places)) == 3
    assert places == sorted(places)


@pytest.mark.parametrize("index", [None, AGE, COLOUR, WHOLE])
def test_a_last_evaluated_key_points_to_where_the_item_stands(index: Index | None) -> None:
    item = pet("rex", 1, colour="red", size=5, age=2)
    key = {name: item[name] for name in key_names(PETS, index)}
    own = item_key(PETS, item)
    assert position(PETS, index, key) == (own if index is None else entry_key(PETS, index, item, own))


def test_a_last_evaluated_key_names_the_index_keys_and_the_table_keys_once() -> None:
    assert key_names(PETS, None) == ("pk", "sk")
    assert key_names(PETS, AGE) == ("pk", "age", "sk")
    assert key_names(PETS, COLOUR) == ("colour", "size", "pk", "sk")


def test_the_order_of_partitions_is_the_same_in_every_version() -> None:
    """Snapshots of users' tests depend on the order of a scan."""
    names = ["rex", "ada", "bob", "cat", "dan", "eve", "é", "1"]
    in_order = ["bob", "rex", "dan", "é", "eve", "ada", "cat", "1"]
    assert sorted(names, key=lambda name: partition_bytes([text(name)])) == in_order
    numbers = [0, 1, 2, 3, 10, -1, 100]
    assert sorted(numbers, key=lambda value: partition_bytes([number(value)])) == [-1, 2, 1, 10, 100, 3, 0]
