"""The five designs in the box raise no error but one that is accepted, and each warning has its recorded reason."""

from importlib import import_module

import pytest

from tablewright.design import Design
from tablewright.design.review import review
from tablewright.design.review.designs import facts_of

SYSTEMS = ("campus", "chat", "parental", "portal", "travel")
DESIGNS = [
    design for name in SYSTEMS for design in import_module(f"tablewright.systems.{name}.design").DESIGNS
]
designs = pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)


@designs
def test_a_design_in_the_box_raises_no_error(design: Design) -> None:
    found = [finding for finding in review(facts_of(design)) if finding.severity == "error"]
    assert [str(finding) for finding in found if not finding.reason] == []
    # Writes through the mapping have a condition on the state, also where an entity has no version.
    assert {finding.rule for finding in found} <= {"CC-NOVERSION"}


@designs
def test_each_warning_of_a_design_in_the_box_has_its_reason(design: Design) -> None:
    found = [finding for finding in review(facts_of(design)) if finding.severity == "warning"]
    assert found
    assert [str(finding) for finding in found if not finding.reason] == []


@designs
def test_nothing_is_accepted_that_is_not_found(design: Design) -> None:
    places = {(finding.rule, finding.where) for finding in review(facts_of(design))}
    assert [each for each in design.accepted if (each.rule, each.where) not in places] == []
