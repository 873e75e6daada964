"""deploy/ is what the designs say, byte for byte, for every system in the box and every environment it names.

`make trees` prints it. Elsewhere: what is in a repository (design/repository), Terraform (terraform/test_trees.py).
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from tablewright import systems
from tablewright.design import Design
from tablewright.design.deployment import Deployment
from tablewright.design.repository import Differences, differences, repository
from tablewright.mapping.deployment import deployment_of

DEPLOY = Path(__file__).parents[1] / "deploy"
SYSTEMS: dict[str, tuple[Design, ...]] = {
    each.name: import_module(f"tablewright.systems.{each.name}.design").DESIGNS
    for each in iter_modules(systems.__path__)
    if each.ispkg
}
DEPLOYMENTS = {
    name: [deployment_of(name, designs, environment) for environment in designs[0].environments.values()]
    for name, designs in SYSTEMS.items()
}


@pytest.mark.parametrize("deployments", DEPLOYMENTS.values(), ids=DEPLOYMENTS)
def test_what_is_checked_in_is_what_the_design_says(deployments: list[Deployment]) -> None:
    where = DEPLOY / deployments[0].name
    assert differences(repository(deployments), where) == Differences((), (), ())


def test_nothing_is_checked_in_that_no_design_says() -> None:
    there = {path.name for path in DEPLOY.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert there == set(DEPLOYMENTS)


def test_the_tests_of_every_repository_pass_without_us() -> None:
    """They are of the schemas, of the validator, of what Terraform says of both, and of its format."""
    alone = ["-c", "/dev/null", "--rootdir", str(DEPLOY), "--import-mode=importlib", "-p", "no:cacheprovider"]
    paths = [str(DEPLOY / name / "tests") for name in DEPLOYMENTS]
    ran = subprocess.run(
        [sys.executable, "-I", "-m", "pytest", "-q", *alone, *paths],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert "passed" in ran.stdout
    assert not any("tablewright" in line for line in _imports()), "a repository imports nothing of ours"


def _imports() -> list[str]:
    scripts = (path for name in DEPLOYMENTS for path in (DEPLOY / name).rglob("*.py"))
    lines = (line for path in scripts for line in path.read_text().splitlines())
    return [line for line in lines if line.startswith(("import ", "from "))]
