"""The engine against plain dicts: random tables, indexes, writes, batches, transactions, queries and scans.

Hypothesis walks a story of a few dozen steps, checks every answer against the model, and shrinks a story that goes
wrong to the shortest one that does. After each step the store is verified, after each story compared in full.
Elsewhere: the model (model.py), the two sides (sides.py), what is drawn (strategies.py, operations.py, claims.py,
edits.py), background work by hand (tests/engine/stepped_engine.py).
"""

import sys
from contextlib import ExitStack

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.properties import requests, sides
from tests.properties.claims import ALWAYS
from tests.properties.effort import effort
from tests.properties.model import Index, Table
from tests.properties.operations import Deed, deeds
from tests.properties.reads import check_query, check_scan, same_items
from tests.properties.requests import Request
from tests.properties.strategies import global_indexes, keys, shapes

from tablewright import ServiceError
from tablewright.testing import Clock

DATA = st.data()
NAMES = ("first", "second")
UNCONDITIONALLY = st.just(ALWAYS)


class Story(RuleBasedStateMachine):
    """One engine, one or two tables, and the same tables as dicts."""

    def __init__(self) -> None:
        super().__init__()
        self._open = ExitStack()
        self._open.enter_context(small_steps())
        self.engine = SteppedEngine.stepped(world=Clock().world())
        self._open.callback(self.engine.close)
        self.tables: dict[str, Table] = {}
        # By table, the index that is being filled and cannot be read yet.
        self.filling: dict[str, Index] = {}
        self.forgotten_changes = 0
        self.tokens = 0
        self.answered: list[Request] = []

    @initialize(data=DATA)
    def open_tables(self, data: st.DataObject) -> None:
        for name in NAMES[: data.draw(st.integers(1, 2))]:
            self._create(data, name)
            self._fill(data, self.tables[name])

    def _create(self, data: st.DataObject, name: str) -> None:
        table = self.tables[name] = Table(name, data.draw(shapes(), label=f"shape of {name}"))
        self.engine.call("CreateTable", requests.create_table(table))

    def _fill(self, data: st.DataObject, table: Table) -> None:
        """Several items at once: a story about an empty table tells little."""
        for deed in data.draw(st.lists(deeds(table, ("Put",), UNCONDITIONALLY), max_size=8)):
            sides.write(self.engine, self.tables, deed)

    # --- writes ---

    @rule(data=DATA)
    def fill(self, data: st.DataObject) -> None:
        self._fill(data, self._any_table(data))

    @rule(data=DATA)
    def write(self, data: st.DataObject) -> None:
        deed = data.draw(deeds(self._any_table(data), ("Put", "Delete")))
        sides.write(self.engine, self.tables, deed)

    @rule(data=DATA, wanted=st.sampled_from(["ALL_OLD", "ALL_NEW"]))
    def update(self, data: st.DataObject, wanted: str) -> None:
        deed = data.draw(deeds(self._any_table(data), ("Update",)))
        sides.write(self.engine, self.tables, deed, wanted)

    @rule(data=DATA, count=st.integers(1, 6))
    def batch(self, data: st.DataObject, count: int) -> None:
        some = [
            data.draw(deeds(self._any_table(data), ("Put", "Delete"), UNCONDITIONALLY)) for _ in range(count)
        ]
        sides.write_batch(self.engine, self.tables, some)

    @rule(data=DATA, count=st.integers(1, 4), with_token=st.booleans())
    def transact(self, data: st.DataObject, count: int, with_token: bool) -> None:
        kinds = ("Put", "Delete", "Update", "ConditionCheck")
        some: list[Deed] = [data.draw(deeds(self._any_table(data), kinds)) for _ in range(count)]
        self.tokens += 1
        token = f"token {self.tokens}" if with_token else None
        done = sides.transact(self.engine, self.tables, some, token)
        if done is not None and with_token:
            self.answered.append(done)

    @precondition(lambda self: self.answered)
    @rule(data=DATA)
    def repeat(self, data: st.DataObject) -> None:
        """The same call with the same token does nothing, whatever has happened since."""
        self.engine.call("TransactWriteItems", data.draw(st.sampled_from(self.answered)))

    # --- reads ---

    @rule(data=DATA)
    def get(self, data: st.DataObject) -> None:
        """GetItem, BatchGetItem and TransactGetItems say the same."""
        table = self._any_table(data)
        some = data.draw(st.lists(keys(table.shape), min_size=1, max_size=4, unique_by=table.key_of))
        found = [table.found(key) for key in some]
        answers = [self.engine.call("GetItem", requests.keyed(table, key)) for key in some]
        assert [answer.get("Item") for answer in answers] == found
        batch = self.engine.call("BatchGetItem", {"RequestItems": {table.name: {"Keys": some}}})
        assert same_items(batch["Responses"][table.name], [item for item in found if item is not None])
        gets = [{"Get": requests.keyed(table, key)} for key in some]
        together = self.engine.call("TransactGetItems", {"TransactItems": gets})
        assert [one.get("Item") for one in together["Responses"]] == found

    @rule(data=DATA)
    def query(self, data: st.DataObject) -> None:
        table = self._any_table(data)
        check_query(data.draw, self.engine, table, self._any_index(data, table))

    @rule(data=DATA)
    def scan(self, data: st.DataObject) -> None:
        table = self._any_table(data)
        check_scan(data.draw, self.engine, table, self._any_index(data, table))

    # --- tables and indexes come and go ---

    @rule(data=DATA)
    def create_index(self, data: st.DataObject) -> None:
        table = self._any_table(data)
        index = data.draw(global_indexes(table.shape))
        if table.name not in self.filling and index.name not in table.shape.indexes:
            self.engine.call("UpdateTable", requests.create_index(table, index))
            table.shape.indexes[index.name] = self.filling[table.name] = index

    @rule(data=DATA)
    def drop_index(self, data: st.DataObject) -> None:
        table = self._any_table(data)
        names = [index.name for index in table.shape.indexes.values() if not index.local]
        if names and table.name not in self.filling:
            name = data.draw(st.sampled_from(names))
            self.engine.call("UpdateTable", requests.drop_index(table, name))
            del table.shape.indexes[name]

    @rule(steps=st.integers(1, 5))
    def do_chores(self, steps: int) -> None:
        """Some steps of what is owed; an index that is filled may be read from then on."""
        for _ in range(steps):
            self.engine.step()
        for name, index in list(self.filling.items()):
            described = self.engine.call("DescribeTable", {"TableName": name})["Table"]
            if sides.described_indexes(described)[index.name]["IndexStatus"] == "ACTIVE":
                del self.filling[name]

    @rule(data=DATA, really=st.integers(0, 3))
    def replace_table(self, data: st.DataObject, really: int) -> None:
        """Drop a table and create another of its name while the rows of the first are still being removed."""
        table = self._any_table(data)
        if table.name not in self.filling and not really:
            self.engine.call("DeleteTable", {"TableName": table.name})
            self.forgotten_changes += table.changes
            self._create(data, table.name)

    @precondition(lambda self: self.filling)
    @rule()
    def read_an_index_that_is_being_filled(self) -> None:
        for name, index in self.filling.items():
            with pytest.raises(ServiceError, match="backfilling") as refused:
                self.engine.call("Scan", {"TableName": name, "IndexName": index.name})
            assert refused.value.name == "ValidationException"

    # --- what must hold after every step, and in the end ---

    @invariant()
    def every_changing_write_has_one_journal_record(self) -> None:
        changes = sum(table.changes for table in self.tables.values())
        assert self.engine._storage.writes.last_sequence()[0] == changes + self.forgotten_changes

    @invariant()
    def nothing_is_broken(self) -> None:
        assert self.engine.verify() == []

    def teardown(self) -> None:
        try:
            # After a step that went wrong the two sides differ anyway; that step is what should be reported.
            if sys.exception() is None:
                self.engine.settle()
                assert self.engine.verify() == []
                for table in self.tables.values():
                    sides.compare_in_full(self.engine, table)
        finally:
            self._open.close()

    # --- choices ---

    def _any_table(self, data: st.DataObject) -> Table:
        return self.tables[data.draw(st.sampled_from(sorted(self.tables)))]

    def _any_index(self, data: st.DataObject, table: Table) -> Index | None:
        """The table itself or an index that can be read."""
        ready = [index for index in table.shape.indexes.values() if index != self.filling.get(table.name)]
        return data.draw(st.sampled_from([None, *ready]))


TestStory = Story.TestCase
TestStory.settings = effort(70, steps=30)
