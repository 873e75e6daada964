"""`tablewright people change ADDRESS`: another name, other roles, open again, or signed out everywhere."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import people, where

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.accounts import Accounts

SUMMARY = "Change an account: its name, its roles, whether it is open; or end its logins."
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
    parser.add_argument("--sign-out", action="store_true", help="end their logins, wherever they are")
    people.arguments(parser)


def run(given: argparse.Namespace) -> int:
    changes = given.name is not None or given.role is not None or given.no_roles or given.reopen
    if not changes and not given.sign_out:
        return where.misused("say what is to change: --name, --role, --no-roles, --reopen or --sign-out")
    return people.with_accounts(given, lambda accounts: _change(given, accounts))


def _change(given: argparse.Namespace, accounts: "Accounts") -> int:
    roles = () if given.no_roles else given.role
    account = accounts.change(
        given.email, name=given.name, roles=roles, reopened=given.reopen, signed_out=given.sign_out
    )
    return people.say(given, account)
