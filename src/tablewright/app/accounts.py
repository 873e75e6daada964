"""Accounts: the people who may sign in to this server, apart from demo users, and their roles.

An account is an e-mail address, an opaque subject, and roles spelled as in tokens, `parental.operator`.
Must hold: an address has one account; only the person who runs the server grants roles; closing or erasing an account,
removing a role and changing a password take effect with the next request (identity.py checks).
Elsewhere: verifying an address (code_login.py), the commands (cli/people_*.py).
"""

from collections.abc import Iterable, Mapping
from shlex import quote

from tablewright.app import passwords
from tablewright.app.design import Account, accounts
from tablewright.app.people import ENGINEER
from tablewright.design import Write
from tablewright.edge.mail_addresses import normalise_address
from tablewright.kit.tables import Store
from tablewright.mapping import Missing, NotUnique, Stale

PREFIX = "account_"
LONGEST_NAME = 100
# The roles that can be granted. An account without roles may be a parent: parental controls require no role for that.
# So may a student of Campus Cloud, and a parent of Zoo chat.
# Customers of the portal and travellers of Skratch have no accounts here: they verify their address there.
ROLES: Mapping[str, str] = {
    ENGINEER: "sees every design, table and item; needs a password (two-factor sign-in)",
    "parental.operator": "runs the firewalls and the app registry",
    "parental.support": "helps families",
    "parental.network": "reports sessions and blocked requests",
    "campus.instructor": "teaches: more storage, and can create courses",
    "campus.admin": "manages users, quotas and quarantined files",
    "chat.student": "is a child: a parent decides what it may do",
    "chat.zookeeper": "looks after the animals and at flagged messages",
    "chat.administrator": "manages people, guardrails, the migration and compliance",
    "portal.admin": "runs the shop; needs a password (two-factor sign-in)",
    "portal.support": "sees customers and their orders",
    "travel.admin": "manages travellers' accounts",
}
# Pages require both factors for these roles.
TWO_FACTORS = frozenset((ENGINEER, "portal.admin"))
_ATTEMPTS = 5


class AccountMistake(Exception):
    """The base of refused changes to an account."""


class AccountExists(AccountMistake):
    """An address that has an account already."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"{email} already has an account; `tablewright people change {quote(email)}` changes it"
        )


class NoSuchAccount(AccountMistake):
    """An address without an account."""

    def __init__(self, email: str) -> None:
        super().__init__(f"{email} has no account; `tablewright people list` shows who has one")


class NoSuchRole(AccountMistake):
    """A role that no system asks for."""

    def __init__(self, role: str) -> None:
        super().__init__(f"there is no role '{role}'; there are {', '.join(ROLES)}")


class NameUnfit(AccountMistake):
    """A name that cannot be shown."""

    def __init__(self) -> None:
        super().__init__(f"a name must be one line of at most {LONGEST_NAME} characters")


class AccountChanged(AccountMistake):
    """The account was changed by another process at the same time."""

    def __init__(self, email: str) -> None:
        super().__init__(f"the account of {email} was changed by someone else; check it and try again")


class Accounts(Store):
    """The accounts of one server."""

    # --- reads ---

    def of(self, subject: str) -> Account | None:
        return self.db.one(accounts.get(subject), consistent=True)

    def with_address(self, email: str) -> Account | None:
        return self.db.holder(accounts, "email", email=normalise_address(email))

    def all(self) -> list[Account]:
        """All accounts, by address."""
        return sorted(self.db.every(accounts), key=lambda account: account.email)

    # --- administration ---

    def addresses(self, role: str) -> list[str]:
        """The addresses of open accounts with a role; a system writes to its staff there."""
        return [one.email for one in self.all() if role in one.roles and one.closed is None]

    def new(self, email: str, name: str = "", roles: Iterable[str] = ()) -> Write[Account]:
        """The write of a new account, alone or together with the code that verified its address."""
        return accounts.create(
            Account(
                subject=f"{PREFIX}{self.world.new_id()}",
                email=normalise_address(email),
                name=_name(name),
                roles=_known(roles),
                made=self.now(),
            )
        )

    def add(self, email: str, name: str = "", roles: Iterable[str] = ()) -> Account:
        write = self.new(email, name, roles)
        assert write.item is not None
        try:
            self.db.write(write)
        except NotUnique:
            raise AccountExists(write.item.email) from None
        return write.item

    def change(
        self,
        email: str,
        *,
        name: str | None = None,
        roles: Iterable[str] | None = None,
        reopened: bool = False,
        signed_out: bool = False,
    ) -> Account:
        """Another name, exactly these roles, open again, its logins ended; what is None stays."""
        changed: dict[str, object] = {}
        if name is not None:
            changed["name"] = _name(name)
        if roles is not None:
            changed["roles"] = _known(roles)
        if reopened:
            changed["closed"] = None
        return self._change(email, changed, ends_logins=signed_out)

    def close(self, email: str) -> Account:
        """This address can no longer sign in, and its logins end."""
        return self._change(email, {"closed": self.now()}, ends_logins=True)

    def set_password(self, email: str, password: str) -> Account:
        """Signing in now requires this password and a code; earlier logins end."""
        return self._change(email, {"password": passwords.kept(password, self.world)}, ends_logins=True)

    def remove_password(self, email: str) -> Account:
        """Signing in now requires a code only; earlier logins end."""
        return self._change(email, {"password": None}, ends_logins=True)

    def end_logins(self, email: str) -> Account:
        """End all logins of this account, in every browser."""
        return self.retried(
            None,
            lambda: self._change(email, {}, ends_logins=True),
            on=AccountChanged,
            attempts=_ATTEMPTS,
            busy=AccountChanged(normalise_address(email)),
        )

    def erase(self, email: str) -> Account:
        """Delete an account with its address and logins. Data in the systems stays, without an owner."""
        account = self._known(email)
        try:
            self.db.write(accounts.delete(account))
        except (Stale, Missing):
            raise AccountChanged(account.email) from None
        return account

    # --- parts ---

    def _known(self, email: str) -> Account:
        found = self.with_address(email)
        if found is None:
            raise NoSuchAccount(normalise_address(email))
        return found

    def _change(self, email: str, changed: Mapping[str, object], *, ends_logins: bool = False) -> Account:
        before = self._known(email)
        ended = {"epoch": before.epoch + 1} if ends_logins else {}
        write = accounts.change(before, before.model_copy(update={**changed, **ended}))
        try:
            self.db.write(write)
        except Stale:
            raise AccountChanged(before.email) from None
        assert write.item is not None
        return write.item


def _name(given: str) -> str:
    name = given.strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise NameUnfit
    return name


def _known(roles: Iterable[str]) -> list[str]:
    found = sorted(set(roles))
    for role in found:
        if role not in ROLES:
            raise NoSuchRole(role)
    return found
