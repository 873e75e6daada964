"""Which rights a call needs, and documents with one right less. Whether a document gives a right is decided by
design/iam_evaluation.py. Transactions have no action of their own: each of their parts needs the right to what it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tablewright.design.iam_evaluation import AccessRequest as Right
from tablewright.design.iam_evaluation import allows, several

__all__ = ["Recorder", "Right", "allows", "pairs", "without"]

Json = Mapping[str, Any]
TRANSACTED = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
SINGLE = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan")


class Recorder:
    """A Call that remembers what rights were needed; keys of tables are told with `pk`, by the tables' names."""

    def __init__(self, call: Any, pk: Mapping[str, str]) -> None:
        self._call, self._pk = call, pk
        self._iterators: dict[str, str] = {}
        self.is_on = False
        self.needed: set[Right] = set()

    def __call__(self, verb: str, request: Json) -> Any:
        if self.is_on:
            self.needed.update(self._rights(verb, request))
        answer = self._call(verb, request)
        if verb == "GetShardIterator":
            self._iterators[answer["ShardIterator"]] = request["StreamArn"]
        if verb == "GetRecords" and answer.get("NextShardIterator"):
            self._iterators[answer["NextShardIterator"]] = self._iterators[request["ShardIterator"]]
        return answer

    def _rights(self, verb: str, request: Json) -> Iterator[Right]:
        if verb in SINGLE:
            index = f"/index/{request['IndexName']}" if "IndexName" in request else ""
            yield self._on(verb, request["TableName"], index, self._leading(request))
        elif verb in ("BatchGetItem", "BatchWriteItem"):
            for table in request["RequestItems"]:
                yield self._on(verb, table)
        elif verb in ("TransactWriteItems", "TransactGetItems"):
            for part in request["TransactItems"]:
                for action, body in part.items():
                    yield self._on(TRANSACTED[action], body["TableName"])
        elif verb == "ListStreams":
            yield self._on(verb, request["TableName"], "/stream/2030")
        else:
            stream = request.get("StreamArn") or self._iterators.get(request.get("ShardIterator", ""))
            assert stream is not None, f"{verb} is none of a service's"
            yield Right(f"dynamodb:{verb}", stream.partition(":table/")[2].join(("table/", "")))

    def _on(self, verb: str, table: str, under: str = "", leading: tuple[str, ...] | None = None) -> Right:
        return Right(f"dynamodb:{verb}", f"table/{table}{under}", leading)

    def _leading(self, request: Json) -> tuple[str, ...] | None:
        if "KeyConditionExpression" in request:
            # mapping writes the partition first, as one equation.
            name = re.match(r"\(?\S+ = (:\w+)", request["KeyConditionExpression"])
            assert name is not None
            return tuple(request["ExpressionAttributeValues"][name[1]].values())
        key = request.get("Key") or request.get("Item")
        return tuple(key[self._pk[request["TableName"]]].values()) if key else None


def pairs(document: Json) -> list[tuple[str, str]]:
    """Every action and resource that is allowed."""
    return [
        (action, resource)
        for statement in document["Statement"]
        if statement["Effect"] == "Allow"
        for action in several(statement["Action"])
        for resource in several(statement["Resource"])
    ]


def without(document: Json, action: str, resource: str) -> dict[str, Any]:
    """The document, less one right."""
    kept = []
    for statement in document["Statement"]:
        if statement["Effect"] == "Deny":
            kept.append(statement)
            continue
        each = product(several(statement["Action"]), several(statement["Resource"]))
        kept += [
            {**statement, "Action": [a], "Resource": [r]} for a, r in each if (a, r) != (action, resource)
        ]
    return {**document, "Statement": kept}
