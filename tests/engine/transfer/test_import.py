"""Imports from the inside: in steps, over restarts; a table that is CREATING until it is filled."""

import gzip
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import create_index, item, keyed, names, put, records
from tests.engine.transfer_requests import describe, import_request, import_some, put_lines, small_pieces

from tablewright import Engine, ServiceError, testing
from tablewright.engine.transfer import import_formats
from tablewright.engine.transfer.buckets import DirectoryBuckets
from tablewright.engine.transfer.store import IMPORTS


@pytest.fixture
def buckets(tmp_path: Path) -> Path:
    made = tmp_path / "buckets"
    (made / "vault").mkdir(parents=True)
    return made


@pytest.fixture
def pets(clock: testing.Clock, buckets: Path) -> Iterator[SteppedEngine]:
    engine = SteppedEngine.open(world=clock.world(), durability="relaxed", buckets=buckets)
    with engine:
        assert isinstance(engine, SteppedEngine)
        yield engine
        engine.settle()
        assert engine.verify() == []


def objects(buckets: Path, count: int = 3, items: int = 5) -> list[str]:
    """Objects of some items each; the names of the items."""
    for place in range(count):
        put_lines(buckets, f"part {place}", *(item(f"pet {place} {n}") for n in range(items)))
    return sorted(f"pet {place} {n}" for place in range(count) for n in range(items))


def indexed() -> dict[str, object]:
    updates = create_index("colour", "copies")
    return {
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            *updates["AttributeDefinitions"],
        ],
        "GlobalSecondaryIndexes": [updates["GlobalSecondaryIndexUpdates"][0]["Create"]],
    }


def test_a_table_is_creating_until_the_last_item_is_in_it(pets: SteppedEngine, buckets: Path) -> None:
    expected = objects(buckets)
    arn = import_some(pets)
    counts = []
    with small_pieces():
        while describe(pets, arn)["ImportStatus"] == "IN_PROGRESS":
            table = pets.call("DescribeTable", {"TableName": "copies"})["Table"]
            assert table["TableStatus"] == "CREATING"
            counts.append(describe(pets, arn)["ImportedItemCount"])
            assert table["ItemCount"] == counts[-1]
            for verb, request in (("PutItem", put("x", "copies")), ("GetItem", keyed("x", "copies"))):
                with pytest.raises(ServiceError, match="ResourceNotFoundException"):
                    pets.call(verb, request)
            with pytest.raises(ServiceError, match="ResourceInUseException"):
                pets.call("DeleteTable", {"TableName": "copies"})
            assert pets.verify() == []
            assert pets.job_step()
    assert len(set(counts)) > 5
    assert counts == sorted(counts)
    assert pets.call("DescribeTable", {"TableName": "copies"})["Table"]["TableStatus"] == "ACTIVE"
    assert names(pets, table="copies") == expected


def test_a_store_that_is_opened_again_goes_on_in_the_middle_of_an_object(store: Path) -> None:
    buckets = store / "buckets"
    expected = objects(buckets)
    # The second object has a line that is no item and an empty one, which count once however often it is read.
    broken = buckets / "vault" / "part 1"
    broken.write_bytes(b"\n" + b'{"Item": {}}\n' + broken.read_bytes())
    with small_pieces():
        with SteppedEngine.stepped(store) as engine:
            arn = import_some(engine, parameters=indexed())
        steps = 0
        while True:
            with SteppedEngine.stepped(store) as engine:
                assert engine.verify() == []
                if describe(engine, arn)["ImportStatus"] != "IN_PROGRESS":
                    break
                assert engine.job_step()
                steps += 1
    assert steps > 6
    with Engine.open(store) as engine:
        assert names(engine, table="copies") == expected
        end = describe(engine, arn)
        assert (end["ProcessedItemCount"], end["ImportedItemCount"], end["ErrorCount"]) == (16, 15, 1)
        assert end["ProcessedSizeBytes"] == sum(
            path.stat().st_size for path in (buckets / "vault").iterdir() if path.is_file()
        )


@pytest.mark.parametrize("compression", ["NONE", "GZIP"])
@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "CSV"])
def test_an_object_is_read_on_where_it_was_left(
    pets: SteppedEngine, buckets: Path, compression: str, form: str
) -> None:
    path = buckets / "vault" / "x"
    if form == "CSV":
        path.write_text("pk,text\n" + "".join(f'"pet {n}","line\nline"\n\n' for n in range(9)))
    else:
        put_lines(buckets, "x", *(item(f"pet {n}") for n in range(9)))
    size = path.stat().st_size
    if compression == "GZIP":
        path.write_bytes(gzip.compress(path.read_bytes()))
    arn = import_some(pets, InputFormat=form, InputCompressionType=compression)
    with small_pieces():
        while pets.job_step():
            pets._session.close()
            pets._session.memory.clear()  # as if the store had been opened again
    assert names(pets, table="copies") == [f"pet {n}" for n in range(9)]
    assert describe(pets, arn)["ProcessedItemCount"] == 9
    assert describe(pets, arn)["ProcessedSizeBytes"] == size


def test_items_come_without_a_history(pets: SteppedEngine, buckets: Path) -> None:
    objects(buckets)
    import_some(pets)
    pets.settle()
    assert records(pets) == []
    pets.call("PutItem", put("pet 0 0", "copies", number=1))
    assert [row[6] is not None for row in records(pets)] == [True]


def test_a_later_item_takes_the_place_of_an_earlier_one_in_the_indexes_too(
    pets: SteppedEngine, buckets: Path
) -> None:
    put_lines(buckets, "1", *(item(f"pet {n}", colour="red") for n in range(4)))
    put_lines(buckets, "2", item("pet 1", colour="blue"), item("pet 2"), item("pet 1", colour="grey"))
    with small_pieces():
        import_some(pets, parameters=indexed())
        pets.settle()
    assert names(pets, "colour", "copies") == ["pet 0", "pet 1", "pet 3"]
    assert names(pets, table="copies") == [f"pet {n}" for n in range(4)]


def test_mistakes_beyond_a_number_are_only_counted(pets: SteppedEngine, buckets: Path) -> None:
    put_lines(buckets, "x", *({"no": {"S": "key"}} for _ in range(10)))
    with small_pieces():
        arn = import_some(pets)
        pets.settle()
    assert describe(pets, arn)["ErrorCount"] == 10
    report = buckets / "vault" / "aws-dynamodb" / "imports" / arn.rpartition("/")[2] / "error"
    assert len(report.read_bytes().splitlines()) == 3


def test_a_report_that_cannot_be_written_does_not_change_the_import(
    pets: SteppedEngine, buckets: Path
) -> None:
    put_lines(buckets, "x", {"no": {"S": "key"}}, item("rex"))
    (buckets / "vault" / "aws-dynamodb").write_text("in the way")
    arn = import_some(pets, "x")
    pets.settle()
    assert describe(pets, arn)["FailureCode"] == "ItemValidationError"
    assert "could not be written" in describe(pets, arn)["FailureMessage"]
    assert names(pets, table="copies") == ["rex"]


def test_a_bucket_that_goes_away_fails_the_import_and_leaves_what_had_come(
    pets: SteppedEngine, buckets: Path
) -> None:
    objects(buckets)
    arn = import_some(pets)
    with small_pieces():
        while describe(pets, arn)["ImportedItemCount"] < 5:
            assert pets.job_step()
        for path in (buckets / "vault").iterdir():
            path.unlink()
        (buckets / "vault").rmdir()
        pets._session.close()
        pets._session.memory.clear()
        pets.settle()
    end = describe(pets, arn)
    assert (end["ImportStatus"], end["ImportedItemCount"]) == ("FAILED", len(names(pets, table="copies")))


def test_two_imports_are_done_one_after_the_other(pets: SteppedEngine, buckets: Path) -> None:
    expected = objects(buckets)
    import_some(pets)
    other = import_request(parameters={"TableName": "others"})
    pets.call("ImportTable", other)
    with small_pieces():
        pets.settle()
    assert names(pets, table="copies") == names(pets, table="others") == expected


def test_no_more_imports_than_the_service_takes(pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.engine.api.imports.IMPORTS_AT_ONCE", 1)
    import_some(pets)
    with pytest.raises(ServiceError, match="LimitExceededException"):
        pets.call("ImportTable", import_request(parameters={"TableName": "others"}))


def test_a_token_is_good_for_eight_hours(pets: SteppedEngine, clock: testing.Clock) -> None:
    first = import_some(pets, ClientToken="once")
    assert import_some(pets, ClientToken="once") == first
    pets.settle()
    pets.call("DeleteTable", {"TableName": "copies"})
    clock.move(timedelta(hours=8))
    assert import_some(pets, ClientToken="once") == first
    clock.move(timedelta(seconds=1))
    assert import_some(pets, ClientToken="once") != first


def test_imports_are_listed_by_their_table_to_the_letter(pets: SteppedEngine, buckets: Path) -> None:
    """An underscore is an underscore: to SQL it could be any character."""
    put_lines(buckets, "x", item("rex"))
    arns = []
    for name in ("my_copies", "my-copies"):
        request = import_request()
        request["TableCreationParameters"] = {**request["TableCreationParameters"], "TableName": name}
        arns.append(pets.call("ImportTable", request)["ImportTableDescription"]["ImportArn"])
    for arn in arns:
        listed = pets.call("ListImports", {"TableArn": arn.partition("/import/")[0]})["ImportSummaryList"]
        assert [one["ImportArn"] for one in listed] == [arn]


def test_imports_are_told_of_for_ninety_days(
    pets: SteppedEngine, clock: testing.Clock, buckets: Path
) -> None:
    put_lines(buckets, "x", {"no": {"S": "key"}})
    arn = import_some(pets)
    pets.settle()
    clock.move(timedelta(days=90, seconds=1))
    with pytest.raises(ServiceError, match="ImportNotFoundException"):
        describe(pets, arn)
    pets.settle()
    assert IMPORTS.all(pets._storage.writes) == []
    assert list(pets._storage.writes.connection.execute("SELECT * FROM import_errors")) == []


def test_an_engine_in_memory_without_buckets_says_how_to_have_some(engine: Engine) -> None:
    with pytest.raises(ServiceError, match=r"Engine.open\(buckets=DIR\)"):
        import_some(engine)
    assert engine.call("ListTables", {}) == {"TableNames": ["pets"]}


def test_zstandard_is_refused_where_nothing_can_read_it(
    pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object) -> None:
        raise ModuleNotFoundError

    monkeypatch.setattr(import_formats, "_zstandard_reader", missing)
    with pytest.raises(ServiceError, match="pip install"):
        import_some(pets, InputCompressionType="ZSTD")


def test_more_objects_than_a_page_of_keys_are_all_read(
    pets: SteppedEngine, buckets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablewright.engine.transfer.buckets.PAGE", 2)
    expected = objects(buckets, count=7, items=1)
    import_some(pets)
    pets.settle()
    assert names(pets, table="copies") == expected


def test_an_open_object_is_closed_with_the_engine(buckets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    original = DirectoryBuckets.open

    def spy(self: DirectoryBuckets, bucket: object, key: str) -> object:
        opened.append(original(self, bucket, key))  # type: ignore[arg-type]  # passed on as it came
        return opened[-1]

    monkeypatch.setattr(DirectoryBuckets, "open", spy)
    objects(buckets)
    with small_pieces(), SteppedEngine.open(buckets=buckets) as engine:
        assert isinstance(engine, SteppedEngine)
        import_some(engine)
        while not opened:
            assert engine.job_step()
        assert not opened[-1].closed
    assert opened[-1].closed
