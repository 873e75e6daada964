"""Tables as values: kept and read back as they were, changed only by making another."""

from dataclasses import replace

from tests.engine.table_values import AGE, COLOUR, WHOLE, pets
from tests.engine.tables import definition

from tablewright import Engine
from tablewright.engine.catalog import Index, KeySchema, Throughput, from_json, load, to_json
from tablewright.engine.limits import HASH_KEY_BYTES, RANGE_KEY_BYTES

FULL = replace(
    pets(AGE, replace(COLOUR, status="CREATING", backfill=(3, 9), throughput=Throughput(1, 2, 3.0, 4.0, 5))),
    billing="PAY_PER_REQUEST",
    on_demand_since=12.5,
    on_demand={"MaxReadRequestUnits": 7},
    warm={"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000},
    table_class="STANDARD_INFREQUENT_ACCESS",
    class_updated=1.5,
    protected=True,
    ttl_attribute="expires",
    tags={"team": "zoo", "é": ""},
    next_index=9,
)


def test_a_table_is_read_back_as_it_was_kept() -> None:
    assert from_json(FULL.number, to_json(FULL)) == FULL
    assert from_json(1, to_json(pets())) == pets()


def test_a_table_is_read_back_with_what_is_worked_out() -> None:
    again = from_json(1, to_json(FULL))
    assert again.index_keys == FULL.index_keys
    assert again.has_local_indexes


def test_index_keys_are_told_alphabetically_by_index_and_without_the_tables_own() -> None:
    keys = [
        (key.index, key.attribute, key.type, key.most_bytes) for key in pets(WHOLE, COLOUR, AGE).index_keys
    ]
    assert keys == [
        ("age", "age", "N", RANGE_KEY_BYTES),
        ("colour", "colour", "S", HASH_KEY_BYTES),
        ("colour", "size", "N", RANGE_KEY_BYTES),
        ("whole", "colour", "S", HASH_KEY_BYTES),
        ("whole", "size", "N", HASH_KEY_BYTES),
    ]


def test_a_changed_index_takes_the_place_of_the_one_of_its_name() -> None:
    table = pets(AGE, COLOUR).with_index(replace(COLOUR, status="CREATING"))
    assert [(index.name, index.status) for index in table.indexes] == [
        ("age", "ACTIVE"),
        ("colour", "CREATING"),
    ]


def test_a_dropped_index_takes_along_the_types_nobody_else_uses() -> None:
    table = pets(AGE, COLOUR, WHOLE).without_index("colour")
    assert table.types.keys() == {"pk", "sk", "age", "colour", "size"}
    assert table.without_index("whole").types.keys() == {"pk", "sk", "age"}


def test_an_index_waits_for_the_rows_between_what_is_done_and_what_came_later() -> None:
    index = Index(1, "colour", KeySchema(("colour",)), False, "ALL", backfill=(3, 9))
    assert [row for row in range(1, 12) if index.awaits(row)] == [4, 5, 6, 7, 8, 9]
    assert not any(replace(index, backfill=None).awaits(row) for row in range(12))


def test_the_catalog_in_the_store_is_the_catalog_in_the_engine(engine: Engine) -> None:
    engine.call("CreateTable", definition("zoo", ranged=True, indexes=("colour",), local=("age",)))
    expiry = {"Enabled": True, "AttributeName": "expires"}
    engine.call("UpdateTimeToLive", {"TableName": "zoo", "TimeToLiveSpecification": expiry})
    engine.call("UpdateTable", {"TableName": "pets", "DeletionProtectionEnabled": True})
    engine.call("UpdateTable", {"TableName": "pets", "DeletionProtectionEnabled": False})
    engine.call("DeleteTable", {"TableName": "pets"})
    engine.settle()
    with engine._storage.write_lock:
        assert load(engine._storage.writes) == engine.tables
    assert list(engine.tables) == ["zoo"]


def test_a_number_of_a_table_or_an_index_is_never_used_again(engine: Engine) -> None:
    numbers = []
    for _ in range(3):
        engine.call("CreateTable", definition("zoo", indexes=("colour",)))
        numbers.append(engine.tables["zoo"].number)
        engine.call("DeleteTable", {"TableName": "zoo"})
        engine.settle()
    assert numbers == sorted(set(numbers))
