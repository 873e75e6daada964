"""A store of an older format is brought up to date when it is opened, and loses nothing."""

from pathlib import Path

import apsw
import pytest
from tests.engine.replicating import HERE, THERE
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import definition, found, put
from tests.engine.tables import names as held

from tablewright.engine import Engine, NotAStore, Regions, verify_store
from tablewright.engine.errors import ServiceError
from tablewright.engine.replication.failover import failover, rejoin, unreplicated
from tablewright.engine.replication.group import Copying, group_from
from tablewright.engine.storage import schema
from tablewright.engine.storage.sqlite import FILE

STORES = Path(__file__).parent / "stores"


def format_of(store: Path) -> int:
    connection = apsw.Connection(str(store / FILE))
    ((version,),) = connection.execute("PRAGMA user_version")
    connection.close()
    return int(version)


# --- format 3: no checksums ---


@pytest.fixture
def unsummed(store: Path) -> Path:
    """A store as format 3 wrote it."""
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        engine.call("PutItem", put("rex", colour="red"))
    connection = apsw.Connection(str(store / FILE))
    for sql in ("ALTER TABLE t1 DROP COLUMN sum", "ALTER TABLE journal DROP COLUMN sum", "DROP TABLE scrubs"):
        connection.execute(sql)
    for name in ("bulk_operations", "bulk_errors"):
        connection.execute(f"DROP TABLE {name}")
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    return store


def sums(store: Path) -> list[int | None]:
    connection = apsw.Connection(str(store / FILE))
    found = [one for (one,) in connection.execute("SELECT sum FROM t1 ORDER BY id")]
    connection.close()
    return found


def test_a_store_without_checksums_is_read_as_it_is_and_gets_them_by_the_first_scrub(unsummed: Path) -> None:
    with SteppedEngine.stepped(unsummed) as engine:
        assert found(engine, "rex") is not None
        assert held(engine) == held(engine, "colour") == ["rex"]
        engine.call("PutItem", put("tom", colour="red"))
        assert engine.verify() == []
    assert [one is None for one in sums(unsummed)] == [True, False]
    with SteppedEngine.stepped(unsummed) as engine:
        assert engine.scrub.run().found == ()
        assert held(engine) == held(engine, "colour") == ["rex", "tom"]
        assert engine.verify() == []
    assert None not in sums(unsummed)


def test_an_upgrade_that_was_cut_short_is_done_again(unsummed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(schema, "FOURTH", schema.FOURTH + "CREATE TABLE journal(seq)")
        with pytest.raises(apsw.SQLError):
            SteppedEngine.stepped(unsummed)
    assert format_of(unsummed) == 3
    assert verify_store(unsummed) == []
    assert format_of(unsummed) == schema.FORMAT


def test_a_format_that_was_never_released_is_refused(unsummed: Path) -> None:
    connection = apsw.Connection(str(unsummed / FILE))
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(NotAStore, match="has format 2, of a version that was never released"):
        Engine.open(unsummed)
    assert format_of(unsummed) == 2


def test_what_is_damaged_before_it_has_a_checksum_gets_none(unsummed: Path) -> None:
    connection = apsw.Connection(str(unsummed / FILE))
    connection.execute("UPDATE t1 SET size = size + 1")
    connection.close()
    with SteppedEngine.stepped(unsummed) as engine:
        assert dict(engine.scrub.run().found).keys() == {"table pets"}
    assert sums(unsummed) == [None]


def test_a_scrub_that_breaks_off_does_not_count_as_one(
    unsummed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    with SteppedEngine.stepped(unsummed) as engine:
        with monkeypatch.context() as patched:
            patched.setattr("tablewright.engine.verify.store.add_sums", full)
            with pytest.raises(ServiceError):
                engine.scrub.run()
        assert engine.scrub.last() is None
        while engine.scrub.step():
            pass
        assert engine.scrub.last() is not None
    assert None not in sums(unsummed)


# --- replicas as the release with leases, voters and hand-overs between processes wrote them ---


def test_regions_that_an_earlier_release_wrote_open_with_their_roles(store: Path) -> None:
    for name, directory in (("regions_home", store), ("regions_further", store / "regions" / THERE)):
        directory.mkdir(parents=True)
        connection = apsw.Connection(str(directory / FILE))
        connection.execute((STORES / f"{name}.sql").read_text())
        connection.close()
    assert verify_store(store) == []
    with Regions.open(store, home=HERE, also=[THERE], durability="relaxed", period=None) as regions:
        regions.settle()
        with pytest.raises(ServiceError, match=f"its writer is {THERE} since epoch 2"):
            regions[HERE].call("PutItem", put("rex"))
        regions[THERE].call("PutItem", put("newer"))
        lost = [one.key for one in unreplicated(regions, HERE)]
        assert lost == [{"pk": {"S": "late"}}, {"pk": {"S": "tom"}}]
        rejoin(regions, HERE)
        regions.settle()
        assert held(regions[HERE]) == held(regions[THERE]) == ["kit", "new", "newer", "rex", "tom"]
        failover(regions, HERE)
        regions[HERE].call("PutItem", put("home"))
        regions.settle()
        assert "home" in held(regions[THERE])
        assert regions.verify() == []
    assert verify_store(store) == []


def test_a_copy_that_an_earlier_release_began_is_begun_again() -> None:
    copying = {
        "source": THERE, "after": "aa", "start": {HERE: 3}, "is_mirror": True, "copied": 5, "line": [], "role": None,
    }  # fmt: skip
    stored = {
        "id": "g", "region": HERE, "members": [], "born": 0, "stamps": 1, "settings": [0, ""], "expiry": [0, ""],
        "epoch": 1, "writer": THERE, "line": [], "held": {}, "drained": [], "draining": 0, "copying": copying,
        "voters": [HERE],
    }  # fmt: skip
    group = group_from(stored)
    assert group is not None
    assert group.copying == Copying(THERE)
    assert group.fenced is None
    assert not group.takes_writes
