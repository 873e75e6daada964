"""`tablewright policies SYSTEM --environment NAME`: print the IAM policies of a design."""

import argparse
import re

from tablewright.cli.designs import add_design_arguments, load_deployment
from tablewright.cli.format import as_json
from tablewright.cli.output import UsageError, print_message
from tablewright.design import DesignMistake
from tablewright.design.iam import document, plain_arns
from tablewright.design.policies import roles

EXAMPLES = """tablewright policies travel --environment prod --role service
tablewright policies travel --environment prod --account 123456789012"""


ERRORS = (DesignMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_design_arguments(parser)
    parser.add_argument("--role", metavar="NAME", help="only the policy of this role (default: all, by name)")
    parser.add_argument(
        "--account", metavar="ID", help="the AWS account of the tables (default: that of the environment)"
    )


def run(given: argparse.Namespace) -> int:
    deployment = load_deployment(given)
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
