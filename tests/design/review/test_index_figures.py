"""The figures of findings about indexes: those of the writes that enter the index, and those of `design cost`."""

from typing import Literal

import pytest
from pydantic import BaseModel

from tablewright.design import Design, Keys, Load
from tablewright.design.cost.calls import calls_of
from tablewright.design.review import Finding, from_json, review
from tablewright.design.review.designs import facts_of

MONTH = 30 * 86_400


class Order(BaseModel):
    id: str
    state: Literal["open", "done"] = "open"
    total: int = 0


def order_key(id: str) -> None: ...


def orders(
    loads: dict[str, dict[str, Load]], *, key: str = "STATE#{state}", other: str = "", project: str = "ALL"
) -> Design:
    """Orders by state in an index, and lines of the same table, which may be in it too."""
    design = Design("shop")
    table = design.table("shop", pk="PK", sk="SK")
    index = table.gsi("GSI1", pk="GSI1PK", sk="GSI1SK", project=project)  # type: ignore[arg-type]
    table.entity(
        Order, order_key, tag="order", pk="ORDER#{id}", sk="ORDER", on={index: Keys(key, "{id}")}, load=loads["order"]
    )  # fmt: skip
    on = {index: Keys(other, "{id}")} if other else {}
    table.entity(Order, order_key, tag="line", pk="LINE#{id}", sk="LINE", on=on, load=loads.get("line", {}))
    return design.build()


def found(design: Design, rule: str) -> list[Finding]:
    return [each for each in review(facts_of(design)) if each.rule == rule]


@pytest.mark.parametrize("other", ["", "LINE#{id}"], ids=["not in the index", "under other keys of it"])
def test_writes_that_go_to_other_keys_do_not_make_few_values_an_error(other: str) -> None:
    loads = {"order": {"create": Load(per_month=10)}, "line": {"create": Load(per_month=4e9)}}
    (finding,) = found(orders(loads, other=other), "IDX-LOWCARD")
    assert finding.severity == "warning"
    assert finding.evidence == f"{10 / MONTH:g} writes a second into 2 values"


def test_writes_of_two_entities_under_the_same_key_count_together() -> None:
    loads = {"order": {"create": Load(per_second=300)}, "line": {"create": Load(per_second=300)}}
    shared = found(orders(loads, other="STATE#{state}"), "IDX-LOWCARD")
    assert {(each.severity, each.evidence) for each in shared} == {
        ("error", "600 writes a second into 2 values")
    }
    (alone,) = found(orders(loads), "IDX-LOWCARD")
    assert (alone.severity, alone.evidence) == ("warning", "300 writes a second into 2 values")


def test_each_item_of_a_batch_is_a_write_and_what_leaves_the_entry_alone_is_none() -> None:
    batch = Load(per_second=6, items=100)
    untouched = Load(per_second=9000, changes=("total",))
    design = orders({"order": {"create": batch, "update": untouched}}, project="KEYS_ONLY")
    (finding,) = found(design, "IDX-LOWCARD")
    assert (finding.severity, finding.evidence) == ("error", "600 writes a second into 2 values")


@pytest.mark.parametrize("verb", ["update", "upsert", "change"])
@pytest.mark.parametrize("project", ["ALL", "KEYS_ONLY"])
@pytest.mark.parametrize("size", [1000, 3000])
def test_what_a_change_amplifies_is_what_the_cost_says_it_takes(verb: str, project: str, size: int) -> None:
    load = Load(per_month=2_000_000, changes=("state",), item_bytes=size)
    design = orders({"order": {verb: load}}, project=project)
    (call,) = calls_of(design)
    own, places = -(-size // 1024), found(design, "IDX-AMPLIFY")
    assert call.units == 3 * own, "one for the table, two for an entry that moves"
    assert {each.where for each in places} == {"order.state", "shop.GSI1"}
    evidence = f"{call.units} write units on every one of 2 000 000 writes a month, in place of {own}"
    assert {each.evidence for each in places} == {evidence}


def test_what_is_carried_takes_one_unit_and_what_is_not_is_not_found() -> None:
    load = {"order": {"update": Load(per_month=2_000_000, changes=("total",))}}
    (finding,) = found(orders(load), "IDX-AMPLIFY")
    assert finding.where == "order.total"
    assert finding.evidence == "2 write units on every one of 2 000 000 writes a month, in place of 1"
    assert found(orders(load, project="KEYS_ONLY"), "IDX-AMPLIFY") == []


def test_a_document_has_a_key_by_its_template_too() -> None:
    text = """{"name": "x", "tables": [{"name": "t", "hash": {"name": "id"}}], "entities": [{"name": "e",
      "table": "t", "keys": [{"attribute": "GPK", "template": "STATE#{state}"}], "attributes":
      [{"name": "state", "changes": "every login"}]}], "indexes": [{"name": "i", "table": "t",
      "hash": {"name": "GPK"}, "projection": {"kind": "KEYS_ONLY"}}]}"""
    places = [each for each in review(from_json(text)) if each.rule == "IDX-AMPLIFY"]
    assert [each.where for each in places] == ["e.state", "t.i"]
    assert {each.evidence for each in places} == {"3 write units on every login, in place of 1"}
