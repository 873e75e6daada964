"""People: who a login is, the age gate, and names as others may see them.

Must hold: a role is that of the login, never of a request; someone under 18, or a student whose age is not known, stays
a student whatever a login says; who is erased, or being erased, gets 410 and nothing else.
Elsewhere: families (families.py), profiles of children (children.py), what a caller may reach (access.py).
"""

from datetime import date
from typing import Any
from zoneinfo import available_timezones

from tablewright.edge import Principal
from tablewright.edge.errors import Conflict, Forbidden, NotFound, Refused
from tablewright.kit.tables import Actor, is_user_id
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Changed, Erased, NoConsent
from tablewright.systems.chat.family_model import User, UserRole
from tablewright.systems.chat.repository import Repository

LONGEST_NAME = 80
OLDEST = 120
_BY_LOGIN: tuple[UserRole, ...] = ("administrator", "zookeeper", "student")


class People:
    """The people who sign in."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def today(self) -> date:
        return self._repository.now().date()

    def find(self, user_id: str) -> User | None:
        if not is_user_id(user_id):
            return None
        return self._repository.db.one(d.user_by_id(user_id))

    def by_id(self, user_id: str) -> User:
        return self._repository.found(self.find(user_id), "USER")

    def entered(self, login: Principal) -> User:
        """The user of a login, made with the first one; ERASED if the account is gone."""
        if not is_user_id(login.subject):
            raise Forbidden("UNKNOWN_LOGIN", "This login cannot be used here.")
        user = self.find(login.subject) or self._enter_first(login)
        if user.standing != "active":
            raise Erased()
        return self._refreshed(user, login)

    def _enter_first(self, login: Principal) -> User:
        user = User(
            user_id=login.subject,
            role=role_of(login),
            name=_name_of(login),
            email=login.email,
            created_at=self._repository.now(),
        )
        entry = self._repository.audit(subject_of(user), "signed up", actor_of(user))
        if not self._repository.try_write(d.users.create(user), entry):
            return self.by_id(user.user_id)  # another request of the same login was faster
        return user

    def _refreshed(self, user: User, login: Principal) -> User:
        """The user with the role and the address of the login."""
        is_child = user.role == "student" and not user.is_adult_on(self.today())
        update = {"role": "student" if is_child else role_of(login), "email": login.email or user.email}
        after = user.model_copy(update=update)
        if after == user:
            return user
        self._repository.try_write(d.users.change(user, after))
        return after.model_copy(update={"version": user.version + 1})

    # --- changes ---

    def change(self, user: User, changes: dict[str, Any], by: User, expected: int | None = None) -> User:
        """Change a profile; the caller decides who may."""
        clean = checked(changes, self.today())

        def attempt() -> User:
            now = self.by_id(user.user_id)
            if expected is not None and now.version != expected:
                raise Changed()
            write = d.users.change(now, now.model_copy(update=clean))
            # The names of the fields alone: the log outlives an erasure.
            entry = self._repository.audit(
                subject_of(user), "profile changed", actor_of(by), None, {"fields": sorted(clean)}
            )
            self._repository.write("USER", write, entry)
            assert write.item is not None
            return write.item

        return self._repository.retried(expected, attempt)

    def state_birth_date(self, user: User, born: date) -> User:
        """The age gate: once, by a user without a family; a parent or an administrator states and changes all others.

        A child in a family could otherwise make itself old enough to need no consent (ZC-X1).
        """
        if user.family_id is not None:
            raise NoConsent("A parent states your birth date.")
        if user.birth_date is not None:
            raise Conflict(
                "BIRTH_DATE_KNOWN", "Your birth date is known. Ask a parent to correct it.", "birthDate"
            )
        return self.change(user, {"birth_date": born}, user, user.version)


def role_of(login: Principal) -> UserRole:
    """The role that a login has here; without one it is that of a parent, who has to be invited to anything."""
    return next((role for role in _BY_LOGIN if role in login.roles), "parent")


def actor_of(user: User) -> Actor:
    """The author of a change, by id: the log outlives the name."""
    return Actor(user.user_id, user.role, user.user_id, user.email)


def subject_of(user: User) -> str:
    """Under which subject the compliance log has a person."""
    return f"{'child' if user.role == 'student' else 'user'}:{user.user_id}"


def checked(changes: dict[str, Any], today: date) -> dict[str, Any]:
    """The changes of a profile, with names and dates that make sense."""
    clean = dict(changes)
    if "name" in clean:
        clean["name"] = name_of(clean["name"])
    if clean.get("birth_date") is not None:
        clean["birth_date"] = birth_date_of(clean["birth_date"], today)
    refuse_unknown_zone(clean.get("time_zone"))
    return clean


def name_of(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused("INVALID_NAME", f"A name has 1 to {LONGEST_NAME} characters.", "name")
    return name


def birth_date_of(born: date, today: date) -> date:
    if not date(today.year - OLDEST, 1, 1) <= born <= today:
        raise Refused("INVALID_DATE", "Enter the birth date.", "birthDate")
    return born


def refuse_unknown_zone(zone: str | None) -> None:
    if zone is not None and zone not in available_timezones():
        raise Refused("INVALID_TIME_ZONE", "timeZone must be a zone such as Europe/Berlin.", "timeZone")


def masked_id(user_id: str) -> str:
    """An id as staff see it: its last characters, enough to tell two chats of one page apart."""
    return f"•••{user_id[-4:]}"


def not_a_child() -> NotFound:
    return NotFound("CHILD", "There is no such child.")


def _name_of(login: Principal) -> str:
    given = login.claims.get("name")
    name = (
        given
        if isinstance(given, str) and given.strip()
        else (login.email or login.subject).partition("@")[0]
    )
    return name[:LONGEST_NAME]
