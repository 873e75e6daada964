"""verify names what is broken about exports and imports; each test plants one damage and reads the sentence."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import definition, item, put
from tests.engine.transfer_requests import export, import_some, put_lines, recoverable

from tablewright.engine import verify_store
from tablewright.engine.storage.sqlite import FILE


@pytest.fixture
def damaged(store: Path) -> Callable[[str], list[str]]:
    """What verify says after some SQL. Export and import 1 are done, export and import 2 are under way."""
    put_lines(store / "buckets", "x", item("rex"), {"no": {"S": "key"}})
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("rex"))
        recoverable(engine)
        export(engine)
        import_some(engine, "x")
        engine.settle()
        export(engine)
        import_some(engine, "x", parameters={"TableName": "others"})
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
        ("UPDATE exports SET status = 'LOST' WHERE id = 1", "its status is LOST"),
        ("UPDATE exports SET closed = NULL WHERE id = 1", "has an end, or has ended without one"),
        ("UPDATE exports SET status = 'FAILED' WHERE id = 1", "failed without a reason"),
        ("UPDATE exports SET status = 'COMPLETED', closed = at WHERE id = 2", "its files are not"),
        ("UPDATE exports SET items = 7 WHERE id = 1", "its files have 1 items, it has 7"),
        ("UPDATE exports SET body = CAST('{}' AS BLOB) WHERE id = 1", "exports and imports"),
        (
            """UPDATE exports SET body = CAST('{"told":{}}' AS BLOB) WHERE id = 1""",
            "its description lacks ExportArn",
        ),
        ("UPDATE exports SET arn = 'x' WHERE id = 1", "its description has another ARN"),
        (
            "UPDATE exports SET body = CAST(json_remove(CAST(body AS TEXT), '$.told.ExportTime') AS BLOB)",
            "has no time that fits its kind",
        ),
        ("UPDATE export_files SET md5 = ''", "a file lacks its key, MD5 or ETag"),
        ("DELETE FROM export_files", "its files are not"),
        ("UPDATE export_files SET export = 9", "files of export 9, which does not exist"),
        ("DELETE FROM holds", "it is IN_PROGRESS and does not have a pin"),
        ("UPDATE imports SET imported = 2 WHERE id = 1", "it processed 2 items"),
        ("UPDATE imports SET status = 'COMPLETED' WHERE id = 1", "it is COMPLETED with 1 errors"),
        (
            "UPDATE imports SET errors = 0, imported = 2 WHERE id = 1",
            "reports more failed records than it counted",
        ),
        ("UPDATE imports SET owner = 77 WHERE id = 2", "its table is not CREATING"),
        (
            "UPDATE imports SET status = 'FAILED', closed = at WHERE id = 2",
            "is CREATING, and there is no import in progress for it",
        ),
        ("UPDATE import_errors SET import = 9", "failed records of import 9, which does not exist"),
    ],
)
def test_each_damage_is_named(damaged: Callable[[str], list[str]], sql: str, sentence: str) -> None:
    found = damaged(sql)
    assert any(sentence in wrong for wrong in found), found
