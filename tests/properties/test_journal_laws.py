"""Laws of the journal: one record for each change, none for none, and the tables are what it says.

Elsewhere: the same count beside every other operation (test_engine_against_model.py).
"""

import orjson
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.tables import records as journal
from tests.properties import requests
from tests.properties.claims import ALWAYS
from tests.properties.effort import effort
from tests.properties.model import Shape, Table
from tests.properties.plain import Item
from tests.properties.reads import all_pages, found, same_items
from tests.properties.strategies import PLAIN, VALUES, keys

from tablewright import Engine, testing

SHAPE = Shape("pk", "sk", {"pk": "S", "sk": "N"})


@st.composite
def small_items(draw: st.DrawFn) -> Item:
    return draw(keys(SHAPE)) | draw(st.dictionaries(st.sampled_from(PLAIN), VALUES, max_size=2))


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, Item]]:
    return draw(st.lists(st.tuples(st.sampled_from(["put", "put", "delete"]), small_items()), max_size=25))


def lived(engine: Engine, history: list[tuple[str, Item]]) -> Table:
    """The history, written to a table of an engine and to its model."""
    table = Table("pets", SHAPE)
    engine.call("CreateTable", requests.create_table(table))
    for kind, item in history:
        if kind == "put":
            engine.call("PutItem", requests.put(table, item))
            table.put(item, ALWAYS.holds)
        else:
            key = {name: item[name] for name in SHAPE.keys}
            engine.call("DeleteItem", requests.keyed(table, key))
            table.delete(key, ALWAYS.holds)
    return table


@effort(60)
@given(histories())
def test_the_journal_has_one_record_for_each_change_and_none_for_none(
    history: list[tuple[str, Item]],
) -> None:
    with testing.engine() as engine:
        table = lived(engine, history)
        records = journal(engine)
        assert len(records) == table.changes
        assert [record[0] for record in records] == list(range(1, table.changes + 1))


@effort(60)
@given(histories())
def test_replaying_the_journal_from_nothing_gives_the_table(history: list[tuple[str, Item]]) -> None:
    with testing.engine() as engine:
        table = lived(engine, history)
        replayed: dict[bytes, bytes] = {}
        for _, _, _, _, key, old, new in journal(engine):
            assert replayed.get(key) == old
            if new is None:
                del replayed[key]
            else:
                replayed[key] = new
        items = [orjson.loads(raw) for raw in replayed.values()]
        scanned = all_pages(engine, "Scan", {"TableName": "pets"}, None)
        assert same_items(items, table.view(None))
        assert same_items(items, found(scanned))


@effort(60)
@given(histories(), st.integers(0, 30))
def test_turning_the_journal_back_gives_the_table_of_any_earlier_moment(
    history: list[tuple[str, Item]], kept: int
) -> None:
    with testing.engine() as engine:
        lived(engine, history)
        records = [(key, old, new) for _, _, _, _, key, old, new in journal(engine)]
        forward = {key: new for key, _, new in records[:kept]}
        back = {key: new for key, _, new in records}
        back |= {key: old for key, old, _ in reversed(records[kept:])}
        present = {key: raw for key, raw in forward.items() if raw is not None}
        assert {key: raw for key, raw in back.items() if raw is not None} == present
