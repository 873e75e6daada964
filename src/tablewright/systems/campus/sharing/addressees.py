"""The recipients of a new share, found and checked before anything is written.

People are named by their e-mail address, with an account or without one; a course by anyone in it; a team by its
members and the staff of its course.
Must hold: one mistake among the recipients refuses the whole call, and every mistake is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tablewright.edge.errors import BadRequest, CallerError, Refused
from tablewright.edge.mail_addresses import INVALID_ADDRESS, NotAnAddress, normalise_address
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Enrolment, Team
from tablewright.systems.campus.model import User
from tablewright.systems.campus.people.users import Users
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.sharing import recipients

MOST_RECIPIENTS = 100  # CC-X14
FIELD = "recipients"


@dataclass(frozen=True, slots=True)
class RecipientName:
    """A recipient as the caller names it: an address, a course, or a team of a group set of a course."""

    email: str | None = None
    course_id: str | None = None
    group_set_id: str | None = None
    team_id: str | None = None


@dataclass(frozen=True, slots=True)
class Addressee:
    """A recipient that exists. `user` is None for an address without an account and for groups."""

    key: str
    name: str
    email: str | None = None
    user: User | None = None


class Addressees:
    """Finds recipients."""

    def __init__(self, repository: Repository, users: Users) -> None:
        self._repository, self._users = repository, users

    def find(self, sharer: User, named: Sequence[RecipientName]) -> list[Addressee]:
        """All of them, each once; the error names every one that cannot be a recipient."""
        if not 1 <= len(named) <= MOST_RECIPIENTS:
            words = f"Share with 1 to {MOST_RECIPIENTS} recipients at a time."
            raise BadRequest("TOO_MANY_RECIPIENTS" if named else "NO_RECIPIENTS", words, FIELD)
        found: dict[str, Addressee] = {}
        mistakes: list[CallerError] = []
        for each in named:
            try:
                one = self._one(sharer, each)
                found[one.key] = one
            except CallerError as mistake:
                mistakes.append(mistake)
        if mistakes:
            words = " ".join(dict.fromkeys(mistake.message for mistake in mistakes))
            raise Refused(mistakes[0].code, words, FIELD)
        return list(found.values())

    def teams(self, sharer: User, enrolment: Enrolment) -> list[Team]:
        """The teams of a course that this user can share with: own ones; for staff all."""
        db = self._repository.db
        sets = list(db.all(d.group_sets_of_course(course_id=enrolment.course_id)))
        found = [
            team
            for one in sets
            for team in db.all(d.teams_of_set(course_id=one.course_id, group_set_id=one.group_set_id))
        ]
        is_staff = enrolment.role != "student"
        return [team for team in found if is_staff or sharer.user_id in team.member_ids]

    def _one(self, sharer: User, named: RecipientName) -> Addressee:
        if named.email is not None:
            return self._person(sharer, named.email)
        if named.course_id is None:
            raise Refused("INVALID_RECIPIENT", "Name an e-mail address, a course or a team.", FIELD)
        enrolment = self._repository.enrolment(sharer.user_id, named.course_id)
        if enrolment is None:
            raise Refused("NOT_ENROLLED", f"You are not in the course {named.course_id[:64]}.", FIELD)
        if named.team_id is not None:
            return self._team(sharer, enrolment, named.group_set_id or "", named.team_id)
        course = self._repository.course(named.course_id)
        return Addressee(recipients.of_course(course.course_id), f"{course.course_id}, {course.name}")

    def _person(self, sharer: User, text: str) -> Addressee:
        try:
            address = normalise_address(text)
        except NotAnAddress:
            shown = text.strip()[:80]
            raise Refused("INVALID_EMAIL", f"“{shown}”: {INVALID_ADDRESS}", FIELD) from None
        if address == sharer.email:
            raise Refused("OWN_ADDRESS", f"{address} is your own address.", FIELD)
        user = self._users.by_email(address)
        if user is None:
            return Addressee(recipients.of_address(address), address, address)
        return Addressee(user.user_id, user.name, address, user)

    def _team(self, sharer: User, enrolment: Enrolment, group_set_id: str, team_id: str) -> Addressee:
        team = self._repository.db.one(
            d.teams.get(enrolment.course_id, group_set_id, team_id), consistent=True
        )
        is_allowed = team is not None and (enrolment.role != "student" or sharer.user_id in team.member_ids)
        if team is None or not is_allowed:
            raise Refused("TEAM_NOT_FOUND", "You are not in this team.", FIELD)
        return Addressee(recipients.of_team(team_id), f"{team.name} ({enrolment.course_id})")
