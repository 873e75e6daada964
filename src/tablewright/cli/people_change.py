"""`tablewright people change ADDRESS`: another name, other roles, or open again."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import people, where

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.accounts import Accounts

SUMMARY = "Change an account: its name, its roles, or whether it is open."
EXAMPLES = """With --role the account has exactly the roles that are named. A role that is taken is gone with the next
request of whoever is signed in; one that is given is there with their next sign-in.

examples:
  tablewright people change ada@example.com --role parental.operator --data ./data
  tablewright people change ada@example.com --no-roles --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", metavar="ADDRESS", help="their e-mail address")
    parser.add_argument("--name", help="what they are called")
    roles = parser.add_mutually_exclusive_group()
    roles.add_argument("--role", action="append", metavar="ROLE", help="a role; may be given several times")
    roles.add_argument("--no-roles", action="store_true", help="take every role")
    parser.add_argument("--reopen", action="store_true", help="let them sign in again after a close")
    people.arguments(parser)


def run(given: argparse.Namespace) -> int:
    if given.name is None and given.role is None and not given.no_roles and not given.reopen:
        return where.misused("say what is to change: --name, --role, --no-roles or --reopen")
    return people.with_accounts(given, lambda accounts: _change(given, accounts))


def _change(given: argparse.Namespace, accounts: "Accounts") -> int:
    roles = () if given.no_roles else given.role
    return people.say(
        given, accounts.change(given.email, name=given.name, roles=roles, reopened=given.reopen)
    )
