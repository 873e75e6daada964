"""How `main.tf` begins: what Terraform needs, and where things are made: here, elsewhere for copies and replicas."""

from tablewright.design.deployment import Deployment, label
from tablewright.design.terraform.hcl import Block, Reference, block

ACCOUNT = Reference("data.aws_caller_identity.current.account_id")
# The same inside a text.
ACCOUNT_ID = "${data.aws_caller_identity.current.account_id}"


def provider(deployment: Deployment, region: str) -> Reference | None:
    """The provider that makes something elsewhere; none where that is here."""
    return None if region == deployment.environment.region else Reference(f"aws.{label(region)}")


def versions(deployment: Deployment) -> list[Block]:
    environment = deployment.environment
    # Elsewhere are the copies of backups, and the keys of replicas.
    copied = [environment.backups.copy_to] if environment.backups and environment.backups.copy_to else []
    others = [*copied, *(environment.replicas if environment.encryption == "customer" else ())]
    aliases = {region: label(region) for region in others if region != environment.region}
    return [
        block("terraform", {"required_version": ">= 1.5"}, required(deployment)),
        _provider(deployment, environment.region, None),
        *(_provider(deployment, region, alias) for region, alias in aliases.items()),
        block("data", "aws_caller_identity", "current"),
    ]


def required(deployment: Deployment) -> Block:
    """The provider, in the versions that understand what is printed and change nothing that Amazon scales."""
    aws = {"source": "hashicorp/aws", "version": _provider_versions(deployment)}
    return block("required_providers", {"aws": aws})


def has_key_schemas(deployment: Deployment) -> bool:
    """Whether an index has several attributes in one half of its key, which providers before 6.29 cannot say."""
    return any(
        len(index.pk) > 1 or len(index.sk) > 1
        for table in deployment.tables
        for index in deployment.indexes(table)
    )


def _provider_versions(deployment: Deployment) -> str:
    """6.29 stops where a part of an index depends on what is read; from 6.13 on the provider plans to lower the warm
    throughput of indexes, unless it is told otherwise, which earlier ones do not understand."""
    if has_key_schemas(deployment):
        return ">= 6.30"
    indexes = (index for table in deployment.tables for index in deployment.indexes(table))
    return ">= 5.100, < 6.13" if any(not index.local for index in indexes) else ">= 5.100"


def _provider(deployment: Deployment, region: str, alias: str | None) -> Block:
    environment = deployment.environment
    where = Reference("var.region") if alias is None else region
    accounts = [Reference("var.account")] if environment.account else None
    tags = block("default_tags", {"tags": Reference("var.tags")}) if environment.tags else None
    return block("provider", "aws", {"alias": alias, "region": where, "allowed_account_ids": accounts}, tags)
