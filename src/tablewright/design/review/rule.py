"""A rule: a code, a severity, a function from facts to places, and the words for it.

Must hold: a rule is pure and decides from facts alone. The explanation is the function's docstring, in two sentences.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tablewright.design.errors import DesignMistake, Finding, Severity
from tablewright.design.review.facts import Facts


@dataclass(frozen=True, slots=True)
class Violation:
    """Where a rule is broken, and why. `evidence` are figures; `severity` is given where it is not the rule's own."""

    where: str
    line: int
    why: str
    evidence: str = ""
    severity: Severity | None = None


Violations: TypeAlias = Iterator[Violation]


class FactsUnusable(DesignMistake):
    """Facts that are of the right form and cannot be what they say, such as a formula that is not one."""

    def __init__(self, code: str, error: Exception) -> None:
        self.rule = code
        super().__init__(f"the rule {code} cannot be applied to these facts: {type(error).__name__}: {error}")


@dataclass(frozen=True)
class Rule:
    """One rule of the catalogue."""

    code: str
    severity: Severity
    fix: str
    places: Callable[[Facts], Violations]

    @property
    def explanation(self) -> str:
        return " ".join((inspect.getdoc(self.places) or "").split())

    def findings(self, facts: Facts) -> Iterator[Finding]:
        """What this rule finds, each place once; FactsUnusable if it fails on what a document states."""
        try:
            places = dict.fromkeys(self.places(facts))
        except Exception as error:
            raise FactsUnusable(self.code, error) from error
        for place in places:
            severity = place.severity or self.severity
            yield Finding(self.code, place.where, place.why, self.fix, severity, place.line, place.evidence)


def rule(code: str, severity: Severity, fix: str) -> Callable[[Callable[[Facts], Violations]], Rule]:
    """Make a rule of a function."""
    return lambda places: Rule(code, severity, fix, places)


def rules_in(module: dict[str, object]) -> tuple[Rule, ...]:
    """The rules that a module defines, in their order."""
    return tuple(each for each in module.values() if isinstance(each, Rule))
