"""`tablewright design policy SYSTEM --environment NAME`: print the IAM policies of a design, or what they decide."""

import argparse
import re

from tablewright.cli.designs import add_design_arguments, load_deployment
from tablewright.cli.format import as_json, as_table
from tablewright.cli.output import UsageError, print_message, print_result
from tablewright.design import DesignMistake
from tablewright.design.deployment import Deployment
from tablewright.design.iam import document, plain_arns
from tablewright.design.policies import roles
from tablewright.design.role_access import role_access

EXAMPLES = """With --simulate, each pattern and verb of the design is decided by the policies, for each
role: yes, no, or shared, if the role has a pattern of the same partition key and IAM does not see sort keys. The exit
code is 1 if a role may do what is not declared for it (TOO MUCH), or not what is (MISSING).

tablewright design policy travel --environment prod --role service
tablewright design policy travel --environment prod --simulate"""


ERRORS = (DesignMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_design_arguments(parser)
    parser.add_argument("--role", metavar="NAME", help="only the policy of this role (default: all, by name)")
    parser.add_argument(
        "--account", metavar="ID", help="the AWS account of the tables (default: that of the environment)"
    )
    parser.add_argument(
        "--simulate",
        action="store_true",
        help="show what the policies decide, as a table of roles and patterns",
    )
    parser.add_argument("--json", action="store_true", help="with --simulate: print a JSON object")


def run(given: argparse.Namespace) -> int:
    deployment = load_deployment(given)
    if given.simulate:
        return _simulate(given, deployment)
    if given.account is not None and not re.fullmatch(r"\d{12}", given.account):
        raise UsageError(f"--account must be a number of 12 digits, got {given.account!r}")
    account = given.account or deployment.environment.account or "*"
    if account == "*":
        print_message(
            "tablewright: the environment has no account, so ARNs contain '*'; name one with --account"
        )
    arn = plain_arns(deployment, account)
    found = {role.name: document(role, arn) for role in roles(deployment)}
    if given.role not in (None, *found):
        raise UsageError(f"{deployment.title} has no role {given.role}; it has {', '.join(found)}")
    print(as_json(found if given.role is None else found[given.role]))
    return 0


# --- what they decide ---

_WORDS = {"allowed": "yes", "denied": "no"}


def _simulate(given: argparse.Namespace, deployment: Deployment) -> int:
    found = role_access(deployment)
    if given.role not in (None, *found.roles):
        raise UsageError(f"{deployment.title} has no role {given.role}; it has {', '.join(found.roles)}")
    shown = found.roles if given.role is None else (given.role,)
    for name in found.without_policy:
        print_message(
            f"tablewright: the role {name} has no policy: one of its patterns may read any partition"
        )
    findings = [(row.access.name, role) for row in found.rows for role in row.findings if role in shown]
    value = {
        "deployment": deployment.title,
        "roles": list(shown),
        "access": [
            {
                "name": row.access.name,
                "declared": row.access.is_declared,
                "decisions": {role: row.cells[role].lower() for role in shown},
            }
            for row in found.rows
        ],
        "without_policy": list(found.without_policy),
        "findings": [{"access": name, "role": role} for name, role in findings],
    }
    rows = [
        [row.access.name, *(_WORDS.get(row.cells[role], row.cells[role]) for role in shown)]
        for row in found.rows
    ]
    print_result(given, value, as_table(("pattern or verb", *shown), rows))
    return 1 if findings else 0
