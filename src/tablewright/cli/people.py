"""What the commands about people share: the accounts at a place, what is said where there are none, how one looks."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tablewright.cli import where
from tablewright.cli.words import as_json, as_pairs, moment

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.accounts import Accounts
    from tablewright.app.design import Account


class NoAccountsThere(where.Misused):
    """Tables among which there are no accounts; none are made for somebody who may have meant another place."""

    def __init__(self, place: str, table: str) -> None:
        super().__init__(
            f"there is no table {table} in {place}: `tablewright serve --no-demo-sign-in` makes it at its first start"
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    where.arguments(parser)


def with_accounts(given: argparse.Namespace, work: "Callable[[Accounts], int]") -> int:
    """Do the work with the accounts at the place; what the caller can mend is said, with code 2."""
    from tablewright.app.accounts import AccountMistake
    from tablewright.app.passwords import PasswordUnfit
    from tablewright.edge.addresses import NotAnAddress

    def careful(place: where.Place) -> int:
        try:
            return work(_accounts_at(place))
        except (AccountMistake, PasswordUnfit, NotAnAddress) as mistake:
            raise where.Misused(str(mistake)) from None

    return where.at(given, careful)


def say(given: argparse.Namespace, account: "Account") -> int:
    print(as_json(facts(account)) if given.json else as_pairs(_pairs(account)))
    return 0


def facts(account: "Account") -> dict[str, Any]:
    """An account for programs; of a password, only that there is one."""
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


def signs_in_with(account: "Account") -> str:
    if account.closed is not None:
        return "nothing: closed"
    return "password and code" if account.password else "code"


def needs_password(account: "Account") -> bool:
    """Whether a role of theirs is of no use without one."""
    from tablewright.app.accounts import TWO_FACTORS

    return account.password is None and not TWO_FACTORS.isdisjoint(account.roles)


def _advice(account: "Account") -> list[tuple[str, str]]:
    """Who has roles should not be one mailbox away from everybody else."""
    if not account.roles or account.password is not None:
        return []
    says = "is needed for these roles" if needs_password(account) else "would be a second factor"
    return [("password", f"none; one {says}: tablewright people password {account.email}")]


def _pairs(account: "Account") -> list[tuple[str, str]]:
    return [
        ("address", account.email),
        ("name", account.name or "-"),
        ("roles", ", ".join(account.roles) or "-"),
        ("signs in with", signs_in_with(account)),
        ("made", moment(account.made.timestamp())),
        *_advice(account),
    ]


def _accounts_at(place: where.Place) -> "Accounts":
    from tablewright.app.accounts import Accounts
    from tablewright.app.design import ACCOUNTS, house
    from tablewright.client import CallRefused
    from tablewright.mapping import Db

    db = Db(place.call, house)
    name = db.physical(ACCOUNTS)
    try:
        place.call("DescribeTable", {"TableName": name})
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        raise NoAccountsThere(place.name, name) from None
    return Accounts(db, db.world)
