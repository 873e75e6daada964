"""Backups in `main.tf`: copies by a schedule, how long each is kept, and where it is copied to (SK-32, CP-69).

AWS Backup copies DynamoDB into another region only in accounts that have its advanced features for DynamoDB switched
on: a setting of the account and region, not of a tree. Elsewhere: the module itself (backup_module.py).
"""

from tablewright.design.deployment import Deployment
from tablewright.design.iam import vault_name
from tablewright.design.terraform.hcl import Block, Reference, block
from tablewright.design.terraform.tables import address
from tablewright.design.terraform.versions import provider


def backups(deployment: Deployment) -> list[Block]:
    said = deployment.environment.backups
    if said is None:
        return []
    elsewhere = provider(deployment, said.copy_to) if said.copy_to else None
    copies = elsewhere.text if elsewhere else "aws"
    name = f"{deployment.title}-tables"
    call = {
        "source": "../modules/backup",
        "providers": Reference(f"{{ aws = aws, aws.copy = {copies} }}"),
        "plan": said.plan or name,
        "rule": said.rule,
        "selection": said.selection or name,
        "schedule": Reference("var.backup_schedule"),
        "keep_days": Reference("var.backup_keep_days"),
        "vault": vault_name(deployment, copy=False),
        "copy_vault": vault_name(deployment, copy=True) if said.copy_to else None,
        "role_arn": Reference("aws_iam_role.backup.arn"),
        "tables": [Reference(f"{address(table)}.arn") for table in deployment.own],
    }
    return [block("module", "backup", call)]
