"""What a design accepts is what a rule finds: a name that no rule has is refused, with the one it is like."""

import pytest

from tablewright.design import Design
from tablewright.design.files import DesignFileRefused, from_yaml
from tablewright.design.review import RULES
from tablewright.design.rule_names import RULE_NAMES, RuleUnknown

FILE = """\
format: tablewright-design/1
name: shop
version: 1
tables:
  - name: shop
    pk: PK
    entities:
      - tag: order
        pk: ORDER#{id}
        fields: {id: string}
accepted:
  - rule: IDX-LSI
    reason: it is small
  - rule: IDX-LOWCRD
    reason: it is quiet
"""


def test_the_names_are_those_of_the_rules() -> None:
    assert sorted(RULE_NAMES) == sorted(rule.code for rule in RULES)


def test_a_misspelt_rule_is_not_accepted_and_the_nearest_is_named() -> None:
    design = Design("shop")
    with pytest.raises(RuleUnknown, match=r"no rule is named 'IDX-LOWCRD'.*did you mean IDX-LOWCARD\?"):
        design.accept("IDX-LOWCRD", "it is quiet")
    with pytest.raises(RuleUnknown, match="lists them"):
        design.accept("?", "it is quiet")
    assert design.accepted == []


def test_a_design_file_names_the_line_of_a_misspelt_rule() -> None:
    with pytest.raises(DesignFileRefused, match=r"line 14: accepted\[1\].rule: .*did you mean IDX-LOWCARD\?"):
        from_yaml(FILE)
