"""`variables.tf`: what a design cannot know: the network it is reached from, who takes roles on, whom to tell."""

from typing import Any

from tablewright.design.deployment import Deployment
from tablewright.design.policies import BACKUP, roles
from tablewright.design.terraform.alarms import has_notifications
from tablewright.design.terraform.hcl import Block, Comment, Reference, block


def variables(deployment: Deployment) -> list[Block | Comment]:
    mail = _variable(
        "alarm_email",
        "string",
        None,
        "An e-mail address to notify of alarms and the budget; it has to confirm. None: only the topic is notified.",
    )
    return [
        _variable(
            "vpc_id",
            "string",
            None,
            "The network from which the tables are reached. None: no gateway endpoint is made.",
        ),
        _variable(
            "route_table_ids", "list(string)", [], "The route tables of the subnets that use the endpoint."
        ),
        _variable(
            "trusted",
            "map(map(list(string)))",
            {},
            "Who may take on a role, by its name: { service = { Service = [...] } } or { AWS = [...] }. "
            "Without an entry: every principal that this account allows to.",
            # A name that is misspelt would leave its role to the whole account.
            valid=_named(deployment),
        ),
        _variable(
            "export_bucket",
            "string",
            None,
            "The bucket into which the deployer may export tables. None: it may not.",
        ),
        _variable(
            "data_events",
            "bool",
            False,
            "Whether CloudTrail records every read and write of an item. It costs by the event.",
        ),
        _variable("data_events_days", "number", 400, "For how many days these records are kept."),
        *([mail] if has_notifications(deployment) else []),
    ]


def _variable(name: str, kind: str, default: Any, about: str, valid: Block | None = None) -> Block:
    body = [("description", about), ("type", Reference(kind)), ("default", default), valid]
    return block("variable", name, body=body)


def _named(deployment: Deployment) -> Block:
    """That what is trusted are roles of this tree."""
    names = [role.name for role in roles(deployment) if role.name != BACKUP]
    known = ", ".join(f'"{name}"' for name in names)
    return block(
        "validation",
        body=[
            ("condition", Reference(f"length(setsubtract(keys(var.trusted), [{known}])) == 0")),
            ("error_message", f"The roles are {', '.join(names)}."),
        ],
    )
