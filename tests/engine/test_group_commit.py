"""Writes that share a commit: none of them pays for another's mistake, and nobody is answered too early.

Elsewhere: how the server makes its groups (tests/wire).
"""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import add, amount, create_index, definition, found, item, keyed, names, put, records

from tablewright import Engine, ServiceError
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.registry import VERBS
from tablewright.engine.transaction import WriteTransaction

Run = Callable[[WriteTransaction, dict[str, Any]], dict[str, Any] | bytes]


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Without a keeper: its chores would be in some of the groups."""
    with SteppedEngine.stepped() as opened:
        opened.call("CreateTable", definition())
        yield opened
        assert opened.verify() == []


def outcomes(engine: Engine, *work: tuple[str, dict[str, Any]]) -> list[str]:
    """Run writes as one group: `ok`, or the name of the error."""
    group = engine.start_group(work)
    assert group is not None
    return [outcome.name if isinstance(outcome, ServiceError) else "ok" for outcome in group.finish()]


def run_of(verb: str) -> Run:
    operation = VERBS[verb]
    assert isinstance(operation, WriteOperation)
    return operation.run


def breaking(monkeypatch: pytest.MonkeyPatch, verb: str, run: Run) -> None:
    """From now on the verb runs like this."""
    monkeypatch.setitem(VERBS, verb, WriteOperation(verb, VERBS[verb].shape, run))


def test_writes_of_one_group_see_those_before_them(engine: Engine) -> None:
    assert outcomes(engine, *[("UpdateItem", add("rex"))] * 5) == ["ok"] * 5
    assert amount(engine, "rex") == 5


def test_a_refused_write_leaves_its_neighbours_alone(engine: Engine) -> None:
    refused = put("bad") | {"ConditionExpression": "attribute_exists(pk)"}
    done = outcomes(engine, ("PutItem", put("rex")), ("PutItem", refused), ("PutItem", put("tom")))
    assert done == ["ok", "ConditionalCheckFailedException", "ok"]
    assert names(engine) == ["rex", "tom"]


def test_a_fault_of_ours_in_one_write_leaves_its_neighbours_alone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def write_and_break(writing: WriteTransaction, request: dict[str, Any]) -> dict[str, Any]:
        delete(writing, {**keyed("rex")})
        raise RuntimeError("a fault of ours")

    delete = run_of("DeleteItem")
    breaking(monkeypatch, "DeleteItem", write_and_break)
    engine.call("PutItem", put("rex"))
    with caplog.at_level(logging.CRITICAL, "tablewright.engine"):
        done = outcomes(
            engine, ("PutItem", put("tom")), ("DeleteItem", keyed("rex")), ("UpdateItem", add("count"))
        )
    assert done == ["ok", "InternalServerError", "ok"]
    assert names(engine) == ["count", "rex", "tom"]
    assert len(records(engine)) == 3


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupted_write_changes_nothing_and_the_next_one_works(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, fault: type[BaseException]
) -> None:
    def write_and_stop(writing: WriteTransaction, request: dict[str, Any]) -> dict[str, Any]:
        delete(writing, request)
        raise fault

    delete = run_of("DeleteItem")
    engine.call("PutItem", put("rex"))
    with monkeypatch.context() as patched:
        breaking(patched, "DeleteItem", write_and_stop)
        with pytest.raises((fault, ServiceError)):
            engine.call("DeleteItem", keyed("rex"))
    assert found(engine, "rex") == item("rex")
    engine.call("PutItem", put("tom"))
    assert names(engine) == ["rex", "tom"]


def test_an_interruption_right_after_the_commit_does_not_stop_later_writes(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ctrl-C during the fsync of a commit is delivered the moment the commit has returned.
    commit = engine._storage.commit

    def commit_and_stop() -> None:
        commit()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(engine._storage, "commit", commit_and_stop)
        with pytest.raises(KeyboardInterrupt):
            engine.call("PutItem", put("rex"))
    engine.call("PutItem", put("tom"))
    engine.call("CreateTable", definition("other"))
    assert "tom" in names(engine)


def test_a_commit_the_disk_refuses_answers_an_internal_error_and_changes_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError("no space left on device")

    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("rex", age=3))
        before = records(engine)
        with monkeypatch.context() as patched:
            patched.setattr(engine._storage, "commit", refuse)
            for verb, request in (
                ("PutItem", put("rex", age=4)),
                ("PutItem", put("tom")),
                ("CreateTable", definition("other")),
                ("UpdateTable", create_index("colour")),
            ):
                with pytest.raises(ServiceError) as failed:
                    engine.call(verb, request)
                assert (failed.value.name, failed.value.status) == ("InternalServerError", 500)
            assert (
                outcomes(engine, ("PutItem", put("a")), ("PutItem", put("b"))) == ["InternalServerError"] * 2
            )
        assert found(engine, "rex") == item("rex", age=3)
        assert names(engine) == ["rex"]
        assert engine.call("ListTables", {})["TableNames"] == ["pets"]
        assert records(engine) == before
        assert engine.verify() == []
        engine.call("PutItem", put("tom"))
    with Engine.open(store) as again:
        assert names(again) == ["rex", "tom"]


def test_readers_on_disk_do_not_see_a_group_before_its_commit(store: Path) -> None:
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition())
        group = engine.start_group([("PutItem", put("rex"))])
        assert group is not None
        assert found(engine, "rex") is None
        group.finish()
        assert found(engine, "rex") == item("rex")


def test_a_second_group_waits_until_the_first_is_committed(engine: Engine) -> None:
    group = engine.start_group([("PutItem", put("rex"))])
    assert group is not None
    assert engine.start_group([("PutItem", put("tom"))]) is None
    group.finish()
    assert outcomes(engine, ("PutItem", put("tom"))) == ["ok"]


@pytest.mark.parametrize(
    "updates",
    [
        [{"Create": "colour"}, {"Update": "nobody"}],
        [{"Delete": "age"}, {"Update": "nobody"}],
        [{"Update": "nobody"}, {"Create": "colour"}],
    ],
)
def test_a_table_update_that_is_refused_halfway_changes_nothing(
    engine: Engine, updates: list[dict[str, str]]
) -> None:
    engine.call("CreateTable", definition("zoo", indexes=("age",)))
    engine.call("PutItem", put("rex", "zoo", age="3"))
    before = engine.call("DescribeTable", {"TableName": "zoo"})
    actions = {
        "Create": create_index("colour", "zoo")["GlobalSecondaryIndexUpdates"][0],
        "Delete": {"Delete": {"IndexName": "age"}},
        "Update": {"Update": {"IndexName": "nobody", "OnDemandThroughput": {"MaxReadRequestUnits": 5}}},
    }
    request = create_index("colour", "zoo")
    request["GlobalSecondaryIndexUpdates"] = [actions[kind] for update in updates for kind in update]
    with pytest.raises(ServiceError):
        engine.call("UpdateTable", request)
    engine.settle()
    assert engine.call("DescribeTable", {"TableName": "zoo"}) == before
    assert names(engine, "age", "zoo") == ["rex"]
    engine.call("UpdateTable", create_index("colour", "zoo"))
    engine.call("PutItem", put("tom", "zoo", age="4", colour="red"))
    engine.settle()
    assert names(engine, "colour", "zoo") == ["tom"]
