"""The texts that are remembered by the form of an expression are those that render makes."""

import pytest
from hypothesis import given as for_any
from hypothesis import strategies as st
from tests.expressions.strategies import RESOLVED_CONDITIONS, RESOLVED_UPDATES

from tablewright.expressions import Condition, PlaceholderAllocator, Update, forms, render, texts
from tablewright.expressions.nodes import Add, Compare, Set, ValueRef


@for_any(RESOLVED_UPDATES, st.none() | RESOLVED_CONDITIONS)
def test_remembered_texts_and_their_values_are_those_of_a_rendered_request(
    change: Update, test: Condition | None
) -> None:
    placeholders = PlaceholderAllocator()
    update = render(change, placeholders) if change.actions else ""
    condition = render(test, placeholders) if test is not None else ""
    for _ in range(2):  # made, then remembered
        known, values = texts(change.actions, test)
        assert (known.update, known.condition) == (update, condition)
        assert (known.names, values) == (placeholders.names, placeholders.values)


@for_any(RESOLVED_CONDITIONS, RESOLVED_CONDITIONS)
def test_forms_are_equal_only_where_texts_are(one: Condition, other: Condition) -> None:
    def shown(condition: Condition) -> tuple[str, dict[str, str]]:
        placeholders = PlaceholderAllocator()
        return render(condition, placeholders), placeholders.names

    assert (forms.form(one, []) == forms.form(other, [])) == (shown(one) == shown(other))


def test_a_form_is_written_once_for_all_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_known", {})

    def known(number: str, least: str) -> object:
        return texts([Set(("count",), {"N": number})], Compare("<", ("count",), {"N": least}))

    assert known("1", "2") == known("1", "2")
    assert known("3", "4") != known("1", "2")
    assert len(forms._known) == 1


def test_forms_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_known", {})
    monkeypatch.setattr(forms, "REMEMBERED", 8)
    for number in range(30):
        known, values = texts([Add((f"name{number}",), {"N": "1"})], None)
        assert (known.update, known.names, values) == (
            "ADD #0 :0",
            {"#0": f"name{number}"},
            {":0": {"N": "1"}},
        )
        assert len(forms._known) <= 8


def test_an_expression_that_is_not_resolved_has_no_form() -> None:
    with pytest.raises(TypeError, match="not resolved"):
        forms.form(Compare("=", ("a",), ValueRef(":v")), [])
