"""What is deployed together: a system's designs, the tables that running them needs, and the environment. A value.

Terraform and policies are printed from it; mapping/deployment.py makes one. Must hold: two tables of a deployment never
have the same name in Terraform, nor in DynamoDB.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.environments import Environment
from tablewright.design.errors import DesignMistake
from tablewright.design.tables import Index, Table
from tablewright.design.vectors import VectorIndex


class NotDeployable(DesignMistake):
    """Something in a design or environment that cannot be deployed."""

    def __init__(self, where: str, why: str, fix: str) -> None:
        self.where, self.why, self.fix = where, why, fix
        super().__init__(f"{where}: {why}. Fix: {fix}")


@dataclass(frozen=True, slots=True)
class AuxiliaryTable:
    """A table without entities, and the IAM actions on its items."""

    table: Table
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Deployment:
    """`designs` are the system's own; `helpers` and `auxiliary` are what running them needs besides."""

    name: str
    environment: Environment
    designs: tuple[Design, ...]
    helpers: tuple[Design, ...] = ()
    auxiliary: tuple[AuxiliaryTable, ...] = ()

    @property
    def title(self) -> str:
        """How everything is called that is made for it: `travel-prod`."""
        return f"{self.name}-{self.environment.name}"

    @cached_property
    def own(self) -> tuple[Table, ...]:
        """The designs' tables: these are recovered, backed up and watched."""
        return tuple(table for design in self.designs for table in design.tables.values())

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """All of them."""
        beside = [table for design in self.helpers for table in design.tables.values()]
        found = (*self.own, *beside, *(bare.table for bare in self.auxiliary))
        for known in (label, self.physical):
            names = [known(table.name) for table in found]
            for name in names:
                if names.count(name) > 1:
                    raise NotDeployable(self.title, f"two tables are called '{name}'", "rename one of them")
        return found

    @property
    def every_design(self) -> tuple[Design, ...]:
        return self.designs + self.helpers

    def physical(self, table: str) -> str:
        return self.environment.physical(table)

    def indexes(self, table: Table) -> list[Index]:
        return [index for design in self.every_design for index in design.indexes if index.table == table]

    def vectors(self, table: Table) -> list[VectorIndex]:
        return [index for design in self.every_design for index in design.vectors if index.table == table]

    def shapes(self, table: Table) -> list[EntitySpec]:
        return [shape for design in self.every_design for shape in design.shapes if shape.table == table]


def label(name: str) -> str:
    """A name as Terraform writes them: `ParentalPolicies` and `parental-policies` are `parental_policies`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return "".join(letter.lower() if letter.isalnum() else "_" for letter in words)
