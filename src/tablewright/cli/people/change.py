"""`tablewright people change ADDRESS`: change an account."""

import argparse

from tablewright.app.accounts import Accounts
from tablewright.cli.output import UsageError
from tablewright.cli.people import accounts as people

EXAMPLES = """--role replaces all roles of the account. A removed role ends with the next request of a running
session; an added one starts with the next sign-in. A closed account cannot be used to sign in, and its sessions end;
its data in the systems stays.

tablewright people change ada@example.com --role parental.operator --data ./data
tablewright people change ada@example.com --no-roles --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", help="the person's name")
    roles = parser.add_mutually_exclusive_group()
    roles.add_argument("--role", action="append", metavar="ROLE", help="a role; can be repeated")
    roles.add_argument("--no-roles", action="store_true", help="remove all roles")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--close", action="store_true", help="close the account and end its sessions")
    state.add_argument("--reopen", action="store_true", help="reopen a closed account")
    parser.add_argument("--sign-out", action="store_true", help="end all sessions of the account")
    people.add_account_options(parser)


def run(given: argparse.Namespace) -> int:
    changes = given.name is not None or given.role is not None or given.no_roles or given.reopen
    if not changes and not given.close and not given.sign_out:
        options = "--name, --role, --no-roles, --close, --reopen or --sign-out"
        raise UsageError(f"nothing to change; give {options}")
    return _change(given)


@people.with_accounts
def _change(given: argparse.Namespace, accounts: Accounts) -> int:
    roles = () if given.no_roles else given.role
    account = accounts.change(
        given.email, name=given.name, roles=roles, reopened=given.reopen, signed_out=given.sign_out
    )
    return people.print_account(given, accounts.close(given.email) if given.close else account)
