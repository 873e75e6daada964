"""The design checker: rules over facts. `review(facts)` returns every finding; accepted ones carry their reason.

Facts come from a `Design` (designs.py) or from a JSON document (from_json). Rules are in a module for each section;
examples/ has a good and a bad example for each. `check/` is what a design must hold to work at all; this is what it
should hold to work well.
"""

from dataclasses import replace
from functools import cache
from importlib.resources import files
from json import loads

from pydantic import TypeAdapter

from tablewright.design.errors import Finding
from tablewright.design.review import (
    calls,
    concurrency,
    costs,
    documents,
    indexes,
    keys,
    operations,
    privacy,
    retention,
)
from tablewright.design.review.facts import Facts
from tablewright.design.review.rule import FactsUnusable, Rule

SECTIONS: dict[str, tuple[Rule, ...]] = {
    "Keys": keys.RULES,
    "Indexes": indexes.RULES,
    "Expressions and calls": calls.RULES,
    "Concurrency": concurrency.RULES,
    "Time and retention": retention.RULES,
    "Capacity and cost": costs.RULES,
    "Operation and infrastructure": operations.RULES,
    "Documentation": documents.RULES,
    "Privacy, security and migration": privacy.RULES,
}
RULES: tuple[Rule, ...] = tuple(each for rules in SECTIONS.values() for each in rules)


def review(facts: Facts) -> tuple[Finding, ...]:
    """Everything the rules find, by line. What the design accepts has the reason; the others have none."""
    found = (_with_reason(facts, finding) for rule in RULES for finding in rule.findings(facts))
    return tuple(sorted(found, key=lambda finding: (finding.line, finding.rule, finding.where)))


def _with_reason(facts: Facts, finding: Finding) -> Finding:
    for each in facts.accepted:
        if each.rule == finding.rule and each.where in ("", finding.where):
            return replace(finding, reason=each.reason)
    return finding


@cache
def facts_adapter() -> TypeAdapter[Facts]:
    """Between facts and documents. To make it takes 30 ms of CPU: once."""
    return TypeAdapter(Facts)


def from_json(text: str | bytes) -> Facts:
    """The facts in a JSON document; pydantic's ValidationError names a field that is not known."""
    return facts_adapter().validate_json(text)


def rule_named(code: str) -> Rule:
    """The rule with this code; KeyError where there is none."""
    return {rule.code: rule for rule in RULES}[code]


@cache
def examples(code: str) -> tuple[Facts, Facts]:
    """A bad and a good example of a rule."""
    for path in files(__package__).joinpath("examples").iterdir():
        found = loads(path.read_text("utf-8")).get(code)
        if found:
            bad, good = ({"name": kind, **found[kind]} for kind in ("bad", "good"))
            return facts_adapter().validate_python(bad), facts_adapter().validate_python(good)
    raise KeyError(code)


__all__ = [
    "RULES", "SECTIONS", "Facts", "FactsUnusable", "Finding", "Rule", "examples", "facts_adapter", "from_json",
    "review", "rule_named",
]  # fmt: skip
