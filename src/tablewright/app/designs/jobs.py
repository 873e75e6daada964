"""Long work on the store: verify every invariant, count and measure a table."""

from collections import defaultdict
from typing import Any

from pydantic import JsonValue

from tablewright.app.designs.diagrams import owner_of
from tablewright.client import Call, pages, units_of
from tablewright.design import Design
from tablewright.engine import Engine
from tablewright.kit.system import Progress
from tablewright.values import item_size


def verify(engine: Engine, progress: Progress) -> JsonValue:
    """Every broken invariant, as a sentence."""
    progress(0, None, "")
    return {"broken": list(engine.verify())}


def measure(call: Call, physical: str, design: Design | None, table: str, progress: Progress) -> JsonValue:
    """Scan a table to its end: items and bytes, by entity."""
    total = call("DescribeTable", {"TableName": physical})["Table"]["ItemCount"]
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    units, done = 0.0, 0
    request = {"TableName": physical, "Limit": 500, "ReturnConsumedCapacity": "TOTAL"}
    for answer in pages(call, "Scan", request):
        units += sum(each.read for each in units_of("Scan", answer))
        for item in answer["Items"]:
            weight, count = item_size(item), counts[_name(design, table, item)]
            count[0], count[1], count[2] = count[0] + 1, count[1] + weight, max(count[2], weight)
        done += len(answer["Items"])
        progress(done, max(total, done), "items")
    entities: list[JsonValue] = [
        {"name": name, "items": count, "bytes": weight, "largest": largest}
        for name, (count, weight, largest) in sorted(counts.items(), key=lambda pair: -pair[1][1])
    ]
    whole = sum(weight for _, weight, _ in counts.values())
    return {"table": physical, "items": done, "bytes": whole, "units": units, "entities": entities}


def _name(design: Design | None, table: str, item: Any) -> str:
    owner = owner_of(design, table, item)
    return f"{owner.name} (guard)" if owner.kind == "guard" else owner.name
