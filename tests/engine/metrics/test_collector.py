"""What the engine measures: each figure counts what it says, in its minute, once, and outlives the process."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from prometheus_client import Metric as Family
from prometheus_client.parser import text_string_to_metric_families
from tests.engine.tables import definition, item, keyed, put

from tablewright import Engine, ServiceError, testing
from tablewright.engine import verify_store
from tablewright.engine.api.operation import ReadOperation, WriteOperation
from tablewright.engine.api.registry import VERBS
from tablewright.engine.metrics.collector import MetricsSnapshot
from tablewright.engine.metrics.histogram import BOUNDS, Histogram
from tablewright.engine.metrics.names import METRICS, UnknownMetric
from tablewright.engine.metrics.prometheus import prometheus
from tablewright.engine.metrics.store import Series

MINUTE = timedelta(minutes=1)


@pytest.fixture
def indexed(clock: testing.Clock) -> Iterator[Engine]:
    """A table with an index on `colour` and a local one on `size`."""
    with testing.engine(world=clock.world()) as engine:
        engine.call("CreateTable", definition(ranged=True, indexes=("colour",), local=("size",)))
        yield engine


def sums(engine: Engine, metric: str, **wanted: Any) -> list[float]:
    return [point.sum for point in engine.metrics.series(metric, **{"table": "pets"} | wanted)]


def total(engine: Engine, metric: str, **wanted: Any) -> float:
    return sum(sums(engine, metric, **wanted))


# --- what is counted ---


def test_a_put_and_a_get_count_their_units(engine: Engine) -> None:
    engine.call("PutItem", put("rex", text="x" * 2000))
    engine.call("GetItem", keyed("rex"))
    engine.call("GetItem", keyed("rex") | {"ConsistentRead": True})
    assert total(engine, "ConsumedWriteCapacityUnits") == 2
    assert total(engine, "ConsumedReadCapacityUnits") == 1.5


def test_units_of_a_global_index_are_its_own_and_those_of_a_local_one_its_tables(indexed: Engine) -> None:
    entry = {"pk": {"S": "rex"}, "sk": {"S": "1"}, "colour": {"S": "brown"}, "size": {"S": "big"}}
    indexed.call("PutItem", {"TableName": "pets", "Item": entry})
    assert total(indexed, "ConsumedWriteCapacityUnits") == 2
    assert total(indexed, "ConsumedWriteCapacityUnits", index="colour") == 1
    query: dict[str, Any] = {
        "TableName": "pets",
        "KeyConditionExpression": "colour = :c",
        "ExpressionAttributeValues": {":c": {"S": "brown"}},
    }
    indexed.call("Query", query | {"IndexName": "colour"})
    assert total(indexed, "ConsumedReadCapacityUnits", index="colour") == 0.5
    assert total(indexed, "ConsumedReadCapacityUnits") == 0
    local = {"KeyConditionExpression": "pk = :c", "ExpressionAttributeValues": {":c": {"S": "rex"}}}
    indexed.call("Query", query | local | {"IndexName": "size"})
    assert total(indexed, "ConsumedReadCapacityUnits") == 0.5


@pytest.mark.parametrize(
    ("verb", "request_", "reads", "writes"),
    [
        ("Scan", {"TableName": "pets"}, 0.5, 0),
        ("BatchGetItem", {"RequestItems": {"pets": {"Keys": [item("a"), item("b")]}}}, 1, 0),
        ("BatchWriteItem", {"RequestItems": {"pets": [{"PutRequest": {"Item": item("a")}}]}}, 0, 1),
        ("TransactGetItems", {"TransactItems": [{"Get": keyed("a")}, {"Get": keyed("b")}]}, 4, 0),
        ("TransactWriteItems", {"TransactItems": [{"Put": put("a")}, {"Delete": keyed("b")}]}, 0, 4),
        ("DeleteItem", keyed("a"), 0, 1),
        ("UpdateItem", keyed("a"), 0, 1),
    ],
)
def test_every_verb_counts_what_it_says_it_consumed(
    engine: Engine, verb: str, request_: dict[str, Any], reads: float, writes: float
) -> None:
    engine.call(verb, request_)
    assert total(engine, "ConsumedReadCapacityUnits") == reads
    assert total(engine, "ConsumedWriteCapacityUnits") == writes
    (point,) = engine.metrics.series("SuccessfulRequestLatency", table="pets", operation=verb)
    assert point.samples == 1


def test_a_condition_that_fails_is_counted_and_costs_what_is_stored(engine: Engine) -> None:
    engine.call("PutItem", put("rex", text="x" * 3000))
    before = total(engine, "ConsumedWriteCapacityUnits")
    with pytest.raises(ServiceError):
        engine.call("PutItem", put("rex") | {"ConditionExpression": "attribute_not_exists(pk)"})
    assert total(engine, "ConditionalCheckFailedRequests") == 1
    assert total(engine, "ConsumedWriteCapacityUnits") - before == 3
    assert total(engine, "UserErrors", table=None) == 0
    assert len(engine.metrics.series("SuccessfulRequestLatency", table="pets")[0:]) == 1


def test_mistakes_of_callers_are_counted_without_a_table(engine: Engine) -> None:
    for verb, request in (("GetItem", keyed("a", "nobody")), ("PutItem", {"TableName": "pets"})):
        with pytest.raises(ServiceError):
            engine.call(verb, request)
    assert total(engine, "UserErrors", table="") == 2
    assert total(engine, "SystemErrors") == 0


def test_faults_of_ours_are_counted_by_operation(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> dict[str, Any]:
        raise RuntimeError("a fault")

    broken_verbs = {
        "GetItem": ReadOperation("broken", VERBS["GetItem"].shape, broken),
        "PutItem": WriteOperation("broken", VERBS["PutItem"].shape, broken),
    }
    monkeypatch.setattr("tablewright.engine.engine.VERBS", {**VERBS, **broken_verbs})
    for verb, request in (("GetItem", keyed("a")), ("PutItem", put("a"))):
        with pytest.raises(ServiceError, match="Internal"):
            engine.call(verb, request)
        assert total(engine, "SystemErrors", operation=verb) == 1
    assert total(engine, "UserErrors", table="") == 0


def test_a_group_that_could_not_be_committed_counts_as_faults(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(engine._storage, "commit", full)
        with pytest.raises(ServiceError, match="Internal"):
            engine.call("PutItem", put("a"))
    assert total(engine, "SystemErrors", operation="PutItem") == 1
    assert total(engine, "ConsumedWriteCapacityUnits") == 0


def test_an_item_in_a_transaction_under_way_is_a_conflict(engine: Engine) -> None:
    transaction = {"TransactItems": [{"Put": put("rex")}]}
    group = engine.start_group([("TransactWriteItems", transaction), ("PutItem", put("rex"))], wait=True)
    assert group is not None
    group.finish()
    assert total(engine, "TransactionConflict") == 1


def test_returned_items_are_counted_by_operation(engine: Engine) -> None:
    for name in "abc":
        engine.call("PutItem", put(name))
    engine.call("Scan", {"TableName": "pets", "Limit": 2})
    engine.call("Scan", {"TableName": "pets"})
    (point,) = engine.metrics.series("ReturnedItemCount", table="pets", operation="Scan")
    assert (point.sum, point.samples, point.least, point.most) == (5, 2, 2, 3)


def test_expired_items_are_counted_and_free(engine: Engine, clock: testing.Clock) -> None:
    setting = {"AttributeName": "until", "Enabled": True}
    engine.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": setting})
    for name in "abc":
        engine.call("PutItem", put(name, until=int(clock.now().timestamp()) + 60))
    clock.move(timedelta(minutes=5))
    engine.settle()
    assert sums(engine, "TimeToLiveDeletedItemCount") == [3]
    assert total(engine, "ConsumedWriteCapacityUnits") == 3


def test_what_others_measure_is_recorded_under_a_name_there_is(engine: Engine) -> None:
    engine.metrics.record("ReplicationLatency", 250, table="pets", detail="eu-west-1")
    (point,) = engine.metrics.series("ReplicationLatency", table="pets", operation="eu-west-1")
    assert (point.sum, point.p50) == (250, 250)
    with pytest.raises(UnknownMetric, match="there is no metric 'Speed'"):
        engine.metrics.record("Speed", 1)
    with pytest.raises(UnknownMetric):
        engine.metrics.series("Speed")


# --- time ---


def test_each_minute_has_its_own_point(engine: Engine, clock: testing.Clock) -> None:
    engine.call("PutItem", put("a"))
    clock.move(timedelta(seconds=59))
    engine.call("PutItem", put("b"))
    engine.call("GetItem", keyed("b"))
    clock.move(timedelta(seconds=1))
    engine.call("PutItem", put("c"))
    clock.move(timedelta(minutes=3))
    engine.call("GetItem", keyed("b"))
    points = engine.metrics.series("ConsumedWriteCapacityUnits", table="pets")
    start = points[0].at
    assert [(point.at - start, point.sum) for point in points] == [(timedelta(0), 2), (MINUTE, 1)]
    reads = engine.metrics.series("ConsumedReadCapacityUnits", table="pets")
    assert [(point.at - start, point.sum) for point in reads] == [(timedelta(0), 0.5), (4 * MINUTE, 0.5)]


def test_periods_put_minutes_together(engine: Engine, clock: testing.Clock) -> None:
    for _ in range(6):
        engine.call("PutItem", put("a"))
        clock.move(MINUTE)
    assert sums(engine, "ConsumedWriteCapacityUnits", period=timedelta(minutes=5)) == [5, 1]
    with pytest.raises(ValueError, match="whole minutes"):
        engine.metrics.series("UserErrors", period=timedelta(seconds=90))


def test_a_span_is_from_its_beginning_up_to_its_end(engine: Engine, clock: testing.Clock) -> None:
    start = clock.now()
    for _ in range(4):
        engine.call("PutItem", put("a"))
        clock.move(MINUTE)
    points = engine.metrics.series(
        "ConsumedWriteCapacityUnits", table="pets", since=start + MINUTE, until=start + 3 * MINUTE
    )
    assert [point.at for point in points] == [start + MINUTE, start + 2 * MINUTE]


def test_a_level_stands_until_it_changes(engine: Engine, clock: testing.Clock) -> None:
    engine.call("PutItem", put("a"))
    engine.metrics.flush()
    clock.move(3 * MINUTE)
    engine.call("PutItem", put("b"))
    engine.metrics.flush()
    clock.move(MINUTE)
    assert sums(engine, "ItemCount") == [1, 1, 1, 2, 2]
    engine.call("DeleteTable", {"TableName": "pets"})
    engine.metrics.flush()
    assert sums(engine, "ItemCount")[-1] == 0


def test_provisioned_units_are_levels_of_the_table_and_its_indexes(clock: testing.Clock) -> None:
    units = {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}}
    request = definition(indexes=("colour",)) | {"BillingMode": "PROVISIONED"} | units
    request["GlobalSecondaryIndexes"][0] |= {
        "ProvisionedThroughput": {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}
    }
    with testing.engine(world=clock.world()) as engine:
        engine.call("CreateTable", request)
        engine.metrics.flush()
        assert sums(engine, "ProvisionedReadCapacityUnits") == [5]
        assert sums(engine, "ProvisionedWriteCapacityUnits", index="colour") == [8]


# --- times and their spread ---


def test_quantiles_are_right_to_within_a_bucket() -> None:
    tally = Histogram()
    for ms in range(1, 1001):
        tally.add_time(ms / 10)
    assert tally.quantile(0.5) == pytest.approx(50, rel=0.2)
    assert tally.quantile(0.99) == pytest.approx(99, rel=0.2)
    assert (tally.least, tally.most, tally.samples) == (0.1, 100, 1000)
    beyond = Histogram()
    beyond.add_time(BOUNDS[-1] * 3)
    assert beyond.quantile(0.99) == BOUNDS[-1] * 3


def test_the_time_of_a_request_has_its_least_most_and_quantiles(engine: Engine) -> None:
    for _ in range(20):
        engine.call("GetItem", keyed("a"))
    (point,) = engine.metrics.series("SuccessfulRequestLatency", table="pets", operation="GetItem")
    assert point.samples == 20
    assert point.p50 is not None
    assert point.p99 is not None
    assert 0 < point.least <= point.p50 <= point.p99 <= point.most


# --- in the store ---


def test_figures_are_there_after_the_store_was_closed_and_opened(store: Path, clock: testing.Clock) -> None:
    with Engine.open(store, world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("a"))
        engine.call("GetItem", keyed("a"))
    with Engine.open(store, world=clock.world()) as engine:
        engine.call("PutItem", put("b"))
        (point,) = engine.metrics.series("ConsumedWriteCapacityUnits", table="pets")
        assert (point.sum, point.samples) == (2, 2)
        engine.metrics.flush()
        (point,) = engine.metrics.series("ConsumedWriteCapacityUnits", table="pets")
        assert (point.sum, point.samples) == (2, 2)
        (time,) = engine.metrics.series("SuccessfulRequestLatency", table="pets", operation="PutItem")
        assert time.samples == 2
    assert verify_store(store) == []


def test_the_keeper_writes_a_minute_once_it_has_ended(store: Path, clock: testing.Clock) -> None:
    with Engine.open(store, world=clock.world(), ttl_seconds=0.01) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("a"))
        clock.move(MINUTE)
        deadline = monotonic() + 10
        while stored_samples(engine) != 1 and monotonic() < deadline:
            sleep(0.005)
        assert stored_samples(engine) == 1


def stored_samples(engine: Engine) -> float | None:
    """How many writes the store itself knows of."""
    sql = (
        "SELECT sum(samples) FROM metric_points WHERE series IN "
        "(SELECT id FROM metric_series WHERE metric = 'ConsumedWriteCapacityUnits')"
    )
    rows = engine._storage.acquire_reader()
    try:
        ((samples,),) = rows.connection.execute(sql)
    finally:
        engine._storage.release_reader(rows)
    return None if samples is None else float(samples)


def test_figures_are_kept_for_two_weeks(engine: Engine, clock: testing.Clock) -> None:
    engine.call("PutItem", put("a"))
    engine.settle()
    clock.move(timedelta(days=13, hours=23))
    engine.settle()
    whole = {"since": clock.now() - timedelta(days=30)}
    assert total(engine, "ConsumedWriteCapacityUnits", **whole) == 1
    clock.move(timedelta(hours=2))
    engine.settle()
    assert total(engine, "ConsumedWriteCapacityUnits", **whole) == 0
    assert not any(series.metric == "ConsumedWriteCapacityUnits" for series in engine.metrics.known())
    assert sums(engine, "ItemCount")[-1] == 1


def test_a_flush_that_failed_loses_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.call("PutItem", put("a"))

    def full() -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(engine._storage, "commit", full)
        with pytest.raises(ServiceError):
            engine.metrics.flush()
    engine.call("PutItem", put("b"))
    engine.metrics.flush()
    assert total(engine, "ConsumedWriteCapacityUnits") == 2
    assert sums(engine, "ItemCount") == [2]


@pytest.mark.parametrize("keeps", ["memory", "disk"])
def test_no_request_is_lost_or_counted_twice_while_figures_are_added_up_and_written(
    keeps: str, store: Path
) -> None:
    many, threads = 400, 4
    with testing.engine(":memory:" if keeps == "memory" else store) as engine:
        engine.call("CreateTable", definition())
        is_over = threading.Event()

        def ask() -> None:
            for _ in range(many):
                engine.call("GetItem", keyed("a"))

        def flush() -> None:
            while not is_over.is_set():
                engine.metrics.flush()
                engine.metrics.snapshot()

        readers = [threading.Thread(target=ask) for _ in range(threads)]
        flusher = threading.Thread(target=flush)
        for thread in (*readers, flusher):
            thread.start()
        for thread in readers:
            thread.join()
        is_over.set()
        flusher.join()
        points = engine.metrics.series("SuccessfulRequestLatency", table="pets", operation="GetItem")
        assert sum(point.samples for point in points) == many * threads
        assert total(engine, "ConsumedReadCapacityUnits") == many * threads / 2


def test_verify_names_broken_figures(store: Path) -> None:
    with testing.engine(store) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("a"))
    with Engine.open(store) as engine:
        writes = engine._storage.writes.connection
        with engine._storage.write_lock:
            writes.execute("UPDATE metric_points SET sum = 1000000 WHERE series = 1")
            writes.execute("UPDATE metric_series SET metric = 'Speed' WHERE id = 2")
            writes.execute("INSERT INTO metric_points VALUES(999, 1, 1, 1, 1, 1, NULL)")
            writes.execute("INSERT INTO scaling VALUES('pets', '', 'Read', 99, 1, 2)")
        found = engine.verify()
    assert any("1 points belong to no series" in text for text in found)
    assert any("its sum does not fit" in text for text in found)
    assert any("Speed, which is not a metric" in text for text in found)
    assert any("autoscaling: the setting of pets" in text for text in found)


# --- Prometheus ---


def parsed(text: bytes) -> dict[str, Family]:
    """What Prometheus' own parser reads, by name."""
    return {family.name: family for family in text_string_to_metric_families(text.decode())}


def test_prometheus_reads_sums_times_and_levels(engine: Engine) -> None:
    engine.call("PutItem", put("a"))
    engine.call("PutItem", put("b"))
    engine.metrics.flush()
    engine.call("PutItem", put("c"))
    snapshot = engine.metrics.snapshot()
    found = parsed(prometheus([snapshot]))
    here = {"region": "us-east-1", "table": "pets"}
    (written,) = found["tablewright_consumed_write_capacity_units"].samples
    assert (written.name[-6:], written.labels, written.value) == ("_total", here, 3)
    (items,) = found["tablewright_item_count"].samples
    assert (items.labels, items.value) == (here, 3)
    times = found["tablewright_successful_request_latency_seconds"]
    assert [family.type for family in (times, found["tablewright_item_count"])] == ["histogram", "gauge"]
    buckets = [sample for sample in times.samples if sample.name.endswith("_bucket")]
    assert buckets[-1].labels == {**here, "operation": "PutItem", "le": "+Inf"}
    assert buckets[-1].value == 3
    assert [each.value for each in buckets] == sorted(each.value for each in buckets)
    assert [each.labels["le"] for each in buckets][:3] == ["5e-05", "0.0001", "0.00025"]
    ends = {sample.name.rpartition("_")[2]: sample.value for sample in times.samples[len(buckets) :]}
    milliseconds = snapshot.sums[Series("SuccessfulRequestLatency", "pets", detail="PutItem")].sum
    assert ends == {"count": 3, "sum": milliseconds / 1000}


def test_names_in_prometheus_labels_are_escaped_and_no_digit_of_a_sum_is_lost() -> None:
    name, units = 'a"b\\c\nd', 12_345_678_901.5
    odd = Series("ConsumedReadCapacityUnits", name)
    text = prometheus([MetricsSnapshot("us-east-1", {odd: Histogram(1, units, units, units)}, {})])
    (family,) = parsed(text).values()
    assert [(sample.labels, sample.value) for sample in family.samples] == [
        ({"region": "us-east-1", "table": name}, units)
    ]


def test_lines_of_one_metric_stand_together_whichever_region_they_are_of() -> None:
    units, items = Series("ConsumedReadCapacityUnits", "pets"), Series("ItemCount", "pets")
    one = Histogram(1, 2.0, 2.0, 2.0)
    regions = [MetricsSnapshot(region, {units: one}, {items: 3.0}) for region in ("us-east-1", "eu-west-1")]
    lines = prometheus(regions).decode().splitlines()
    name = "tablewright_consumed_read_capacity_units_total"
    assert lines[1:4] == [
        f"# TYPE {name} counter",
        f'{name}{{region="us-east-1",table="pets"}} 2.0',
        f'{name}{{region="eu-west-1",table="pets"}} 2.0',
    ]
    assert len(lines) == 8


def test_every_metric_has_a_unit_and_says_what_it_is() -> None:
    wanted = "ConsumedReadCapacityUnits ProvisionedWriteCapacityUnits ThrottledRequests ReadThrottleEvents UserErrors"
    assert set(wanted.split()) <= METRICS.keys()
    assert all(
        metric.about and metric.unit in ("Count", "Milliseconds", "Bytes") for metric in METRICS.values()
    )
