"""Scan: the whole table or index once, in pages or in segments, in whatever order.

Must hold: pages together, and segments together, show every item exactly once.
Elsewhere: filters in depth (test_query.py and the expressions), units consumed (test_capacity.py).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.conformance.talk import COMP_TABLE, Answered, Json, NewTable, Refused

PARTITIONS, EACH = 15, 4


def write(answered: Answered, table: str, items: list[Json]) -> None:
    for start in range(0, len(items), 25):
        puts = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        assert answered("BatchWriteItem", {"RequestItems": {table: puts}})["UnprocessedItems"] == {}


@pytest.fixture(scope="module")
def herd(session_table: NewTable, answered: Answered) -> str:
    """Fifteen partitions of four items; every second is in the global indexes, every fourth in the local."""
    table = session_table(**COMP_TABLE)
    items = []
    for number in range(PARTITIONS * EACH):
        item = {
            "pk": {"S": f"p{number // EACH:02}"},
            "sk": {"S": f"s{number % EACH}"},
            "n": {"N": str(number)},
            "a": {"S": "even" if number % 2 == 0 else "odd"},
        }
        if number % 2 == 0:
            item |= {"gpk": {"S": f"g{number % 3}"}, "gsk": {"N": str(number)}}
        if number % 4 == 0:
            item |= {"lsk": {"N": str(-number)}}
        items.append(item)
    write(answered, table, items)
    return table


def numbers(items: list[Json]) -> list[int]:
    return sorted(int(item["n"]["N"]) for item in items)


def drained(answered: Answered, table: str, **rest: Any) -> list[Json]:
    items: list[Json] = []
    request: Json = {"TableName": table, **rest}
    while True:
        answer = answered("Scan", request)
        assert answer["Count"] == len(answer["Items"]) <= answer["ScannedCount"]
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return items
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def test_a_scan_shows_every_item(answered: Answered, herd: str) -> None:
    answer = answered("Scan", {"TableName": herd})
    assert numbers(answer["Items"]) == list(range(60))
    assert (answer["Count"], answer["ScannedCount"]) == (60, 60)
    assert "LastEvaluatedKey" not in answer


def test_the_items_of_a_partition_come_together_in_sort_order(answered: Answered, herd: str) -> None:
    items = answered("Scan", {"TableName": herd})["Items"]
    keys = [(item["pk"]["S"], item["sk"]["S"]) for item in items]
    for start in range(0, 60, EACH):
        partition = keys[start : start + EACH]
        assert partition == [(partition[0][0], f"s{n}") for n in range(EACH)]


@pytest.mark.parametrize("limit", [1, 7, 59, 60, 61])
def test_pages_show_every_item_once(answered: Answered, herd: str, limit: int) -> None:
    assert numbers(drained(answered, herd, Limit=limit)) == list(range(60))


def test_a_page_names_the_key_it_ended_with(answered: Answered, herd: str) -> None:
    answer = answered("Scan", {"TableName": herd, "Limit": 5})
    last = answer["Items"][-1]
    assert answer["LastEvaluatedKey"] == {"pk": last["pk"], "sk": last["sk"]}


def test_a_page_as_long_as_the_table_still_names_a_last_key(answered: Answered, herd: str) -> None:
    answer = answered("Scan", {"TableName": herd, "Limit": 60})
    assert answer["Count"] == 60
    rest = answered("Scan", {"TableName": herd, "ExclusiveStartKey": answer["LastEvaluatedKey"]})
    assert rest == {"Items": [], "Count": 0, "ScannedCount": 0}


@pytest.mark.parametrize("total", [1, 2, 3, 7, 100])
def test_segments_share_the_table_out(answered: Answered, herd: str, total: int) -> None:
    segments = [drained(answered, herd, Segment=n, TotalSegments=total) for n in range(total)]
    assert numbers([item for segment in segments for item in segment]) == list(range(60))
    homes = Counter(pk for segment in segments for pk in {item["pk"]["S"] for item in segment})
    assert set(homes.values()) == {1}, "a partition was split between segments"


@pytest.mark.parametrize("limit", [1, 4])
def test_each_segment_has_pages_of_its_own(answered: Answered, herd: str, limit: int) -> None:
    segments = [drained(answered, herd, Segment=n, TotalSegments=3, Limit=limit) for n in range(3)]
    assert numbers([item for segment in segments for item in segment]) == list(range(60))


def test_the_last_of_a_million_segments_may_be_asked_for(answered: Answered, herd: str) -> None:
    asked = {"TableName": herd, "Segment": 999_999, "TotalSegments": 1_000_000, "Select": "COUNT"}
    assert answered("Scan", asked)["Count"] <= EACH


def test_a_start_key_of_another_segment_is_refused(answered: Answered, refused: Refused, herd: str) -> None:
    segments = [drained(answered, herd, Segment=n, TotalSegments=2) for n in range(2)]
    home = 0 if segments[0] else 1
    start = {name: segments[home][0][name] for name in ("pk", "sk")}
    asked = {"TableName": herd, "Segment": 1 - home, "TotalSegments": 2, "ExclusiveStartKey": start}
    assert refused("Scan", asked)[0] == "ValidationException"


def test_a_filter_keeps_what_it_holds_for_even_by_key(answered: Answered, herd: str) -> None:
    asked = {
        "TableName": herd,
        "FilterExpression": "pk = :p AND n > :n",
        "ExpressionAttributeValues": {":p": {"S": "p03"}, ":n": {"N": "13"}},
    }
    answer = answered("Scan", asked)
    assert numbers(answer["Items"]) == [14, 15]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 60)


def test_a_filtered_page_may_be_empty_and_not_the_last(answered: Answered, herd: str) -> None:
    values = {":none": {"S": "neither"}}
    asked = {"TableName": herd, "FilterExpression": "a = :none", "ExpressionAttributeValues": values}
    answer = answered("Scan", {**asked, "Limit": 10})
    assert (answer["Items"], answer["Count"], answer["ScannedCount"]) == ([], 0, 10)
    assert "LastEvaluatedKey" in answer


def test_count_counts_and_shows_nothing(answered: Answered, herd: str) -> None:
    assert answered("Scan", {"TableName": herd, "Select": "COUNT"}) == {"Count": 60, "ScannedCount": 60}


def test_a_projection_shows_only_its_paths(answered: Answered, herd: str) -> None:
    items = drained(answered, herd, ProjectionExpression="n")
    assert all(set(item) == {"n"} for item in items)
    assert numbers(items) == list(range(60))


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("gsi1", {"pk", "sk", "gpk", "gsk", "n", "a"}),
        ("gsik", {"pk", "sk", "gpk"}),
        ("gsii", {"pk", "sk", "gpk", "a"}),
    ],
)
def test_a_global_index_is_scanned_sparse_and_as_projected(
    answered: Answered, herd: str, name: str, attributes: set[str]
) -> None:
    items = drained(answered, herd, IndexName=name)
    found = sorted((item["pk"]["S"], item["sk"]["S"]) for item in items)
    assert found == [(f"p{n // EACH:02}", f"s{n % EACH}") for n in range(0, 60, 2)]
    # Every fourth item is in the local indexes too, and lsk shows where all attributes are projected.
    assert all(set(item) - {"lsk"} == attributes for item in items)
    assert all("lsk" not in item for item in items) == (name != "gsi1")


@pytest.mark.parametrize("limit", [1, 4, 30, 31])
@pytest.mark.parametrize("name", ["gsi1", "gsik", "gsii"])
def test_a_global_index_has_pages_too(answered: Answered, herd: str, name: str, limit: int) -> None:
    items = drained(answered, herd, IndexName=name, Limit=limit)
    assert len({(item["pk"]["S"], item["sk"]["S"]) for item in items}) == len(items) == 30


def test_a_global_index_page_names_index_and_table_key(answered: Answered, herd: str) -> None:
    answer = answered("Scan", {"TableName": herd, "IndexName": "gsi1", "Limit": 1})
    (item,) = answer["Items"]
    assert answer["LastEvaluatedKey"] == {name: item[name] for name in ("gpk", "gsk", "pk", "sk")}


@pytest.mark.parametrize("total", [1, 3])
def test_segments_share_an_index_out(answered: Answered, herd: str, total: int) -> None:
    items = [
        item
        for n in range(total)
        for item in drained(answered, herd, IndexName="gsi1", Segment=n, TotalSegments=total, Limit=3)
    ]
    assert numbers(items) == list(range(0, 60, 2))


@pytest.mark.parametrize("limit", [1, 15, 100])
def test_a_local_index_is_scanned_sparse_and_strongly(answered: Answered, herd: str, limit: int) -> None:
    items = drained(answered, herd, IndexName="lsia", ConsistentRead=True, Limit=limit)
    assert numbers(items) == list(range(0, 60, 4))


def test_a_local_index_fetches_what_it_does_not_hold(answered: Answered, herd: str) -> None:
    items = drained(answered, herd, IndexName="lsi1", ProjectionExpression="n")
    assert numbers(items) == list(range(0, 60, 4))


@pytest.mark.parametrize(("name", "entries"), [("gsik", 30), ("gsii", 30), ("lsi1", 15)])
def test_to_a_filter_an_attribute_that_the_index_does_not_project_is_absent(
    answered: Answered, herd: str, name: str, entries: int
) -> None:
    asked: Json = {"TableName": herd, "IndexName": name}
    values = {":n": {"N": "-1"}}
    there = answered("Scan", {**asked, "FilterExpression": "n > :n", "ExpressionAttributeValues": values})
    assert (there["Count"], there["ScannedCount"]) == (0, entries)
    absent = answered("Scan", {**asked, "FilterExpression": "attribute_not_exists(n)"})
    assert (absent["Count"], absent["ScannedCount"]) == (entries, entries)
    old_style = {"n": {"ComparisonOperator": "NOT_NULL"}}
    assert answered("Scan", {**asked, "ScanFilter": old_style})["Count"] == 0


def test_a_filter_of_an_index_scan_reads_nothing_from_the_table(answered: Answered, herd: str) -> None:
    asked = {"TableName": herd, "IndexName": "lsi1", "ReturnConsumedCapacity": "INDEXES"}
    plain = answered("Scan", asked)["ConsumedCapacity"]
    filtered = answered("Scan", {**asked, "FilterExpression": "attribute_exists(n)"})["ConsumedCapacity"]
    assert filtered == plain


def test_the_order_of_a_scan_is_the_same_every_time(answered: Answered, herd: str) -> None:
    first = drained(answered, herd)
    assert drained(answered, herd) == first
    assert drained(answered, herd, Limit=7) == first
    segments = [one for n in range(3) for one in drained(answered, herd, Segment=n, TotalSegments=3)]
    assert segments == first


def test_a_page_ends_with_the_item_that_crosses_a_megabyte(
    answered: Answered, session_table: NewTable
) -> None:
    table = session_table()
    write(answered, table, [{"pk": {"S": f"{n:02}"}, "x": {"S": "x" * 30_000}} for n in range(40)])
    first = answered("Scan", {"TableName": table})
    assert first["Count"] == 35
    second = answered("Scan", {"TableName": table, "ExclusiveStartKey": first["LastEvaluatedKey"]})
    assert second["Count"] == 5
    assert len({item["pk"]["S"] for item in first["Items"] + second["Items"]}) == 40
    values = {":p": {"S": "none"}}
    filtered = {"TableName": table, "FilterExpression": "pk = :p", "ExpressionAttributeValues": values}
    answer = answered("Scan", filtered)
    assert (answer["Count"], answer["ScannedCount"]) == (0, 35)


def test_the_key_a_page_ended_with_may_be_deleted_meanwhile(
    answered: Answered, session_table: NewTable
) -> None:
    table = session_table()
    write(answered, table, [{"pk": {"S": str(n)}} for n in range(10)])
    first = answered("Scan", {"TableName": table, "Limit": 4})
    answered("DeleteItem", {"TableName": table, "Key": first["LastEvaluatedKey"]})
    rest = answered("Scan", {"TableName": table, "ExclusiveStartKey": first["LastEvaluatedKey"]})
    assert rest["Count"] == 6


def violation(value: object, where: str, rule: str) -> str:
    return f"1 validation error detected: Value '{value}' at '{where}' failed to satisfy constraint: {rule}"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (
            {"Segment": 0},
            "The TotalSegments parameter is required but was not present in the request"
            " when Segment parameter is present",
        ),
        (
            {"TotalSegments": 4},
            "The Segment parameter is required but was not present in the request"
            " when parameter TotalSegments is present",
        ),
        (
            {"Segment": 5, "TotalSegments": 5},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments:"
            " Segment: 5 is not less than TotalSegments: 5",
        ),
        (
            {"Segment": -1, "TotalSegments": 5},
            violation(-1, "segment", "Member must have value greater than or equal to 0"),
        ),
        (
            {"Segment": 0, "TotalSegments": 0},
            violation(0, "totalSegments", "Member must have value greater than or equal to 1"),
        ),
        (
            {"Segment": 0, "TotalSegments": 1_000_001},
            violation(1_000_001, "totalSegments", "Member must have value less than or equal to 1000000"),
        ),
        ({"Limit": 0}, violation(0, "limit", "Member must have value greater than or equal to 1")),
        (
            {"Select": "FOO"},
            violation(
                "FOO",
                "select",
                "Member must satisfy enum value set:"
                " [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
            ),
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression"
            " when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "a"},
            "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            {"IndexName": "gsi1", "ConsistentRead": True},
            "Consistent reads are not supported on global secondary indexes",
        ),
        ({"IndexName": "nope"}, "The table does not have the specified index: nope"),
        (
            {"FilterExpression": "a = :v"},
            "Invalid FilterExpression: An expression attribute value used in expression is not defined;"
            " attribute value: :v",
        ),
        ({"ConditionalOperator": "OR"}, "ConditionalOperator cannot be used without Filter or Expected"),
    ],
)
def test_a_scan_that_asks_for_what_cannot_be_is_refused(
    refused: Refused, herd: str, rest: Json, expected: str
) -> None:
    assert refused("Scan", {"TableName": herd, **rest}) == ("ValidationException", expected)


@pytest.mark.parametrize(
    "start",
    [
        {"pk": {"S": "p"}},
        {"pk": {"S": "p"}, "sk": {"N": "1"}},
        {"pk": {"S": "p"}, "sk": {"S": "s"}, "zz": {"S": "z"}},
    ],
)
def test_a_start_key_of_the_wrong_shape_is_refused(refused: Refused, herd: str, start: Json) -> None:
    code, message = refused("Scan", {"TableName": herd, "ExclusiveStartKey": start})
    assert code == "ValidationException"
    assert message.startswith("The provided starting key is invalid") or message.endswith(
        "The provided key element does not match the schema"
    )


def test_a_missing_table_is_found_out_after_the_rest(refused: Refused) -> None:
    expected = ("ResourceNotFoundException", "Requested resource not found")
    assert refused("Scan", {"TableName": "conf-no-such-table"}) == expected
    bad = {"TableName": "conf-no-such-table", "FilterExpression": "a = :v"}
    assert refused("Scan", bad)[0] == "ValidationException"


# ---------------------------------------------------------------- the parameters of before expressions


def legacy(operator: str, *values: Json) -> Json:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


@pytest.mark.parametrize(
    ("filters", "rest", "expected"),
    [
        ({"n": legacy("IN", {"N": "3"}, {"N": "4.0"})}, {}, [3, 4]),
        ({"n": legacy("BETWEEN", {"N": "5"}, {"N": "7"})}, {}, [5, 6, 7]),
        ({"n": legacy("LT", {"N": "2"}), "a": legacy("EQ", {"S": "even"})}, {}, [0]),
        (
            {"n": legacy("LT", {"N": "2"}), "sk": legacy("EQ", {"S": "never"})},
            {"ConditionalOperator": "OR"},
            [0, 1],
        ),
        ({"lsk": {"ComparisonOperator": "NOT_NULL"}}, {}, list(range(0, 60, 4))),
        ({"gpk": {"ComparisonOperator": "NULL"}}, {}, list(range(1, 60, 2))),
        ({"a": legacy("CONTAINS", {"S": "ve"})}, {}, list(range(0, 60, 2))),
        ({"pk": legacy("BEGINS_WITH", {"S": "p14"})}, {}, [56, 57, 58, 59]),
    ],
)
def test_scan_filters_still_work(
    answered: Answered, herd: str, filters: Json, rest: Json, expected: list[int]
) -> None:
    answer = answered("Scan", {"TableName": herd, "ScanFilter": filters, **rest})
    assert numbers(answer["Items"]) == expected
    assert answer["ScannedCount"] == 60


def test_old_and_new_parameters_do_not_mix(refused: Refused, herd: str) -> None:
    asked = {
        "TableName": herd,
        "FilterExpression": "a = :v",
        "ExpressionAttributeValues": {":v": {"S": "x"}},
        "ScanFilter": {"a": legacy("EQ", {"S": "a"})},
        "AttributesToGet": ["a"],
    }
    expected = (
        "Can not use both expression and non-expression parameters in the same request:"
        " Non-expression parameters: {AttributesToGet, ScanFilter} Expression parameters: {FilterExpression}"
    )
    assert refused("Scan", asked) == ("ValidationException", expected)
