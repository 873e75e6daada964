"""A process that is killed while it exports and imports loses nothing and does nothing twice.

The child (transfer_child.py) exports and imports in small pieces beside its writes. After each kill the store is
verified; what a manifest lists is whole; and in the end, when all that was asked for is done, each export holds exactly
what the journal says it should, each imported table has every item of its source, and each loaded one wrote every item
of its source once.
"""

import gzip
import hashlib
import json
import random
import sys
import time
from base64 import b64encode
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests import fork_server
from tests.crash import transfer_child
from tests.crash.ledger import everything
from tests.crash.transfer_child import KEY, START

from tablewright import Engine, testing
from tablewright.engine import verify_store
from tablewright.engine.storage.sqlite import Storage
from tablewright.engine.transfer.store import BULK_OPERATIONS, EXPORTS, IMPORTS

KILLS = 5
OLD_ITEMS = 400
SOURCE_OBJECTS = 5
SOURCE_ITEMS = 150
PATIENCE = 60.0
Json = dict[str, Any]


def prepare(store: Path) -> None:
    """A table with recovery and a past, and objects to import."""
    with Engine.open(store, durability="relaxed", world=testing.Clock(START).world()) as engine:
        engine.call("CreateTable", KEY | {"TableName": "pets"})
        specification = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups",
            {"TableName": "pets", "PointInTimeRecoverySpecification": specification},
        )
        for number in range(OLD_ITEMS):
            item = {"pk": {"S": f"old {number}"}, "colour": {"S": f"c{number % 5}"}}
            engine.call("PutItem", {"TableName": "pets", "Item": item})
    source = store / "buckets" / "source"
    source.mkdir(parents=True)
    for place in range(SOURCE_OBJECTS):
        lines = [json.dumps({"Item": item}) for item in source_items(place)]
        (source / f"part-{place}.json").write_text("\n".join(lines))


def source_items(place: int) -> list[Json]:
    return [
        {"pk": {"S": f"item {place} {number}"}, "colour": {"S": f"c{number % 7}"}}
        for number in range(SOURCE_ITEMS)
    ]


def killed(store: Path, turn: int) -> int:
    """Start a child on the store and kill it at some moment of its work; how many writes it told of."""
    told = store.with_name(f"told-{turn}")
    with told.open("wb") as out:
        process = fork_server.start([sys.executable, transfer_child.__file__, store, str(turn)], stdout=out)
        try:
            give_up = time.monotonic() + PATIENCE
            while "asked " not in told.read_text():
                assert process.poll() is None, "the child ended by itself"
                assert time.monotonic() < give_up, "the child does not answer"
                time.sleep(0.01)
            time.sleep(random.uniform(0, 1.0))
            assert process.poll() is None, "the child ended by itself"
        finally:
            process.kill()
            process.wait(PATIENCE)
    return max(
        [int(line.split()[2]) for line in told.read_text().split("\n")[:-1] if line.startswith("new ")]
    )


def test_a_kill_among_exports_and_imports_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    prepare(store)
    promises: dict[int, int] = {}
    halfway = 0
    for turn in range(KILLS):
        promises[turn] = killed(store, turn)
        assert verify_store(store) == []
        listed = [check_files(store / "buckets" / "vault", path) for path in summaries(store)]
        halfway += under_way(store)
        assert all(listed)
    # A child that had nothing left to do when it was killed would prove nothing.
    assert halfway > 0
    clock = testing.Clock(START + timedelta(hours=KILLS + 2))
    with Engine.open(store, world=clock.world()) as engine:
        engine.settle()
        assert engine.verify() == []
        held = everything(engine, "pets")
        for turn, last in promises.items():
            assert [n for n in range(1, last + 1) if f"new {turn} {n}" not in held] == []
        check_exports(engine, store)
        check_imports(engine)
        check_loads(engine)


def under_way(store: Path) -> int:
    """Exports, imports and loads that were cut off in the middle."""
    storage = Storage(store, "relaxed")
    try:
        cut = [one for one in EXPORTS.all(storage.writes) if one.status == "IN_PROGRESS" and one.done]
        read = [one for one in IMPORTS.all(storage.writes) if one.status == "IN_PROGRESS" and one.object]
        loads = BULK_OPERATIONS.all(storage.writes)
        loaded = [one for one in loads if one.status == "IN_PROGRESS" and one.object]
        return len(cut) + len(read) + len(loaded)
    finally:
        storage.close()


def summaries(store: Path) -> list[Path]:
    return list((store / "buckets" / "vault").rglob("manifest-summary.json"))


def check_files(bucket: Path, path: Path) -> Json:
    """Whoever finds a summary finds every file it leads to, whole."""
    summary: Json = json.loads(path.read_bytes())
    lines: list[Json] = []
    for line in (bucket / summary["manifestFilesS3Key"]).read_bytes().splitlines():
        file = json.loads(line)
        body = (bucket / file["dataFileS3Key"]).read_bytes()
        assert file["md5Checksum"] == b64encode(hashlib.md5(body).digest()).decode()
        text = gzip.decompress(body).splitlines()
        assert len(text) == file["itemCount"]
        lines += [json.loads(one) for one in text]
    assert len(lines) == summary["itemCount"]
    return {"summary": summary, "lines": lines}


def check_exports(engine: Engine, store: Path) -> None:
    """Each export tells what the journal says, each key once."""
    rows = engine._storage.writes
    journal = [row for row in rows.journal() if row[3] == 1]
    made = {export.arn: export for export in EXPORTS.all(rows)}
    assert {export.status for export in made.values()} == {"COMPLETED"}
    found = [check_files(store / "buckets" / "vault", path) for path in summaries(store)]
    assert {one["summary"]["exportArn"] for one in found} == made.keys()
    for one in found:
        export = made[one["summary"]["exportArn"]]
        kind = "Item" if one["summary"]["exportType"] == "FULL_EXPORT" else "NewImage"
        first = 0 if kind == "Item" else export.first
        state: dict[bytes, Json] = {}
        for seq, _, _, _, key, _, new in journal:
            if first <= seq <= export.last and new is not None:
                state[key] = json.loads(new)
        images = [line[kind] for line in one["lines"]]
        assert sorted(images, key=json.dumps) == sorted(state.values(), key=json.dumps)


def check_imports(engine: Engine) -> None:
    rows = engine._storage.writes
    items = [item for place in range(SOURCE_OBJECTS) for item in source_items(place)]
    made = IMPORTS.all(rows)
    assert len(made) >= KILLS
    for job in made:
        assert (job.status, job.processed, job.imported, job.errors) == (
            "COMPLETED",
            len(items),
            len(items),
            0,
        )
        table = job.arn.rpartition("/import/")[0].rpartition("/")[2]
        assert everything(engine, table) == {item["pk"]["S"]: item for item in items}
        assert len(everything(engine, table, "by-colour")) == len(items)


def check_loads(engine: Engine) -> None:
    """Each loaded table has every item of its source, written once."""
    rows, expected = engine._storage.writes, SOURCE_OBJECTS * SOURCE_ITEMS
    loads = BULK_OPERATIONS.all(rows)
    assert loads
    journal = list(rows.journal())
    for load in loads:
        assert (load.status, load.processed, load.errors) == ("COMPLETED", expected, 0)
        (name,) = (one.name for one in engine.tables.values() if one.number == load.owner)
        assert len(everything(engine, name)) == expected
        assert sum(one[3] == load.owner for one in journal) == expected
