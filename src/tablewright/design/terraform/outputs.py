"""`outputs.tf`: what others need to know of a tree."""

from typing import Any

from tablewright.design.policies import roles
from tablewright.design.shipments import Shipment, label
from tablewright.design.terraform.alarms import is_told
from tablewright.design.terraform.hcl import Bare, Block, Comment, block
from tablewright.design.terraform.tables import address


def outputs(shipment: Shipment) -> list[Block | Comment]:
    tables = {table.name: Bare(f"{address(table)}.arn") for table in shipment.tables}
    streams = {
        table.name: Bare(f"{address(table)}.stream_arn") for table in shipment.tables if table.followed
    }
    taken = {role.name: Bare(f"aws_iam_role.{label(role.name)}.arn") for role in roles(shipment)}
    found = [_output("tables", "The tables, by the design's names for them.", tables)]
    if streams:
        found.append(_output("streams", "The streams that are followed.", streams))
    found.append(_output("roles", "Who may do what.", taken))
    if shipment.environment.backups is not None:
        found.append(_output("vault", "Where backups are kept.", Bare("aws_backup_vault.main.arn")))
    if is_told(shipment):
        found.append(_output("alarms", "The topic of alarms.", Bare("aws_sns_topic.alarms.arn")))
    return list(found)


def _output(name: str, about: str, value: Any) -> Block:
    return block("output", name, body=[("description", about), ("value", value)])
