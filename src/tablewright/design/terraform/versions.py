"""`terraform.tf`: what Terraform needs, and where things are made: the region, and others for copies and replicas."""

from tablewright.design.shipments import Shipment, label
from tablewright.design.terraform.hcl import Bare, Block, Comment, block


def other_regions(shipment: Shipment) -> list[str]:
    """Regions besides the first in which something is made: the copies of backups, the keys of replicas."""
    environment = shipment.environment
    wanted = [environment.backups.copy_to] if environment.backups and environment.backups.copy_to else []
    if environment.encryption == "customer":
        wanted += environment.replicas
    return [region for region in dict.fromkeys(wanted) if region != environment.region]


def provider(shipment: Shipment, region: str) -> tuple[str, Bare] | None:
    """The line that makes something elsewhere; none where that is here."""
    if region == shipment.environment.region:
        return None
    return ("provider", Bare(f"aws.{label(region)}"))


def versions(shipment: Shipment) -> list[Block | Comment]:
    environment = shipment.environment
    aws = {"source": "hashicorp/aws", "version": ">= 5.100"}
    return [
        block(
            "terraform",
            body=[
                ("required_version", ">= 1.5"),
                block("required_providers", body=[("aws", aws)]),
            ],
        ),
        _provider(shipment, environment.region, None),
        *(_provider(shipment, region, label(region)) for region in other_regions(shipment)),
        block("data", "aws_caller_identity", "current", body=[]),
    ]


def _provider(shipment: Shipment, region: str, alias: str | None) -> Block:
    environment = shipment.environment
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
