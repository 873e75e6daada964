"""deploy/ is what the designs say, byte for byte, for every system in the box and every environment it names.

`make trees` prints it anew.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from tablewright import systems
from tablewright.design import Design
from tablewright.design.deployment import Deployment
from tablewright.design.terraform import Differences, differences, tree
from tablewright.mapping.deployment import deployment_of

DEPLOY = Path(__file__).parents[1] / "deploy"
SYSTEMS: dict[str, tuple[Design, ...]] = {
    each.name: import_module(f"tablewright.systems.{each.name}.design").DESIGNS
    for each in iter_modules(systems.__path__)
    if each.ispkg
}
SHIPMENTS = [
    deployment_of(name, designs, environment)
    for name, designs in SYSTEMS.items()
    for environment in designs[0].environments.values()
]


@pytest.mark.parametrize("of", SHIPMENTS, ids=lambda of: of.title)
def test_what_is_checked_in_is_what_the_design_says(of: Deployment) -> None:
    where = DEPLOY / of.name / of.environment.name
    assert differences(tree(of), where) == Differences((), (), ())


def test_nothing_is_checked_in_that_no_design_says() -> None:
    there = {path.parent.relative_to(DEPLOY).as_posix() for path in DEPLOY.glob("**/*.tf")}
    assert there == {f"{of.name}/{of.environment.name}" for of in SHIPMENTS}
