"""Vector indexes beside the rest: backfill, history, transfers, TTL, streams, metrics, replicas, damage."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.engine.history_requests import back_up, recover, restore
from tests.engine.replicating import HERE, THERE, regions_of, update
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.engine.stream_reader import arn_of, enable, shards
from tests.engine.tables import definition, keyed, transaction
from tests.engine.transfer_requests import (
    data_of,
    describe,
    export,
    import_some,
    put_lines,
    recoverable,
    written,
)
from tests.engine.vectors.vector_requests import (
    by_owner,
    described,
    near,
    numbers,
    owned,
    put_vector,
    searched,
    vector_index,
)

from tablewright import Engine, testing
from tablewright.engine import verify_store
from tablewright.engine.errors import ServiceError
from tablewright.engine.read_budget import Bounded, ExceedsBudget
from tablewright.engine.storage.sqlite import FILE
from tablewright.testing import Clock

Json = dict[str, Any]


@pytest.fixture
def pets(engine: Engine) -> Engine:
    """In memory, with a table of pets that has both indexes."""
    engine.call("DeleteTable", {"TableName": "pets"})
    engine.call("CreateTable", searched())
    return engine


def create(*actions: Json, table: str = "pets") -> Json:
    attributes = [{"AttributeName": name, "AttributeType": "S"} for name in ("owner", "colour")]
    return {"TableName": table, "AttributeDefinitions": attributes, "VectorIndexUpdates": list(actions)}


# --- a new index on a table with items ---


def test_a_new_index_has_old_items_new_items_and_changed_items() -> None:
    with SteppedEngine.stepped() as engine, small_steps():
        engine.call("CreateTable", definition())
        for number in range(9):
            put_vector(engine, f"p{number}", 1, number)
        engine.call("UpdateTable", create({"Create": by_owner()}))
        engine.step()
        put_vector(engine, "new", 1, 100)
        put_vector(engine, "p0", 1, 50)
        put_vector(engine, "p8", 1, 60)
        engine.call("DeleteItem", keyed("p1"))
        engine.call("DeleteItem", keyed("p7"))
        assert engine.verify() == []
        while engine.step():
            assert engine.verify() == []
        assert owned(engine) == ["p2", "p3", "p4", "p5", "p6", "p0", "p8", "new"]
        assert described(engine)["owned"]["ItemCount"] == 8


def test_an_index_cannot_be_searched_until_it_is_filled_and_the_table_can_be_used() -> None:
    with SteppedEngine.stepped() as engine, small_steps():
        engine.call("CreateTable", definition())
        for number in range(5):
            put_vector(engine, f"p{number}", 1, number)
        engine.call("UpdateTable", create({"Create": vector_index()}))
        assert (
            described(engine)["near"] | {"Backfilling": True, "IndexStatus": "CREATING"}
            == described(engine)["near"]
        )
        assert engine.call("DescribeTable", {"TableName": "pets"})["Table"]["TableStatus"] == "ACTIVE"
        with pytest.raises(ServiceError, match="Cannot search backfilling vector index: near"):
            near(engine)
        with pytest.raises(ServiceError, match="Only 1 online index can be created"):
            engine.call("UpdateTable", create({"Create": vector_index("other")}))
        with pytest.raises(ServiceError, match="Index is being created"):
            engine.call("UpdateTable", create({"Create": vector_index()}))
        with pytest.raises(ServiceError, match="Cannot delete table while indexes are being created"):
            engine.call("DeleteTable", {"TableName": "pets"})
        while engine.step():
            pass
        assert len(near(engine)) == 5


def test_a_step_fills_fewer_items_of_longer_vectors() -> None:
    with SteppedEngine.stepped() as engine:
        engine.call("CreateTable", definition())
        for number in range(10):
            item = {"pk": {"S": str(number)}, "v": {"L": numbers(*[0.5] * 4096)}}
            engine.call("PutItem", {"TableName": "pets", "Item": item})
        engine.call("UpdateTable", create({"Create": vector_index(Dimensions=4096)}))
        filled = []
        while described(engine)["near"]["IndexStatus"] == "CREATING":
            engine.step()
            filled.append(described(engine)["near"]["ItemCount"])
        assert filled == [4, 8, 10]
        assert engine.verify() == []


def test_deleting_an_index_that_is_being_filled_cancels_it() -> None:
    with SteppedEngine.stepped() as engine, small_steps():
        engine.call("CreateTable", definition())
        for number in range(5):
            put_vector(engine, f"p{number}", 1, number)
        engine.call("UpdateTable", create({"Create": vector_index()}))
        engine.step()
        engine.call("UpdateTable", {**create({"Delete": {"IndexName": "near"}}), "AttributeDefinitions": []})
        while engine.step():
            pass
        assert described(engine) == {}
        assert engine.verify() == []


def test_an_item_from_before_the_index_that_does_not_fit_is_left_out_until_it_fits() -> None:
    with SteppedEngine.stepped() as engine:
        engine.call("CreateTable", definition())
        for pk, value in {
            "short": {"L": numbers(1)},
            "text": {"S": "x"},
            "far": {"L": numbers(1, 1e39)},
        }.items():
            engine.call("PutItem", {"TableName": "pets", "Item": {"pk": {"S": pk}, "v": value}})
        engine.call("UpdateTable", create({"Create": vector_index()}))
        while engine.step():
            pass
        assert near(engine) == []
        touch = {
            **keyed("short"),
            "UpdateExpression": "SET n = :n",
            "ExpressionAttributeValues": {":n": {"N": "1"}},
        }
        engine.call("UpdateItem", touch)  # the vector is not changed, so it is not refused
        put_vector(engine, "text", 1, 0)
        assert near(engine) == ["text"]
        assert engine.verify() == []


def test_an_index_may_be_deleted_and_another_created_at_once(pets: Engine) -> None:
    put_vector(pets, "rex", 1, 0)
    pets.call("UpdateTable", create({"Delete": {"IndexName": "near"}}, {"Create": vector_index("far")}))
    pets.settle()
    assert near(pets, name="far") == ["rex"]
    assert sorted(described(pets)) == ["far", "owned"]


# --- what a write does ---


def test_a_refused_transaction_leaves_the_index_as_it_was(pets: Engine) -> None:
    put_vector(pets, "rex", 1, 0)
    item = {"pk": {"S": "tom"}, "owner": {"S": "ann"}, "v": {"L": numbers(1, 1)}}
    bad = {"pk": {"S": "kit"}, "v": {"L": numbers(1)}}
    actions = [{"Put": {"TableName": "pets", "Item": one}} for one in (item, bad)]
    with pytest.raises(ServiceError) as refused:
        pets.call("TransactWriteItems", transaction(*actions))
    reasons = refused.value.fields["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ValidationError"]
    assert near(pets) == owned(pets) == ["rex"]


def test_a_move_to_another_partition_leaves_the_first(pets: Engine) -> None:
    put_vector(pets, "rex", 1, 0, colour="red")
    put_vector(pets, "rex", 1, 0, owner="bob", colour="blue")
    assert (owned(pets), owned(pets, "bob"), owned(pets, "bob", colour="red")) == ([], ["rex"], [])
    assert owned(pets, "bob", colour="blue") == ["rex"]


def test_equal_scores_are_in_the_order_of_keys(pets: Engine) -> None:
    for pk in ("c", "a", "d", "b"):
        put_vector(pets, pk, 1, 0)
    scanned = [item["pk"]["S"] for item in pets.call("Scan", {"TableName": "pets"})["Items"]]
    assert near(pets) == scanned
    assert near(pets, top=2) == scanned[:2]


def test_an_expired_item_leaves_the_index(pets: Engine, clock: Clock) -> None:
    specification = {"Enabled": True, "AttributeName": "until"}
    pets.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
    until = {"N": str(int(clock.now().timestamp()) + 60)}
    item = {"pk": {"S": "rex"}, "owner": {"S": "ann"}, "until": until, "v": {"L": numbers(1, 0)}}
    pets.call("PutItem", {"TableName": "pets", "Item": item})
    assert near(pets) == ["rex"]
    clock.move(timedelta(minutes=5))
    pets.settle()
    assert near(pets) == owned(pets) == []


def test_a_stream_has_the_vector_as_it_was_written(pets: Engine) -> None:
    pets.call("UpdateTable", enable())
    put_vector(pets, "rex", 0.1, 0.2)
    arn = arn_of(pets)
    (shard,) = shards(pets, arn)
    at = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
    iterator = pets.call("GetShardIterator", at)["ShardIterator"]
    (record,) = pets.call("GetRecords", {"ShardIterator": iterator})["Records"]
    assert record["dynamodb"]["NewImage"]["v"] == {"L": numbers(0.1, 0.2)}


def test_metrics_count_the_bytes_written_and_searched(pets: Engine) -> None:
    put_vector(pets, "rex", 1, 0)
    near(pets)
    near(pets)
    for metric, expected in (("VectorWriteRequestBytes", 1024.0), ("VectorSearchRequestBytes", 2048.0)):
        points = pets.metrics.series(metric, table="pets", index="near")
        assert sum(point.sum for point in points) == expected
    pets.metrics.flush()
    assert sum(point.sum for point in pets.metrics.series("ItemCount", table="pets", index="near")) == 1.0


# --- history and transfers ---


def test_a_backup_describes_and_restores_the_indexes(pets: Engine) -> None:
    put_vector(pets, "rex", 1, 0)
    put_vector(pets, "tom", 0, 1)
    arn = back_up(pets)
    pets.settle()
    features = pets.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"][
        "SourceTableFeatureDetails"
    ]
    assert features["VectorIndexes"] == [vector_index(), by_owner()]
    restore(pets, arn, "copies")
    pets.settle()
    assert near(pets, "copies") == owned(pets, table="copies") == ["rex", "tom"]
    assert {name: one["IndexStatus"] for name, one in described(pets, "copies").items()} == {
        "near": "ACTIVE",
        "owned": "ACTIVE",
    }


def test_a_restore_to_a_moment_has_the_vectors_of_that_moment(pets: Engine, clock: Clock) -> None:
    recover(pets)
    put_vector(pets, "rex", 1, 0)
    put_vector(pets, "tom", 0, 1)
    clock.move(timedelta(minutes=10))
    then = clock.now().timestamp()
    clock.move(timedelta(minutes=10))
    put_vector(pets, "rex", 0, 1)
    put_vector(pets, "kit", 1, 0)
    clock.move(timedelta(minutes=10))
    restore(pets, "pets", "copies", RestoreDateTime=then, VectorIndexOverride=[vector_index("other")])
    pets.settle()
    assert near(pets, "copies", "other") == ["rex", "tom"]
    # What only the other index used is not defined any more.
    attributes = pets.call("DescribeTable", {"TableName": "copies"})["Table"]["AttributeDefinitions"]
    assert [one["AttributeName"] for one in attributes] == ["pk"]


def test_a_restore_takes_no_index_that_its_source_has_not(pets: Engine) -> None:
    arn = back_up(pets)
    pets.settle()
    with pytest.raises(ServiceError, match="Index wide does not match a secondary index"):
        restore(pets, arn, "copies", VectorIndexOverride=[vector_index("wide", Dimensions=3)])
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    provisioned = {"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": units}
    with pytest.raises(ServiceError, match="Vector indexes are only supported for PAY_PER_REQUEST"):
        restore(pets, arn, "copies", **provisioned)
    with pytest.raises(ServiceError, match="VectorIndex count exceeds the per-table limit of 5"):
        restore(pets, arn, "copies", VectorIndexOverride=[vector_index(f"near{n}") for n in range(6)])
    restore(pets, arn, "copies", VectorIndexOverride=[], **provisioned)
    pets.settle()
    assert described(pets, "copies") == {}


def test_an_import_fills_the_indexes_and_reports_vectors_that_do_not_fit(tmp_path: Path) -> None:
    with testing.engine(buckets=tmp_path) as engine:
        good = {"pk": {"S": "rex"}, "owner": {"S": "ann"}, "v": {"L": numbers(1, 0)}}
        bad = {"pk": {"S": "tom"}, "v": {"L": numbers(1)}}
        put_lines(tmp_path, "items.json", good, bad)
        definitions = searched("copies")
        parameters = {name: definitions[name] for name in ("AttributeDefinitions", "VectorIndexes")}
        arn = import_some(engine, parameters=parameters)
        engine.settle()
        done = describe(engine, arn)
        assert (done["ImportedItemCount"], done["ErrorCount"]) == (1, 1)
        assert near(engine, "copies") == owned(engine, table="copies") == ["rex"]


def test_an_export_has_the_vectors_and_an_import_of_it_finds_them_again(tmp_path: Path) -> None:
    with testing.engine(buckets=tmp_path) as engine:
        engine.call("CreateTable", searched())
        recoverable(engine)
        put_vector(engine, "rex", 1, 0)
        put_vector(engine, "tom", 0, 1)
        asked = export(engine)
        engine.settle()
        exported = describe(engine, asked)
        lines = [line["Item"] for line in written(tmp_path, exported)]
        assert {line["pk"]["S"]: line["v"] for line in lines} == {
            "rex": {"L": numbers(1, 0)},
            "tom": {"L": numbers(0, 1)},
        }
        definitions = searched("copies")
        parameters = {name: definitions[name] for name in ("AttributeDefinitions", "VectorIndexes")}
        import_some(engine, data_of(exported), InputCompressionType="GZIP", parameters=parameters)
        engine.settle()
        assert near(engine, "copies") == ["rex", "tom"]
        assert owned(engine, table="copies") == ["rex", "tom"]


# --- replicas ---


def test_a_replica_has_the_indexes_and_follows_new_ones(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = regions[HERE]
        home.call("CreateTable", searched())
        put_vector(home, "rex", 1, 0)
        home.call("UpdateTable", update("Create", THERE))
        regions.settle()
        put_vector(home, "tom", 0, 1)
        regions.settle()
        there = regions[THERE]
        assert near(there) == owned(there) == ["rex", "tom"]
        home.call(
            "UpdateTable",
            {"TableName": "pets", "VectorIndexUpdates": [{"Delete": {"IndexName": "near"}}]},
        )
        home.call("UpdateTable", create({"Create": vector_index("far", DistanceFunction="EUCLIDEAN")}))
        clock.move(timedelta(minutes=1))
        regions.settle()
        assert sorted(described(there)) == ["far", "owned"]
        assert near(there, name="far") == ["rex", "tom"]


# --- where it is read ---


def test_a_long_search_leaves_the_event_loop() -> None:
    with testing.engine() as engine:
        wide = vector_index(Dimensions=1024)
        engine.call("CreateTable", {**definition(), "VectorIndexes": [wide]})
        for number in range(300):
            item = {"pk": {"S": str(number)}, "v": {"L": numbers(*[float(number)] * 1024)}}
            engine.call("PutItem", {"TableName": "pets", "Item": item})
        asked = {
            "TableName": "pets",
            "IndexName": "near",
            "SearchVector": numbers(*[1.0] * 1024),
            "TopK": 3,
        }
        with pytest.raises(ExceedsBudget):
            engine.answer("SearchVectors", asked, Bounded())
        assert len(json.loads(engine.answer("SearchVectors", asked))["SearchResults"]) == 3


def test_indexes_are_there_after_a_restart(store: Path) -> None:
    with testing.engine(store) as engine:
        engine.call("CreateTable", searched())
        put_vector(engine, "rex", 1, 0)
    with testing.engine(store) as engine:
        put_vector(engine, "tom", 0, 1)
        assert near(engine) == owned(engine) == ["rex", "tom"]


# --- damage ---


def damaged(store: Path, statement: str) -> None:
    connection = apsw.Connection(str(store / FILE))
    connection.execute(statement)
    connection.close()


def test_a_damaged_vector_is_found_and_never_served(store: Path) -> None:
    with testing.engine(store) as engine:
        engine.call("CreateTable", searched())
        put_vector(engine, "rex", 1, 0)
    damaged(store, "UPDATE t1_i1 SET v = zeroblob(8)")
    (found,) = verify_store(store)
    assert "index near" in found
    assert "is not that of its item" in found
    with Engine.open(store, durability="relaxed") as engine:
        with pytest.raises(ServiceError, match="InternalServerError"):
            near(engine)
        assert owned(engine) == ["rex"]
        # Counted by the pass over the items, and by the pass over the entries.
        assert "table pets" in dict(engine.scrub.run().found)


def test_a_missing_entry_and_one_too_many_are_found(store: Path) -> None:
    with testing.engine(store) as engine:
        engine.call("CreateTable", searched())
        put_vector(engine, "rex", 1, 0)
        put_vector(engine, "tom", 1, 0)
    damaged(store, "DELETE FROM t1_i2")
    damaged(store, "UPDATE t1_i1 SET k = x'00112233' WHERE id = 1")
    found = verify_store(store)
    assert any("index owned" in text and "is missing" in text for text in found)
    assert any("index near" in text and "belongs to no item" in text for text in found)
