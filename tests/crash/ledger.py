"""What a killed process promised, and whether the store keeps it.

Elsewhere: the process and its promises (child.py).
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.child import ACCOUNTS, add, key

from tablewright import Engine

Json = dict[str, Any]
LEDGER: Json = {
    "TableName": "ledger",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
ATTIC = LEDGER | {"TableName": "attic"}


def prepare(directory: Path, filled: tuple[str, ...] = (), rows: int = 1500) -> None:
    """A store with the ledger's accounts, and `rows` items in each of the tables named."""
    with Engine.open(directory, durability="relaxed") as engine:
        for table in (LEDGER, ATTIC):
            engine.call("CreateTable", table)
        for number in range(ACCOUNTS):
            engine.call("UpdateItem", add(f"account {number}", 100))
        for name in filled:
            for first in range(0, rows, 25):
                puts = [{"PutRequest": {"Item": old(number)}} for number in range(first, first + 25)]
                engine.call("BatchWriteItem", {"RequestItems": {name: puts}})


def old(number: int) -> Json:
    return {**key(f"old {number}"), "colour": {"S": f"c{number % 7}"}}


@dataclass
class Promises:
    """Everything that was told, by who told it: for each kind the numbers, of which the last counts most."""

    description: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    plots: int = 0

    def hear(self, lines: str) -> None:
        # A kill may cut the last line short; a promise that was not finished was not made.
        for line in lines.split("\n")[:-1]:
            if line == "plot":
                self.plots += 1
                continue
            kind, who, number = line.split()
            self.description.setdefault((kind, who), []).append(int(number))

    def __len__(self) -> int:
        return sum(map(len, self.description.values()))


def broken(engine: Engine, promises: Promises) -> list[str]:
    """Each promise the store does not keep, as a sentence."""
    items = everything(engine, "ledger")
    mistakes: list[str] = []
    for (kind, who), numbers in promises.description.items():
        last = numbers[-1]
        for number in numbers:
            names = {
                "new": [],  # it may be gone by now; see "gone"
                "pair": [f"left {who} {number}", f"right {who} {number}"],
                "batch": [f"batch{n} {who} {number}" for n in range(3)],
            }.get(kind, [])
            mistakes += [f"{name} was answered and is not there" for name in names if name not in items]
        if kind == "new":
            gone = promises.description.get(("gone", who), [0])[-1]
            # Only the newest may be on its way out when the end comes.
            if last > gone and f"new {who} {last}" not in items and f"left {who} {last}" not in items:
                mistakes.append(f"new {who} {last} was answered and is not there")
        if kind == "gone":
            mistakes += [
                f"new {who} {n} was deleted and is there" for n in numbers if f"new {who} {n}" in items
            ]
        if kind == "latest" and int(items[f"latest {who}"]["number"]["N"]) not in (last, last + 1):
            mistakes.append(f"latest {who} is {items[f'latest {who}']['number']['N']}, answered was {last}")
        if kind == "count" and int(items[f"count {who}"]["amount"]["N"]) not in (last, last + 1):
            mistakes.append(f"count {who} is {items[f'count {who}']['amount']['N']}, answered was {last}")
    return mistakes + half_done(items)


def half_done(items: dict[str, Json]) -> list[str]:
    """Transactions of which the store holds a part, answered or not."""
    mistakes = []
    for name in items:
        side, _, rest = name.partition(" ")
        other = {"left": "right", "right": "left"}.get(side)
        if other is not None and f"{other} {rest}" not in items:
            mistakes.append(f"{name} is there without its other half")
    total = sum(int(items[f"account {number}"]["amount"]["N"]) for number in range(ACCOUNTS))
    if total != 100 * ACCOUNTS:
        mistakes.append(f"the accounts hold {total}, not {100 * ACCOUNTS}")
    return mistakes


def everything(engine: Engine, table: str, index: str | None = None) -> dict[str, Json]:
    items: dict[str, Json] = {}
    request: Json = {"TableName": table} | ({} if index is None else {"IndexName": index})
    while True:
        page = engine.call("Scan", request)
        items |= {item["pk"]["S"]: item for item in page["Items"]}
        if "LastEvaluatedKey" not in page:
            return items
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
