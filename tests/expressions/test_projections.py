from hypothesis import given as for_any
from tests.expressions.strategies import ITEMS

from tablewright.expressions import Placeholders, project, projection
from tablewright.values import Item

ITEM: Item = {
    "l": {
        "L": [
            {"M": {"a": {"N": "1"}, "b": {"N": "2"}}},
            {"M": {"a": {"N": "3"}, "b": {"N": "4"}}},
            {"N": "7"},
        ]
    },
    "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"N": "2"}}}}},
    "m.x": {"S": "dotted"},
}


def seen(text: str, **names: str) -> Item:
    return project(projection(text, Placeholders({f"#{k}": v for k, v in names.items()} or None, None)), ITEM)


def test_only_what_was_asked_for_comes_back_in_its_place() -> None:
    assert seen("m.y.z, m.x") == {"m": {"M": {"y": {"M": {"z": {"N": "2"}}}, "x": {"N": "1"}}}}
    assert seen("l") == {"l": ITEM["l"]}


def test_list_elements_come_back_in_their_order_with_the_gaps_closed() -> None:
    assert seen("l[2], l[0]") == {"l": {"L": [ITEM["l"]["L"][0], {"N": "7"}]}}


def test_parts_of_one_element_are_put_together_again() -> None:
    assert seen("l[1].b, l[0].a, l[1].a") == {
        "l": {"L": [{"M": {"a": {"N": "1"}}}, {"M": {"b": {"N": "4"}, "a": {"N": "3"}}}]}
    }


def test_what_is_not_there_leaves_no_trace() -> None:
    assert seen("zzz, m.q, l[9]") == {}
    assert seen("m.y.q, l[2].x") == {}
    assert seen("m[0], l.x") == {}


def test_a_dot_in_an_aliased_name_is_part_of_the_name() -> None:
    assert seen("#n", n="m.x") == {"m.x": {"S": "dotted"}}


@for_any(ITEMS)
def test_all_attributes_of_an_item_make_the_item(item: Item) -> None:
    assert project([(name,) for name in item], item) == item
