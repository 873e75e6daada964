"""Who a share can be for: a user, an address without an account, a course, a team.

`sharedWithUserId` of a share is a user's id, `EMAIL#{digest}`, `COURSE#{id}` or `TEAM#{id}`. An address stays a
recipient after its owner has signed up, so a share that is written at the moment of the first sign-in is never lost.
Must hold: memberships are read consistently, so who has left a course or a team is refused with the next request.
"""

from dataclasses import replace
from itertools import chain

from tablewright.kit.tables import digest
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Enrolment
from tablewright.systems.campus.model import User
from tablewright.systems.campus.repository import Repository

EMAIL, COURSE, TEAM = "EMAIL#", "COURSE#", "TEAM#"
NOT_USERS = (EMAIL, COURSE, TEAM)


def of_address(address: str) -> str:
    """The recipient of a normalised address without an account (CC-D33): a digest, so that no key names a person."""
    return EMAIL + digest("campus share", address)


def of_course(course_id: str) -> str:
    return COURSE + course_id


def of_team(team_id: str) -> str:
    return TEAM + team_id


def is_group(recipient: str) -> bool:
    return recipient.startswith((COURSE, TEAM))


def enrolments_of(repository: Repository, user: User) -> list[Enrolment]:
    """The courses of a user as they are at this moment."""
    return list(repository.db.all(replace(d.courses_of_user(user_id=user.user_id), consistent=True)))


def personal(repository: Repository, user: User) -> list[str]:
    """The user, the user's address, and the user's courses."""
    courses = (of_course(each.course_id) for each in enrolments_of(repository, user))
    return [user.user_id, of_address(user.email), *courses]


def teams_of(repository: Repository, user: User) -> list[str]:
    """The teams of a user, as recipients."""
    db = repository.db
    sets = chain.from_iterable(
        db.all(d.group_sets_of_course(course_id=each.course_id)) for each in enrolments_of(repository, user)
    )
    gets = [d.team_memberships.get(each.course_id, each.group_set_id, user.user_id) for each in sets]
    found = db.many(gets, consistent=True) if gets else []
    return [of_team(each.team_id) for each in found if each is not None]
