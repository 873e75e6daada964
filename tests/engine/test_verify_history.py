"""verify names each kind of damage to the past; each test plants one and reads the sentence."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.engine.pasts import back_up, recover, restore
from tests.engine.tables import definition, put
from tests.engine.unkept import UnkeptEngine

from tablewright.engine import chunks, verify
from tablewright.engine.storage import FILE


@pytest.fixture
def damaged(store: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """What verify says about a sound store with a checkpoint, two backups and a restore under way, after some SQL."""
    monkeypatch.setattr(chunks, "CUT_MASK", 3)
    with UnkeptEngine.unkept(store) as engine:
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
    assert verify(store) == []

    def damage(sql: str) -> list[str]:
        connection = apsw.Connection(str(store / FILE))
        connection.execute(sql)
        connection.close()
        return verify(store)

    return damage


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("UPDATE chunks SET body = x'00' WHERE rowid = 1", "is not what its name says"),
        ("UPDATE chunks SET body = (SELECT body FROM chunks WHERE rowid = 2) WHERE rowid = 1", "what its name says"),
        ("DELETE FROM chunks WHERE rowid = 1", "is not there"),
        ("DELETE FROM snapshot_chunks", "belongs to no snapshot"),
        ("DELETE FROM snapshot_chunks WHERE snapshot = 1", "snapshot 1 of table 1: counted 30 items"),
        ("UPDATE snapshot_chunks SET items = items + 1 WHERE snapshot = 1", "does not belong where it stands"),
        ("UPDATE snapshot_chunks SET bytes = bytes + 1 WHERE snapshot = 1", "is said to have"),
        ("UPDATE snapshot_chunks SET low = substr(low, 1, 6) WHERE snapshot = 1", "does not belong where it stands"),
        ("UPDATE snapshots SET items = 7 WHERE id = 2", "counted 7 items"),
        ("UPDATE snapshots SET status = 'TIRED' WHERE id = 2", "nobody knows the status TIRED"),
        ("UPDATE snapshots SET status = 'MAKING' WHERE id = 2", "it is MAKING, and its hold is not"),
        ("UPDATE snapshots SET status = 'MAKING' WHERE id = 2", "it has a key it has not come to"),
        ("DELETE FROM snapshots WHERE id = 2", "there is no snapshot of it"),
        ("DELETE FROM backups WHERE snapshot = 2", "snapshot 2 of table 1: it belongs to no backup"),
        ("UPDATE backups SET items = 99 WHERE snapshot = 2", "it holds 30 items, and its table had 99"),
        ("UPDATE backups SET source = (SELECT body FROM tables WHERE name = 'back')", "it is of another table"),
        ("DELETE FROM holds WHERE name LIKE 'restore%'", "is being restored from nothing"),
        ("UPDATE holds SET base = 99 WHERE name LIKE 'restore%'", "the snapshot 99 that it reads is not there"),
        ("UPDATE holds SET owner = 99, base = NULL, origin = NULL", "the table 99 that it reads is not there"),
        ("DELETE FROM journal WHERE seq < 32; UPDATE counts SET items = 31 WHERE owner = 'journal';"
         "UPDATE holds SET origin = 3 WHERE name LIKE 'snapshot%'", "it needs the journal from"),
        ("DELETE FROM restores", "the catalog and the restores say different things"),
        ("DELETE FROM snapshots WHERE kind = 'CHECKPOINT'", "it has recovery, and no checkpoint"),
        ("UPDATE snapshots SET seq = seq + 1", "is not what its checkpoint and the journal say"),
        ("UPDATE journal SET new = NULL WHERE seq = 31", "is not what its checkpoint and the journal say"),
        ("UPDATE journal SET new = old WHERE seq = 31", "journal: 31 changes nothing"),
        ("UPDATE journal SET new = NULL, old = NULL WHERE seq = 31", "journal: 31 changes nothing"),
        ("UPDATE journal SET new = NULL, old = NULL WHERE seq = 31; INSERT INTO counts VALUES('blanked', 31, 0)",
         "its table may be restored to that moment"),
        ("UPDATE journal SET new = NULL, old = NULL WHERE seq = 31; INSERT INTO counts VALUES('blanked', 31, 0);"
         "UPDATE tables SET body = CAST(json_set(CAST(body AS TEXT), '$.recovery_since', NULL) AS BLOB)",
         "and somebody reads it"),
        ("DELETE FROM t1 WHERE id = 9", "its checkpoint and the journal say there is an item"),
        ("DROP TABLE chunks", "the file lacks chunks"),
        ("UPDATE snapshot_chunks SET hash = 'text' WHERE snapshot = 1", "the past cannot be read to the end"),
    ],
)  # fmt: skip
def test_each_kind_of_damage_to_the_past_has_its_sentence(
    damaged: Callable[[str], list[str]], sql: str, sentence: str
) -> None:
    found = damaged(sql)
    assert any(sentence in one for one in found), found
