"""`outputs.tf`: what others need to know of a tree."""

from typing import Any

from tablewright.design.deployment import Deployment, label
from tablewright.design.policies import roles
from tablewright.design.terraform.alarms import has_notifications
from tablewright.design.terraform.hcl import Block, Comment, Reference, block
from tablewright.design.terraform.tables import address


def outputs(deployment: Deployment) -> list[Block | Comment]:
    tables = {table.name: Reference(f"{address(table)}.arn") for table in deployment.tables}
    streams = {
        table.name: Reference(f"{address(table)}.stream_arn") for table in deployment.tables if table.followed
    }
    taken = {role.name: Reference(f"aws_iam_role.{label(role.name)}.arn") for role in roles(deployment)}
    found = [_output("tables", "The tables, by the design's names for them.", tables)]
    if streams:
        found.append(_output("streams", "The streams that are followed.", streams))
    found.append(_output("roles", "Who may do what.", taken))
    if deployment.environment.backups is not None:
        found.append(_output("vault", "Where backups are kept.", Reference("aws_backup_vault.main.arn")))
    if has_notifications(deployment):
        found.append(_output("alarms", "The topic of alarms.", Reference("aws_sns_topic.alarms.arn")))
    return list(found)


def _output(name: str, about: str, value: Any) -> Block:
    return block("output", name, body=[("description", about), ("value", value)])
