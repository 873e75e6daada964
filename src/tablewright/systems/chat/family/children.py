"""Profiles of children: made by a parent, changed, transferred to another family, and their ages (ZC-X1, ZC-X9).

At 13 a child no longer needs consent to chat; at 18 it leaves the family, and its parents see nothing any more. Both
hold from the birthday on, because ages are computed; the job only sends the mails and removes the rows.
Must hold: a transfer is offered by a parent of the child and accepted by a parent of the other family, and ends the
consent of before.
Elsewhere: limits (limits.py), consent (consent.py), the end of a child's data (erasure.py).
"""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict, Refused
from tablewright.kit.tables import is_user_id
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.family.families import Families, address_of
from tablewright.systems.chat.family.notices import Notices
from tablewright.systems.chat.family.people import People, actor_of, birth_date_of, name_of, subject_of
from tablewright.systems.chat.family_model import (
    ADULT_AGE,
    CONSENT_AGE,
    Family,
    Invitation,
    Limits,
    User,
)
from tablewright.systems.chat.repository import SYSTEM, Repository

# How many days the job looks back for birthdays, in case it did not run.
LOOK_BACK = 7
LEAST_MINUTES, MOST_MINUTES, MOST_A_MINUTE = 5, 24 * 60, 60


class Children:
    """The children of families. Who may is checked before (access.py)."""

    def __init__(self, repository: Repository, people: People, families: Families, notices: Notices) -> None:
        self._repository, self._people = repository, people
        self._families, self._notices = families, notices

    def add(self, family: Family, name: str, born: date, by: User, *, user_id: str | None = None) -> User:
        """A child's profile; the parent gets the direct notice. `user_id` is the subject of its login, if known."""
        child = User(
            user_id=user_id or self._repository.new_id("child"),
            role="student",
            name=name_of(name),
            birth_date=birth_date_of(born, self._people.today()),
            family_id=family.family_id,
            time_zone=family.time_zone,
            created_at=self._repository.now(),
        )
        if not is_user_id(child.user_id) or child.is_adult_on(self._people.today()):
            raise Refused(
                "CHILDREN_ONLY", f"Only someone under {ADULT_AGE} is added as a child.", "birthDate"
            )
        self._refuse_erased(child.user_id)

        def attempt() -> User:
            now = self._families.own(by, family.family_id)
            self._repository.write(
                "CHILD",
                d.users.create(child),
                *self._families.membership.joined(now, child.user_id, "child"),
                *self._notices.direct_notice(by, child),
                self._repository.audit(subject_of(child), "child added", actor_of(by)),
            )
            return child

        return self._repository.retried(None, attempt)

    def _refuse_erased(self, user_id: str) -> None:
        if self._repository.keys.is_destroyed(user_id):
            raise Erased()

    def set_limits(self, child: User, limits: Limits, by: User, expected: int | None = None) -> User:
        """What the child may do in a day (ZC-X8)."""
        return self._people.change(child, {"limits": checked_limits(limits)}, by, expected)

    # --- another family ---

    def offer_transfer(self, child: User, email: str, by: User) -> Invitation:
        """Offer a child to a parent of another family, by mail."""
        membership, address = self._families.membership, address_of(email)

        def attempt() -> Invitation:
            home = self._repository.found(membership.home(child.user_id), "CHILD")
            family = self._families.own(by, home.family_id)
            token, invitation, writes = membership.offer(family, address, by.user_id, "child", child.user_id)
            values = {"inviter": by.name, "child": child.name}
            self._repository.write(
                "INVITATION",
                *writes,
                self._families.mail_link("child transfer", values, token, invitation, child.user_id),
                self._repository.audit(subject_of(child), "transfer offered", actor_of(by)),
            )
            return invitation

        return self._repository.retried(None, attempt)

    def take_over(self, token: str, family: Family, by: User) -> User:
        """Take a child that was offered into one's own family; the consent of before ends."""
        membership = self._families.membership

        def attempt() -> User:
            invitation = membership.offered(token, by.email)
            child_id = invitation.child_id
            home = membership.home(child_id) if child_id is not None else None
            if child_id is None or home is None or home.family_id != invitation.family_id:
                raise Conflict("TRANSFER_ENDED", "This child can no longer be transferred.")
            child, target = self._people.by_id(child_id), self._families.own(by, family.family_id)
            member = self._repository.found(membership.member(home.family_id, child_id), "CHILD")
            self._repository.write(
                "INVITATION",
                *membership.used(invitation),
                *membership.moved(member, home, target),
                *self._families.entering(child, target),
                *self._notices.direct_notice(by, child),
                self._repository.audit(
                    subject_of(child),
                    "transferred",
                    actor_of(by),
                    {"familyId": home.family_id},
                    {"familyId": target.family_id},
                ),
            )
            return self._people.by_id(child_id)

        return self._repository.retried(None, attempt)

    # --- birthdays ---

    def age_out(self) -> int:
        """Tell those who became 13 or 18 in the last days, and end the membership of adults; how many."""
        return sum(self._aged(user, age) for age in (CONSENT_AGE, ADULT_AGE) for user in self._born(age))

    def _born(self, age: int) -> list[User]:
        today, found = self._people.today(), []
        for back in range(LOOK_BACK):
            day = today - timedelta(days=back)
            # 29 February has no date 13 or 18 years later: it is found on 28 February or 1 March.
            for born in {
                _years_before(day, age),
                _years_before(day + timedelta(days=1), age) - timedelta(days=1),
            }:
                keys = list(self._repository.db.all(d.users_born(birth_date=born)))
                found += [user for key in keys if (user := self._people.find(key.user_id)) is not None]
        return [user for user in found if user.standing == "active" and (user.age_on(today) or 0) >= age]

    def _aged(self, user: User, age: int) -> int:
        if user.told_age >= age or user.role != "student":
            return 0
        parents = self._families.parents_of(user)
        after = user.model_copy(update={"told_age": age})
        leaving: Sequence[Write[Any]] = ()
        if age == ADULT_AGE:
            leaving = self._leaving(user)
            alone: dict[str, Any] = {"family_id": None, "limits": Limits(daily_minutes=None), "scopes": []}
            after = after.model_copy(update={**alone, "consent_generation": user.consent_generation + 1})
        mails = [
            self._repository.outbox.mail(parent.email, f"age {age}", {"child": user.name}, user.user_id)
            for parent in parents
            if parent.email is not None
        ]
        entry = self._repository.audit(subject_of(user), f"became {age}", SYSTEM)
        return int(self._repository.try_write(d.users.change(user, after), *leaving, *mails, entry))

    def _leaving(self, user: User) -> Sequence[Write[Any]]:
        membership = self._families.membership
        home = membership.home(user.user_id)
        if home is None:
            return self._families.following(user.user_id)
        family = self._repository.found(membership.family(home.family_id), "FAMILY")
        member = self._repository.found(membership.member(home.family_id, user.user_id), "MEMBER")
        return *membership.left(family, member), *self._families.following(user.user_id)


def _years_before(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year - years)
    except ValueError:  # 29 February
        return day.replace(year=day.year - years, month=3, day=1)


def checked_limits(limits: Limits) -> Limits:
    if limits.daily_minutes is not None and not LEAST_MINUTES <= limits.daily_minutes <= MOST_MINUTES:
        words = f"dailyMinutes must be {LEAST_MINUTES} to {MOST_MINUTES}, or null for no limit."
        raise Refused("INVALID_LIMIT", words, "dailyMinutes")
    if not 1 <= limits.messages_per_minute <= MOST_A_MINUTE:
        raise Refused(
            "INVALID_LIMIT", f"messagesPerMinute must be 1 to {MOST_A_MINUTE}.", "messagesPerMinute"
        )
    try:
        hours = limits.quiet_hours
    except ValueError:
        raise Refused(
            "INVALID_TIME", "quietFrom and quietUntil must be times such as 20:30.", "quietFrom"
        ) from None
    if (limits.quiet_from is None) != (limits.quiet_until is None) or (hours and hours[0] == hours[1]):
        raise Refused("INVALID_TIME", "Quiet hours need a begin and another end.", "quietUntil")
    return limits
