"""`scaling.tf`: units that follow what is used, for tables that have a number of them and a bound above it.

An apply leaves the units of tables and indexes as they were scaled to (tables.py).
"""

from collections.abc import Iterator

from tablewright.design.deployment import Deployment, label
from tablewright.design.table_settings import capacity_of
from tablewright.design.tables import Table
from tablewright.design.terraform.hcl import Block, Interpolated, Reference, block
from tablewright.design.terraform.tables import address


def scaling(deployment: Deployment) -> list[Block]:
    found: list[Block] = []
    for table in deployment.tables:
        units = capacity_of(deployment, table)
        if units is None:
            continue
        indexes = [index.name for index in deployment.indexes(table) if not index.local]
        for index in ("", *indexes):
            if units.max_read:
                found += _scaled(table, index, "Read", units.read, units.max_read, units.target)
            if units.max_write:
                found += _scaled(table, index, "Write", units.write, units.max_write, units.target)
    return found


def _scaled(table: Table, index: str, what: str, low: int, high: int, target: int) -> Iterator[Block]:
    name = "_".join(label(part) for part in (table.name, index, what) if part)
    resource = f"table/${{{address(table)}.name}}" + (f"/index/{index}" if index else "")
    scaled = {
        "service_namespace": "dynamodb",
        "resource_id": Interpolated(resource),
        "scalable_dimension": f"dynamodb:{'index' if index else 'table'}:{what}CapacityUnits",
    }
    mine = {attribute: Reference(f"aws_appautoscaling_target.{name}.{attribute}") for attribute in scaled}
    bounds = {"min_capacity": low, "max_capacity": high}
    yield block("resource", "aws_appautoscaling_target", name, scaled, bounds)
    metric = {"predefined_metric_type": f"DynamoDB{what}CapacityUtilization"}
    tracking = block(
        "target_tracking_scaling_policy_configuration",
        {"target_value": target},
        block("predefined_metric_specification", metric),
    )
    named = {"name": name, "policy_type": "TargetTrackingScaling"}
    yield block("resource", "aws_appautoscaling_policy", name, named, mine, tracking)
