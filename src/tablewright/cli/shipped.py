"""Which designs a command is about, and where they go: `travel --environment prod`.

A system is one in the box, or somebody's own as `package.module:NAME`, where NAME is a Design or several; it may lie in
the directory in which the command is run.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from tablewright.cli.where import Misused

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.design import Design
    from tablewright.design.shipments import Shipment


class NoSuchSystem(Misused):
    """A name that is no system's."""


class NoSuchEnvironment(Misused):
    """An environment that a design does not name."""

    def __init__(self, system: str, named: str, known: Sequence[str]) -> None:
        super().__init__(
            f"{system} has no environment {named}; its design names {', '.join(known) or 'none'}"
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help="a system in the box, or package.module:DESIGN")
    parser.add_argument(
        "--environment", metavar="NAME", required=True, help="one that its design names: prod"
    )


def shipped(given: argparse.Namespace) -> "Shipment":
    """What goes where, as the words of a command say."""
    from tablewright.mapping.shipping import shipment

    designs = designs_of(given.system)
    known = designs[0].environments
    if given.environment not in known:
        raise NoSuchEnvironment(given.system, given.environment, list(known))
    name = designs[0].name if ":" in given.system else given.system
    return shipment(name, designs, known[given.environment])


def systems_in_the_box() -> list[str]:
    """Their names; what serves them, which is heavy, is not needed for that."""
    from tablewright import systems

    return sorted(each.name for each in iter_modules(systems.__path__) if each.ispkg)


def designs_of(system: str) -> "tuple[Design, ...]":
    """The designs of a system in the box, or somebody's own."""
    if ":" in system:
        return _somebodys(system)
    names = systems_in_the_box()
    if system not in names:
        raise NoSuchSystem(
            f"there is no system {system}; there are {', '.join(names)}, or package.module:DESIGN"
        )
    found: tuple[Design, ...] = import_module(f"tablewright.systems.{system}.design").DESIGNS
    return found


def _somebodys(system: str) -> "tuple[Design, ...]":
    from tablewright.design import Design

    module, _, name = system.partition(":")
    # Beside the command that is installed, Python looks only into what is installed too.
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as mistake:
        raise NoSuchSystem(f"{system} cannot be had: {mistake}") from None
    designs = tuple(found) if isinstance(found, list | tuple) else (found,)
    if not designs or not all(isinstance(one, Design) for one in designs):
        raise NoSuchSystem(f"{system} is no design, nor several")
    return tuple(design if design.is_built else design.build() for design in designs)
