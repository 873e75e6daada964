"""`tablewright people erase ADDRESS`: forget an account for good."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import people
from tablewright.cli.plans import agreed, yes
from tablewright.cli.words import as_json

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.accounts import Accounts

SUMMARY = "Erase an account: address, name, roles and password. It cannot be brought back."
EXAMPLES = """Their logins end with the next request. What is theirs in the systems stays and is nobody's then: let them
erase it there first. Backups of the store keep what they hold. `tablewright people close` can be taken back.

examples:
  tablewright people erase ada@example.com --data ./data
  tablewright people erase ada@example.com --data ./data --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", metavar="ADDRESS", help="their e-mail address")
    yes(parser)
    people.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when it is erased, 1 when only the plan was shown."""
    return people.with_accounts(given, lambda accounts: _erase(given, accounts))


def _erase(given: argparse.Namespace, accounts: "Accounts") -> int:
    from tablewright.app.accounts import NoSuchAccount

    account = accounts.with_address(given.email)
    if account is None:
        raise NoSuchAccount(given.email)
    roles = ", ".join(account.roles) or "no roles"
    plan = f"the account of {account.email} ({roles}) will be erased; what is theirs in the systems stays"
    if not agreed(given, None if given.json else plan):
        return 1
    accounts.erase(given.email)
    print(as_json({"erased": account.email}) if given.json else f"erased {account.email}")
    return 0
