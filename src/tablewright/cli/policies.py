"""`tablewright policies SYSTEM --environment NAME`: who may do what, as IAM's policies."""

import argparse
import re
import sys

from tablewright.cli.shipped import arguments as shipment_arguments
from tablewright.cli.shipped import shipped
from tablewright.cli.where import Misused, answer, misused
from tablewright.cli.words import as_json

SUMMARY = (
    "Print the IAM policies of a design: what its service, its readers and its keepers may do, and no more."
)
EXAMPLES = """examples:
  tablewright policies travel --environment prod --role service
  tablewright policies travel --environment prod --account 123456789012"""


class NotAnAccount(Misused):
    """A text that is not the number of an account of Amazon's."""


class NoSuchRole(Misused):
    """A role that a shipment does not have."""


def arguments(parser: argparse.ArgumentParser) -> None:
    shipment_arguments(parser)
    parser.add_argument(
        "--role", metavar="NAME", help="only this one's document (default: all, by their names)"
    )
    parser.add_argument(
        "--account", metavar="ID", help="the account of the tables (default: the environment's)"
    )


def run(given: argparse.Namespace) -> int:
    from tablewright.design import DesignMistake

    try:
        return _printed(given)
    except (Misused, DesignMistake) as mistake:
        return misused(str(mistake))


def _printed(given: argparse.Namespace) -> int:
    from tablewright.design.policies import roles
    from tablewright.design.statements import document, plain_arns

    shipment = shipped(given)
    if given.account is not None and not re.fullmatch(r"\d{12}", given.account):
        raise NotAnAccount(f"{given.account!r} is not an account: it has 12 digits")
    account = given.account or shipment.environment.account or "*"
    if account == "*":
        print("tablewright: no account is named, so the ARNs say '*'; --account says which", file=sys.stderr)
    arn = plain_arns(shipment, account)
    found = {role.name: document(role, arn) for role in roles(shipment)}
    if given.role is None:
        answer(as_json(found))
        return 0
    if given.role not in found:
        raise NoSuchRole(f"{shipment.title} has no role {given.role}; it has {', '.join(found)}")
    answer(as_json(found[given.role]))
    return 0
