"""`scaling.tf`: units that follow what is used, for tables that have a number of them and a bound above it.

An apply leaves the units of a table as they were scaled to. Those of an index go back to the design's floor, from which
they are scaled again: Terraform can ignore changes of all that is said of indexes or of none of it, and an index that
is in the design but never made would be worse.
"""

from tablewright.design.deployment import Deployment, label
from tablewright.design.environments import Provisioned
from tablewright.design.tables import Table
from tablewright.design.terraform.hcl import Block, Comment, Interpolated, Reference, block
from tablewright.design.terraform.tables import address, capacity_of


def scaling(deployment: Deployment) -> list[Block | Comment]:
    found: list[Block | Comment] = []
    for table in deployment.tables:
        units = capacity_of(deployment, table)
        if units is None:
            continue
        indexes = [index.name for index in deployment.indexes(table) if not index.local]
        for index in (None, *indexes):
            found += _both(table, index, units)
    return found


def _both(table: Table, index: str | None, units: Provisioned) -> list[Block | Comment]:
    found: list[Block | Comment] = []
    if units.max_read:
        found += _scaled(table, index, "Read", units.read, units.max_read, units.target)
    if units.max_write:
        found += _scaled(table, index, "Write", units.write, units.max_write, units.target)
    return found


def _scaled(
    table: Table, index: str | None, what: str, low: int, high: int, target: int
) -> list[Block | Comment]:
    kind = "index" if index else "table"
    name = "_".join(part for part in (label(table.name), label(index) if index else "", what.lower()) if part)
    resource = f"table/${{{address(table)}.name}}" + (f"/index/{index}" if index else "")
    mine = f"aws_appautoscaling_target.{name}"
    return [
        block(
            "resource",
            "aws_appautoscaling_target",
            name,
            body=[
                ("service_namespace", "dynamodb"),
                ("resource_id", Interpolated(resource)),
                ("scalable_dimension", f"dynamodb:{kind}:{what}CapacityUnits"),
                ("min_capacity", low),
                ("max_capacity", high),
            ],
        ),
        block(
            "resource",
            "aws_appautoscaling_policy",
            name,
            body=[
                ("name", name),
                ("policy_type", "TargetTrackingScaling"),
                ("service_namespace", Reference(f"{mine}.service_namespace")),
                ("resource_id", Reference(f"{mine}.resource_id")),
                ("scalable_dimension", Reference(f"{mine}.scalable_dimension")),
                block(
                    "target_tracking_scaling_policy_configuration",
                    body=[
                        ("target_value", target),
                        block(
                            "predefined_metric_specification",
                            body=[("predefined_metric_type", f"DynamoDB{what}CapacityUtilization")],
                        ),
                    ],
                ),
            ],
        ),
    ]
