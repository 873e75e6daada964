"""`variables.tf` and `ENVIRONMENT.tfvars`: the settings of an environment, and what a design cannot know: the network
it is reached from, who takes roles on, whom to tell.

Settings have no default: they are those of the .tfvars file. What a design cannot know has one.
"""

from typing import Any

from tablewright.design.deployment import Deployment
from tablewright.design.policies import BACKUP, roles
from tablewright.design.terraform.alarms import has_notifications
from tablewright.design.terraform.hcl import NULL, Block, Reference, block

# Name, type, default, description.
_VARIABLES: tuple[tuple[str, str, Any, str], ...] = (
    (
        "vpc_id", "string", NULL,
        "The network from which the tables are reached. None: no gateway endpoint is made.",
    ),
    (
        "route_table_ids", "list(string)", [],
        "The route tables of the subnets that use the endpoint.",
    ),
    (
        "trusted", "map(map(list(string)))", {},
        "Who may take on a role, by its name: { service = { Service = [...] } } or { AWS = [...] }. "
        "Without an entry: every principal that this account allows to.",
    ),
    (
        "export_bucket", "string", NULL,
        "The bucket into which the deployer may export tables. None: it may not.",
    ),
    (
        "data_events", "bool", False,
        "Whether CloudTrail records every read and write of an item. It costs by the event.",
    ),
    ("data_events_days", "number", 400, "For how many days these records are kept."),
    (
        "alarm_email", "string", NULL,
        "An e-mail address to notify of alarms and the budget; it has to confirm. None: only the topic is notified.",
    ),
    (
        "page_origins", "list(string)", [],
        "The origins of the pages that send files straight to the bucket of objects, such as https://campus.example. "
        "None: the service receives them.",
    ),
)  # fmt: skip


# Of a setting: type and description.
_SETTINGS = {
    "region": ("string", "The region of the tables."),
    "account": ("string", "The account; nothing is changed in another."),
    "tags": ("map(string)", "The tags of everything that is made."),
    "deletion_protection": ("bool", "Whether DynamoDB refuses to delete the tables."),
    "pitr_days": ("number", "To how many days ago a table can be restored; 0: no recovery."),
    "backup_schedule": ("string", "When backups are made: a cron expression, in UTC."),
    "backup_keep_days": ("number", "For how many days a backup is kept."),
    "budget_limit": ("number", "What a month may cost, in US dollars."),
    "budget_alert_at": ("number", "From which amount of it a notification is sent."),
}


def settings(deployment: Deployment) -> dict[str, Any]:
    """What is in the .tfvars file of an environment."""
    said = deployment.environment
    backups, budget = said.backups, said.budget
    found = {
        "region": said.region,
        "account": said.account or None,
        "tags": said.tags or None,
        "deletion_protection": said.deletion_protection,
        "pitr_days": said.pitr_days,
        "backup_schedule": backups.schedule if backups else None,
        "backup_keep_days": backups.keep_days if backups else None,
        "budget_limit": budget.limit if budget else None,
        "budget_alert_at": budget.alert_at if budget else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def variables(deployment: Deployment) -> list[Block]:
    return [*_settings(deployment), *_unknown(deployment)]


def _settings(deployment: Deployment) -> list[Block]:
    return [
        block(
            "variable",
            name,
            {"description": _SETTINGS[name][1], "type": Reference(_SETTINGS[name][0])},
            _only_region(deployment) if name == "region" else None,
        )
        for name in settings(deployment)
    ]


def _only_region(deployment: Deployment) -> Block:
    """Policies, replicas and copies name regions too: the tree of another region is another tree."""
    region = deployment.environment.region
    message = f"The policies here are for {region}: change the region in the design, and print the repository again."
    return block(
        "validation", {"condition": Reference(f'var.region == "{region}"'), "error_message": message}
    )


def _unknown(deployment: Deployment) -> list[Block]:
    return [
        block(
            "variable",
            name,
            {"description": about, "type": Reference(kind), "default": default},
            _known_roles(deployment) if name == "trusted" else None,
        )
        for name, kind, default, about in _VARIABLES
        if _is_used(deployment, name)
    ]


def _is_used(deployment: Deployment, name: str) -> bool:
    """True unless a variable is for something that this deployment does not have."""
    match name:
        case "alarm_email":
            return has_notifications(deployment)
        case "page_origins":
            return deployment.environment.objects is not None
        case _:
            return True


def _known_roles(deployment: Deployment) -> Block:
    """That only roles of this tree are trusted: a misspelt name would leave its role to the whole account."""
    names = [role.name for role in roles(deployment) if role.name != BACKUP]
    known = ", ".join(f'"{name}"' for name in names)
    condition = Reference(f"length(setsubtract(keys(var.trusted), [{known}])) == 0")
    message = f"The roles are {', '.join(names)}."
    return block("validation", {"condition": condition, "error_message": message})
