"""Opening the accounts of a target and printing one; shared by the `people` commands."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tablewright.app.accounts import TWO_FACTORS, AccountMistake, Accounts
from tablewright.app.design import ACCOUNTS, Account, app_design
from tablewright.app.endpoint import own_environment
from tablewright.app.passwords import PasswordUnfit
from tablewright.cli.format import as_pairs, moment
from tablewright.cli.hints import command_hint
from tablewright.cli.output import UsageError, print_result
from tablewright.cli.target import Target, add_target_options, open_target, run_with
from tablewright.edge.mail_addresses import NotAnAddress
from tablewright.mapping import Db, MappingMistake


def add_account_options(parser: argparse.ArgumentParser, *, has_address: bool = True) -> None:
    if has_address:
        parser.add_argument("email", metavar="ADDRESS", help="the e-mail address of the account")
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="the environment of the tables, as `tablewright serve --endpoint` was given it",
    )
    add_target_options(parser, json="print JSON")


@contextmanager
def _open_accounts(given: argparse.Namespace) -> Iterator[Accounts]:
    with open_target(given) as target:
        try:
            yield _accounts_at(target, given.environment)
        except (AccountMistake, PasswordUnfit, NotAnAddress, MappingMistake) as error:
            raise UsageError(str(error)) from None


with_accounts = run_with(_open_accounts)


def print_account(given: argparse.Namespace, account: Account) -> int:
    print_result(given, account_json(account), as_pairs([*account_pairs(account), *_advice(given, account)]))
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


def needs_password(account: Account) -> bool:
    """True if one of the account's roles requires a password and it has none."""
    return account.password is None and not TWO_FACTORS.isdisjoint(account.roles)


def account_pairs(account: Account) -> list[tuple[str, str]]:
    is_code_only = account.password is None
    return [
        ("address", account.email),
        ("name", account.name or "-"),
        ("roles", ", ".join(account.roles) or "-"),
        ("signs in with", "closed" if account.closed else "code" if is_code_only else "password and code"),
        ("made", moment(account.made.timestamp())),
    ]


def _advice(given: argparse.Namespace, account: Account) -> list[tuple[str, str]]:
    """A hint to set a password: an account with roles should not depend on a mailbox alone."""
    if not account.roles or account.password is not None:
        return []
    advice = "required for these roles" if needs_password(account) else "recommended as a second factor"
    return [("password", f"none; {advice}: {command_hint(given, 'people', 'password', account.email)}")]


def _accounts_at(target: Target, environment: str | None) -> Accounts:
    db = Db(target.call, app_design, environment=own_environment(environment))
    name = db.physical(ACCOUNTS)
    if target.find_table(name) is None:  # not created: another target may have been meant
        raise UsageError(
            f"table {name} does not exist in {target.name}; `tablewright serve --no-demo-sign-in` creates it at its "
            "first start"
        )
    return Accounts(db, db.world)
