"""What canonical values weigh, asked after the gate: the same as at the gate."""

import pytest

from tablewright.values import Item, Value, admit_item, item_size, resized, size_of

ITEM: Item = {
    "pk": {"S": "é😀"},
    "n": {"N": "-120.5"},
    "b": {"B": "AAECAw=="},
    "flag": {"BOOL": True},
    "none": {"NULL": True},
    "ss": {"SS": ["a", "é"]},
    "ns": {"NS": ["-1", "0", "120"]},
    "bs": {"BS": ["", "AA==", "AAA="]},
    "m": {"M": {"é": {"L": [{"S": ""}, {"M": {}}]}}},
}


def test_an_item_weighs_the_same_at_the_gate_and_behind_it() -> None:
    admitted, size = admit_item(ITEM)
    assert admitted is ITEM
    assert item_size(ITEM) == size


@pytest.mark.parametrize(
    ("name", "size"),
    [("pk", 6), ("n", 5), ("b", 4), ("flag", 1), ("none", 1), ("ss", 3), ("ns", 3 + 1 + 3), ("bs", 3),
     ("m", 3 + 1 + 2 + (3 + 1 + 0 + 1 + 3))],
)  # fmt: skip
def test_each_kind_has_its_weight(name: str, size: int) -> None:
    assert size_of(ITEM[name]) == size


def test_an_empty_item_weighs_nothing() -> None:
    assert item_size({}) == 0


@pytest.mark.parametrize("name", ITEM)
@pytest.mark.parametrize("value", [None, {"S": "longer than before"}, {"N": "7"}])
def test_the_size_of_a_changed_item_follows_from_what_changed(name: str, value: Value | None) -> None:
    bare = {other: content for other, content in ITEM.items() if other != name}
    changed = bare if value is None else {**bare, name: value}
    for old, new in ((ITEM, changed), (changed, ITEM), (bare, changed), (changed, bare)):
        assert resized(old, item_size(old), new, [name, "neither has it"]) == item_size(new)
