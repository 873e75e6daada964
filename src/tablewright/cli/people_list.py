"""`tablewright people list`: who has an account."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import people
from tablewright.cli.words import as_json, as_table, moment

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.accounts import Accounts

SUMMARY = "List the accounts: addresses, names, roles, and what each signs in with."
EXAMPLES = """examples:
  tablewright people list --data ./data
  tablewright people list --endpoint http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    people.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return people.with_accounts(given, lambda accounts: _show(given, accounts))


def _show(given: argparse.Namespace, accounts: "Accounts") -> int:
    found = accounts.all()
    if given.json:
        print(as_json([people.facts(account) for account in found]))
    elif not found:
        print("nobody has an account; `tablewright people add ADDRESS` gives somebody one")
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
