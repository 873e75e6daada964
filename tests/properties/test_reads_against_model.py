"""Queries and scans against plain dicts, on tables that hold enough to be worth asking.

Elsewhere: the same reads in the middle of writes (test_engine_against_model.py), what they are compared with
(reads.py).
"""

from hypothesis import given
from hypothesis import strategies as st
from tests.properties import requests
from tests.properties.claims import ALWAYS
from tests.properties.effort import effort
from tests.properties.model import Refused, Shape, Table
from tests.properties.reads import check_in_full, check_query, check_scan
from tests.properties.strategies import items, shapes

from tablewright import testing

QUERIES = 8
SCANS = 2


@st.composite
def filled(draw: st.DrawFn) -> Table:
    """A table with items, before any engine has seen it."""
    shape: Shape = draw(shapes())
    table = Table("pets", shape)
    for item in draw(st.lists(items(shape), min_size=4, max_size=20)):
        try:
            table.put(item, ALWAYS.holds)
        except Refused:
            continue
    return table


@effort(80)
@given(st.data(), filled())
def test_every_query_and_every_scan_finds_what_a_dict_would(data: st.DataObject, table: Table) -> None:
    with testing.engine() as engine:
        engine.call("CreateTable", requests.create_table(table))
        for item in table.items.values():
            engine.call("PutItem", requests.put(table, item))
        indexes = [None, *table.shape.indexes.values()]
        for index in indexes:
            check_in_full(engine, table, index)
        for _ in range(QUERIES):
            check_query(data.draw, engine, table, data.draw(st.sampled_from(indexes)))
        for _ in range(SCANS):
            check_scan(data.draw, engine, table, data.draw(st.sampled_from(indexes)))
        assert engine.verify() == []
