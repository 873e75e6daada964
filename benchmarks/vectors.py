"""The CPU time of a search in a vector index, in process, with numpy and without.

    .venv/bin/python benchmarks/vectors.py                       # 1 000 and 10 000 vectors of 1 024 dimensions
    .venv/bin/python benchmarks/vectors.py --vectors 100000 --dimensions 256

CPU time and not time on the clock: one thread searches (OPENBLAS_NUM_THREADS=1), and others may use the machine.
"""

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from typing import Any

from tablewright import Engine
from tablewright.engine.vectors import search

TABLE: dict[str, Any] = {
    "TableName": "docs",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


def filled(engine: Engine, count: int, dimensions: int, chance: random.Random) -> float:
    """Write that many items; the CPU milliseconds of one."""
    index = {
        "IndexName": "near",
        "VectorAttribute": {"AttributeName": "v"},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": dimensions,
        "DistanceFunction": "COSINE",
    }
    engine.call("CreateTable", {**TABLE, "VectorIndexes": [index]})
    spent = 0.0
    for number in range(count):
        item = {"pk": {"S": str(number)}, "v": {"L": vector(dimensions, chance)}, "text": {"S": "x" * 100}}
        spent += cpu(lambda item=item: engine.call("PutItem", {"TableName": "docs", "Item": item}))  # type: ignore[misc]
    return spent / count


def vector(dimensions: int, chance: random.Random) -> list[dict[str, str]]:
    return [{"N": f"{chance.gauss(0, 0.03):.7f}"} for _ in range(dimensions)]


def cpu(work: Callable[[], object], times: int = 1) -> float:
    """CPU milliseconds of one."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begun) * 1000 / times


def measure(count: int, dimensions: int, rounds: int) -> None:
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as directory, Engine.open(directory, durability="relaxed") as engine:
        put = filled(engine, count, dimensions, chance)
        asked = {
            "TableName": "docs",
            "IndexName": "near",
            "SearchVector": vector(dimensions, chance),
            "TopK": 10,
        }
        found = {}
        best = search.intervals()
        for name, intervals in (("numpy", best), ("plain Python", search.plain_intervals)):
            if name == "numpy" and best is search.plain_intervals:
                continue  # it is not installed
            vars(search)["intervals"] = lambda intervals=intervals: intervals
            engine.call("SearchVectors", asked)
            found[name] = cpu(lambda: engine.call("SearchVectors", asked), rounds)
    searches = ", ".join(f"{name} {spent:.0f} ms" for name, spent in found.items())
    print(f"{count} vectors of {dimensions} dimensions: put {put:.1f} ms; search {searches}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--vectors", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--dimensions", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    original = search.intervals
    for count in given.vectors:
        vars(search)["intervals"] = original
        measure(count, given.dimensions, given.rounds)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
