"""What a design must hold to work at all: rules K* about keys and storage, P* about patterns.

Each rule is a function from a design to findings; its docstring begins with the rules' numbers.
"""

from tablewright.design.check import beside, form, keys, patterns
from tablewright.design.check.checked import Checked
from tablewright.design.mistakes import Finding

# Each layer rests on those before it.
LAYERS = (form.RULES, (*keys.RULES, *beside.RULES), patterns.FORM, patterns.MEANING)


def findings(design: Checked) -> list[Finding]:
    """Everything wrong with a design, as far as the first layer that is not right."""
    for rules in LAYERS:
        found = [finding for rule in rules for finding in rule(design)]
        if found:
            return found
    return []


__all__ = ["LAYERS", "findings"]
