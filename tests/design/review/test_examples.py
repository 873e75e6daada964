"""Each rule has an example that breaks it and nothing else, and one that breaks nothing."""

from collections import Counter

import pytest

from tablewright.design.review import RULES, Rule, examples, review

codes = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


@codes
def test_the_bad_example_of_a_rule_raises_exactly_that_rule(rule: Rule) -> None:
    bad, _ = examples(rule.code)
    assert {finding.rule for finding in review(bad) if not finding.reason} == {rule.code}


@codes
def test_the_good_example_of_a_rule_raises_nothing(rule: Rule) -> None:
    _, good = examples(rule.code)
    assert [str(finding) for finding in review(good)] == []


@codes
def test_a_rule_has_an_explanation_in_two_sentences_and_a_fix(rule: Rule) -> None:
    assert rule.explanation.count(". ") == 1
    assert rule.explanation.endswith(".")
    assert rule.fix
    assert not rule.fix.endswith(".")


def test_codes_are_stable_names_and_each_names_one_rule() -> None:
    assert [code for code, count in Counter(rule.code for rule in RULES).items() if count > 1] == []
    assert len(RULES) == 139
