"""`tablewright people list`: list the accounts."""

import argparse

from tablewright.app.accounts import Accounts
from tablewright.cli.format import as_json, as_table, moment
from tablewright.cli.hints import command_hint
from tablewright.cli.people import accounts as people

EXAMPLES = """examples:
  tablewright people list --data ./data
  tablewright people list --endpoint http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    people.add_account_options(parser)


def run(given: argparse.Namespace) -> int:
    return people.with_accounts(given, lambda accounts: _show(given, accounts))


def _show(given: argparse.Namespace, accounts: Accounts) -> int:
    found = accounts.all()
    if given.json:
        print(as_json([people.account_json(account) for account in found]))
    elif not found:
        print(f"no accounts; add one with `{command_hint(given, 'people', 'add', 'ADDRESS')}`")
    else:
        rows = [
            [
                account.email,
                account.name or "-",
                ", ".join(account.roles) or "-",
                people.signs_in_with(account),
                moment(account.made.timestamp()),
            ]
            for account in found
        ]
        print(as_table(("address", "name", "roles", "signs in with", "made"), rows))
    return 0
