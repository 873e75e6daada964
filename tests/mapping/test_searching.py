"""Searches through Db: in process and over HTTP, with partition and filters, without what has expired."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.design.notes import NOTES, Note, Title, notes, notes_like, titles_like

from tablewright import testing
from tablewright.client import Credentials, HttpCall, embedded
from tablewright.mapping import Db, Spent, TableDiffers
from tablewright.testing import Clock
from tablewright.wire import serving


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["process", "http"])
def db(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Db]:
    with testing.engine(world=clock.world()) as engine:
        if request.param == "process":
            yield filled(Db(embedded(engine), NOTES, world=clock.world()))
            return
        with serving(engine, port=0) as url, HttpCall(url, "us-east-1", Credentials("id", "secret")) as call:
            yield filled(Db(call, NOTES, world=clock.world()))


def note(id: str, *vector: float, **fields: Any) -> Note:
    return Note(**{"tenant": "t1", "id": id, "title": f"about {id}", "embedding": vector, **fields})


def filled(db: Db) -> Db:
    db.create_tables()
    db.create_tables()  # they are there already, and the same
    until = db.world.now() + timedelta(hours=1)
    for one in (
        note("a", 1, 0, 0),
        note("b", 0.6, 0.8, 0, kind="list"),
        note("c", 0, 1, 0, until=until),
        note("d", -1, 0, 0, year=2025),
        note("e", 1, 0, 0, tenant="t2"),
    ):
        db.write(notes.create(one))
    db.write(notes.create(Note(tenant="t1", id="bare")))
    return db


def test_the_nearest_come_first_without_their_vectors(db: Db) -> None:
    found = db.search(notes_like((1, 0, 0), tenant="t1"))
    assert [match.item.id for match in found] == ["a", "b", "c", "d"]
    assert [match.score for match in found] == [0.0, 0.3999999761581421, 1.0, 2.0]
    assert found[0].item == note("a").model_copy(update={"embedding": None})


def test_filters_narrow_a_search_and_best_shortens_it(db: Db) -> None:
    assert [m.item.id for m in db.search(notes_like((1, 0, 0), tenant="t1", kind="list"))] == ["b"]
    assert [m.item.id for m in db.search(notes_like((1, 0, 0), tenant="t1", kind="text", year=2025))] == ["d"]
    assert [m.item.id for m in db.search(notes_like((1, 0, 0), tenant="t1").best(2))] == ["a", "b"]
    assert db.search(notes_like((1, 0, 0), tenant="nobody")) == []


def test_a_view_has_what_the_index_carries(db: Db) -> None:
    found = db.search(titles_like((1, 0, 0)).best(2))
    assert sorted(match.item.tenant for match in found) == ["t1", "t2"]
    assert found[0].item == Title(tenant=found[0].item.tenant, id=found[0].item.id, title=found[0].item.title)


def test_what_has_expired_is_not_found(db: Db, clock: Clock) -> None:
    clock.move(timedelta(hours=2))
    assert [m.item.id for m in db.search(notes_like((0, 1, 0), tenant="t1"))] == ["b", "a", "d"]
    assert "c" not in [m.item.id for m in db.search(titles_like((0, 1, 0)))]


def test_changes_of_an_item_move_it(db: Db) -> None:
    db.write(notes.update("t1", "d").at(lambda n: n.embedding).set((1.0, 0.0, 0.0)))
    db.write(notes.update("t1", "a").at(lambda n: n.embedding).remove())
    assert [m.item.id for m in db.search(notes_like((1, 0, 0), tenant="t1").best(2))] == ["d", "b"]


def test_a_search_is_explained_without_running_it(db: Db) -> None:
    explained = db.explain(notes_like((1, 0, 0), tenant="t1", kind="list"))
    ((verb, body),) = explained.calls
    assert (verb, explained.index) == ("SearchVectors", "near")
    assert body["SearchVector"] == [{"N": "1.0"}, {"N": "0.0"}, {"N": "0.0"}]
    assert body["TopK"] == 10
    assert len(body["ExpressionAttributeValues"]) == 2
    assert "about 10 060 000 bytes compared, for 5000 vectors" in explained.notes


def test_searches_are_counted_under_their_names_by_the_bytes_they_compare(db: Db) -> None:
    db.search(notes_like((1, 0, 0), tenant="t1"))
    db.search(notes_like((1, 0, 0), tenant="t2"))
    # Neither compares more than the least that is charged.
    assert db.meter.spent()["notes_like"] == Spent(2, 0, 0, 2, search_bytes=2 * 1024)
    for number in range(10):
        db.write(notes.create(note(str(number), 1, 0, 0, tenant="t3", title="x" * 1000)))
    db.search(notes_like((1, 0, 0), tenant="t3").best(1))
    searched = db.meter.spent()["notes_like"].search_bytes
    # Vector, title and the short attributes of all ten, though one was asked for.
    assert 2 * 1024 + 10 * 1012 < searched < 2 * 1024 + 10 * 1200


def test_a_table_with_another_vector_index_is_another() -> None:
    with testing.engine() as engine:
        db = Db(embedded(engine), NOTES)
        db.create_tables()
        engine.call(
            "UpdateTable", {"TableName": "notes", "VectorIndexUpdates": [{"Delete": {"IndexName": "titles"}}]}
        )
        with pytest.raises(TableDiffers, match="no vector index titles"):
            db.create_tables()
