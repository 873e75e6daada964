"""`tablewright people close ADDRESS`: close an account."""

import argparse

from tablewright.app.accounts import Accounts
from tablewright.cli.people import accounts as people

EXAMPLES = """The account's data in the systems stays. `tablewright people change ADDRESS --reopen` reopens the
account.

tablewright people close ada@example.com --data ./data
tablewright people close ada@example.com --endpoint http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    people.add_account_options(parser)


@people.with_accounts
def run(given: argparse.Namespace, accounts: Accounts) -> int:
    return people.print_account(given, accounts.close(given.email))
