"""The module `backup`: vaults, a plan, and which tables it is for (CP-69). The same for every system."""

from typing import Any

from tablewright.design.terraform.hcl import NULL, Block, Reference, block

_COPIED = Reference("var.copy_vault == null ? 0 : 1")
_KEPT = block("lifecycle", {"delete_after": Reference("var.keep_days")})


def _main() -> list[Block]:
    aws = {"source": "hashicorp/aws", "configuration_aliases": [Reference("aws.copy")]}
    rule = {
        "rule_name": Reference("var.rule"),
        "target_vault_name": Reference("aws_backup_vault.main.name"),
        "schedule": Reference("var.schedule"),
    }
    copied = {"destination_vault_arn": Reference("copy_action.value")}
    copy = block(
        "dynamic",
        "copy_action",
        {"for_each": Reference("aws_backup_vault.copy[*].arn")},
        block("content", copied, _KEPT),
    )
    elsewhere = {"count": _COPIED, "provider": Reference("aws.copy"), "name": Reference("var.copy_vault")}
    selection = {
        "name": Reference("var.selection"),
        "plan_id": Reference("aws_backup_plan.tables.id"),
        "iam_role_arn": Reference("var.role_arn"),
        "resources": Reference("var.tables"),
    }
    plan = block("rule", rule, _KEPT, copy)
    return [
        block("terraform", block("required_providers", {"aws": aws})),
        block("resource", "aws_backup_vault", "main", {"name": Reference("var.vault")}),
        block("resource", "aws_backup_vault", "copy", elsewhere),
        block("resource", "aws_backup_plan", "tables", {"name": Reference("var.plan")}, plan),
        block("resource", "aws_backup_selection", "tables", selection),
    ]


def _variables() -> list[Block]:
    said: dict[str, tuple[str, str]] = {
        "plan": ("string", "The name of the plan."),
        "rule": ("string", "The name of its rule."),
        "selection": ("string", "The name of the selection of tables."),
        "schedule": ("string", "When: a cron expression, in UTC."),
        "keep_days": ("number", "For how many days a backup is kept."),
        "vault": ("string", "The name of the vault."),
        "copy_vault": ("string", "The name of the vault in the other region (aws.copy); null: no copies."),
        "role_arn": ("string", "The role that AWS Backup takes on."),
        "tables": ("list(string)", "The ARNs of the tables."),
    }
    defaults: dict[str, Any] = {"copy_vault": NULL}
    return [
        block(
            "variable",
            name,
            {"description": about, "type": Reference(kind), "default": defaults.get(name)},
        )
        for name, (kind, about) in said.items()
    ]


def _outputs() -> list[Block]:
    said = {
        "vault_name": ("The name of the vault.", "aws_backup_vault.main.name"),
        "vault_arn": ("The ARN of the vault.", "aws_backup_vault.main.arn"),
        "copy_vault_arn": ("The ARN of the vault in the other region.", "one(aws_backup_vault.copy[*].arn)"),
    }
    return [
        block("output", name, {"description": about, "value": Reference(value)})
        for name, (about, value) in said.items()
    ]


BACKUP_MODULE = {"main.tf": _main(), "variables.tf": _variables(), "outputs.tf": _outputs()}
