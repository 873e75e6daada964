"""The key that encrypts the tables: Amazon's own, the account's, or one that is created here."""

from tablewright.design.deployment import Deployment, label
from tablewright.design.terraform.hcl import Block, Comment, FunctionCall, Interpolated, Reference, block
from tablewright.design.terraform.versions import provider


def encryption(deployment: Deployment) -> Block | None:
    """Every table is encrypted; by default with a key that Amazon owns, of which nothing is to be said."""
    match deployment.environment.encryption:
        case "owned":
            return None
        case "managed":
            return block("server_side_encryption", body=[("enabled", True)])
        case "customer":
            arn = Reference(f"{key_address(deployment, deployment.environment.region)}.arn")
            return block("server_side_encryption", body=[("enabled", True), ("kms_key_arn", arn)])


def key_address(deployment: Deployment, region: str) -> str:
    return f"aws_kms_key.{'tables' if region == deployment.environment.region else label(region)}"


def keys(deployment: Deployment) -> list[Block | Comment]:
    """A key of one's own in each region in which the tables are."""
    environment = deployment.environment
    if environment.encryption != "customer":
        return []
    found: list[Block | Comment] = [
        Comment("The key of the tables. Principals that may use DynamoDB here use the key through it.")
    ]
    for region in (environment.region, *environment.replicas):
        name = key_address(deployment, region).partition(".")[2]
        where = provider(deployment, region)
        found += [
            block(
                "resource",
                "aws_kms_key",
                name,
                body=[
                    where,
                    ("description", f"The tables of {deployment.title}"),
                    ("enable_key_rotation", True),
                    ("deletion_window_in_days", 30),
                    ("policy", FunctionCall("jsonencode", _key_policy(region))),
                    block("lifecycle", body=[("prevent_destroy", True)])
                    if environment.deletion_protection
                    else None,
                ],
            ),
            block(
                "resource",
                "aws_kms_alias",
                name,
                body=[
                    where,
                    ("name", f"alias/{deployment.title}"),
                    ("target_key_id", Reference(f"aws_kms_key.{name}.key_id")),
                ],
            ),
        ]
    return found


def _key_policy(region: str) -> dict[str, object]:
    """As that of Amazon's own key: through DynamoDB, by who is of this account; its settings by its administrators."""
    account = Reference("data.aws_caller_identity.current.account_id")
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Administration",
                "Effect": "Allow",
                "Principal": {
                    "AWS": Interpolated("arn:aws:iam::${data.aws_caller_identity.current.account_id}:root")
                },
                "Action": ["kms:*"],
                "Resource": ["*"],
            },
            {
                "Sid": "ThroughDynamoDB",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": [
                    "kms:Encrypt",
                    "kms:Decrypt",
                    "kms:ReEncrypt*",
                    "kms:GenerateDataKey*",
                    "kms:CreateGrant",
                    "kms:DescribeKey",
                ],
                "Resource": ["*"],
                "Condition": {
                    "StringEquals": {
                        "kms:CallerAccount": account,
                        "kms:ViaService": f"dynamodb.{region}.amazonaws.com",
                    }
                },
            },
        ],
    }
