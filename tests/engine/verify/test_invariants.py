"""verify names each kind of damage; each test plants one and reads the sentence."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.stream_reader import streamed
from tests.engine.tables import definition, item, put

from tablewright import Engine
from tablewright.engine import NotAStore, verify_store
from tablewright.engine.storage.sqlite import FILE
from tablewright.testing import Clock

PAGE = 8192


@pytest.fixture
def damaged(store: Path) -> Callable[[str], list[str]]:
    """What verify says about a sound store after some SQL."""
    with Engine.open(store, durability="relaxed") as opened:
        opened.call("CreateTable", definition(ranged=True, indexes=("colour",), local=("age",)))
        for number in range(3):
            opened.call("PutItem", put("rex", sk=str(number), colour="red", age="young"))
        opened.call("DeleteItem", {"TableName": "pets", "Key": item("rex", sk="2")})
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
        # items
        ("UPDATE t1 SET size = size + 1 WHERE id = 1", "is recorded with"),
        ("UPDATE t1 SET size = 'much' WHERE id = 1", "table pets"),
        ("UPDATE t1 SET item = x'7b' WHERE id = 1", "is not an item"),
        ("UPDATE t1 SET item = CAST('[]' AS BLOB) WHERE id = 1", "is not an item"),
        ("""UPDATE t1 SET item = CAST('{"pk":{"S":3}}' AS BLOB) WHERE id = 1""", "is not an item"),
        ("""UPDATE t1 SET item = CAST('{"pk":{"S":"rex"}}' AS BLOB) WHERE id = 1""", "lacks a key attribute"),
        ("""UPDATE t1 SET item = replace(item, 'young', 'youn') WHERE id = 1""", "is not what the journal last wrote"),
        ("UPDATE t1 SET k = x'00112233' WHERE id = 1", "is stored under a key that is not its own"),
        ("DELETE FROM t1 WHERE id = 1", "by the journal there is an item at"),
        # indexes
        ("DELETE FROM t1_i2", "index colour: the entry"),
        ("DELETE FROM t1_i1", "index age: the entry"),
        ("INSERT INTO t1_i2 VALUES(x'00112233', 1)", "belongs to no item"),
        ("UPDATE t1_i2 SET id = 77", "points to the wrong item"),
        # counters
        ("UPDATE counts SET items = items + 1 WHERE owner = 't1'", "table pets: counted 3 items"),
        ("UPDATE counts SET bytes = bytes + 1 WHERE owner = 't1_i2'", "table pets, index colour: counted"),
        ("DELETE FROM counts WHERE owner = 't1'", "table pets: counted 0 items of 0 bytes"),
        ("INSERT INTO counts VALUES('t99', 1, 1)", "there is a counter for t99"),
        ("UPDATE t1_collections SET bytes = bytes + 1", "the sizes of its item collections are wrong"),
        ("DELETE FROM t1_collections", "the sizes of its item collections are wrong"),
        # the journal
        ("DELETE FROM journal WHERE seq = 2", "journal: 1 is followed by 3"),
        ("DELETE FROM journal WHERE seq = 1", "is not what the journal last wrote"),
        ("UPDATE journal SET at = 0 WHERE seq = 3", "journal: 3 is earlier than the row before it"),
        ("UPDATE journal SET new = old WHERE seq = 2", "journal: 2 changes nothing"),
        ("UPDATE journal SET old = x'7b7d' WHERE seq = 4", "journal: 4 does not start from the item as it was before"),
        ("UPDATE journal SET new = x'7b7d' WHERE seq = 1", "is not what the journal last wrote"),
        ("DELETE FROM journal WHERE seq = 4", "by the journal there is an item at"),
        # the catalog and the file
        ("DROP TABLE t1", "the file lacks t1"),
        ("DROP TABLE t1_i2", "the file lacks t1_i2"),
        ("DROP TABLE t1_collections", "the file lacks t1_collections"),
        ("DROP TABLE journal", "the file lacks journal"),
        ("DROP TABLE counts", "the file lacks counts"),
        ("CREATE TABLE t99(a)", "the file holds t99, which belongs to no table"),
        ("INSERT INTO doomed VALUES('t99')", "the file lacks t99"),
        ("INSERT INTO doomed VALUES('t1')", "t1 is in use and its drop is pending"),
        ("UPDATE tables SET body = x'7b'", "the definition of pets cannot be read"),
        ("UPDATE tables SET body = CAST('{}' AS BLOB)", "the definition of pets cannot be read"),
        ("UPDATE tables SET name = 'cats'", "cats is defined under the name pets"),
        ("DELETE FROM tables", "the file holds t1, which belongs to no table"),
    ],
)  # fmt: skip
def test_each_kind_of_damage_has_its_sentence(
    damaged: Callable[[str], list[str]], sql: str, sentence: str
) -> None:
    found = damaged(sql)
    assert any(sentence in one for one in found), found


def test_each_entry_that_is_wrong_is_named_once(damaged: Callable[[str], list[str]]) -> None:
    said = damaged(
        "UPDATE t1_i2 SET id = 1 WHERE id = 2; DELETE FROM t1_i2 WHERE k = (SELECT min(k) FROM t1_i2);"
        "INSERT INTO t1_i2 VALUES(x'0011', 1), (x'0022', 77)"
    )
    about = [line.partition("index colour: the entry ")[2] for line in said if "the entry" in line]
    assert sorted(line.split(" ", 1)[1] for line in about) == [
        "belongs to no item",
        "belongs to no item",
        "is missing",
        "points to the wrong item",
    ]


def test_a_list_of_entries_that_is_gone_is_named_and_the_rest_looked_at(
    damaged: Callable[[str], list[str]],
) -> None:
    said = damaged("DROP TABLE t1_i2; DELETE FROM t1_i1 WHERE id = 1")
    assert "the file lacks t1_i2" in said
    assert sum("index colour cannot be read to the end" in line for line in said) == 1
    assert any("index age: the entry" in line for line in said)
    assert not any("is not an item" in line for line in said)


def test_an_item_that_is_not_in_canonical_form_is_named(damaged: Callable[[str], list[str]]) -> None:
    found = damaged("""UPDATE t1 SET item = replace(item, '}}', '},"n":{"N":"1.0"}}')""")
    assert any("is not in canonical form" in one for one in found), found


def test_a_number_used_twice_would_be_found(damaged: Callable[[str], list[str]]) -> None:
    # Numbers of tables are never used again; this counter is what remembers them.
    assert damaged("UPDATE counts SET items = 0 WHERE owner NOT LIKE 't1%'")
    assert damaged("DELETE FROM counts WHERE owner NOT LIKE 't1%'")


def test_several_kinds_of_damage_are_all_named(damaged: Callable[[str], list[str]]) -> None:
    found = damaged("DROP TABLE t1_i1; DELETE FROM journal WHERE seq = 2; CREATE TABLE t99(a)")
    for sentence in ("the file lacks t1_i1", "1 is followed by 3", "the file holds t99"):
        assert any(sentence in one for one in found), found


def test_garbage_in_any_page_of_the_file_is_named_and_never_thrown(store: Path) -> None:
    with Engine.open(store, durability="relaxed") as opened:
        opened.call("CreateTable", definition(indexes=("colour",)))
        for number in range(50):
            opened.call("PutItem", put(f"pet {number}", colour="red", fill="x" * 500))
    sound = (store / FILE).read_bytes()
    assert verify_store(store) == []
    silent = []
    for start in range(PAGE, len(sound), PAGE):
        (store / FILE).write_bytes(sound[:start] + b"\xde\xad" * (PAGE // 2) + sound[start + PAGE :])
        if verify_store(store) == []:
            silent.append(start // PAGE)
    assert silent == []


def test_a_file_that_was_cut_short_is_named(store: Path) -> None:
    with Engine.open(store, durability="relaxed") as opened:
        opened.call("CreateTable", definition())
        for number in range(50):
            opened.call("PutItem", put(f"pet {number}", fill="x" * 500))
    sound = (store / FILE).read_bytes()
    (store / FILE).write_bytes(sound[: len(sound) // 2 // PAGE * PAGE])
    assert verify_store(store) != []


def test_an_engine_verifies_itself_while_it_is_open(store: Path) -> None:
    with Engine.open(store, durability="relaxed") as opened:
        opened.call("CreateTable", definition())
        opened.call("PutItem", put("rex"))
        assert opened.verify() == []
        storage = opened._storage
        with storage.write_lock:
            storage.begin()
            storage.writes.add_to_counts(("t1", 1, 0))
            storage.commit()
        assert opened.verify() == ["table pets: counted 2 items of 5 bytes, there are 1 of 5"]


def test_a_file_without_a_byte_in_it_is_no_store(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with pytest.raises(NotAStore, match="there is no store"):
        verify_store(tmp_path)
    assert (tmp_path / FILE).stat().st_size == 0


@pytest.fixture
def damaged_in_time(store: Path) -> Callable[[str], list[str]]:
    """The same for a store with a list of what expires, a stream whose first shard has rolled, a pruned journal."""
    clock = Clock()
    with SteppedEngine.stepped(store, world=clock.world()) as opened:
        opened.call("CreateTable", streamed())
        specification = {"Enabled": True, "AttributeName": "until"}
        opened.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        for number in range(3):
            opened.call("PutItem", put(f"pet {number}", until=2**40 + number))
        clock.move(timedelta(hours=25))
        opened.settle()
        for number in range(3, 6):
            opened.call("PutItem", put(f"pet {number}", until=2**40 + number))
        clock.move(timedelta(hours=4))
        opened.settle()
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
        # what expires
        ("DELETE FROM t1_i1 WHERE id = 2", "table pets, expiry list: the entry"),
        ("INSERT INTO t1_i1 VALUES(x'0011', 1)", "table pets, expiry list: the entry 0011 belongs to no item"),
        ("UPDATE t1_i1 SET id = 77 WHERE id = 1", "table pets, expiry list: the entry"),
        ("DROP TABLE t1_i1", "the file lacks t1_i1"),
        ("UPDATE tables SET body = CAST(json_set(CAST(body AS TEXT), '$.ttl_index', NULL) AS BLOB)",
         "it has TTL without an expiry list"),
        # the pruned journal
        ("DELETE FROM journal WHERE seq = 4", "journal: it begins with 5, but 3 rows were pruned"),
        ("DELETE FROM journal WHERE seq = 5", "journal: 4 is followed by 6"),
        ("UPDATE counts SET items = 1 WHERE owner = 'journal'", "journal: it begins with 4, but 1 rows were pruned"),
        ("DELETE FROM counts WHERE owner = 'journal'", "journal: it begins with 4, but 0 rows were pruned"),
        ("UPDATE journal SET new = x'7b7d' WHERE seq = 5", "is not what the journal last wrote"),
        # streams and shards
        ("DROP TABLE shards", "the file lacks shards"),
        ("DELETE FROM streams", "it is enabled in its table's definition, and it is not"),
        ("DELETE FROM streams", "belongs to no stream"),
        ("UPDATE streams SET closed = 1", "its open shards do not cover every key"),
        ("UPDATE streams SET owner = 7", "it belongs to another table"),
        ("UPDATE tables SET body = CAST(json_set(CAST(body AS TEXT), '$.stream_view', NULL) AS BLOB)",
         "it is open, and no table has it enabled"),
        ("DELETE FROM shards WHERE last IS NULL", "its open shards do not cover every key"),
        ("UPDATE shards SET high = high - 1 WHERE last IS NULL", "its open shards do not cover every key"),
        ("UPDATE shards SET high = high - 1 WHERE last IS NULL", "is not followed by shards of the same keys"),
        ("UPDATE shards SET first = first - 1 WHERE last IS NULL", "does not begin where its parent ended"),
        ("UPDATE shards SET last = 99 WHERE last IS NOT NULL", "reaches beyond the journal"),
        ("UPDATE shards SET closed = NULL WHERE last IS NOT NULL", "has a last change without a closing time"),
    ],
)  # fmt: skip
def test_each_kind_of_damage_by_what_time_does_has_its_sentence(
    damaged_in_time: Callable[[str], list[str]], sql: str, sentence: str
) -> None:
    found = damaged_in_time(sql)
    assert any(sentence in one for one in found), found


def test_what_belongs_to_another_region_is_named(store: Path) -> None:
    with Engine.open(store, region="us-east-1") as engine:
        engine.call("CreateTable", definition())
    assert verify_store(store) == []
    with Engine.open(store, region="eu-west-1") as engine:
        view = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
        engine.call("CreateTable", definition() | {"TableName": "cats", "StreamSpecification": view})
    table, stream = verify_store(store)
    assert table.startswith("table cats: it is eu-west-1's, and this store is us-east-1's: arn:aws:dynamodb:")
    assert stream.startswith("stream arn:aws:dynamodb:eu-west-1:")


def test_the_store_of_a_further_region_is_that_regions(store: Path) -> None:
    with Engine.open(store, region="us-east-1") as engine:
        engine.call("CreateTable", definition())
    with Engine.open(store / "regions" / "eu-west-1", region="sa-east-1") as engine:
        engine.call("CreateTable", definition())
    (found,) = verify_store(store)
    assert found.startswith("eu-west-1: table pets: it is sa-east-1's, and this store is eu-west-1's")
