"""Where a design runs, and what is watched there, as parts of a design file: environments, alarms, loads, acceptances.

The names are those of the values in Python (environments.py, alarms.py, traits.py); a test compares them.
"""

from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from tablewright.design.alarms import DYNAMODB, Action, Comparison, MissingData, Statistic
from tablewright.design.environments import Backups, Budget, ObjectBucket, Provisioned
from tablewright.design.files.field_types import Part

ON_DEMAND = "on_demand"
Capacity: TypeAlias = Annotated[
    Annotated[Literal["on_demand"], Tag("(on demand)")] | Annotated[Provisioned, Tag("(provisioned)")],
    Discriminator(lambda value: "(on demand)" if isinstance(value, str) else "(provisioned)"),
]


class LoadDocument(Part):
    """How often, and how much each time."""

    per_second: int | float = 0
    per_month: int | float = 0
    items: int | float = 1
    item_bytes: int = 1024
    transaction: bool = False
    once: bool = False
    changes: tuple[str, ...] | None = None
    indexes: tuple[str, ...] | None = None
    new: int | float | None = None


class EnvironmentDocument(Part):
    """One deployment; production is the last of them."""

    name: str
    region: str
    account: str = ""
    capacity: Capacity = "on_demand"
    of_tables: dict[str, Capacity] = Field(default_factory=dict)
    pitr_days: int = 0
    backups: Backups | None = None
    deletion_protection: bool = False
    replicas: tuple[str, ...] = ()
    objects: ObjectBucket | None = None
    encryption: Literal["owned", "managed", "customer"] = "owned"
    tags: dict[str, str] = Field(default_factory=dict)
    budget: Budget | None = None
    table_name: str = "{table}"
    renamed: dict[str, str] = Field(default_factory=dict)
    recovery: dict[str, str] = Field(default_factory=dict)


class AlarmDocument(Part):
    """A metric against a threshold, in CloudWatch's words."""

    name: str
    metric: str
    threshold: Decimal
    minutes: int
    statistic: Statistic = "Sum"
    unit: str = ""
    advice: str = ""
    periods: int = 1
    to_alarm: int | None = None
    comparison: Comparison = "GreaterThanThreshold"
    missing: MissingData = "notBreaching"
    namespace: str = DYNAMODB
    tables: tuple[str, ...] = ()
    index: str = ""
    operation: str = ""
    actions: tuple[Action, ...] = ("log", "mail", "webhook")
    requirement: str = ""


class AcceptanceDocument(Part):
    """A finding of `design check` that is accepted, and why; without a place, at each place."""

    rule: str
    reason: str = Field(min_length=1)
    where: str = ""


def values_of(part: Part) -> dict[str, Any]:
    """The values of a part by name, not converted."""
    return {name: getattr(part, name) for name in type(part).model_fields}
