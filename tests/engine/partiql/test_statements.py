"""PartiQL inside the engine: one journal, one commit, reads that need no writer, tokens that die with their table."""

from pathlib import Path
from typing import Any

import pytest
from tests.engine.tables import Json, definition, found, put, records, transaction

from tablewright import Engine, testing
from tablewright.engine import ServiceError
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.registry import READ_ONLY, VERBS
from tablewright.engine.partiql.statements import only_reads
from tablewright.engine.transaction import ReadTransaction


def run(engine: Engine, text: str, *parameters: Json, **rest: Any) -> Json:
    request: Json = {"Statement": text, **rest}
    return engine.call("ExecuteStatement", request | ({"Parameters": list(parameters)} if parameters else {}))


def refusal(engine: Engine, verb: str, request: Json) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        engine.call(verb, request)
    return caught.value


def test_a_statement_that_changes_nothing_leaves_no_journal_row(engine: Engine) -> None:
    run(engine, "INSERT INTO pets VALUE {'pk': 'rex', 'n': 1}")
    run(engine, "UPDATE pets SET n = 1 WHERE pk = 'rex'")
    run(engine, "DELETE FROM pets WHERE pk = 'nobody'")
    refusal(engine, "ExecuteStatement", {"Statement": "INSERT INTO pets VALUE {'pk': 'rex'}"})
    assert len(records(engine)) == 1
    run(engine, "UPDATE pets SET n = n + 1 WHERE pk = 'rex'")
    run(engine, "DELETE FROM pets WHERE pk = 'rex'")
    assert [(old is not None, new is not None) for *_, old, new in records(engine)] == [
        (False, True), (True, True), (True, False)
    ]  # fmt: skip


def test_a_refused_member_of_a_batch_changes_nothing_and_the_others_stay(engine: Engine) -> None:
    engine.call("PutItem", put("rex", s="x"))
    texts = ("INSERT INTO pets VALUE {'pk': 'tom'}", "UPDATE pets SET s = s + 1 WHERE pk = 'rex'")
    engine.call("BatchExecuteStatement", {"Statements": [{"Statement": text} for text in texts]})
    assert found(engine, "tom") is not None
    assert len(records(engine)) == 2


def test_what_a_transaction_of_the_same_commit_has_touched_is_taken(engine: Engine) -> None:
    touch = transaction({"Put": put("rex", n=1)})
    statement = {"Statement": "UPDATE pets SET n = 2 WHERE pk = 'rex'"}
    batch = {"Statements": [{"Statement": "DELETE FROM pets WHERE pk = 'rex'"}]}
    group = engine.start_group(
        [("TransactWriteItems", touch), ("ExecuteStatement", statement), ("BatchExecuteStatement", batch),
         ("ExecuteTransaction", {"TransactStatements": [statement]})],
        wait=True,
    )  # fmt: skip
    assert group is not None
    done, single, several, whole = group.finish()
    assert not isinstance(done, ServiceError)
    assert isinstance(single, ServiceError)
    assert single.name == "TransactionConflictException"
    assert isinstance(several, bytes)
    assert b'"Code":"TransactionConflict"' in several
    assert isinstance(whole, ServiceError)
    assert whole.fields["CancellationReasons"][0]["Code"] == "TransactionConflict"
    assert found(engine, "rex") == {"pk": {"S": "rex"}, "n": {"N": "1"}}


def test_a_select_in_a_group_sees_the_writes_before_it(engine: Engine) -> None:
    insert = {"Statement": "INSERT INTO pets VALUE {'pk': 'rex'}"}
    select = {"Statement": "SELECT * FROM pets WHERE pk = 'rex'"}
    group = engine.start_group([("ExecuteStatement", insert), ("ExecuteStatement", select)], wait=True)
    assert group is not None
    assert group.finish()[1] == b'{"Items":[{"pk":{"S":"rex"}}]}'


def test_a_token_does_not_outlive_its_table(engine: Engine) -> None:
    for name in ("rex", "tom"):
        engine.call("PutItem", put(name))
    token = run(engine, "SELECT * FROM pets", Limit=1)["NextToken"]
    engine.call("DeleteTable", {"TableName": "pets"})
    engine.settle()
    engine.call("CreateTable", definition())
    again = {"Statement": "SELECT * FROM pets", "NextToken": token}
    assert refusal(engine, "ExecuteStatement", again).message == "NextToken does not match request"


def test_a_transaction_of_statements_survives_a_restart_and_its_token_too(tmp_path: Path) -> None:
    insert = "INSERT INTO pets VALUE {'pk': 'rex', 'n': 1}"
    request = {"TransactStatements": [{"Statement": insert}], "ClientRequestToken": "once"}
    with testing.engine(tmp_path / "store") as engine:
        engine.call("CreateTable", definition())
        engine.call("ExecuteTransaction", request)
    with testing.engine(tmp_path / "store") as engine:
        assert engine.call("ExecuteTransaction", request) == {"Responses": []}
        assert run(engine, "SELECT n FROM pets WHERE pk = 'rex'")["Items"] == [{"n": {"N": "1"}}]


# --- reads that need no writer ---


@pytest.mark.parametrize(
    ("request_", "reads"),
    [
        ({"Statement": "SELECT * FROM pets"}, True),
        ({"Statement": "-- a note\nselect * from pets"}, True),
        ({"Statement": "DELETE FROM pets WHERE pk = 'SELECT'"}, False),
        ({"Statement": "EXISTS(SELECT * FROM pets WHERE pk = 'x' AND a = 1)"}, False),
        ({"Statement": "SLECT"}, False),
        ({"Statement": 1}, False),
        ({}, False),
        ({"Statements": [{"Statement": "SELECT * FROM pets"}, {"Statement": "SELECT a FROM pets"}]}, True),
        (
            {"Statements": [{"Statement": "SELECT * FROM pets"}, {"Statement": "UPDATE pets SET a = 1"}]},
            False,
        ),
        ({"TransactStatements": [{"Statement": "SELECT * FROM pets"}]}, True),
        ({"TransactStatements": "SELECT"}, False),
    ],
)
def test_a_request_only_reads_if_all_its_statements_are_selects(request_: Json, reads: bool) -> None:
    assert only_reads(request_) is reads


def test_each_verb_of_statements_has_a_reading_of_the_same_shape() -> None:
    assert {verb: VERBS[verb].shape for verb in READ_ONLY} == {
        verb: read.shape for verb, read in READ_ONLY.items()
    }
    assert all(isinstance(VERBS[verb], WriteOperation) for verb in READ_ONLY)


def test_selects_can_run_beside_a_writer_and_see_what_is_committed(tmp_path: Path) -> None:
    with testing.engine(tmp_path / "store") as engine:
        engine.call("CreateTable", definition(ranged=True))
        for n in range(8):
            engine.call("PutItem", put("rex", sk=str(n), big="x" * 200_000))
        group = engine.start_group([("PutItem", put("rex", sk="9"))], wait=True)
        assert group is not None
        rows = engine._storage.acquire_reader()
        try:
            reading = ReadTransaction(rows, engine.tables, engine.place, engine._world)
            asked: Json = {"Statement": "SELECT sk FROM pets WHERE pk = 'rex' AND (sk < '7' OR sk >= '7')"}
            sizes = []
            while True:
                page = READ_ONLY["ExecuteStatement"].run(reading, asked)
                assert isinstance(page, dict)
                sizes.append(len(page["Items"]))
                if "NextToken" not in page:
                    break
                asked["NextToken"] = page["NextToken"]
            one = {"Statement": "SELECT sk FROM pets WHERE pk = 'rex' AND sk = '9'"}
            batch = READ_ONLY["BatchExecuteStatement"].run(reading, {"Statements": [one]})
            whole = READ_ONLY["ExecuteTransaction"].run(reading, {"TransactStatements": [one]})
        finally:
            engine._storage.release_reader(rows)
            group.finish()
        assert sizes == [6, 2]
        assert batch == {"Responses": [{"TableName": "pets"}]}
        assert whole == {"Responses": [{}]}
        assert len(run(engine, "SELECT sk FROM pets WHERE pk = 'rex' AND sk = '9'")["Items"]) == 1
