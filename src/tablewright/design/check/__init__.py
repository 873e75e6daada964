"""What a design must hold to work at all: rules K* about keys and storage, P* about patterns.

Each rule is a function from a design to findings; its docstring begins with the rules' numbers. It names the place
inside the design; `findings` puts the design's name before it.
"""

from dataclasses import replace

from tablewright.design.check import indexes, keys, patterns, templates, vectors
from tablewright.design.check.context import CheckContext
from tablewright.design.errors import Finding

# Each layer rests on those before it.
LAYERS = (
    templates.RULES,
    (*keys.RULES, *indexes.RULES, *vectors.INDEXES),
    patterns.STRUCTURE,
    (*patterns.SEMANTICS, *vectors.SEARCHES),
)


def findings(design: CheckContext) -> list[Finding]:
    """Everything wrong with a design, as far as the first layer that is not right."""
    for rules in LAYERS:
        found = [finding for rule in rules for finding in rule(design)]
        if found:
            return [replace(each, where=f"{design.name}.{each.where}") for each in found]
    return []


__all__ = ["LAYERS", "findings"]
