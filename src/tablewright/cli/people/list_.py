"""`tablewright people list`: list the accounts."""

import argparse

from tablewright.app.accounts import Accounts
from tablewright.cli.format import as_table
from tablewright.cli.hints import command_hint
from tablewright.cli.output import print_result
from tablewright.cli.people import accounts as people

EXAMPLES = """tablewright people list --data ./data
tablewright people list --endpoint http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    people.add_account_options(parser, has_address=False)


@people.with_accounts
def run(given: argparse.Namespace, accounts: Accounts) -> int:
    found = accounts.all()
    rows = [[value for _, value in people.account_pairs(account)] for account in found]
    text = as_table(("address", "name", "roles", "signs in with", "made"), rows)
    if not found:
        text = f"no accounts; add one with `{command_hint(given, 'people', 'add', 'ADDRESS')}`"
    print_result(given, [people.account_json(account) for account in found], text)
    return 0
