"""`tablewright people password ADDRESS`: a second factor beside the code."""

import argparse
import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.cli import people
from tablewright.cli.where import Misused

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.accounts import Accounts

SUMMARY = "Set somebody's password, which they need beside a code from now on, or remove it; their logins so far end."
EXAMPLES = """The password is asked for twice, or is the line that comes from a pipe, or is read from a file that only
its owner can read; it is never an argument, which everybody on the machine could read.

examples:
  tablewright people password ada@example.com --data ./data
  tablewright people password ada@example.com --password-file ./ada.password"""


class NoPassword(Misused):
    """Nothing was typed, and nothing came from the pipe."""

    def __init__(self) -> None:
        super().__init__("no password was given; type it, pipe it in, or name a file with --password-file")


class PasswordsDiffer(Misused):
    """Typed twice, and not the same."""

    def __init__(self) -> None:
        super().__init__("these are two different passwords; nothing was changed")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", metavar="ADDRESS", help="their e-mail address")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--password-file", metavar="FILE", type=Path, help="a file that only its owner can read")
    how.add_argument("--remove", action="store_true", help="take the password away: a code alone signs in")
    people.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return people.with_accounts(given, lambda accounts: _set(given, accounts))


def _set(given: argparse.Namespace, accounts: "Accounts") -> int:
    from tablewright.app.accounts import NoSuchAccount

    if accounts.with_address(given.email) is None:  # before anything is typed for nothing
        raise NoSuchAccount(given.email)
    if given.remove:
        return people.say(given, accounts.remove_password(given.email))
    return people.say(given, accounts.set_password(given.email, _password(given)))


def _password(given: argparse.Namespace) -> str:
    from tablewright.app.mail import MailMistake, password_in

    if given.password_file is not None:
        try:
            return password_in(given.password_file)
        except MailMistake as mistake:
            raise Misused(str(mistake)) from None
    if not sys.stdin.isatty():
        return _piped()
    try:
        first = getpass.getpass("password: ")
        if getpass.getpass("once more: ") != first:
            raise PasswordsDiffer
    except EOFError:
        raise NoPassword from None
    return first


def _piped() -> str:
    """The line that another program hands over: nobody types it, so nobody is asked, and once is enough."""
    line = sys.stdin.readline()
    if not line.strip():
        raise NoPassword
    return line.rstrip("\r\n")
