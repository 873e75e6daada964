"""What an item is in an index, and what a write does to its entry."""

from dataclasses import replace

import pytest
from tests.engine.table_values import AGE, COLOUR, WHOLE, pet, pets

from tablewright import ServiceError, testing
from tablewright.engine.catalog import Index, Table
from tablewright.engine.indexes import (
    EntryChange,
    additions,
    changes,
    entry_size,
    project_entry,
    projected_names,
    same_entry,
)
from tablewright.engine.keys import item_key
from tablewright.values import Item, item_size

RED = pet(colour="red", size=5, age=2, name="Rex", note="good boy")


def changed(table: Table, old: Item | None, new: Item | None, row: int = 1) -> list[EntryChange]:
    some = old if old is not None else new
    assert some is not None
    key = item_key(table, some)
    sizes = [0 if item is None else item_size(item) for item in (old, new)]
    return list(changes(table, key, row, old, sizes[0], new, sizes[1]))


@pytest.mark.parametrize("row", [1, 5, 9])
@pytest.mark.parametrize("item", [RED, pet(colour="red"), pet()])
def test_an_item_that_is_new_makes_the_changes_of_one_where_none_was(item: Item, row: int) -> None:
    filling = replace(WHOLE, backfill=(3, 7))
    table, size = pets(filling, COLOUR, AGE), item_size(item)
    assert additions(table, item_key(table, item), row, item, size) == changed(table, None, item, row)


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (WHOLE, {"pk", "sk", "colour", "size", "age", "name", "note"}),
        (COLOUR, {"pk", "sk", "colour", "size"}),
        (AGE, {"pk", "sk", "age", "name"}),
    ],
)
def test_an_entry_holds_the_keys_and_what_is_projected(index: Index, names: set[str]) -> None:
    table = pets(index)
    assert project_entry(table, index, RED).keys() == names
    assert entry_size(table, index, RED, item_size(RED)) == item_size({name: RED[name] for name in names})


def test_an_attribute_that_is_projected_and_missing_is_simply_missing() -> None:
    assert "name" not in project_entry(pets(AGE), AGE, pet(age=2))


def test_an_index_of_everything_projects_no_list_of_names() -> None:
    assert projected_names(pets(WHOLE), WHOLE) is None
    assert projected_names(pets(AGE), AGE) == ("pk", "sk", "age", "name")


def test_a_new_item_comes_into_each_index_it_has_the_keys_of() -> None:
    came = changed(pets(AGE, COLOUR, WHOLE), None, pet(colour="red", size=1))
    assert [(entry.index.name, entry.old_key is None, entry.new_key is None) for entry in came] == [
        ("colour", True, False),
        ("whole", True, False),
    ]
    assert all(entry.old_size == 0 < entry.new_size for entry in came)


def test_a_deleted_item_leaves_each_index_it_was_in() -> None:
    (left,) = changed(pets(COLOUR), RED, None)
    assert left.new_key is None
    assert left.new_size == 0 < left.old_size


def test_a_change_of_an_index_key_moves_the_entry() -> None:
    (moved,) = changed(pets(COLOUR), RED, RED | {"colour": {"S": "blue"}})
    assert moved.old_key != moved.new_key
    assert None not in (moved.old_key, moved.new_key)


def test_a_change_beside_the_keys_leaves_the_entry_where_it_is() -> None:
    (kept,) = changed(pets(WHOLE), RED, RED | {"note": {"S": "bad boy!"}})
    assert kept.old_key == kept.new_key
    assert kept.new_size == kept.old_size


def test_an_equal_key_that_is_another_object_leaves_the_entry_where_it_is() -> None:
    (kept,) = changed(pets(WHOLE), RED, RED | {"colour": {"S": "red"}})
    assert kept.old_key == kept.new_key


def test_an_entry_that_shows_nothing_of_a_change_is_not_changed() -> None:
    louder = RED | {"note": {"S": "GOOD BOY"}}
    assert changed(pets(COLOUR, AGE), RED, louder) == []
    assert [one.index.name for one in changed(pets(COLOUR, AGE), RED, RED | {"age": {"N": "3"}})] == [
        AGE.name
    ]


def test_a_removed_index_key_takes_the_item_out() -> None:
    without = {name: value for name, value in RED.items() if name != "size"}
    (left,) = changed(pets(COLOUR), RED, without)
    assert left.new_key is None
    assert changed(pets(COLOUR), without, without | {"note": {"S": "x"}}) == []


def test_an_index_that_is_being_filled_leaves_rows_alone_whose_turn_has_not_come() -> None:
    table = pets(replace(COLOUR, status="CREATING", backfill=(10, 20)))
    assert len(changed(table, RED, None, row=10)) == 1
    assert changed(table, RED, None, row=11) == []
    assert changed(table, RED, None, row=20) == []
    assert len(changed(table, None, RED, row=21)) == 1


def test_an_entry_is_the_same_when_what_it_shows_is() -> None:
    table = pets(COLOUR, AGE)
    louder = RED | {"note": {"S": "GOOD BOY"}}
    assert same_entry(table, COLOUR, RED, louder)
    assert not same_entry(table, AGE, RED, RED | {"name": {"S": "T. Rex"}})


def test_a_local_index_filtered_by_what_it_lacks_still_shows_only_what_it_holds() -> None:
    with testing.engine() as engine:
        engine.call("CreateTable", LOCAL_KEYS_ONLY)
        item = {"pk": {"S": "p"}, "sk": {"S": "1"}, "lsk": {"N": "1"}, "extra": {"S": "x"}}
        engine.call("PutItem", {"TableName": "local", "Item": item})
        found = engine.call(
            "Query",
            {
                "TableName": "local",
                "IndexName": "lsi",
                "KeyConditionExpression": "pk = :p",
                "FilterExpression": "extra = :x",
                "ExpressionAttributeValues": {":p": {"S": "p"}, ":x": {"S": "x"}},
            },
        )
        assert found["Items"] == [{name: item[name] for name in ("pk", "sk", "lsk")}]


def test_a_long_table_key_that_an_index_cannot_take_as_its_range_is_refused() -> None:
    with testing.engine() as engine:
        engine.call("CreateTable", HASH_AS_RANGE)
        item = {"pk": {"S": "x" * 1025}, "g": {"S": "g"}}
        with pytest.raises(ServiceError, match="size limit of 1024 bytes"):
            engine.call("PutItem", {"TableName": "swapped", "Item": item})
        engine.call("PutItem", {"TableName": "swapped", "Item": {**item, "pk": {"S": "x" * 1024}}})


LOCAL_KEYS_ONLY = {
    "TableName": "local",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
        {"AttributeName": "lsk", "AttributeType": "N"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "lsi",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "lsk", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}
HASH_AS_RANGE = {
    "TableName": "swapped",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "g", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "gsi",
            "KeySchema": [
                {"AttributeName": "g", "KeyType": "HASH"},
                {"AttributeName": "pk", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
