"""The designs and the environment that a command works on: `travel --environment prod`.

A system is one that ships with Tablewright, or the user's own (own_designs.py).
"""

import argparse
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from tablewright import systems
from tablewright.cli.output import UsageError
from tablewright.cli.own_designs import FORMS, is_own_design, load_own_designs
from tablewright.design import Design
from tablewright.design.deployment import Deployment
from tablewright.mapping.deployment import deployment_of


class NoSuchEnvironment(UsageError):
    """The design does not have this environment."""

    def __init__(self, system: str, named: str, known: Sequence[str]) -> None:
        super().__init__(
            f"{system} has no environment {named}; its design has {', '.join(known) or 'none'}"
            + ("" if known else "; add one: design.environment(Environment(NAME, REGION))")
        )


def add_design_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    parser.add_argument(
        "--environment", metavar="NAME", required=True, help="an environment of the design, such as prod"
    )


def load_deployment(given: argparse.Namespace) -> Deployment:
    """The deployment of --environment."""
    designs = load_designs(given.system)
    known = designs[0].environments
    if given.environment not in known:
        raise NoSuchEnvironment(given.system, given.environment, list(known))
    name = designs[0].name if is_own_design(given.system) else given.system
    return deployment_of(name, designs, known[given.environment])


def shipped_systems() -> list[str]:
    """The names of the systems that ship with Tablewright; does not import them."""
    return sorted(each.name for each in iter_modules(systems.__path__) if each.ispkg)


def load_designs(system: str) -> tuple[Design, ...]:
    """The designs of a shipped system, or the user's own."""
    if is_own_design(system):
        return load_own_designs(system)
    names = shipped_systems()
    if system not in names:
        raise UsageError(
            f"no system named {system}; choose one of {', '.join(names)}, or name your own design as {FORMS}"
        )
    found: tuple[Design, ...] = import_module(f"tablewright.systems.{system}.design").DESIGNS
    return found
