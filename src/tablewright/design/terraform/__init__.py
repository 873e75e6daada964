"""A deployment as a tree of Terraform: {relative path: text}. Pure, and the same for the same design every time.

    tree(deployment)              what is to be written
    differences(tree, directory)  what of it is not so there; write(tree, directory) makes it so (files.py)

One file for each subject; a file that would be empty is not printed. Must hold: every file begins
with MARK, by which it is known as ours; names come from the design and the environment alone; what costs money of
its own (data events) or changes a network (the endpoint) is off until a variable asks for it.
Elsewhere: how it is written (hcl.py), who may do what (../policies.py).
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tablewright.design.deployment import Deployment
from tablewright.design.terraform.alarms import alarms
from tablewright.design.terraform.audit import audit
from tablewright.design.terraform.backups import backups
from tablewright.design.terraform.budget import budget
from tablewright.design.terraform.files import MARK, AnotherTree, Differences, NotOurs, differences, write
from tablewright.design.terraform.hcl import Block, Comment, text
from tablewright.design.terraform.network import network
from tablewright.design.terraform.objects import objects
from tablewright.design.terraform.outputs import outputs
from tablewright.design.terraform.roles import policies_and_roles
from tablewright.design.terraform.scaling import scaling
from tablewright.design.terraform.tables import tables
from tablewright.design.terraform.variables import variables
from tablewright.design.terraform.versions import versions

__all__ = ["AnotherTree", "Differences", "NotOurs", "differences", "tree", "write"]

File: TypeAlias = Callable[[Deployment], Sequence[Block | Comment]]
FILES: dict[str, File] = {
    "terraform.tf": versions,
    "variables.tf": variables,
    "tables.tf": tables,
    "scaling.tf": scaling,
    "objects.tf": objects,
    "backups.tf": backups,
    "network.tf": network,
    "audit.tf": audit,
    "alarms.tf": alarms,
    "budget.tf": budget,
    "roles.tf": policies_and_roles,
    "outputs.tf": outputs,
}


def tree(deployment: Deployment) -> dict[str, str]:
    """Every file of a deployment, by its name."""
    found = {name: entries for name, file in FILES.items() if (entries := file(deployment))}
    return {name: f"{_header(deployment)}\n\n{text(entries)}" for name, entries in found.items()}


def _header(deployment: Deployment) -> str:
    place = f"{deployment.name} --environment {deployment.environment.name}"
    return f"{MARK} {place}: what is to change here is changed in the design."
