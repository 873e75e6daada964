"""`roles.tf`: the roles of policies.py, as Terraform makes them, and who may take them on."""

from typing import Any

from tablewright.design.policies import BACKUP, roles
from tablewright.design.shipments import Shipment, label
from tablewright.design.statements import On, Points, Role, Target, Vault, document
from tablewright.design.terraform.hcl import Bare, Block, Call, Comment, Filled, block
from tablewright.design.terraform.tables import address

_ACCOUNT = "${data.aws_caller_identity.current.account_id}"
_ROOT = f"arn:aws:iam::{_ACCOUNT}:root"
# Who exports a table writes the files with rights of their own.
_EXPORTS = ("s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl")


def arn(target: Target) -> Any:
    """A target as a reference to what this tree makes."""
    match target:
        case On(table, "", None):
            return Bare(f"{address(table)}.arn")
        case On(table, under, None):
            return Filled(f"${{{address(table)}.arn}}{under}")
        case On(table, under, region):
            return Filled(f"arn:aws:dynamodb:{region}:{_ACCOUNT}:table/${{{address(table)}.name}}{under}")
        case Points(region):
            return Filled(f"arn:aws:backup:{region}:{_ACCOUNT}:recovery-point:*")
        case Vault(copy):
            return Bare(f"aws_backup_vault.{'copy' if copy else 'main'}.arn")
        case everything:
            return everything


def policies_and_roles(shipment: Shipment) -> list[Block | Comment]:
    found: list[Block | Comment] = []
    for role in roles(shipment):
        found += _role(shipment, role)
    return found + _exports()


def _role(shipment: Shipment, role: Role) -> list[Block | Comment]:
    trust = {"Version": "2012-10-17", "Statement": _trust(role)}
    return [
        Comment(role.about),
        block(
            "resource",
            "aws_iam_role",
            label(role.name),
            body=[
                ("name", f"{shipment.title}-{role.name}"),
                ("description", role.about),
                ("assume_role_policy", Call("jsonencode", trust)),
            ],
        ),
        block(
            "resource",
            "aws_iam_role_policy",
            label(role.name),
            body=[
                ("name", "tables"),
                ("role", Bare(f"aws_iam_role.{label(role.name)}.id")),
                ("policy", Call("jsonencode", document(role, arn))),
            ],
        ),
    ]


def _trust(role: Role) -> list[dict[str, Any]]:
    """Who may take a role on: the services it is for, else whom the variable names, else who may in this account."""
    services: list[Any] = [_taken({"Service": list(role.taken_by)})] if role.taken_by else []
    if role.name == BACKUP:
        return services
    people = Bare(f'lookup(var.trusted, "{role.name}", {{ AWS = [local.account] }})')
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
                "Resource": [Filled("arn:aws:s3:::${var.export_bucket}/*")],
            }
        ],
    }
    return [
        block("locals", body=[("account", Filled(_ROOT))]),
        Comment("Exports go into a bucket that is somebody else's business."),
        block(
            "resource",
            "aws_iam_role_policy",
            "deployer_exports",
            body=[
                ("count", Bare("var.export_bucket == null ? 0 : 1")),
                ("name", "exports"),
                ("role", Bare("aws_iam_role.deployer.id")),
                ("policy", Call("jsonencode", said)),
            ],
        ),
    ]
