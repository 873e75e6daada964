"""Pages when the caller stops early, and the verb whose cursor has another name."""

from __future__ import annotations

from tests.client.ways import scripted, table

from tablewright import Engine
from tablewright.client import embedded, pages

START = {"pk": {"S": "a"}}


def test_a_page_nobody_asks_for_is_not_fetched() -> None:
    call, asked = scripted({"LastEvaluatedKey": START})
    assert next(pages(call, "Query", {"TableName": "pets"})) == {"LastEvaluatedKey": START}
    assert len(asked) == 1


def test_an_empty_page_is_not_the_end() -> None:
    call, _ = scripted({"Items": [], "LastEvaluatedKey": START}, {"Items": [1]})
    assert [page["Items"] for page in pages(call, "Scan", {})] == [[], [1]]


def test_a_start_that_is_given_is_sent() -> None:
    call, asked = scripted({"Items": []})
    list(pages(call, "Scan", {"ExclusiveStartKey": START}))
    assert asked == [{"ExclusiveStartKey": START}]


def test_lists_of_tables_are_walked_by_name(engine: Engine) -> None:
    for number in range(4):
        engine.call("CreateTable", table(f"table-{number}"))
    walk = pages(embedded(engine), "ListTables", {"Limit": 2})
    assert [page["TableNames"] for page in walk] == [["pets", "table-0"], ["table-1", "table-2"], ["table-3"]]
