"""`roles.tf`: the roles of policies.py, as Terraform makes them, and who may take them on."""

from typing import Any

from tablewright.design.deployment import Deployment, label
from tablewright.design.iam import Bucket, RecoveryPoints, Role, TableTarget, Target, Vault, statement_json
from tablewright.design.policies import BACKUP, roles
from tablewright.design.terraform.hcl import Block, Comment, Interpolated, Reference, block, policy
from tablewright.design.terraform.tables import address
from tablewright.design.terraform.versions import ACCOUNT_ID

# Who exports a table writes the files with rights of their own.
_EXPORTS = ("s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl")


def arn(target: Target) -> Any:
    """A target as a reference to what this tree makes."""
    match target:
        case TableTarget(table, "", None):
            return Reference(f"{address(table)}.arn")
        case TableTarget(table, under, None):
            return Interpolated(f"${{{address(table)}.arn}}{under}")
        case TableTarget(table, under, region):
            name = f"${{{address(table)}.name}}"
            return Interpolated(f"arn:aws:dynamodb:{region}:{ACCOUNT_ID}:table/{name}{under}")
        case RecoveryPoints(region):
            return Interpolated(f"arn:aws:backup:{region}:{ACCOUNT_ID}:recovery-point:*")
        case Vault(copy):
            return Reference(f"module.backup.{'copy_vault_arn' if copy else 'vault_arn'}")
        case Bucket(""):
            return Reference("aws_s3_bucket.objects.arn")
        case Bucket(under):
            return Interpolated(f"${{aws_s3_bucket.objects.arn}}{under}")
        case everything:
            return everything


def policies_and_roles(deployment: Deployment) -> list[Block | Comment]:
    found = [entry for role in roles(deployment) for entry in _role(deployment, role)]
    return [*found, *_exports()]


def _role(deployment: Deployment, role: Role) -> list[Block | Comment]:
    name = label(role.name)
    taken = {
        "name": f"{deployment.title}-{role.name}",
        "description": role.about,
        "assume_role_policy": policy(*_trust(role)),
    }
    rights = {
        "name": "tables",
        "role": Reference(f"aws_iam_role.{name}.id"),
        "policy": policy(*(statement_json(each, arn) for each in role.statements)),
    }
    return [
        Comment(role.about),
        block("resource", "aws_iam_role", name, taken),
        block("resource", "aws_iam_role_policy", name, rights),
    ]


def _trust(role: Role) -> list[dict[str, Any]]:
    """Who may take a role on: the services it is for, else whom the variable names, else who may in this account."""
    principals: list[Any] = [{"Service": role.assumed_by}] if role.assumed_by else []
    if role.name != BACKUP:
        people = Reference(f'lookup(var.trusted, "{role.name}", {{ AWS = [local.account] }})')
        principals.insert(0, people)
    return [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": each} for each in principals]


def _exports() -> list[Block | Comment]:
    files = Interpolated("arn:aws:s3:::${var.export_bucket}/*")
    statement = {"Sid": "Exports", "Effect": "Allow", "Action": _EXPORTS, "Resource": [files]}
    rights = {
        "count": Reference("var.export_bucket == null ? 0 : 1"),
        "name": "exports",
        "role": Reference("aws_iam_role.deployer.id"),
        "policy": policy(statement),
    }
    return [
        block("locals", {"account": Interpolated(f"arn:aws:iam::{ACCOUNT_ID}:root")}),
        Comment("Exports go into a bucket that is not part of this tree."),
        block("resource", "aws_iam_role_policy", "deployer_exports", rights),
    ]
