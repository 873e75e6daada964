"""Rules about vector indexes and searches: K023, K025, K026, P015, P016."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from tests.design.notes import Note, note_key

from tablewright.design import Design, DesignRefused, Expires, SoftDelete


class Required(BaseModel):
    tenant: str
    id: str
    tags: list[str] = []
    embedding: tuple[float, ...]


def found(declare: Callable[[Design], None]) -> list[tuple[str, str]]:
    design = Design("bad")
    declare(design)
    with pytest.raises(DesignRefused) as refused:
        design.build()
    return [(finding.rule, finding.why) for finding in refused.value.findings]


def with_notes(model: type[BaseModel] = Note, **index: object) -> Callable[[Design], None]:
    def declare(design: Design) -> None:
        made = design.table("notes", pk="PK", sk="SK")
        given = {"of": "embedding", "dimensions": 3, **index}
        made.vectors("near", **given)  # type: ignore[arg-type]
        made.entity(model, note_key, tag="note", pk="T#{tenant}", sk="N#{id}")

    return declare


def test_limits_are_those_of_the_service() -> None:
    assert found(with_notes(dimensions=5000)) == [("K025", "5000 dimensions; DynamoDB allows 1 to 4096")]
    assert found(with_notes(partition="kind", filters=("kind",))) == [("K025", "an attribute is named twice")]

    def many(design: Design) -> None:
        made = design.table("notes", pk="PK", sk="SK")
        for number in range(6):
            made.vectors(f"near-{number}", of="embedding", dimensions=3 + number // 5)
        made.entity(Note, note_key, tag="note", pk="T#{tenant}", sk="N#{id}")

    assert found(many) == [
        ("K025", "6 vector indexes; DynamoDB allows 5"),
        ("K025", "another index has 3 dimensions for 'embedding', this one 4"),
    ]

    def twice(design: Design) -> None:
        made = design.table("notes", pk="PK", sk="SK")
        made.gsi("near", pk="kind")
        made.vectors("near", of="embedding", dimensions=3)
        made.entity(Note, note_key, tag="note", pk="T#{tenant}", sk="N#{id}")

    assert ("K025", "two indexes have this name") in found(twice)


def test_the_vector_is_an_optional_field_of_one_entity() -> None:
    assert [rule for rule, _ in found(with_notes(Required))] == ["K026"]
    assert found(with_notes(of="vector")) == [("K026", "no entity stores 'vector'")]
    assert found(with_notes(of="title"))[0][0] == "K026"
    assert found(with_notes(filters=("nothing",))) == [("K026", "note has no attribute 'nothing'")]
    assert found(with_notes(filters=("embedding",))) == [
        ("K026", "'embedding' is neither a text, a number nor bytes")
    ]


def test_a_float_alone_is_not_storable() -> None:
    class Price(BaseModel):
        tenant: str
        id: str
        amount: float

    (finding,) = found(with_notes(Price, of="amount"))
    assert finding[0] == "K010"


def test_parameters_of_a_search_are_its_partition_and_filters() -> None:
    def declare(design: Design) -> None:
        made = design.table("notes", pk="PK", sk="SK")
        index = made.vectors("near", of="embedding", dimensions=3, partition="tenant", filters=("year",))
        entity = made.entity(Note, note_key, tag="note", pk="T#{tenant}", sk="N#{id}")

        @design.search(entity, on=index, top=200)
        def wrong(*, year: str, kind: str) -> None: ...

    assert found(declare) == [
        ("P015", "top is 200; a search returns 1 to 100 items"),
        ("P015", "'year' is str, and note.year is int"),
        ("P015", "'kind' is neither the partition nor a filter of near"),
        ("P015", "the partition of near needs tenant"),
    ]


def test_a_search_returns_only_what_its_index_carries() -> None:
    def declare(design: Design) -> None:
        made = design.table("notes", pk="PK", sk="SK")
        index = made.vectors("near", of="embedding", dimensions=3, project=("title",))
        entity = made.entity(Note, note_key, tag="note", pk="T#{tenant}", sk="N#{id}")

        @design.search(entity, on=index)
        def lacking() -> None: ...

    assert found(declare) == [("P016", "the index near does not carry tenant, id, kind, year, until of Note")]


class Draft(Note):
    live: bool = True


@pytest.mark.parametrize("hiding", [{"expires": Expires("until")}, {"soft_delete": SoftDelete("live")}])
def test_an_index_carries_what_hides_an_item(hiding: dict[str, Any]) -> None:
    def declare(design: Design) -> None:
        made = design.table("notes", pk="PK", sk="SK", ttl="ttl")
        made.vectors("near", of="embedding", dimensions=3, project="KEYS_ONLY")
        made.entity(Draft, note_key, tag="note", pk="T#{tenant}", sk="N#{id}", **hiding)

    assert found(declare) == [
        ("K023", "items can expire or be deleted, and an index of keys only cannot tell")
    ]
