"""`variables.tf`: what a design cannot know: the network it is reached from, who takes roles on, whom to tell."""

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


def variables(deployment: Deployment) -> list[Block]:
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
