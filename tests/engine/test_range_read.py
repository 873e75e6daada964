"""Where a page ends when it is fetched at once: as it would if it were walked item by item."""

from collections.abc import Iterator

import pytest
from tests.engine.tables import definition

from tablewright import Engine, testing
from tablewright.engine.range_read import FEW

HEAVY = {"S": "x" * 390_000}


@pytest.fixture
def heavy() -> Iterator[Engine]:
    """A partition of six items of which three make a megabyte, and one of a hundred light ones."""
    with testing.engine() as engine:
        engine.call("CreateTable", definition(ranged=True))
        for number in range(6):
            put(engine, "heavy", number, text=HEAVY)
        for number in range(100):
            put(engine, "light", number)
        yield engine


def put(engine: Engine, partition: str, number: int, **attributes: dict[str, str]) -> None:
    item = {"pk": {"S": partition}, "sk": {"S": f"{number:03}"}, **attributes}
    engine.call("PutItem", {"TableName": "pets", "Item": item})


def page(
    engine: Engine, partition: str, limit: int | None, start: str | None = None
) -> tuple[list[str], str | None]:
    """The sort keys of a page, and the one it says to go on after."""
    request = {
        "TableName": "pets",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": partition}},
        "Limit": limit,
        "ExclusiveStartKey": None if start is None else {"pk": {"S": partition}, "sk": {"S": start}},
    }
    answer = engine.call("Query", request)
    last = answer.get("LastEvaluatedKey")
    return [item["sk"]["S"] for item in answer["Items"]], None if last is None else last["sk"]["S"]


@pytest.mark.parametrize("limit", [6, FEW, FEW + 1, None])
def test_a_limit_beyond_the_megabyte_moves_no_end_of_a_page(heavy: Engine, limit: int | None) -> None:
    assert page(heavy, "heavy", limit) == (["000", "001", "002"], "002")
    assert page(heavy, "heavy", limit, start="002") == (["003", "004", "005"], "005")
    assert page(heavy, "heavy", limit, start="005") == ([], None)


def test_a_limit_before_the_megabyte_is_the_end_of_the_page(heavy: Engine) -> None:
    assert page(heavy, "heavy", 2) == (["000", "001"], "001")


@pytest.mark.parametrize("limit", [1, FEW - 1, FEW, FEW + 1, 100])
def test_a_page_of_light_items_has_as_many_as_were_asked_for(heavy: Engine, limit: int) -> None:
    keys = [f"{number:03}" for number in range(limit)]
    assert page(heavy, "light", limit) == (keys, keys[-1])


def test_a_page_with_room_for_more_ends_without_a_key(heavy: Engine) -> None:
    keys, last = page(heavy, "light", FEW, start="090")
    assert keys == [f"{number:03}" for number in range(91, 100)]
    assert last is None
