"""A store of an older format is brought up to date when it is opened, and loses nothing."""

from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from tests.engine.stream_reading import arn_of, enable, names, read_all
from tests.engine.tables import found, put
from tests.engine.tables import names as held
from tests.engine.unkept import UnkeptEngine, small_steps

from tablewright.engine import verify
from tablewright.engine.schema import FORMAT
from tablewright.engine.storage import FILE
from tablewright.testing import Clock

FORMAT_1 = Path(__file__).parent / "stores" / "format1.sql"


@pytest.fixture
def old(store: Path) -> Path:
    """A store that format 1 wrote: two tables, one of them with TTL and an index."""
    store.mkdir()
    connection = apsw.Connection(str(store / FILE))
    connection.execute(FORMAT_1.read_text())
    assert list(connection.execute("PRAGMA user_version")) == [(1,)]
    connection.close()
    return store


def format_of(store: Path) -> int:
    connection = apsw.Connection(str(store / FILE))
    ((version,),) = connection.execute("PRAGMA user_version")
    connection.close()
    return int(version)


def test_an_old_store_is_whole_after_it_was_opened(old: Path) -> None:
    assert verify(old) == []
    assert format_of(old) == FORMAT
    assert verify(old) == []


def test_its_items_are_there_and_those_with_a_time_expire(old: Path) -> None:
    clock = Clock()
    with UnkeptEngine.unkept(old, world=clock.world()) as engine, small_steps(1):
        assert held(engine) == ["future", "none", "past", "text"]
        assert held(engine, "colour") == ["future", "past"]
        assert found(engine, "rex", "plain") is not None
        while engine.step():
            assert engine.verify() == []
        assert held(engine) == ["future", "none", "past", "text"]
        engine.settle()
        assert held(engine) == ["future", "none", "text"]
        clock.move(timedelta(hours=2))
        engine.settle()
        assert held(engine) == ["none", "text"]
        assert held(engine, table="plain") == ["rex"]
        assert engine.verify() == []


def test_it_may_be_written_to_before_its_times_are_listed(old: Path) -> None:
    with UnkeptEngine.unkept(old, world=Clock().world()) as engine:
        engine.call("PutItem", put("past", until=1))
        engine.call("PutItem", put("new", until=1_767_225_500))
        assert engine.verify() == []
        engine.settle()
        assert held(engine) == ["future", "none", "past", "text"]
        assert engine.verify() == []


def test_its_tables_may_have_streams_and_indexes(old: Path) -> None:
    with UnkeptEngine.unkept(old, world=Clock().world()) as engine:
        engine.call("UpdateTable", enable("plain"))
        engine.call("PutItem", put("tom", "plain"))
        assert names(read_all(engine, arn_of(engine, "plain"))) == [("INSERT", "tom")]
        engine.settle()
        assert engine.verify() == []


def test_an_upgrade_that_was_cut_short_is_done_again(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Cut(Exception):
        pass

    def cut(*_: object) -> None:
        raise Cut

    with monkeypatch.context() as patched:
        patched.setattr("tablewright.engine.storage_rows.Writes.create_index", cut)
        with pytest.raises(Cut):
            UnkeptEngine.unkept(old)
    assert format_of(old) == 1
    assert verify(old) == []
