"""The engine and the model side by side: each write goes to both, and both must say the same.

Must hold: where the model refuses, the engine refuses in the same way, and neither has changed.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import pytest
from tests.properties.model import Failed, Refused, Table
from tests.properties.operations import Deed
from tests.properties.plain import item_size
from tests.properties.reads import check_in_full
from tests.properties.requests import Request

from tablewright import Engine, ServiceError

VERBS = {"Put": "PutItem", "Delete": "DeleteItem", "Update": "UpdateItem"}
SHOW_FAILED = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


class Canceled(Exception):
    """The engine must cancel the transaction; with these codes, where the model knows them."""

    def __init__(self, codes: list[str] | None) -> None:
        super().__init__()
        self.codes = codes


def write(engine: Engine, tables: dict[str, Table], deed: Deed, wanted: str = "ALL_OLD") -> None:
    """One write by itself; `wanted` is the image it answers with."""
    request = deed.request | SHOW_FAILED | {"ReturnValues": wanted}
    answer, known = compare(engine, tables, VERBS[deed.kind], request, deed.on_model)
    if answer is not None:
        # An update knows both images, the others only what was there.
        old, new = known if deed.kind == "Update" else (known, None)
        assert answer.get("Attributes") == (old if wanted == "ALL_OLD" else new)


def write_batch(engine: Engine, tables: dict[str, Table], deeds: Sequence[Deed]) -> None:
    asked: dict[str, list[Request]] = {}
    for deed in deeds:
        member = "Item" if deed.kind == "Put" else "Key"
        one = {f"{deed.kind}Request": {member: deed.request[member]}}
        asked.setdefault(deed.request["TableName"], []).append(one)
    compare(engine, tables, "BatchWriteItem", {"RequestItems": asked}, lambda: _all(deeds))


def transact(
    engine: Engine, tables: dict[str, Table], deeds: Sequence[Deed], token: str | None
) -> Request | None:
    """The request, if it was carried out."""
    request: Request = {"TransactItems": [{deed.kind: deed.request} for deed in deeds]}
    if token is not None:
        request["ClientRequestToken"] = token
    answer, _ = compare(engine, tables, "TransactWriteItems", request, lambda: _all_or_nothing(deeds))
    return request if answer is not None else None


def compare(
    engine: Engine, tables: dict[str, Table], verb: str, request: Request, model: Callable[[], Any]
) -> tuple[Request | None, Any]:
    """The engine's answer and the model's; None for both where both refuse, in the same way."""
    sent = deepcopy(request)
    before = {name: (dict(table.items), table.changes) for name, table in tables.items()}
    try:
        expected = model()
    except (Refused, Failed, Canceled) as mistake:
        for name, table in tables.items():
            table.items, table.changes = before[name]
        with pytest.raises(ServiceError) as refused:
            engine.call(verb, request)
        assert request == sent
        _same_mistake(refused.value, mistake)
        return None, None
    answer = engine.call(verb, request)
    assert request == sent
    return answer, expected


def _same_mistake(answered: ServiceError, mistake: Refused | Failed | Canceled) -> None:
    match mistake:
        case Refused():
            assert answered.name == "ValidationException"
        case Failed(found=found):
            assert answered.name == "ConditionalCheckFailedException"
            assert answered.fields.get("Item") == found
        case Canceled(codes=None):
            assert answered.name in ("TransactionCanceledException", "ValidationException")
        case Canceled(codes=codes):
            assert answered.name == "TransactionCanceledException"
            assert [reason["Code"] for reason in answered.fields["CancellationReasons"]] == codes


def _all(deeds: Sequence[Deed]) -> None:
    """All of them, unless one of them is refused."""
    if len({deed.place for deed in deeds}) != len(deeds):
        raise Refused
    for deed in deeds:
        deed.on_model()


def _all_or_nothing(deeds: Sequence[Deed]) -> None:
    """All of them or none. They are about different items, so that each sees what was there before."""
    if len({deed.place for deed in deeds}) != len(deeds):
        raise Canceled(None)
    codes: list[str] = []
    for deed in deeds:
        try:
            deed.on_model()
            codes.append("None")
        except Refused:
            codes.append("ValidationError")
        except Failed:
            codes.append("ConditionalCheckFailed")
    if "ValidationError" in codes:
        # An action that is wrong in itself is told before any condition is looked at.
        raise Canceled(None)
    if "ConditionalCheckFailed" in codes:
        raise Canceled(codes)


def compare_in_full(engine: Engine, table: Table) -> None:
    """Every item of the table and of each index, and what DescribeTable counts of them."""
    described = engine.call("DescribeTable", {"TableName": table.name})["Table"]
    check_in_full(engine, table, None)
    assert described["ItemCount"] == len(table.items)
    assert described["TableSizeBytes"] == sum(map(item_size, table.items.values()))
    shown = described_indexes(described)
    assert shown.keys() == table.shape.indexes.keys()
    for index in table.shape.indexes.values():
        check_in_full(engine, table, index)
        assert shown[index.name]["ItemCount"] == len(table.view(index))
        assert shown[index.name]["IndexSizeBytes"] == sum(map(item_size, table.view(index)))


def described_indexes(described: Request) -> dict[str, Request]:
    both: list[Request] = described.get("GlobalSecondaryIndexes", []) + described.get(
        "LocalSecondaryIndexes", []
    )
    return {index["IndexName"]: index for index in both}
