"""What is faster than it may be is refused, with the service's reasons; what was saved may be used."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.engine.tables import definition, item, keyed, put

from tablewright import Engine, ServiceError, testing
from tablewright.engine.throughput.token_buckets import Throttled

SECOND = timedelta(seconds=1)
Json = dict[str, Any]


def units(read: int, write: int) -> Json:
    return {"ProvisionedThroughput": {"ReadCapacityUnits": read, "WriteCapacityUnits": write}}


def provisioned(read: int, write: int, **more: Any) -> Json:
    return definition(**more) | {"BillingMode": "PROVISIONED"} | units(read, write)


@pytest.fixture
def engine(clock: testing.Clock) -> Iterator[Engine]:
    with testing.engine(world=clock.world(), throttling=True) as opened:
        yield opened


def refused(engine: Engine, verb: str, request: Json) -> Throttled:
    with pytest.raises(Throttled) as caught:
        engine.call(verb, request)
    return caught.value


def reasons(mistake: ServiceError) -> list[str]:
    fields = mistake.fields.get("ThrottlingReasons") or mistake.fields["throttlingReasons"]
    return [each["reason"] for each in fields]


def puts_until_refused(engine: Engine, most: int = 10_000, **attributes: str) -> int:
    for count in range(most):
        try:
            engine.call("PutItem", put(str(count), **attributes))
        except Throttled:
            return count
    return most


def total(engine: Engine, metric: str, **wanted: Any) -> float:
    return sum(point.sum for point in engine.metrics.series(metric, **{"table": "pets"} | wanted))


# --- provisioned ---


def test_a_new_table_has_a_second_of_its_units(engine: Engine) -> None:
    engine.call("CreateTable", provisioned(5, 5))
    assert puts_until_refused(engine) == 5


def test_units_come_in_second_by_second(engine: Engine, clock: testing.Clock) -> None:
    engine.call("CreateTable", provisioned(5, 5))
    puts_until_refused(engine)
    clock.move(SECOND)
    assert puts_until_refused(engine) == 5


def test_what_was_not_used_is_saved_for_300_seconds(engine: Engine, clock: testing.Clock) -> None:
    engine.call("CreateTable", provisioned(5, 2))
    clock.move(timedelta(hours=1))
    assert puts_until_refused(engine) == 600


def test_a_refusal_is_in_the_services_words_and_changes_nothing(engine: Engine) -> None:
    engine.call("CreateTable", provisioned(1, 1))
    engine.call("PutItem", put("a"))
    mistake = refused(engine, "PutItem", put("b"))
    assert mistake.name == "ProvisionedThroughputExceededException"
    assert mistake.message == (
        "The level of configured provisioned throughput for the table was exceeded. "
        "Consider increasing your provisioning level with the UpdateTable API."
    )
    arn = engine.call("DescribeTable", {"TableName": "pets"})["Table"]["TableArn"]
    assert mistake.fields == {
        "ThrottlingReasons": [{"reason": "TableWriteProvisionedThroughputExceeded", "resource": arn}]
    }
    assert engine.call("GetItem", keyed("b")) == {}


def test_reads_and_writes_draw_on_different_units(engine: Engine) -> None:
    engine.call("CreateTable", provisioned(1, 1))
    engine.call("PutItem", put("a"))
    assert refused(engine, "PutItem", put("b"))
    engine.call("GetItem", keyed("a"))
    engine.call("GetItem", keyed("a"))
    assert reasons(refused(engine, "GetItem", keyed("a"))) == ["TableReadProvisionedThroughputExceeded"]
    assert reasons(refused(engine, "Scan", {"TableName": "pets"})) == [
        "TableReadProvisionedThroughputExceeded"
    ]


def test_a_request_that_costs_more_than_there_is_leaves_a_debt(engine: Engine, clock: testing.Clock) -> None:
    engine.call("CreateTable", provisioned(1, 2))
    engine.call("PutItem", put("big", text="x" * 9000))
    clock.move(3 * SECOND)
    assert refused(engine, "PutItem", put("b"))
    clock.move(SECOND)
    engine.call("PutItem", put("b"))


def test_a_condition_that_fails_uses_units(engine: Engine) -> None:
    engine.call("CreateTable", provisioned(1, 2))
    never = {"ConditionExpression": "attribute_exists(wings)"}
    for _ in range(2):
        with pytest.raises(ServiceError, match="conditional"):
            engine.call("PutItem", put("a") | never)
    assert refused(engine, "PutItem", put("a") | never).name == "ProvisionedThroughputExceededException"


def test_more_units_may_be_used_once_they_are_set(engine: Engine, clock: testing.Clock) -> None:
    engine.call("CreateTable", provisioned(1, 1))
    puts_until_refused(engine)
    engine.call("UpdateTable", {"TableName": "pets", **units(1, 50)})
    clock.move(SECOND)
    assert puts_until_refused(engine) == 50


def test_an_index_that_is_short_holds_back_the_writes_that_change_it(engine: Engine) -> None:
    request = provisioned(10, 10, indexes=("colour",))
    request["GlobalSecondaryIndexes"][0] |= units(1, 1)
    engine.call("CreateTable", request)
    engine.call("PutItem", put("a", colour="brown"))
    mistake = refused(engine, "PutItem", put("b", colour="black"))
    assert reasons(mistake) == ["IndexWriteProvisionedThroughputExceeded"]
    assert mistake.fields["ThrottlingReasons"][0]["resource"].endswith("table/pets/index/colour")
    assert "global secondary indexes" in mistake.message
    engine.call("PutItem", put("c"))  # not in the index
    assert engine.call("GetItem", keyed("b")) == {}
    assert total(engine, "WriteThrottleEvents", index="colour") == 1
    assert total(engine, "WriteThrottleEvents") == 0
    assert total(engine, "ThrottledRequests", operation="PutItem") == 1


def test_a_query_of_an_index_draws_on_the_index(engine: Engine) -> None:
    request = provisioned(10, 10, indexes=("colour",))
    request["GlobalSecondaryIndexes"][0] |= units(1, 1)
    engine.call("CreateTable", request)
    query = {
        "TableName": "pets",
        "IndexName": "colour",
        "KeyConditionExpression": "colour = :c",
        "ExpressionAttributeValues": {":c": {"S": "brown"}},
    }
    engine.call("Query", query)
    engine.call("Query", query)
    assert reasons(refused(engine, "Query", query)) == ["IndexReadProvisionedThroughputExceeded"]


# --- partitions ---


def test_one_hash_key_takes_a_thousand_writes_a_second(engine: Engine, clock: testing.Clock) -> None:
    engine.call("CreateTable", provisioned(4000, 4000))
    clock.move(timedelta(minutes=10))
    big = put("hot", text="x" * 102_300)  # 100 units
    for _ in range(10):
        engine.call("PutItem", big)
    mistake = refused(engine, "PutItem", big)
    assert reasons(mistake) == ["TableWriteKeyRangeThroughputExceeded"]
    assert mistake.name == "ProvisionedThroughputExceededException"
    engine.call("PutItem", put("other"))
    clock.move(SECOND)
    engine.call("PutItem", big)
    assert total(engine, "WriteKeyRangeThroughputThrottleEvents") == 1


def test_one_hash_key_gives_three_thousand_reads_a_second(engine: Engine, clock: testing.Clock) -> None:
    engine.call("CreateTable", provisioned(40_000, 40_000))
    clock.move(timedelta(minutes=10))
    engine.call("PutItem", put("hot", text="x" * 400_000))  # 98 units
    asked = keyed("hot") | {"ConsistentRead": True}
    for _ in range(31):
        engine.call("GetItem", asked)
    assert reasons(refused(engine, "GetItem", asked)) == ["TableReadKeyRangeThroughputExceeded"]


# --- on demand ---


def on_demand(read: int, write: int) -> Json:
    return {"OnDemandThroughput": {"MaxReadRequestUnits": read, "MaxWriteRequestUnits": write}}


def test_a_ceiling_of_an_on_demand_table_is_held(engine: Engine, clock: testing.Clock) -> None:
    engine.call("CreateTable", definition() | on_demand(2, 3))
    clock.move(timedelta(minutes=10))
    assert puts_until_refused(engine) == 3
    mistake = refused(engine, "PutItem", put("z"))
    assert mistake.name == "ThrottlingException"
    assert mistake.message == "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
    assert [each["reason"] for each in mistake.fields["throttlingReasons"]] == [
        "TableWriteMaxOnDemandThroughputExceeded"
    ]


def busy_second(engine: Engine, verb: str = "PutItem", most: int = 1000) -> tuple[int, ServiceError | None]:
    """Writes of 100 units each to different keys; how many units went through, and the refusal."""
    for count in range(most):
        try:
            engine.call(verb, put(f"k{count}", text="x" * 102_300))
        except ServiceError as refusal:
            return count * 100, refusal
    return most * 100, None


def test_an_on_demand_table_takes_twice_the_traffic_of_half_an_hour_ago(
    engine: Engine, clock: testing.Clock
) -> None:
    engine.call("CreateTable", definition())
    first, refusal = busy_second(engine)
    assert first == 4_000
    assert refusal is not None
    assert refusal.name == "ThrottlingException"
    assert "automatically scaling" in refusal.message
    clock.move(timedelta(minutes=5))
    assert busy_second(engine)[0] == 4_000
    clock.move(timedelta(minutes=40))
    assert busy_second(engine)[0] == 8_000


def test_no_table_takes_more_than_its_quota(engine: Engine) -> None:
    warm = {"WarmThroughput": {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 40_000}}
    engine.call("CreateTable", definition() | warm)
    through, refusal = busy_second(engine)
    assert through == 40_000
    assert refusal is not None
    assert refusal.name == "RequestLimitExceeded"
    assert reasons(refusal) == ["TableWriteAccountLimitExceeded"]


# --- several items at once ---


def test_a_batch_hands_back_what_came_too_fast(engine: Engine) -> None:
    engine.call("CreateTable", provisioned(2, 2))
    writes = [{"PutRequest": {"Item": item(name)}} for name in "abc"]
    answer = engine.call("BatchWriteItem", {"RequestItems": {"pets": writes}})
    assert answer["UnprocessedItems"] == {"pets": writes[2:]}
    keys = [item(name) for name in "abcdef"]
    answer = engine.call("BatchGetItem", {"RequestItems": {"pets": {"Keys": keys}}})
    assert len(answer["Responses"]["pets"]) == 2
    assert answer["UnprocessedKeys"] == {"pets": {"Keys": keys[4:]}}
    assert total(engine, "WriteThrottleEvents") == 1
    assert total(engine, "ReadThrottleEvents") == 2
    assert total(engine, "ThrottledRequests") == 0


def test_a_batch_is_refused_when_all_of_it_came_too_fast(engine: Engine) -> None:
    engine.call("CreateTable", provisioned(1, 1))
    engine.call("PutItem", put("a"))
    engine.call("GetItem", keyed("a") | {"ConsistentRead": True})
    writes = {"RequestItems": {"pets": [{"PutRequest": {"Item": item("b")}}]}}
    assert refused(engine, "BatchWriteItem", writes).name == "ProvisionedThroughputExceededException"
    reads = {"RequestItems": {"pets": {"Keys": [item("a")]}}}
    assert refused(engine, "BatchGetItem", reads).name == "ProvisionedThroughputExceededException"
    assert total(engine, "ThrottledRequests", operation="BatchGetItem") == 1


def test_a_batch_to_a_table_with_local_indexes_hands_back_what_came_too_fast(engine: Engine) -> None:
    engine.call("CreateTable", provisioned(1, 1, ranged=True, local=("size",)))
    writes = [{"PutRequest": {"Item": item(name, sk="1")}} for name in "ab"]
    engine.call("BatchWriteItem", {"RequestItems": {"pets": writes[:1]}})
    refused(engine, "BatchWriteItem", {"RequestItems": {"pets": writes}})
    assert len(engine.call("Scan", {"TableName": "pets"})["Items"]) == 1


def test_a_transaction_is_cancelled_by_what_came_too_fast(engine: Engine, clock: testing.Clock) -> None:
    engine.call("CreateTable", provisioned(1, 1))
    engine.call("CreateTable", definition("others") | on_demand(1, 1))
    engine.call("PutItem", put("a"))
    engine.call("PutItem", put("a", "others"))
    actions = [{"Put": put("b")}, {"Put": put("b", "others")}, {"Put": put("c", "others")}]
    with pytest.raises(ServiceError) as caught:
        engine.call("TransactWriteItems", {"TransactItems": actions})
    given = caught.value.fields["CancellationReasons"]
    assert [each["Code"] for each in given] == [
        "ProvisionedThroughputExceeded",
        "ThrottlingError",
        "ThrottlingError",
    ]
    assert given[0]["Message"].startswith("The level of configured provisioned throughput for the table")
    assert total(engine, "ThrottledRequests", operation="TransactWriteItems") == 1
    clock.move(SECOND)
    engine.call("TransactWriteItems", {"TransactItems": actions[:2]})
    for _ in range(2):
        engine.call("GetItem", keyed("a") | {"ConsistentRead": True})
    with pytest.raises(ServiceError) as caught:
        engine.call("TransactGetItems", {"TransactItems": [{"Get": keyed("a")}]})
    assert caught.value.fields["CancellationReasons"][0]["Code"] == "ProvisionedThroughputExceeded"


# --- off ---


def test_nothing_is_throttled_unless_asked_for(clock: testing.Clock) -> None:
    with testing.engine(world=clock.world()) as engine:
        engine.call("CreateTable", provisioned(1, 1))
        assert puts_until_refused(engine, 50) == 50
