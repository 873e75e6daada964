"""Units of every access pattern on the demo worlds: as the design predicts them, and as the engine counts them.

    .venv/bin/python benchmarks/units.py               # a summary, and each pattern that differs
    .venv/bin/python benchmarks/units.py --markdown    # the table of docs/cost.md
    .venv/bin/python benchmarks/units.py --patterns > docs/units.md

Arguments are taken from items of the demo world, so that each pattern finds something; where the demo has none, sample
items of the stated size are put. Each pattern is predicted twice:
for the load that its design states, and for the bytes that were really read, which tests the arithmetic alone.
Must hold: a pattern that cannot be run is named, with the reason. Elsewhere: the same for items of exact sizes, and for
writes (tests/design/test_cost_engine.py).
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from inspect import Parameter
from typing import Any

from tablewright.app.runtime import open_app
from tablewright.app.systems import SYSTEMS
from tablewright.design import Design
from tablewright.design.attributes import without_none
from tablewright.design.cost.calls import calls_of
from tablewright.design.errors import DesignMistake
from tablewright.design.patterns import Plan, get, query
from tablewright.design.requests import Write
from tablewright.design.units import read_units
from tablewright.mapping import Db
from tablewright.mapping.items import model_of, shape_of
from tablewright.mapping.load.samples import GROUP, sample_arguments, sample_item
from tablewright.mapping.read_requests import get_request, query_request
from tablewright.values import Item, item_size

SAMPLES = 25
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Read:
    """One run of a pattern: units as counted, and the bytes of each partition it read."""

    units: Decimal
    bytes: tuple[int, ...]
    items: int


@dataclass(frozen=True, slots=True)
class Row:
    """A pattern: its stated load, how it was predicted and measured per call, and why they differ."""

    design: str
    plan: Plan
    predicted: Decimal | None
    reads: tuple[Read, ...]
    is_demo: bool = True
    problem: str = ""

    @property
    def measured(self) -> Decimal:
        return sum((read.units for read in self.reads), Decimal()) / len(self.reads)

    @property
    def is_model_exact(self) -> bool:
        """Whether the arithmetic gives what was counted, for the bytes that were read, in every run."""
        return all(read.units == _model(self.plan, read) for read in self.reads)

    @property
    def verdict(self) -> str:
        if self.problem:
            return "not run"
        if self.predicted is None:
            return "no load stated"
        off = abs(self.measured - self.predicted)
        return "exact" if not off else "within 10 %" if off <= self.predicted / 10 else "differs"

    @property
    def reason(self) -> str:
        if self.problem or self.verdict != "differs":
            return self.problem
        load, count = self.plan.load, len(self.reads)
        items = sum(read.items for read in self.reads) / count
        size = sum(sum(read.bytes) for read in self.reads) / max(sum(read.items for read in self.reads), 1)
        stated = f"{load.items:g} of {load.item_bytes} bytes stated" if load else ""
        words = f"{items:.3g} items of {size:.0f} bytes {'in the demo' if self.is_demo else 'as samples'}, {stated}"
        return words if self.is_model_exact else f"UNEXPLAINED; {words}"


def _model(plan: Plan, read: Read) -> Decimal:
    """The units of the bytes that were read, each partition rounded for itself."""
    units = (read_units(size, consistent=plan.consistent) for size in read.bytes)
    return sum(units, Decimal())


def rows_of(design: Design, db: Db) -> Iterator[Row]:
    stored = {name: list(_scan(db, name)) for name in design.tables}
    for plan in design.plans:
        yield _row(design, db, plan, stored[plan.table.name])


def _row(design: Design, db: Db, plan: Plan, stored: Sequence[Item]) -> Row:
    found: dict[str, Mapping[str, Any]] = {}
    for item in stored:
        shape = shape_of(plan.shapes, item)
        # An item without the index's keys is not in it.
        if shape is not None and all(key.name in item for key in plan.keys_of(shape)):
            arguments = _arguments(plan, model_of(shape, item).__dict__)
            if arguments is not None:
                found.setdefault(repr(arguments), arguments)
        if len(found) == SAMPLES:
            break
    is_demo = bool(found)
    if not found:
        found = _samples(db, plan)
    reads, problem = [], ""
    for arguments in found.values():
        try:
            reads.append(_read(db, plan, arguments))
        except DesignMistake as mistake:
            problem = str(mistake)
    return Row(design.name, plan, _predicted(design, plan), tuple(reads), is_demo, "" if reads else problem)


def _samples(db: Db, plan: Plan) -> dict[str, Mapping[str, Any]]:
    """Arguments that find sample items of the stated size, which are put for it, where the demo has none."""
    size = plan.load.item_bytes if plan.load else 0
    shape = plan.shapes[0]
    made = [sample_item(shape, number, size) for number in range(GROUP)]
    writes: list[Write[Any]] = [
        Write("put", shape, shape.key_of(item.__dict__), item.__dict__, item=item) for item in made
    ]
    db.batch({repr(write.key): write for write in writes}.values())
    return {"": sample_arguments(plan, 0)}


def _predicted(design: Design, plan: Plan) -> Decimal | None:
    """Of one call: a get is one key, a query all of its shards."""
    if plan.load is None:
        return None
    load = plan.load
    if plan.kind == "get":
        return read_units(load.item_bytes, consistent=plan.consistent, transaction=load.transaction)
    (call,) = (call for call in calls_of(design) if call.name == plan.name)
    return call.units


def _arguments(plan: Plan, values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """From the fields of an item; the ends of a time range, which no field has, are far away."""
    given: dict[str, Any] = {}
    for name, parameter in plan.signature.parameters.items():
        bare, optional = without_none(parameter.annotation)
        if name in values and values[name] is not None:
            given[name] = values[name]
        elif parameter.default is not Parameter.empty:
            given[name] = parameter.default
        elif optional:
            given[name] = None
        elif bare is datetime:
            given[name] = _EPOCH + timedelta(
                days=365 * (60 if name in ("end", "until", "to", "before") else 0)
            )
        else:
            return None
    return given


def _read(db: Db, plan: Plan, arguments: Mapping[str, Any]) -> Read:
    if plan.kind == "get":
        answer = _call(db, "GetItem", get_request(get(plan, arguments), db.physical, plan.consistent))
        item = answer.get("Item")
        return Read(_units(answer), (item_size(item) if item else 0,), int(item is not None))
    asked, now = query(plan, arguments), int(db.world.now().timestamp())
    units, sizes, items = Decimal(), [], 0
    for partition in asked.partitions:
        request = query_request(asked, partition, db.physical, now) | {"Limit": plan.page + 1}
        # What expired or was deleted is paid for too: without the filter it is counted among what was read.
        names = request.pop("FilterExpression", None)
        answer = _call(db, "Query", request if names is None else _without_unused(request))
        units += _units(answer)
        sizes.append(sum(map(item_size, answer["Items"])))
        items += answer["Count"]
    return Read(units, tuple(sizes), items)


def _without_unused(request: dict[str, Any]) -> dict[str, Any]:
    """Placeholders that only the filter had are refused."""
    text = f"{request['KeyConditionExpression']} {request.get('ProjectionExpression', '')}"
    words = set(text.replace("(", " ").replace(")", " ").replace(",", " ").split())
    for part in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        kept = {name: value for name, value in request.get(part, {}).items() if name in words}
        request = {**request, part: kept} if kept else {k: v for k, v in request.items() if k != part}
    return request


def _call(db: Db, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
    return db.call(verb, {**request, "ReturnConsumedCapacity": "TOTAL"})


def _units(answer: Mapping[str, Any]) -> Decimal:
    return Decimal(str(answer["ConsumedCapacity"]["CapacityUnits"]))


def _scan(db: Db, table: str) -> Iterator[Item]:
    more: dict[str, Any] = {}
    while True:
        answer = db.call("Scan", {"TableName": db.physical(table), **more})
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        more = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


VERDICTS = ("exact", "within 10 %", "differs", "no load stated", "not run")


def summary(rows: Sequence[Row], markdown: bool) -> str:
    head = ("design", "patterns", *VERDICTS, "arithmetic exact")
    lines: list[tuple[str, ...]] = [head]
    for design in dict.fromkeys(row.design for row in rows):
        own = [row for row in rows if row.design == design]
        counts = [str(sum(row.verdict == verdict for row in own)) for verdict in VERDICTS]
        ran = [row for row in own if row.reads]
        lines.append(
            (design, str(len(own)), *counts, f"{sum(row.is_model_exact for row in ran)} of {len(ran)}")
        )
    if not markdown:
        return "\n".join("  ".join(cell.ljust(16) for cell in line).rstrip() for line in lines)
    table = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([table[0], "|" + " --- |" * len(head), *table[1:]])


PATTERNS = """# Predicted and measured read units of every access pattern

Printed by `python benchmarks/units.py --patterns`; [docs/cost.md](cost.md) says how it is done. **Stated**: items of a
call and their bytes, as the design states them, and the units that `design cost` predicts from them. **Demo**: items
and bytes that a call found in the demo world (up to 25 calls, means; * where the demo has none and samples were put),
the units that the same arithmetic gives for these bytes, and the units that the engine counted.
"""


def patterns(rows: Sequence[Row]) -> str:
    """Every pattern of every design, as a page."""
    parts = [PATTERNS]
    head = ("pattern", "stated", "predicted", "demo", "by the arithmetic", "counted")
    for design in dict.fromkeys(row.design for row in rows):
        parts += [f"\n## {design}\n", f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
        parts += [_pattern(row) for row in rows if row.design == design]
    return "\n".join(parts)


def _pattern(row: Row) -> str:
    if not row.reads:
        return f"| `{row.plan.name}` | not run: {row.problem} | | | | |"
    load, count = row.plan.load, len(row.reads)
    items = sum(read.items for read in row.reads)
    size = sum(sum(read.bytes) for read in row.reads) / max(items, 1)
    computed = sum((_model(row.plan, read) for read in row.reads), Decimal()) / count
    stated = f"{load.items:g} x {load.item_bytes} B" if load else "-"
    demo = f"{items / count:.3g} x {size:.0f} B{'' if row.is_demo else ' *'}"
    units = "-" if row.predicted is None else f"{row.predicted:g}"
    return f"| `{row.plan.name}` | {stated} | {units} | {demo} | {computed:.2f} | {row.measured:.2f} |"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Predicted and measured read units of every pattern.")
    parser.add_argument("--markdown", action="store_true", help="only the summary, as a table in Markdown")
    parser.add_argument("--patterns", action="store_true", help="every pattern, as a page in Markdown")
    given = parser.parse_args(words)
    with open_app(memory=True, jobs=False) as runtime:
        shipped = {design.name for system in SYSTEMS for design in system.designs}
        rows = [row for name, at in runtime.designs.items() if name in shipped for row in rows_of(*at)]
    print(patterns(rows) if given.patterns else summary(rows, given.markdown))
    unexplained = [row for row in rows if row.reason.startswith("UNEXPLAINED")]
    if not given.markdown and not given.patterns:
        for row in rows:
            if row.reason:
                figures = f"{row.predicted} predicted, {row.measured:.2f} measured: " if row.reads else ""
                print(f"{row.design}.{row.plan.name}: {figures}{row.reason}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
