"""`backups.tf`: copies by a schedule, how long each is kept, and where it is copied to (SK-32, CP-69).

AWS Backup copies DynamoDB into another region only in accounts that have its advanced features for DynamoDB switched
on: a setting of the account and region, not of a tree.
"""

from tablewright.design.deployment import Deployment
from tablewright.design.iam import vault_name
from tablewright.design.terraform.hcl import Block, Comment, Entry, Reference, block
from tablewright.design.terraform.tables import address
from tablewright.design.terraform.versions import provider


def backups(deployment: Deployment) -> list[Block | Comment]:
    said = deployment.environment.backups
    if said is None:
        return []
    stays = deployment.environment.deletion_protection
    kept = block("lifecycle", body=[("delete_after", said.keep_days)])
    copy: Entry | None = None
    found: list[Block | Comment] = [_vault("main", vault_name(deployment, copy=False), None, stays)]
    if said.copy_to:
        elsewhere = provider(deployment, said.copy_to)
        found.append(_vault("copy", vault_name(deployment, copy=True), elsewhere, stays))
        copy = block(
            "copy_action", body=[("destination_vault_arn", Reference("aws_backup_vault.copy.arn")), kept]
        )
    name = f"{deployment.title}-tables"
    rule: list[Entry | None] = [
        ("rule_name", "scheduled"),
        ("target_vault_name", Reference("aws_backup_vault.main.name")),
        ("schedule", said.schedule),
        kept,
        copy,
    ]
    return [
        *found,
        block("resource", "aws_backup_plan", "tables", body=[("name", name), block("rule", body=rule)]),
        block(
            "resource",
            "aws_backup_selection",
            "tables",
            body=[
                ("name", name),
                ("plan_id", Reference("aws_backup_plan.tables.id")),
                ("iam_role_arn", Reference("aws_iam_role.backup.arn")),
                ("resources", [Reference(f"{address(table)}.arn") for table in deployment.own]),
            ],
        ),
    ]


def _vault(name: str, called: str, where: Entry | None, stays: bool) -> Block:
    lasting = block("lifecycle", body=[("prevent_destroy", True)]) if stays else None
    return block("resource", "aws_backup_vault", name, body=[where, ("name", called), lasting])
