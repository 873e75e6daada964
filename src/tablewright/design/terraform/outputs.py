"""`outputs.tf`: what others need to know of a tree."""

from tablewright.design.deployment import Deployment, label
from tablewright.design.policies import roles
from tablewright.design.terraform.alarms import TOPIC, has_notifications
from tablewright.design.terraform.hcl import Block, Reference, block
from tablewright.design.terraform.tables import address


def outputs(deployment: Deployment) -> list[Block]:
    tables = {table.name: Reference(f"{address(table)}.arn") for table in deployment.tables}
    followed = [table for table in deployment.tables if table.followed]
    streams = {table.name: Reference(f"{address(table)}.stream_arn") for table in followed}
    taken = {role.name: Reference(f"aws_iam_role.{label(role.name)}.arn") for role in roles(deployment)}
    vault = Reference("module.backup.vault_arn") if deployment.environment.backups is not None else None
    bucket = Reference("aws_s3_bucket.objects.id") if deployment.environment.objects is not None else None
    found = {
        "tables": ("The tables, by the design's names for them.", tables),
        "streams": ("The streams that are followed.", streams),
        "roles": ("Who may do what.", taken),
        "vault": ("Where backups are kept.", vault),
        "bucket": ("The bucket of objects.", bucket),
        "alarms": ("The topic of alarms.", TOPIC if has_notifications(deployment) else None),
    }
    return [
        block("output", name, {"description": about, "value": value})
        for name, (about, value) in found.items()
        if value
    ]
