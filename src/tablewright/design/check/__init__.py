"""What a design must hold to work at all: rules K* about keys and storage, P* about patterns.

Each rule is a function from a design to findings; its docstring begins with the rules' numbers.
"""

from tablewright.design.check import keys, patterns
from tablewright.design.check.checked import Checked
from tablewright.design.mistakes import Finding


def findings(design: Checked) -> list[Finding]:
    """Everything wrong with a design. Each layer is looked at only when those it rests on are right."""
    for rules in (keys.FORM, keys.MEANING, patterns.FORM, patterns.MEANING):
        found = [finding for rule in rules for finding in rule(design)]
        if found:
            return found
    return []


__all__ = ["findings"]
