"""A deployment as Terraform: {relative path: text}. Pure, and the same for the same design every time.

    environment_files(deployment)  main.tf, variables.tf, outputs.tf, NAME.tfvars, and a file for each further subject
    module_files(deployments)      the modules that the environments of a system call

A file that would be empty is not printed. Must hold: every file begins with MARK, by which it is known as ours; names
come from the design and the environment alone; what costs money of its own (data events) or changes a network (the
endpoint) is off until a variable asks for it.
Elsewhere: how it is written (hcl.py), who may do what (../policies.py), the tree it is part of (../repository).
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tablewright.design.deployment import Deployment
from tablewright.design.terraform.alarms import alarms
from tablewright.design.terraform.audit import audit
from tablewright.design.terraform.backups import backups
from tablewright.design.terraform.budget import budget
from tablewright.design.terraform.hcl import Block, Comment, assignments, text
from tablewright.design.terraform.modules import modules
from tablewright.design.terraform.network import network
from tablewright.design.terraform.objects import objects
from tablewright.design.terraform.outputs import outputs
from tablewright.design.terraform.roles import policies_and_roles
from tablewright.design.terraform.scaling import scaling
from tablewright.design.terraform.tables import tables
from tablewright.design.terraform.variables import settings, variables
from tablewright.design.terraform.versions import versions

__all__ = ["environment_files", "module_files"]

File: TypeAlias = Callable[[Deployment], Sequence[Block | Comment]]


def _main(deployment: Deployment) -> list[Block | Comment]:
    return [*versions(deployment), *tables(deployment), *backups(deployment)]


FILES: dict[str, File] = {
    "main.tf": _main,
    "variables.tf": variables,
    "outputs.tf": outputs,
    "scaling.tf": scaling,
    "objects.tf": objects,
    "network.tf": network,
    "audit.tf": audit,
    "alarms.tf": alarms,
    "budget.tf": budget,
    "roles.tf": policies_and_roles,
}


def environment_files(deployment: Deployment) -> dict[str, str]:
    """Every file of an environment, by its name."""
    found = {name: text(entries) for name, file in FILES.items() if (entries := file(deployment))}
    return {**found, f"{deployment.environment.name}.tfvars": assignments(settings(deployment))}


def module_files(deployments: Sequence[Deployment]) -> dict[str, str]:
    """Every file of the modules, by its path below `modules`."""
    return {
        f"{module}/{name}": text(entries)
        for module, files in modules(deployments).items()
        for name, entries in files.items()
    }
