"""Opening the accounts of a target and printing one; shared by the `people` commands."""

import argparse
from collections.abc import Callable
from typing import Any

from tablewright.app.accounts import TWO_FACTORS, AccountMistake, Accounts
from tablewright.app.design import ACCOUNTS, Account, app_design
from tablewright.app.passwords import PasswordUnfit
from tablewright.cli.format import as_json, as_pairs, moment
from tablewright.cli.hints import command_hint
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.cli.usage_error import UsageError
from tablewright.client import CallRefused
from tablewright.edge.mail_addresses import NotAnAddress
from tablewright.mapping import Db, MappingMistake


class NoAccountsTable(UsageError):
    """The target has no accounts table; it is not created, since another target may have been meant."""

    def __init__(self, target: str, table: str) -> None:
        super().__init__(
            f"table {table} does not exist in {target}; `tablewright serve --no-demo-sign-in` creates it at its "
            "first start"
        )


def add_account_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_target_options(parser)


def with_accounts(given: argparse.Namespace, work: Callable[[Accounts], int]) -> int:
    """Run `work` with the accounts of the target; returns the exit code, 2 for an error of the caller."""

    def checked(target: Target) -> int:
        try:
            return work(_accounts_at(target))
        except (AccountMistake, PasswordUnfit, NotAnAddress) as error:
            raise UsageError(str(error)) from None

    return with_target(given, checked, errors=(MappingMistake,))


def print_account(given: argparse.Namespace, account: Account) -> int:
    print(as_json(account_json(account)) if given.json else as_pairs(_pairs(given, account)))
    return 0


def account_json(account: Account) -> dict[str, Any]:
    """An account as JSON data; of the password only whether there is one."""
    return {
        "email": account.email,
        "name": account.name,
        "roles": account.roles,
        "subject": account.subject,
        "made": account.made.isoformat(),
        "closed": account.closed.isoformat() if account.closed else None,
        "hasPassword": account.password is not None,
        "needsPassword": needs_password(account),
    }


def signs_in_with(account: Account) -> str:
    if account.closed is not None:
        return "closed"
    return "password and code" if account.password else "code"


def needs_password(account: Account) -> bool:
    """True if one of the account's roles requires a password and it has none."""

    return account.password is None and not TWO_FACTORS.isdisjoint(account.roles)


def _advice(given: argparse.Namespace, account: Account) -> list[tuple[str, str]]:
    """A hint to set a password: an account with roles should not depend on a mailbox alone."""
    if not account.roles or account.password is not None:
        return []
    advice = "required for these roles" if needs_password(account) else "recommended as a second factor"
    return [("password", f"none; {advice}: {command_hint(given, 'people', 'password', account.email)}")]


def _pairs(given: argparse.Namespace, account: Account) -> list[tuple[str, str]]:
    return [
        ("address", account.email),
        ("name", account.name or "-"),
        ("roles", ", ".join(account.roles) or "-"),
        ("signs in with", signs_in_with(account)),
        ("made", moment(account.made.timestamp())),
        *_advice(given, account),
    ]


def _accounts_at(target: Target) -> Accounts:

    db = Db(target.call, app_design)
    name = db.physical(ACCOUNTS)
    try:
        target.call("DescribeTable", {"TableName": name})
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        raise NoAccountsTable(target.name, name) from None
    return Accounts(db, db.world)
