"""`tablewright people add ADDRESS`: an account for somebody."""

import argparse

from tablewright.cli import people

SUMMARY = "Give somebody an account: they sign in with a code that is sent to their address."
EXAMPLES = """Roles are spelled with their system, parental.operator; engineer is of no system. Without roles somebody
may be a parent. Customers of the portal and travellers of Skratch need no account: they prove their address there.
engineer and portal.admin need two factors: `tablewright people password` gives the other, and is right for every role.

examples:
  tablewright people add ada@example.com --name "Ada" --data ./data
  tablewright people add olga@example.com --role parental.operator --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", metavar="ADDRESS", help="their e-mail address")
    parser.add_argument("--name", default="", help="what they are called")
    parser.add_argument(
        "--role", action="append", default=[], metavar="ROLE", help="a role; may be given several times"
    )
    people.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return people.with_accounts(
        given, lambda accounts: people.say(given, accounts.add(given.email, given.name, given.role))
    )
