"""docs/rules.md is printed from the rules, and each rule explains itself in a terminal."""

from pathlib import Path

import pytest

from tablewright.design.check.codes import CODES
from tablewright.design.review import RULES
from tablewright.design.review.catalogue import catalogue, explain

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


def test_the_page_of_rules_is_up_to_date() -> None:
    assert PAGE.read_text() == catalogue(), "python -m tablewright.design.review.catalogue > docs/rules.md"


def test_an_explanation_names_the_severity_and_the_fix() -> None:
    for rule in RULES:
        assert explain(rule.code).startswith(f"{rule.code} ({rule.severity})\n")
        assert f"Fix: {rule.fix}." in explain(rule.code)


def test_each_code_of_the_design_language_is_explained_and_on_the_page() -> None:
    for code in CODES.values():
        assert explain(code.code).startswith(f"{code.code} (error)\n")
        assert f"| `{code.code}` | error | " in catalogue()
        assert code.explanation.count(". ") == 1
        assert code.explanation.endswith(".")
        assert not code.fix.endswith(".")


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(KeyError):
        explain("KEY-NOTHING")
