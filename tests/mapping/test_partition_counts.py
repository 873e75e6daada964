"""Partition keys of live tables: counted whole where the budget allows it, otherwise from segments of a Scan."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from tablewright import testing
from tablewright.client import Call, embedded
from tablewright.design import Design, Environment, Keys
from tablewright.mapping import Db
from tablewright.mapping.partition_counts import OTHER, KeyCount, partition_counts

OWNERS, MOST = 300, 60


class Pet(BaseModel):
    owner: str
    name: str
    kind: str = "dog"


def _key(owner: str, name: str) -> None: ...


design = Design("pets")
_table = design.table("pets", pk="PK", sk="SK")
_by_kind = _table.gsi("by-kind", pk="GPK", sk="GSK")
pets = _table.entity(
    Pet,
    _key,
    tag="pet",
    pk="OWNER#{owner}",
    sk="PET#{name}",
    on={_by_kind: Keys("KIND#{kind}", "{name}#{owner}")},
)
design.build()


@pytest.fixture(scope="module")
def call() -> Iterator[Call]:
    """300 owners of one pet each, and one of 60."""
    with testing.engine() as engine:
        call = embedded(engine)
        db = Db(call, design)
        db.create_tables()
        db.batch([pets.put(Pet(owner=f"o{number}", name="rex")) for number in range(OWNERS)])
        db.batch([pets.put(Pet(owner="many", name=f"p{number}")) for number in range(MOST)])
        call("PutItem", {"TableName": "pets", "Item": {"PK": {"S": "X"}, "SK": {"S": "Y"}}})
        yield call


def counts(call: Call) -> dict[tuple[str, str], KeyCount]:
    return {(each.place, each.key): each for each in partition_counts(call, design)}


def test_a_table_within_the_budget_is_counted_whole(call: Call) -> None:
    found = counts(call)
    owners = found["pets", "OWNER#{owner}"]
    assert (owners.keys, owners.items, owners.share) == (OWNERS + 1, OWNERS + MOST, 1.0)
    assert (owners.largest[0].value, owners.largest[0].items) == ("OWNER#many", MOST)
    assert owners.largest[0].bytes > 30 * owners.largest[1].bytes
    kinds = found["pets.by-kind", "KIND#{kind}"]
    assert (kinds.keys, kinds.largest[0].items) == (1, OWNERS + MOST)
    assert found["pets", OTHER].items == 1


def test_a_larger_table_is_estimated_from_some_of_its_segments(call: Call) -> None:
    read = 0

    def counted(verb: str, request: object) -> dict[str, object]:
        nonlocal read
        answer = call(verb, request)  # type: ignore[arg-type]  # passed on as it came
        read += len(answer.get("Items", ()))
        return answer

    owners = next(
        each for each in partition_counts(counted, design, budget=120) if each.key == "OWNER#{owner}"
    )
    assert owners.share < 1
    assert owners.keys == pytest.approx(OWNERS, rel=0.4)
    # Of the table and of its index.
    assert read <= 2 * 120


def test_tables_that_are_not_there_are_left_out(call: Call) -> None:
    assert partition_counts(call, design, Environment("dev", "us-east-1", table_name="{table}-{env}")) == ()
