"""Users: who a login is, profile and quota, suspension.

Must hold: one user for an address, whatever its case, by a guard in the same transaction (CC-D20); the role is that of
the login, its copy in the row is refreshed (CC-D21); a suspended user is refused with the next request. A university id
comes from the login, a roster or an admin, never from the user: imports of grades go by it.
Elsewhere: what a user may do in a course (access.py), what is told to them (notifications.py).
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import islice
from typing import Any

from tablewright.edge import Principal
from tablewright.edge.errors import Conflict, Forbidden, Refused
from tablewright.edge.mail_addresses import INVALID_ADDRESS, NotAnAddress, normalise_address
from tablewright.kit.tables import Actor
from tablewright.mapping import NotUnique, Stale
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.model import Login, NotificationPreferences, Role, StorageReport, User
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.settings import Settings

# How exact the time of the last sign-in is: a row is not rewritten with each request.
LOGIN_NOTED = timedelta(hours=1)
LARGEST_QUOTA = 1024**5
LONGEST_UNIVERSITY_ID = 100
# Claims of a login that have the university id, as identity providers name it.
_UNIVERSITY_ID = ("university_id", "universityId", "custom:university_id")
SUSPENDED = "This account is suspended. Contact your IT service desk."


class Users:
    """The users of a campus. `on_first_login` is what is claimed for someone who enters for the first time."""

    def __init__(self, repository: Repository, settings: Settings) -> None:
        self._repository, self._settings = repository, settings
        self.on_first_login: list[Callable[[User], object]] = []
        self.also_admitted: list[Callable[[str], bool]] = []

    # --- reads ---

    def by_id(self, user_id: str) -> User:
        return self._repository.user(user_id)

    def by_email(self, email: str) -> User | None:
        try:
            return self._repository.user_of(normalise_address(email))
        except NotAnAddress:
            return None

    def search(self, text: str, at_most: int = 20) -> list[User]:
        """Users whose name, address or university id contains the text: an exact address at once, else by a Scan."""
        wanted = text.strip().lower()
        if "@" in wanted and (exact := self.by_email(wanted)) is not None:
            return [exact]
        found = (
            user
            for user in self._repository.db.every(d.users)
            if wanted in f"{user.name} {user.email} {user.university_id or ''}".lower()
        )
        return sorted(islice(found, at_most), key=lambda user: user.name.lower())

    def storage(self, at_most: int = 20) -> StorageReport:
        """What is stored, added up over all users by a Scan."""
        everyone = list(self._repository.db.every(d.users))
        largest = sorted(everyone, key=lambda user: user.storage_used, reverse=True)[:at_most]
        return StorageReport(
            users=len(everyone),
            files=sum(user.statistics.total_files for user in everyone),
            used=sum(user.storage_used for user in everyone),
            granted=sum(user.storage_quota for user in everyone),
            over_80_percent=sum(
                user.storage_used * 5 > user.storage_quota * 4
                for user in everyone
                if user.erased_at is None  # without a quota, and with what submissions hold
            ),
            largest=largest,
        )

    def storage_metrics(self) -> dict[str, float]:
        """How much of a quota is used, in per cent, by the user for whom that is most, by a Scan (CC-57, CC-D25)."""
        used = (
            user.storage_used * 100 / user.storage_quota
            for user in self._repository.db.every(d.users)
            if user.storage_quota
        )
        return {d.STORAGE_USED: max(used, default=0.0)}

    def admits(self, email: str) -> bool:
        """Whether this address may sign up: on a roster, in a domain of the campus, or with a share that waits."""
        try:
            address = normalise_address(email)
        except NotAnAddress:
            return False
        domain = address.rpartition("@")[2].lower()
        if domain in self._settings.domains or self._repository.user_of(address) is not None:
            return True
        return any(admits(address) for admits in self.also_admitted)

    # --- sign-in ---

    def entered(self, login: Principal) -> User:
        """The user of a login, made with the first one; SUSPENDED if the account is."""
        user = self._of(login)
        if user is None:
            user = self._enter_first(login)
        if user.erased_at is not None:
            raise Forbidden("ERASED", "This account and its files were erased.")
        if user.status == "suspended":
            raise Forbidden("SUSPENDED", SUSPENDED)
        return self._refreshed(user, login)

    def _of(self, login: Principal) -> User | None:
        db = self._repository.db
        found = db.one(d.user_by_id(login.subject))
        if found is None and (alias := db.one(d.logins.get(login.subject), consistent=True)) is not None:
            return db.one(d.user_by_id(alias.user_id))
        return found

    def _enter_first(self, login: Principal) -> User:
        if not login.email:
            words = "This login has no confirmed e-mail address. Sign in with one that is confirmed."
            raise Forbidden("EMAIL_REQUIRED", words)
        known = self.by_email(login.email)
        user = self._create(login) if known is None else self._adopt(known, login)
        for claim in self.on_first_login:
            claim(user)
        return user

    def _create(self, login: Principal) -> User:
        id = university_id_of(login)
        user = self.new(login.subject, login.email or "", _name_of(login), role_of(login), university_id=id)
        with self._repository.translated("USER"):
            self._repository.db.write(
                d.users.create(user),
                self._repository.audit(f"user:{user.user_id}", "signed up", _actor(user)),
            )
        return user

    def _adopt(self, known: User, login: Principal) -> User:
        """Someone who was on a roster: the login is theirs from now on."""
        if not known.invited:
            raise Conflict("EMAIL_EXISTS", "Another account has this e-mail address.", "email")
        after = known.model_copy(
            update={
                "invited": False,
                "login": login.subject,
                "role": role_of(login),
                "last_login_at": self._repository.now(),
                "university_id": university_id_of(login) or known.university_id,
            }
        )
        write = d.users.change(known, after)
        with self._repository.translated("USER"):
            self._repository.db.write(
                write,
                d.logins.create(Login(subject=login.subject, user_id=known.user_id)),
                self._repository.audit(f"user:{known.user_id}", "signed up", _actor(known)),
            )
        assert write.item is not None
        return write.item

    def _refreshed(self, user: User, login: Principal) -> User:
        now, role = self._repository.now(), role_of(login)
        is_noted = user.last_login_at is not None and now - user.last_login_at < LOGIN_NOTED
        id = university_id_of(login) or user.university_id
        if user.role == role and user.university_id == id and is_noted:
            return user
        update: dict[str, Any] = {"role": role, "last_login_at": now, "university_id": id}
        if role != user.role and role == "instructor":
            update["storage_quota"] = max(user.storage_quota, self._settings.instructor_quota)
        after = user.model_copy(update=update)
        try:
            self._repository.db.write(d.users.change(user, after))
        except Stale:  # another request of the same user did it
            return user.model_copy(update={"role": role})
        if user.university_id != id:
            self._to_enrolments(after)
        return after.model_copy(update={"version": user.version + 1})

    # --- changes ---

    def new(self, user_id: str, email: str, name: str, role: Role = "student", **fields: Any) -> User:
        """A user as a value, with the quota of the role."""
        quota = self._settings.student_quota if role == "student" else self._settings.instructor_quota
        given: dict[str, Any] = {"storage_quota": quota, **fields}
        return User(
            user_id=user_id,
            email=normalise_address(email),
            name=name.strip()[:200] or email,
            role=role,
            created_at=self._repository.now(),
            **given,
        )

    def invited(self, email: str, name: str, university_id: str | None = None) -> User:
        """The user of an address, made if there is none: someone on a roster who has not signed in yet."""
        try:
            normalise_address(email)
        except NotAnAddress:
            raise Refused("INVALID_EMAIL", INVALID_ADDRESS, "email") from None
        found = self.by_email(email)
        if found is not None:
            return found
        user = self.new(self._repository.new_uuid(), email, name, university_id=university_id, invited=True)
        try:
            self._repository.db.write(d.users.create(user))
        except NotUnique:  # another import was faster
            found = self.by_email(email)
            assert found is not None
            return found
        return user

    def change_profile(self, user: User, changes: Mapping[str, Any], expected: int | None = None) -> User:
        """Change name, department, time zone or preferences."""

        def attempt() -> User:
            now = self._repository.user(user.user_id)
            if expected is not None and now.version != expected:
                raise Changed()
            after = now.model_copy(update=dict(changes))
            write = d.users.change(now, after)
            self._repository.write("USER", write)
            assert write.item is not None
            return write.item

        return self._repository.retried(expected, attempt)

    def set_preferences(self, user: User, preferences: NotificationPreferences) -> User:
        return self.change_profile(user, {"notification_preferences": preferences})

    # --- administration ---

    def set_quota(self, user_id: str, quota: int, by: User) -> User:
        if not 0 <= quota <= LARGEST_QUOTA:
            raise Refused("INVALID_QUOTA", "The quota must be 0 bytes to 1 PiB.", "storageQuota")
        return self._administer(user_id, by, "quota changed", storage_quota=quota)

    def set_university_id(self, user_id: str, id: str | None, by: User) -> User:
        """Set the id that rosters and grades are matched by, also in the user's courses."""
        clean = (id or "").strip() or None
        if clean is not None and len(clean) > LONGEST_UNIVERSITY_ID:
            words = f"A university id has at most {LONGEST_UNIVERSITY_ID} characters."
            raise Refused("INVALID_UNIVERSITY_ID", words, "universityId")
        user = self._administer(user_id, by, "university id changed", university_id=clean)
        self._to_enrolments(user)
        return user

    def _to_enrolments(self, user: User) -> None:
        for found in self._repository.courses_of(user.user_id):
            row = d.enrolments.update(found.user_id, found.course_id).at(lambda it: it.university_id)
            self._repository.try_write(row.set(user.university_id))

    def suspend(self, user_id: str, by: User, reason: str) -> User:
        if user_id == by.user_id:
            raise Refused("OWN_ACCOUNT", "You cannot suspend your own account.")
        return self._administer(user_id, by, "suspended", status="suspended", suspended_reason=reason)

    def reinstate(self, user_id: str, by: User) -> User:
        return self._administer(user_id, by, "reinstated", status="active", suspended_reason=None)

    def _administer(self, user_id: str, by: User, action: str, **changes: Any) -> User:
        def attempt() -> User:
            before = self._repository.user(user_id)
            after = before.model_copy(update=changes)
            is_move = before.status != after.status
            write = d.users.move(before, after, by="admin") if is_move else d.users.change(before, after)
            actor = Actor(by.name, "admin", by.user_id)
            entry = self._repository.audit(f"user:{user_id}", action, actor, before, write.item)
            self._repository.write("USER", write, entry)
            assert write.item is not None
            return write.item

        return self._repository.retried(None, attempt)


def role_of(login: Principal) -> Role:
    """The role on campus that a login has."""
    if "admin" in login.roles:
        return "admin"
    return "instructor" if "instructor" in login.roles else "student"


def university_id_of(login: Principal) -> str | None:
    """The university id that the identity provider knows; None if it names none."""
    found = (login.claims.get(name) for name in _UNIVERSITY_ID)
    return next(
        (one.strip()[:LONGEST_UNIVERSITY_ID] for one in found if isinstance(one, str) and one.strip()), None
    )


def _name_of(login: Principal) -> str:
    given = login.claims.get("name")
    return given if isinstance(given, str) and given.strip() else (login.email or "").partition("@")[0]


def _actor(user: User) -> Actor:
    return Actor(user.name, "user", user.user_id, user.email)
