from copy import deepcopy

import pytest
from hypothesis import given as for_any
from tests.expressions.strategies import ITEMS, RESOLVED_UPDATES

from tablewright.expressions import (
    BadExpression,
    Placeholders,
    Update,
    apply,
    attribute_updates,
    project,
    touched,
    update,
)
from tablewright.values import Item, Value, admit_item

BAD_PATH = "The document path provided in the update expression is invalid for update"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"


def number(value: int) -> Value:
    return {"N": str(value)}


def numbers(*values: int) -> Value:
    return {"L": [number(value) for value in values]}


def read(text: str, **values: Value) -> Update:
    return update(text, Placeholders(None, {f":{name}": value for name, value in values.items()}))


def updated(item: Item, text: str, **values: Value) -> Item:
    before = deepcopy(item)
    after = apply(read(text, **values), item)
    assert item == before
    return after


def refusal(item: Item, text: str, **values: Value) -> str:
    with pytest.raises(BadExpression) as refused:
        apply(read(text, **values), item)
    return str(refused.value)


# SET


def test_every_right_hand_side_sees_the_old_item() -> None:
    assert updated({"a": number(1), "b": number(2)}, "SET a = b, b = a") == {"a": number(2), "b": number(1)}
    assert updated({"a": number(1)}, "REMOVE a SET b = a") == {"b": number(1)}
    assert "does not exist" in refusal({}, "SET a = :v, b = a", v=number(1))


def test_numbers_are_added_and_subtracted_exactly() -> None:
    item = {"n": {"N": "0.1"}}
    assert updated(item, "SET n = n + :v", v={"N": "0.2"}) == {"n": {"N": "0.3"}}
    assert updated(item, "SET n = :v - n", v=number(1)) == {"n": {"N": "0.9"}}
    nines = {"N": "9" * 38}
    assert updated({}, "SET n = :v + :w", v=nines, w=number(1)) == {"n": {"N": "1" + "0" * 38}}
    assert "Number overflow" in refusal({}, "SET n = :v + :w", v={"N": "1" + "0" * 37}, w={"N": "0.1"})


def test_if_not_exists_takes_what_is_there_or_else_the_other() -> None:
    assert updated({"a": number(1)}, "SET b = if_not_exists(a, :v)", v=number(9))["b"] == number(1)
    assert updated({"a": number(1)}, "SET b = if_not_exists(c, if_not_exists(a, :v))", v=number(9))[
        "b"
    ] == number(1)
    assert updated({}, "SET n = if_not_exists(n, :v) + :v", v=number(1)) == {"n": number(2)}


def test_list_append_joins_two_lists_in_either_order() -> None:
    item = {"l": numbers(1)}
    assert updated(item, "SET l = list_append(l, :v)", v=numbers(2)) == {"l": numbers(1, 2)}
    assert updated(item, "SET l = list_append(:v, l)", v=numbers(2)) == {"l": numbers(2, 1)}
    assert updated({}, "SET l = list_append(if_not_exists(l, :e), :v)", e=numbers(), v=numbers(2)) == {
        "l": numbers(2)
    }


def test_a_set_replaces_only_what_its_path_leads_to() -> None:
    item: Item = {"m": {"M": {"x": number(1), "l": numbers(1, 2, 3)}}, "other": number(5)}
    assert updated(item, "SET m.l[1] = :v, m.y = :v", v=number(9)) == {
        "m": {"M": {"x": number(1), "l": numbers(1, 9, 3), "y": number(9)}},
        "other": number(5),
    }


def test_untouched_parts_are_shared_not_copied() -> None:
    item: Item = {"m": {"M": {"x": numbers(1), "y": number(1)}}, "other": numbers(1)}
    after = apply(read("SET m.y = :v", v=number(2)), item)
    assert after["other"] is item["other"]
    assert after["m"]["M"]["x"] is item["m"]["M"]["x"]


def test_an_index_beyond_the_end_appends_in_the_order_of_the_indexes() -> None:
    after = updated(
        {"l": numbers(1)}, "SET l[84] = :a, l[37] = :b, l[17] = :c", a=number(4), b=number(3), c=number(2)
    )
    assert after == {"l": numbers(1, 2, 3, 4)}
    assert updated({"l": numbers()}, "SET l[0] = :v", v=number(1)) == {"l": numbers(1)}


@pytest.mark.parametrize("target", ["gone.x", "s.x", "l.x", "gone[0]", "s[0]", "m[0]", "m.gone.x", "l[5].x"])
def test_a_path_must_lead_to_a_place_that_can_take_the_value(target: str) -> None:
    item: Item = {"s": {"S": "x"}, "l": numbers(1), "m": {"M": {}}}
    assert refusal(item, f"SET {target} = :v", v=number(1)) == BAD_PATH
    assert refusal(item, f"REMOVE {target}") == BAD_PATH
    assert refusal(item, f"ADD {target} :v", v=number(1)) == BAD_PATH
    assert refusal(item, f"DELETE {target} :v", v={"SS": ["x"]}) == BAD_PATH
    assert refusal({}, f"SET {target} = :v", v=number(1)) == BAD_PATH


def test_a_result_may_be_31_containers_deep_and_no_deeper() -> None:
    deep: Value = {"S": "bottom"}
    for _ in range(30):
        deep = {"L": [deep]}
    item: Item = {"m": {"M": {"l": numbers()}}}
    assert updated(item, "SET m.x = :v", v=deep)["m"]["M"]["x"] == deep
    assert refusal(item, "SET m.l[0] = :v", v=deep).startswith(
        "Nesting Levels have exceeded supported limits"
    )


# REMOVE


def test_all_indexes_are_those_of_the_old_list() -> None:
    four = {"l": numbers(0, 1, 2, 3)}
    assert updated(four, "SET l[1] = :v REMOVE l[0], l[3]", v=number(9)) == {"l": numbers(9, 2)}
    assert updated(four, "REMOVE l[0], l[1] SET l[7] = :v", v=number(9)) == {"l": numbers(2, 3, 9)}


def test_removing_what_is_not_there_changes_nothing() -> None:
    item: Item = {"m": {"M": {"x": number(1)}}, "l": numbers(1)}
    assert updated(item, "REMOVE gone, m.gone, l[7]") == item


def test_removing_the_last_member_leaves_an_empty_container() -> None:
    item: Item = {"m": {"M": {"x": number(1)}}, "l": numbers(1)}
    assert updated(item, "REMOVE m.x, l[0]") == {"m": {"M": {}}, "l": {"L": []}}


def test_where_there_is_no_item_a_remove_cannot_miss_its_way() -> None:
    assert updated({}, "REMOVE x.y, z[0] SET a = :v", v=number(1)) == {"a": number(1)}


# ADD and DELETE


def test_add_counts_from_zero_and_fills_an_empty_set() -> None:
    assert updated({}, "ADD n :v", v=number(5)) == {"n": number(5)}
    assert updated({"n": number(5)}, "ADD n :v", v=number(-7)) == {"n": number(-2)}
    assert updated({}, "ADD s :v", v={"SS": ["a"]}) == {"s": {"SS": ["a"]}}
    assert updated({"m": {"M": {}}}, "ADD m.n :v", v=number(5)) == {"m": {"M": {"n": number(5)}}}


def test_sets_stay_sorted_each_in_its_own_order() -> None:
    assert updated({"s": {"NS": ["2", "10"]}}, "ADD s :v", v={"NS": ["-1", "9", "10"]}) == {
        "s": {"NS": ["-1", "2", "9", "10"]}
    }
    assert updated({"s": {"SS": ["b", "é"]}}, "ADD s :v", v={"SS": ["a", "z"]}) == {
        "s": {"SS": ["a", "b", "z", "é"]}
    }
    # Sorted by bytes: 00 before 80, though their base64 sorts the other way round.
    assert updated({"s": {"BS": ["gA=="]}}, "ADD s :v", v={"BS": ["AA=="]}) == {"s": {"BS": ["AA==", "gA=="]}}


def test_delete_takes_members_out_and_the_attribute_with_the_last() -> None:
    item = {"s": {"SS": ["a", "b"]}}
    assert updated(item, "DELETE s :v", v={"SS": ["a", "z"]}) == {"s": {"SS": ["b"]}}
    assert updated(item, "DELETE s :v", v={"SS": ["a", "b"]}) == {}
    assert updated(item, "DELETE gone :v", v={"SS": ["a"]}) == item


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ADD s :v", number(1)),
        ("ADD n :v", {"NS": ["1"]}),
        ("ADD ns :v", {"SS": ["1"]}),
        ("ADD l :v", {"NS": ["1"]}),
        ("DELETE ns :v", {"SS": ["1"]}),
        ("DELETE n :v", {"NS": ["1"]}),
        ("SET n = s + :v", number(1)),
        ("SET n = list_append(s, :v)", numbers()),
        ("SET n = if_not_exists(l, :v) - :v", number(1)),
    ],
)
def test_what_the_item_holds_must_fit_the_operator(text: str, value: Value) -> None:
    item: Item = {"s": {"S": "x"}, "n": number(1), "ns": {"NS": ["1"]}, "l": numbers()}
    assert refusal(item, text, v=value) == WRONG_TYPE


def test_attribute_updates_have_their_own_words_for_a_wrong_type() -> None:
    change = attribute_updates({"s": {"Action": "ADD", "Value": number(1)}})
    with pytest.raises(BadExpression, match="Type mismatch for attribute to update"):
        apply(change, {"s": {"S": "x"}})


# What changed


def test_touched_lists_the_written_paths_in_order_of_appearance() -> None:
    assert touched(read("REMOVE b, m.x SET a = c, l[0] = :v", v=number(1))) == (
        ("b",),
        ("m", "x"),
        ("a",),
        ("l", 0),
    )


def test_fragments_show_only_what_changed() -> None:
    old: Item = {"a": {"M": {"b": {"S": "dog"}, "c": numbers(1, 2, 3)}}, "d": {"S": "cat"}}
    change = read("SET a.c[1] = :v, a.b = :w, a.n = :v", v=number(7), w={"S": "yo"})
    assert project(touched(change), old) == {"a": {"M": {"c": numbers(2), "b": {"S": "dog"}}}}
    assert project(touched(change), apply(change, old)) == {
        "a": {"M": {"c": numbers(7), "b": {"S": "yo"}, "n": number(7)}}
    }


def test_fragments_of_the_new_item_follow_the_old_indexes_as_the_service_does() -> None:
    old: Item = {"l": numbers(1, 2, 3)}
    beyond = read("SET l[100] = :v", v=number(9))
    assert project(touched(beyond), apply(beyond, old)) == {}
    removed = read("REMOVE l[1]")
    assert project(touched(removed), apply(removed, old)) == {"l": numbers(3)}


@for_any(RESOLVED_UPDATES, ITEMS)
def test_an_update_never_changes_the_old_item_and_makes_a_canonical_one(change: Update, item: Item) -> None:
    before = deepcopy(item)
    try:
        after = apply(change, item)
    except BadExpression:
        pass
    else:
        assert admit_item(after)[0] == after
    assert item == before
