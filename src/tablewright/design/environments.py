"""Where a design is deployed: facts for Terraform, cost and alarms. Elsewhere: what is watched there (alarms.py)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal


@dataclass(frozen=True, slots=True)
class OnDemand:
    """Pay per request."""


@dataclass(frozen=True, slots=True)
class Provisioned:
    """Reserved units, scaled between these bounds to keep usage at `target` per cent."""

    read: int
    write: int
    max_read: int | None = None
    max_write: int | None = None
    target: int = 70


@dataclass(frozen=True, slots=True)
class Backups:
    """A schedule (cron, in UTC), how long each is kept, where, and where it is copied to.

    `plan`, `rule` and `selection` are names in AWS Backup, for who has names of their own for them.
    """

    schedule: str
    keep_days: int
    vault: str
    copy_to: str | None = None
    plan: str = ""
    rule: str = "scheduled"
    selection: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    """Per month, in US dollars; `estimate` are the figures the design's author gave, by what they are for.

    `said` is an estimate of the total by others, from and to, such as that of the document a design was made from; a
    report compares its own figure with it.
    """

    limit: Decimal
    alert_at: Decimal
    estimate: Mapping[str, Decimal] = field(default_factory=dict)
    said: tuple[Decimal, Decimal] | None = None


@dataclass(frozen=True, slots=True)
class ObjectBucket:
    """A bucket with versions for what is too large for a table, such as files.

    Objects in the folder `archive` are moved to the archive tier after a day. A version that was replaced or deleted
    stays for `replaced_days`; an upload in parts that is not completed, for `unfinished_days`.
    """

    archive: str | None = None
    replaced_days: int = 30
    unfinished_days: int = 7


@dataclass(frozen=True, slots=True)
class Environment:
    """One deployment. `table_name` turns a logical name into the physical one; `of_tables` are the capacities of tables
    that have another than the rest, by their logical names. `renamed` gives tables another physical name, by their
    logical names: a table restored beside a damaged one takes its place by being named here. `objects` is for systems
    that keep objects beside their tables."""

    name: str
    region: str
    account: str = ""
    capacity: OnDemand | Provisioned = OnDemand()
    of_tables: Mapping[str, OnDemand | Provisioned] = field(default_factory=dict)
    pitr_days: int = 0
    backups: Backups | None = None
    deletion_protection: bool = False
    replicas: tuple[str, ...] = ()
    objects: ObjectBucket | None = None
    encryption: Literal["owned", "managed", "customer"] = "owned"
    tags: Mapping[str, str] = field(default_factory=dict)
    budget: Budget | None = None
    table_name: str = "{table}"
    renamed: Mapping[str, str] = field(default_factory=dict)
    recovery: Mapping[str, str] = field(default_factory=dict)

    def capacity_of(self, table: str) -> OnDemand | Provisioned:
        """What a table has, and each of its indexes."""
        return self.of_tables.get(table, self.capacity)

    def physical(self, table: str) -> str:
        return self.renamed.get(table) or self.table_name.format(table=table, env=self.name)
