"""`backups.tf`: copies by a schedule, how long each is kept, and where it is copied to (SK-32, CP-69).

AWS Backup copies DynamoDB into another region only in accounts that have its advanced features for DynamoDB switched
on: a setting of the account and region, not of a tree.
"""

from tablewright.design.deployment import Deployment
from tablewright.design.iam import vault_name
from tablewright.design.terraform.hcl import Block, Reference, block
from tablewright.design.terraform.tables import LASTING, address
from tablewright.design.terraform.versions import provider


def backups(deployment: Deployment) -> list[Block]:
    said = deployment.environment.backups
    if said is None:
        return []
    lasting = LASTING if deployment.environment.deletion_protection else None
    kept = block("lifecycle", {"delete_after": said.keep_days})
    found = [
        block("resource", "aws_backup_vault", "main", {"name": vault_name(deployment, copy=False)}, lasting)
    ]
    copy = None
    if said.copy_to:
        vault = {"provider": provider(deployment, said.copy_to), "name": vault_name(deployment, copy=True)}
        found.append(block("resource", "aws_backup_vault", "copy", vault, lasting))
        copy = block("copy_action", {"destination_vault_arn": Reference("aws_backup_vault.copy.arn")}, kept)
    name = f"{deployment.title}-tables"
    rule = {
        "rule_name": "scheduled",
        "target_vault_name": Reference("aws_backup_vault.main.name"),
        "schedule": said.schedule,
    }
    selection = {
        "name": name,
        "plan_id": Reference("aws_backup_plan.tables.id"),
        "iam_role_arn": Reference("aws_iam_role.backup.arn"),
        "resources": [Reference(f"{address(table)}.arn") for table in deployment.own],
    }
    return [
        *found,
        block("resource", "aws_backup_plan", "tables", {"name": name}, block("rule", rule, kept, copy)),
        block("resource", "aws_backup_selection", "tables", selection),
    ]
