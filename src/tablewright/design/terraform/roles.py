"""`roles.tf`: the roles of policies.py, as Terraform makes them, and who may take them on."""

from typing import Any

from tablewright.design.deployment import Deployment, label
from tablewright.design.iam import RecoveryPoints, Role, TableTarget, Target, Vault, document
from tablewright.design.policies import BACKUP, roles
from tablewright.design.terraform.hcl import Block, Comment, FunctionCall, Interpolated, Reference, block
from tablewright.design.terraform.tables import address

_ACCOUNT = "${data.aws_caller_identity.current.account_id}"
_ROOT = f"arn:aws:iam::{_ACCOUNT}:root"
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
            return Interpolated(
                f"arn:aws:dynamodb:{region}:{_ACCOUNT}:table/${{{address(table)}.name}}{under}"
            )
        case RecoveryPoints(region):
            return Interpolated(f"arn:aws:backup:{region}:{_ACCOUNT}:recovery-point:*")
        case Vault(copy):
            return Reference(f"aws_backup_vault.{'copy' if copy else 'main'}.arn")
        case everything:
            return everything


def policies_and_roles(deployment: Deployment) -> list[Block | Comment]:
    found: list[Block | Comment] = []
    for role in roles(deployment):
        found += _role(deployment, role)
    return found + _exports()


def _role(deployment: Deployment, role: Role) -> list[Block | Comment]:
    trust = {"Version": "2012-10-17", "Statement": _trust(role)}
    return [
        Comment(role.about),
        block(
            "resource",
            "aws_iam_role",
            label(role.name),
            body=[
                ("name", f"{deployment.title}-{role.name}"),
                ("description", role.about),
                ("assume_role_policy", FunctionCall("jsonencode", trust)),
            ],
        ),
        block(
            "resource",
            "aws_iam_role_policy",
            label(role.name),
            body=[
                ("name", "tables"),
                ("role", Reference(f"aws_iam_role.{label(role.name)}.id")),
                ("policy", FunctionCall("jsonencode", document(role, arn))),
            ],
        ),
    ]


def _trust(role: Role) -> list[dict[str, Any]]:
    """Who may take a role on: the services it is for, else whom the variable names, else who may in this account."""
    services: list[Any] = [_taken({"Service": list(role.assumed_by)})] if role.assumed_by else []
    if role.name == BACKUP:
        return services
    people = Reference(f'lookup(var.trusted, "{role.name}", {{ AWS = [local.account] }})')
    return [_taken(people), *services]


def _taken(principal: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}


def _exports() -> list[Block | Comment]:
    said = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Exports",
                "Effect": "Allow",
                "Action": list(_EXPORTS),
                "Resource": [Interpolated("arn:aws:s3:::${var.export_bucket}/*")],
            }
        ],
    }
    return [
        block("locals", body=[("account", Interpolated(_ROOT))]),
        Comment("Exports go into a bucket that is not part of this tree."),
        block(
            "resource",
            "aws_iam_role_policy",
            "deployer_exports",
            body=[
                ("count", Reference("var.export_bucket == null ? 0 : 1")),
                ("name", "exports"),
                ("role", Reference("aws_iam_role.deployer.id")),
                ("policy", FunctionCall("jsonencode", said)),
            ],
        ),
    ]
