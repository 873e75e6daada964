"""Bad input gets the service's error and changes nothing, wherever in a request it stands.

A sound request of each verb is bent in one to three places: something is left out, doubled, renamed or replaced by
another piece of JSON. Whatever comes of it is answered or refused with a 400; nothing else is raised, a refusal
leaves the store byte for byte as it was, and the request is not touched.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.stepped_engine import SteppedEngine
from tests.properties.effort import effort
from tests.properties.sound import (
    ARN,
    BESIDE,
    BULK_LOAD,
    ITEM,
    KEY,
    KINESIS,
    PETS,
    POLICY,
    SOUND,
    STREAM,
    Json,
)

from tablewright import Engine, ServiceError
from tablewright.engine.api.registry import VERBS
from tablewright.testing import Clock

# What a place may be replaced by: the types next door, the ends of the ranges, and words that mean something here.
ODD: st.SearchStrategy[Json] = st.one_of(
    st.sampled_from([None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, 10**30, 1.5, -0.0, 1e300, "", " ", "x" * 3000]),
    st.sampled_from(["pk", "sk", "pets", "global", "local", "rex", ":a", "#n", "\0", "é", "\ud800", "NaN", "1e999"]),
    st.just("1e" + "9" * 5000),
    st.sampled_from(["ALL_OLD", "TOTAL", "EQ", "a.b", "a[0]", "SET", "a = :a", "SET pk = :a", "#n = :a", "(((", "n n"]),
    st.sampled_from([{}, [], [[]], [{}], {"S": "x"}, {"N": "1"}, {"N": "x"}, {"B": "A"}, {"S": "", "N": "1"}]),
    st.sampled_from([{"L": [{}]}, {"SS": []}, {"NS": ["1", "1.0"]}, {"M": {"": {"S": "a"}}}, KEY, [KEY], ITEM]),
    st.text(max_size=5),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip


OTHER_NAMES = ["S", "N", "pk", "Put", "Limit", "", "\ud800", "#n", ":z"]


def places(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every member and element inside."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inside:
        yield (*path, key)
        yield from places(member, (*path, key))


@st.composite
def bent(draw: st.DrawFn) -> tuple[str, Json]:
    verb = draw(st.sampled_from(sorted(SOUND)))
    request = deepcopy(draw(st.sampled_from(SOUND[verb])))
    for _ in range(draw(st.integers(1, 3))):
        where = list(places(request))
        if where:
            bend(draw, request, draw(st.sampled_from(where)))
    return verb, request


def bend(draw: st.DrawFn, request: Json, path: tuple[Any, ...]) -> None:
    holder = request
    for key in path[:-1]:
        holder = holder[key]
    key = path[-1]
    match draw(st.sampled_from(["replace", "replace", "leave out", "double", "rename"])):
        case "replace":
            holder[key] = deepcopy(draw(ODD))
        case "leave out":
            del holder[key]
        case "double" if isinstance(holder, list):
            holder.append(deepcopy(holder[key]))
        case "double" | "rename":
            if isinstance(holder, dict):
                holder[draw(st.sampled_from(OTHER_NAMES))] = deepcopy(holder[key])


def everything(engine: Engine) -> list[tuple[Any, ...]]:
    """All rows of all tables of the store."""
    connection = engine._storage.writes.connection
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    with engine._storage.write_lock:  # the engine's own chores write too
        names = [name for (name,) in connection.execute(tables)]
        return [(name, *row) for name in names for row in connection.execute(f"SELECT * FROM {name}")]


def test_every_verb_has_a_sound_request() -> None:
    assert SOUND.keys() == VERBS.keys()


@pytest.mark.parametrize("verb", sorted(SOUND))
def test_the_requests_that_are_bent_are_sound(verb: str) -> None:
    for request in SOUND[verb]:
        with begun() as engine:
            engine.call(verb, request)


def begin(engine: Engine) -> None:
    engine.call("CreateTable", PETS)
    for number in range(1, 5):
        engine.call("PutItem", {"TableName": "pets", "Item": ITEM | {"sk": {"N": str(number)}}})


@contextmanager
def begun() -> Iterator[SteppedEngine]:
    """An engine with a table that has one of everything, and one beside it; ids are counted, so they are known."""
    ids = count(1)
    world = replace(Clock().world(), new_id=lambda: f"id {next(ids)}")
    # Once the backup is made nobody labours here, so nothing is ever written to the bucket.
    with SteppedEngine.stepped(world=world, buckets="nowhere") as engine:
        begin(engine)
        engine.call("CreateBackup", {"TableName": "pets", "BackupName": "first"})
        while engine.job_step():
            pass
        recovery = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups", {"TableName": "pets", "PointInTimeRecoverySpecification": recovery}
        )
        engine.call("ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "vault"})
        (asked,) = SOUND["ImportTable"]
        parameters = asked["TableCreationParameters"] | {"TableName": "brought"}
        engine.call("ImportTable", asked | {"TableCreationParameters": parameters, "ClientToken": "z"})
        engine.call("StartBulkPutItems", BULK_LOAD)
        engine.call("PutResourcePolicy", {"ResourceArn": STREAM, "Policy": POLICY})
        engine.call("EnableKinesisStreamingDestination", {"TableName": "pets", "StreamArn": KINESIS})
        engine.call("CreateTable", BESIDE)
        yield engine


WARM = {"ReadUnitsPerSecond": 13_000, "odd": 1}
CEILING = {"MaxReadRequestUnits": 5, "odd": "even"}
HUGE = "1e" + "9" * 5000
ONCE_WRONG: list[tuple[str, Json]] = [
    ("CreateTable", PETS | {"TableName": "more", "WarmThroughput": WARM}),
    ("CreateTable", PETS | {"TableName": "more", "OnDemandThroughput": CEILING}),
    ("UpdateTable", {"TableName": "pets", "OnDemandThroughput": CEILING}),
    ("Scan", {"TableName": "pets", "Limit": 2**63}),
    ("Scan", {"TableName": "pets", "Limit": 1e30}),
    ("PutItem", {"TableName": "pets", "Item": ITEM | {"n": {"N": HUGE}}}),
    ("GetItem", {"TableName": "pets", "Key": KEY | {"sk": {"N": HUGE}}}),
    (
        "TransactWriteItems",
        {"TransactItems": [{"Delete": {"TableName": "pets", "Key": KEY}}], "ClientRequestToken": "\ud800"},
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [{"Put": {"TableName": "pets", "Item": {"pk": {"S": "\ud800"}}}}],
            "ClientRequestToken": "x",
        },
    ),
    ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "\ud800", "Value": "x"}]}),
    (
        "GetItem",
        {
            "TableName": "pets",
            "Key": KEY,
            "ProjectionExpression": "#x",
            "ExpressionAttributeNames": {"#x": "\ud800"},
        },
    ),
]


@pytest.mark.parametrize("call", ONCE_WRONG, ids=[f"{n}-{verb}" for n, (verb, _) in enumerate(ONCE_WRONG)])
def test_what_once_went_wrong_stays_right(call: tuple[str, Json]) -> None:
    check(*call)


@effort(600)
@given(bent())
def test_a_bent_request_is_answered_or_refused_and_a_refusal_changes_nothing(call: tuple[str, Json]) -> None:
    check(*call)


def check(verb: str, request: Json) -> None:
    with begun() as engine:
        before = everything(engine)
        sent = deepcopy(request)
        try:
            engine.call(verb, request)
        except ServiceError as refused:
            if refused.status != 400:
                raise
            assert everything(engine) == before
        assert request == sent
        assert engine.verify() == []
