"""Every refusal of this room that was recorded, to the letter: refusals.jsonl, one answer a line.

A message is what the service said where that is known, and what its local edition said otherwise. SDKs
and people match on these sentences, so a changed one is a changed behaviour.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tablewright.expressions import (
    BadExpression,
    Placeholders,
    apply,
    attribute_updates,
    condition,
    expected,
    filter_conditions,
    key_conditions,
    key_tests,
    plan_keys,
    projection,
    update,
)
from tablewright.values import Item, admit

REFUSALS = [json.loads(line) for line in Path(__file__).with_name("refusals.jsonl").read_text().splitlines()]

ITEM: Item = {
    "pk": {"S": "u"},
    "a": {"N": "1"},
    "s": {"S": "str"},
    "ns": {"NS": ["1", "2"]},
    "l": {"L": [{"N": "1"}, {"N": "2"}]},
    "m": {"M": {"x": {"N": "1"}}},
}


def _read(known: dict[str, Any]) -> None:
    if "text" in known:
        _read_expression(known)
    else:
        _read_legacy(known["parameter"], known["content"], known.get("operator"))


def _read_expression(known: dict[str, Any]) -> None:
    """Go as far as a request would with one item."""
    parameter, text, keys = known["parameter"], known["text"], known.get("keys", "S")
    values = {name: admit(value)[0] for name, value in known.get("values", {}).items()}
    given = Placeholders(known.get("names"), values)
    if parameter == "UpdateExpression":
        change = update(text, given)
        given.check_all_used()
        apply(change, ITEM)
    elif parameter == "ProjectionExpression":
        projection(text, given)
        given.check_all_used()
    else:
        node = condition(text, parameter, given)
        given.check_all_used()
        if parameter == "KeyConditionExpression":
            plan_keys(key_tests(node), ("pk",), ("sk",), {"pk": keys, "sk": keys})


def _read_legacy(parameter: str, content: Any, operator: str | None) -> None:
    if parameter == "KeyConditions":
        plan_keys(key_conditions(content), ("pk",), ("sk",), {"pk": "S", "sk": "S"})
    elif parameter == "AttributeUpdates":
        attribute_updates(content)
    elif parameter == "Expected":
        expected(content, operator)
    else:
        filter_conditions(content, operator)


@pytest.mark.parametrize(
    "known", REFUSALS, ids=lambda known: f"{known['parameter']}: {known['message'][:60]}"
)
def test_a_mistake_is_refused_in_the_words_of_the_service(known: dict[str, Any]) -> None:
    with pytest.raises(BadExpression) as refusal:
        _read(known)
    assert str(refusal.value) == known["message"]


def test_a_refused_condition_names_the_parameter_it_came_in() -> None:
    for parameter in ("ConditionExpression", "FilterExpression", "KeyConditionExpression"):
        with pytest.raises(BadExpression) as refusal:
            condition("a ==", parameter, Placeholders(None, None))
        assert str(refusal.value) == f'Invalid {parameter}: Syntax error; token: "=", near: "=="'
