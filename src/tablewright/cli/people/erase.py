"""`tablewright people erase ADDRESS`: erase an account permanently."""

import argparse

from tablewright.app.accounts import Accounts, NoSuchAccount
from tablewright.cli.output import add_yes_option, confirm_plan, print_result
from tablewright.cli.people import accounts as people

EXAMPLES = """Sessions end with the next request. The person's data in the systems stays, without an owner: let them
erase it there first. Backups of the store are not changed. `tablewright people change --close` can be undone.

tablewright people erase ada@example.com --data ./data
tablewright people erase ada@example.com --data ./data --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_yes_option(parser)
    people.add_account_options(parser)


@people.with_accounts
def run(given: argparse.Namespace, accounts: Accounts) -> int:
    """0 if it was erased, 1 if only the plan was shown."""
    account = accounts.with_address(given.email)
    if account is None:
        raise NoSuchAccount(given.email)
    roles = ", ".join(account.roles) or "no roles"
    plan = f"will erase the account {account.email} ({roles}); the person's data in the systems stays"
    if not confirm_plan(given, None if given.json else plan):
        return 1
    accounts.erase(given.email)
    print_result(given, {"erased": account.email}, f"erased {account.email}")
    return 0
