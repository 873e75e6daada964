"""`terraform.tf`: what Terraform needs, and where things are made: the region, and others for copies and replicas."""

from tablewright.design.deployment import Deployment, label
from tablewright.design.terraform.hcl import Block, Comment, Reference, block


def other_regions(deployment: Deployment) -> list[str]:
    """Regions besides the first in which something is made: the copies of backups, the keys of replicas."""
    environment = deployment.environment
    wanted = [environment.backups.copy_to] if environment.backups and environment.backups.copy_to else []
    if environment.encryption == "customer":
        wanted += environment.replicas
    return [region for region in dict.fromkeys(wanted) if region != environment.region]


def provider(deployment: Deployment, region: str) -> tuple[str, Reference] | None:
    """The line that makes something elsewhere; none where that is here."""
    if region == deployment.environment.region:
        return None
    return ("provider", Reference(f"aws.{label(region)}"))


def versions(deployment: Deployment) -> list[Block | Comment]:
    environment = deployment.environment
    aws = {"source": "hashicorp/aws", "version": ">= 5.100"}
    return [
        block(
            "terraform",
            body=[
                ("required_version", ">= 1.5"),
                block("required_providers", body=[("aws", aws)]),
            ],
        ),
        _provider(deployment, environment.region, None),
        *(_provider(deployment, region, label(region)) for region in other_regions(deployment)),
        block("data", "aws_caller_identity", "current", body=[]),
    ]


def _provider(deployment: Deployment, region: str, alias: str | None) -> Block:
    environment = deployment.environment
    return block(
        "provider",
        "aws",
        body=[
            ("alias", alias) if alias else None,
            ("region", region),
            ("allowed_account_ids", [environment.account]) if environment.account else None,
            block("default_tags", body=[("tags", dict(environment.tags))]) if environment.tags else None,
        ],
    )
