"""verify names each kind of damage to the past; each test plants one and reads the sentence."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.engine.history_requests import back_up, recover, restore
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import definition, put

from tablewright.engine import verify_store
from tablewright.engine.history import chunks
from tablewright.engine.storage.sqlite import FILE


@pytest.fixture
def damaged(store: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """What verify says about a sound store with a checkpoint, two backups and a restore under way, after some SQL."""
    monkeypatch.setattr(chunks, "CUT_MASK", 3)
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition())
        for number in range(30):
            engine.call("PutItem", put(f"pet {number}", age=number))
        recover(engine)
        arn = back_up(engine)
        engine.settle()
        engine.call("PutItem", put("pet 3", age=33))
        back_up(engine)
        restore(engine, arn, "back")
        engine.call("PutItem", put("pet 4", age=34))
    assert verify_store(store) == []

    def damage(sql: str) -> list[str]:
        connection = apsw.Connection(str(store / FILE))
        connection.execute(sql)
        connection.close()
        return verify_store(store)

    return damage


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("UPDATE chunks SET body = x'00' WHERE rowid = 1", "does not have the content of its name"),
        ("UPDATE chunks SET body = (SELECT body FROM chunks WHERE rowid = 2) WHERE rowid = 1", "content of its name"),
        ("DELETE FROM chunks WHERE rowid = 1", "is missing"),
        ("DELETE FROM snapshot_chunks", "belongs to no snapshot"),
        ("DELETE FROM snapshot_chunks WHERE snapshot = 1", "snapshot 1 of table 1: counted 30 items"),
        ("UPDATE snapshot_chunks SET items = items + 1 WHERE snapshot = 1", "is in the wrong place"),
        ("UPDATE snapshot_chunks SET bytes = bytes + 1 WHERE snapshot = 1", "is recorded with"),
        ("UPDATE snapshot_chunks SET low = substr(low, 1, 6) WHERE snapshot = 1", "is in the wrong place"),
        ("UPDATE snapshots SET items = 7 WHERE id = 2", "counted 7 items"),
        ("UPDATE snapshots SET status = 'TIRED' WHERE id = 2", "its status TIRED is unknown"),
        ("UPDATE snapshots SET status = 'MAKING' WHERE id = 2", "it is MAKING, which does not fit its pin"),
        ("UPDATE snapshots SET status = 'MAKING' WHERE id = 2", "it has a key beyond its progress"),
        ("DELETE FROM snapshots WHERE id = 2", "its snapshot is missing"),
        ("DELETE FROM backups WHERE snapshot = 2", "snapshot 2 of table 1: it belongs to no backup"),
        ("UPDATE backups SET items = 99 WHERE snapshot = 2", "it holds 30 items, and its table had 99"),
        ("UPDATE backups SET source = (SELECT body FROM tables WHERE name = 'back')", "it is of another table"),
        ("DELETE FROM holds WHERE name LIKE 'restore%'", "is being restored without a pin"),
        ("UPDATE holds SET base = 99 WHERE name LIKE 'restore%'", "the snapshot 99 that it reads is missing"),
        ("UPDATE holds SET owner = 99, base = NULL, origin = NULL", "the table 99 that it reads is missing"),
        ("DELETE FROM journal WHERE seq < 32; UPDATE counts SET items = 31 WHERE owner = 'journal';"
         "UPDATE holds SET origin = 3 WHERE name LIKE 'snapshot%'", "it needs the journal from"),
        ("DELETE FROM restores", "the catalog and the records of restores differ"),
        ("DELETE FROM snapshots WHERE kind = 'CHECKPOINT'", "it has point-in-time recovery, and no checkpoint"),
        ("UPDATE snapshots SET seq = seq + 1", "differs from its checkpoint and the journal"),
        ("UPDATE journal SET new = NULL WHERE seq = 31", "differs from its checkpoint and the journal"),
        ("UPDATE journal SET new = old WHERE seq = 31", "journal: 31 changes nothing"),
        ("UPDATE journal SET new = NULL, old = NULL WHERE seq = 31", "journal: 31 changes nothing"),
        ("UPDATE journal SET new = NULL, old = NULL WHERE seq = 31; INSERT INTO counts VALUES('blanked', 31, 0)",
         "its table may be restored to that moment"),
        ("UPDATE journal SET new = NULL, old = NULL WHERE seq = 31; INSERT INTO counts VALUES('blanked', 31, 0);"
         "UPDATE tables SET body = CAST(json_set(CAST(body AS TEXT), '$.recovery_since', NULL) AS BLOB)",
         "and a pin needs it"),
        ("DELETE FROM t1 WHERE id = 9", "by its checkpoint and the journal there is an item"),
        ("DROP TABLE chunks", "the file lacks chunks"),
        ("UPDATE snapshot_chunks SET hash = 'text' WHERE snapshot = 1", "the history cannot be read to the end"),
    ],
)  # fmt: skip
def test_each_kind_of_damage_to_the_past_has_its_sentence(
    damaged: Callable[[str], list[str]], sql: str, sentence: str
) -> None:
    found = damaged(sql)
    assert any(sentence in one for one in found), found
