"""docs/findings.md has the figures of the checker: of the five documents, the five designs, and of the rules."""

from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from tests.design.review.test_as_written import OMITTED, PLACES
from tests.design.review.test_as_written import findings as found_in
from tests.design.review.test_systems import DESIGNS

from tablewright.design import Design
from tablewright.design.errors import Severity
from tablewright.design.review import RULES, Facts, Finding, examples, review
from tablewright.design.review.designs import facts_of

PAGE = Path(__file__).parents[3] / "docs" / "findings.md"
DOCUMENTS = {
    "000": "parental controls",
    "001": "Campus Cloud",
    "002": "Skratch",
    "003": "Zoo chat",
    "004": "customer portal",
}
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "information")


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def document_row(document: str) -> str:
    found = found_in(document)
    counts = Counter(finding.severity for finding in found)
    listed = [place for place in PLACES if place[1] == document]
    raised = len([place for place in listed if place not in OMITTED])
    rules = len({finding.rule for finding in found})
    return row(
        DOCUMENTS[document], *(counts[name] for name in SEVERITIES), rules, f"{raised} of {len(listed)}"
    )


def design_row(design: Design) -> str:
    found = review(facts_of(design))
    open_ones = Counter(finding.severity for finding in found if not finding.reason)
    accepted = sum(bool(finding.reason) for finding in found)
    return row(design.name, *(open_ones[name] for name in SEVERITIES), accepted)


def stated(facts: Facts, kinds: frozenset[str]) -> Facts:
    """Only what a design can state of the facts."""
    left_out: dict[str, Any] = {each.name: () for each in fields(facts) if each.name not in kinds}
    return replace(facts, **left_out)


def rules_of_designs() -> int:
    """The rules whose bad example is still found if only what a design states is left of it."""
    filled = {
        each.name for design in DESIGNS for each in fields(Facts) if getattr(facts_of(design), each.name)
    }
    kinds = frozenset(filled | {each.name for each in fields(Facts) if not isinstance(each.default, tuple)})
    met: list[Finding] = []
    for rule in RULES:
        met += [each for each in review(stated(examples(rule.code)[0], kinds)) if each.rule == rule.code]
    return len({each.rule for each in met})


def test_the_page_of_findings_has_the_figures_of_each_document() -> None:
    page = PAGE.read_text("utf-8")
    assert [each for each in map(document_row, DOCUMENTS) if each not in page] == []


def test_the_page_of_findings_has_the_figures_of_each_design() -> None:
    page = PAGE.read_text("utf-8")
    assert [each for each in map(design_row, DESIGNS) if each not in page] == []


def test_the_page_of_findings_says_how_many_rules_a_design_can_meet() -> None:
    assert f"{rules_of_designs()} of the {len(RULES)} rules" in PAGE.read_text("utf-8")
