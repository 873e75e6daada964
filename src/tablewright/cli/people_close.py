"""`tablewright people close ADDRESS`: nobody signs in with this address any more."""

import argparse

from tablewright.cli import people

SUMMARY = "Close an account: its logins end with the next request, and nobody signs in to it."
EXAMPLES = """What is theirs in the systems stays. `tablewright people change ADDRESS --reopen` opens the account again.

examples:
  tablewright people close ada@example.com --data ./data
  tablewright people close ada@example.com --endpoint http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", metavar="ADDRESS", help="their e-mail address")
    people.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return people.with_accounts(given, lambda accounts: people.say(given, accounts.close(given.email)))
