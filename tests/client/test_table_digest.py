"""The digest of a table: the same for the same items in any order and spelling, another for any difference."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort

from tablewright import testing
from tablewright.client import embedded
from tablewright.client.table_digest import Expiry, digest_of_items, table_digest

NUMBERS = st.integers(-(10**38) + 1, 10**38 - 1)
ITEMS = st.dictionaries(st.text("abc", min_size=1, max_size=3), NUMBERS, max_size=8)


def item(name: str, number: int) -> dict[str, Any]:
    return {"name": {"S": name}, "number": {"N": str(number)}}


@effort(100)
@given(ITEMS, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_count_and_each_difference_does(
    items: dict[str, int], random: Any
) -> None:
    found = [item(name, number) for name, number in items.items()]
    whole = digest_of_items(found)
    random.shuffle(found)
    assert digest_of_items(found) == whole
    middle = len(found) // 2
    assert digest_of_items(found[:middle]) + digest_of_items(found[middle:]) == whole
    if found:
        assert digest_of_items(found[1:]) != whole
        changed = [found[0] | {"more": {"BOOL": True}}, *found[1:]]
        assert digest_of_items(changed).total != whole.total


def test_one_item_in_two_spellings_has_one_digest() -> None:
    first = {
        "a": {"N": "1.50"},
        "b": {"SS": ["y", "x"]},
        "c": {"M": {"p": {"NULL": True}, "q": {"BOOL": False}}},
    }
    second = {
        "c": {"M": {"q": {"BOOL": False}, "p": {"NULL": True}}},
        "b": {"SS": ["x", "y"]},
        "a": {"N": "15E-1"},
    }
    assert digest_of_items([first]) == digest_of_items([second])
    third = second | {"a": {"S": "1.5"}}
    assert digest_of_items([third]) != digest_of_items([second])


def test_segments_and_expired_items() -> None:
    with testing.engine() as engine:
        engine.call("CreateTable", {
            "TableName": "pets", "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
        })  # fmt: skip
        engine.settle()
        for number in range(30):
            engine.call("PutItem", {"TableName": "pets", "Item": item(f"pet {number}", number)})
        call = embedded(engine)
        whole = table_digest(call, "pets")
        assert whole.items == 30
        assert table_digest(call, "pets", segments=3) == whole
        assert table_digest(call, "pets", expiry=Expiry("number", 9)).items == 20
        assert table_digest(call, "pets", expiry=Expiry("name", 9)) == whole
