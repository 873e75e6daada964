"""`tablewright people add ADDRESS`: add an account."""

import argparse

from tablewright.app.accounts import Accounts
from tablewright.cli.people import accounts as people

EXAMPLES = """Roles are written with their system, such as parental.operator; the role engineer has no system. An
account without roles can be used by a parent. Customers of the portal and travellers of Skratch need no account. The
roles engineer and portal.admin require a second factor, recommended for every role: set it with `tablewright people
password`.

tablewright people add ada@example.com --name "Ada" --data ./data
tablewright people add olga@example.com --role parental.operator --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", default="", help="the person's name")
    parser.add_argument("--role", action="append", default=[], metavar="ROLE", help="a role; can be repeated")
    people.add_account_options(parser)


@people.with_accounts
def run(given: argparse.Namespace, accounts: Accounts) -> int:
    return people.print_account(given, accounts.add(given.email, given.name, given.role))
