"""How a child signs in: a parent gets a code, and typing it on the child's device signs in as the child.

A child has no address and no password. Must hold: a code works once, for 15 minutes; it has twelve digits and only its
keyed hash is stored; who made it is in the compliance log. Elsewhere: what a login is (app/logins.py).
"""

import hashlib
import hmac
from collections.abc import Callable
from typing import TypeAlias

from tablewright.edge.errors import Refused
from tablewright.kit.codes import LIFETIME, new_code
from tablewright.mapping import ConditionNotMet, Missing
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.family.people import People, actor_of, subject_of
from tablewright.systems.chat.family_model import ChildLoginCode, User
from tablewright.systems.chat.repository import Repository

# A login as this child.
IssueLogin: TypeAlias = Callable[[User], str]


def no_logins(child: User) -> str:
    """For programs that do not serve people."""
    raise Refused("NO_LOGINS", "This process issues no logins.")


class ChildLogins:
    """The codes with which children sign in."""

    def __init__(self, repository: Repository, people: People, issue: IssueLogin, secret: bytes) -> None:
        self._repository, self._people, self._issue = repository, people, issue
        self._secret = hashlib.sha256(b"chat child logins\n" + secret).digest()

    def offer(self, child: User, by: User) -> str:
        """A code for a child, to be typed on its device."""
        code = new_code(self._repository.world, is_long=True)
        row = ChildLoginCode(
            code_hash=self._hash(code), child_id=child.user_id, expires_at=self._repository.now() + LIFETIME
        )
        entry = self._repository.audit(subject_of(child), "sign-in code made", actor_of(by))
        self._repository.db.write(d.child_login_codes.put(row), entry)
        return code

    def redeem(self, code: str) -> str:
        """A login as the child of a code; CODE_INVALID if it is wrong, used or too old."""
        found = self._repository.db.one(d.child_login_codes.get(self._hash(code)), consistent=True)
        if found is None:
            raise _invalid()
        child_id = found.child_id
        used = d.child_login_codes.discard(found.code_hash).when(lambda it: it.child_id == child_id)
        child = self._people.find(child_id)
        if child is None or child.standing != "active":
            raise Erased()
        entry = self._repository.audit(subject_of(child), "signed in with a code", actor_of(child))
        try:
            self._repository.db.write(used, entry)
        except (Missing, ConditionNotMet):
            raise _invalid() from None
        return self._issue(child)

    def _hash(self, code: str) -> str:
        digits = "".join(letter for letter in code if letter.isascii() and letter.isdigit())
        return hmac.new(self._secret, digits.encode(), hashlib.sha256).hexdigest()[:32]


def _invalid() -> Refused:
    return Refused("CODE_INVALID", "That code is wrong or was used. Ask your parent for a new one.", "code")
