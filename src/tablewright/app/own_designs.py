"""A user's own designs as a system: their tables are made and the workbench shows them; it has no pages, API or seed.

Must hold: the name of a design is part of addresses and of a directory, so it is one plain word, and none that the
workbench uses for a page of its own.
"""

import re
from collections.abc import Sequence

from tablewright.design import Design
from tablewright.kit.system import Start, System
from tablewright.mapping import Db

# The pages of the workbench that are beside the designs (app/designs/).
TAKEN = ("alarms", "check", "item", "items", "items.csv", "mail", "metrics", "partiql", "rules", "store")


class DesignNameUnusable(ValueError):
    """A design cannot be served under its name."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(
            f"a design cannot be served under the name '{name}': {why}; change the name of the design"
        )


def own_system(designs: Sequence[Design], source: str = "") -> System:
    """Designs that belong together, under the name of the first. `source` is how commands name them."""
    for design in designs:
        refuse_name(design.name)
    first = designs[0]
    about = first.about or "A design of your own."
    return System(first.name, first.name, about, tuple(designs), _started, source=source)


def refuse_name(name: str) -> None:
    """Raise DesignNameUnusable if a design of this name has no address in the workbench."""
    if not re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,60}", name, re.ASCII):
        raise DesignNameUnusable(name, "use letters, digits, '-', '_' and '.'")
    if name in TAKEN:
        raise DesignNameUnusable(name, "it is a page of the workbench")


def is_own(system: System) -> bool:
    """True if a system is a design of the user's, served beside the shipped ones."""
    return system.start is _started


def _started(start: Start) -> Db:
    return start.db
