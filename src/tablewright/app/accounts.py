"""Accounts: who may sign in to this server, apart from the demo's people, and with which roles.

An account is an address whose mail somebody reads, a subject that says nothing about them, and roles spelled as in
tokens, `parental.operator`. Must hold: an address has one account; roles are given by who runs the server and by nobody
else; closing or erasing an account, taking a role and changing a password hold from the next request on (identity.py
asks).
Elsewhere: proving that an address is one's own (code_login.py), the commands (cli/people_*.py).
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from shlex import quote

from tablewright.app import passwords
from tablewright.app.design import Account, accounts
from tablewright.app.people import ENGINEER
from tablewright.design import Write
from tablewright.edge.mail_addresses import normalise_address
from tablewright.mapping import Db, Missing, NotUnique, Stale
from tablewright.world import World

PREFIX = "account_"
LONGEST_NAME = 100
# What there is to be given. Who has none of them may be a parent: for that, parental controls ask no role. Customers of
# the portal and travellers of Skratch have no accounts here: they prove their address there, for there alone.
ROLES: Mapping[str, str] = {
    ENGINEER: "sees every design, table and item; needs a password, so that a sign-in has two factors",
    "parental.operator": "runs the firewalls and the registry of apps",
    "parental.support": "helps families",
    "parental.network": "reports sessions and blocked requests",
    "portal.admin": "runs the shop; needs a password, so that a sign-in has two factors",
    "portal.support": "sees customers and their orders",
    "travel.admin": "looks after travellers' accounts",
}
# Of no use with a code alone: pages ask for both factors.
TWO_FACTORS = frozenset((ENGINEER, "portal.admin"))
_ATTEMPTS = 5


class AccountMistake(Exception):
    """The base: something that cannot be done with an account."""


class AccountExists(AccountMistake):
    """An address that has an account already."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"{email} has an account already; `tablewright people change {quote(email)}` changes it"
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
        super().__init__(f"a name is one line of {LONGEST_NAME} characters at most")


class SomebodyWasFaster(AccountMistake):
    """The account was changed in the same moment."""

    def __init__(self, email: str) -> None:
        super().__init__(f"the account of {email} was changed in this moment; look at it, and try again")


class Accounts:
    """The accounts of one server."""

    def __init__(self, db: Db, world: World) -> None:
        self.db, self._world = db, world

    def now(self) -> datetime:
        """This moment, as fine as it is stored."""
        now = self._world.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    # --- who there is ---

    def of(self, subject: str) -> Account | None:
        return self.db.one(accounts.get(subject), consistent=True)

    def with_address(self, email: str) -> Account | None:
        return self.db.holder(accounts, "email", email=normalise_address(email))

    def all(self) -> list[Account]:
        """Everybody, by address."""
        return sorted(self.db.every(accounts), key=lambda account: account.email)

    # --- what who runs the server does ---

    def addresses(self, role: str) -> list[str]:
        """Where those are reached who have a role and may sign in; a system writes to its staff there."""
        return [one.email for one in self.all() if role in one.roles and one.closed is None]

    def new(self, email: str, name: str = "", roles: Iterable[str] = ()) -> Write[Account]:
        """An account to be written, alone or with what proved its address."""
        return accounts.create(
            Account(
                subject=f"{PREFIX}{self._world.new_id()}",
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
        """From now on nobody signs in with this address, and who is signed in is so no longer."""
        return self._change(email, {"closed": self.now()}, ends_logins=True)

    def set_password(self, email: str, password: str) -> Account:
        """Signing in takes this password and a code from now on; logins from before end."""
        return self._change(email, {"password": passwords.kept(password, self._world)}, ends_logins=True)

    def remove_password(self, email: str) -> Account:
        """Signing in takes a code alone from now on; logins from before end."""
        return self._change(email, {"password": None}, ends_logins=True)

    def end_logins(self, email: str) -> Account:
        """Who is signed in to this account is so no longer, wherever that was."""
        for _ in range(_ATTEMPTS):
            with suppress(SomebodyWasFaster):
                return self._change(email, {}, ends_logins=True)
        raise SomebodyWasFaster(normalise_address(email))

    def erase(self, email: str) -> Account:
        """Forget an account, with its address and its logins. What is theirs in the systems belongs to nobody then."""
        account = self._known(email)
        try:
            self.db.write(accounts.delete(account))
        except (Stale, Missing):
            raise SomebodyWasFaster(account.email) from None
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
            raise SomebodyWasFaster(before.email) from None
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
