"""`tablewright people password ADDRESS`: set or remove the password, a second factor next to the code."""

import argparse
import getpass
import sys
from pathlib import Path

from tablewright.app.accounts import Accounts, NoSuchAccount
from tablewright.app.mail import MailMistake, password_in
from tablewright.cli.output import UsageError
from tablewright.cli.people import accounts as people

EXAMPLES = """The password is typed twice, read as one line from a pipe, or read from a file that only its owner can
read. It is not an argument, since other users of the machine can read those.

tablewright people password ada@example.com --data ./data
tablewright people password ada@example.com --password-file ./ada.password"""

ERRORS = (MailMistake,)
NO_PASSWORD = "no password given; type it, pipe it in, or name a file with --password-file"


def arguments(parser: argparse.ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--password-file", metavar="FILE", type=Path, help="a file that only its owner can read")
    how.add_argument(
        "--remove", action="store_true", help="remove the password; a code is then enough to sign in"
    )
    people.add_account_options(parser)


@people.with_accounts
def run(given: argparse.Namespace, accounts: Accounts) -> int:
    if accounts.with_address(given.email) is None:  # before asking for a password
        raise NoSuchAccount(given.email)
    if given.remove:
        return people.print_account(given, accounts.remove_password(given.email))
    return people.print_account(given, accounts.set_password(given.email, _password(given)))


def _password(given: argparse.Namespace) -> str:
    if given.password_file is not None:
        return password_in(given.password_file)
    if not sys.stdin.isatty():
        line = sys.stdin.readline()  # not asked for twice, since it was not typed
        if not line.strip():
            raise UsageError(NO_PASSWORD)
        return line.rstrip("\r\n")
    try:
        first = getpass.getpass("password: ")
        if getpass.getpass("repeat the password: ") != first:
            raise UsageError("the passwords do not match; nothing was changed")
    except EOFError:
        raise UsageError(NO_PASSWORD) from None
    return first
