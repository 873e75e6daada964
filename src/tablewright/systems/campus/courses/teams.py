"""Teams: group sets of a course, made by hand, at random, by the students, or from a CSV file (CC-X19).

Must hold: a student is in at most one team of a set, by the key of the membership item, which is written with the team;
a team is never larger than its set allows; only students are put into teams, and no two teams of a set have the same
name, both by conditions of the same transaction. A submission keeps the members it was made with.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict, Forbidden, NotFound, Refused
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, NotUnique, Stale
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Enrolment, GroupSet, Team, TeamMembership
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.courses import Courses, Mistake, refuse
from tablewright.systems.campus.courses.csv_rows import rows_of
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.repository import Repository, is_uuid

MOST_MEMBERS = 30
_KNOWN = {"e mail": "email", "mail": "email", "group": "team"}


@dataclass(frozen=True, slots=True)
class TeamRow:
    """What became of a row of a CSV file."""

    line: int
    email: str
    team: str
    outcome: str


class Teams:
    """Group sets and their teams."""

    def __init__(self, repository: Repository, courses: Courses) -> None:
        self._repository, self._courses = repository, courses

    # --- reads ---

    def sets(self, course_id: str) -> list[GroupSet]:
        found = self._repository.db.all(d.group_sets_of_course(course_id=course_id))
        return sorted(found, key=lambda each: each.created_at)

    def group_set(self, course_id: str, group_set_id: str) -> GroupSet:
        if not is_uuid(group_set_id):
            raise self._repository.not_found("GROUP_SET")
        found = self._repository.db.one(d.group_sets.get(course_id, group_set_id), consistent=True)
        return self._repository.found(found, "GROUP_SET")

    def teams(self, group_set: GroupSet) -> list[Team]:
        query = d.teams_of_set(course_id=group_set.course_id, group_set_id=group_set.group_set_id)
        return sorted(self._repository.db.all(query), key=lambda team: _natural(team.name))

    def team(self, course_id: str, group_set_id: str, team_id: str) -> Team:
        if not is_uuid(team_id):
            raise self._repository.not_found("TEAM")
        found = self._repository.db.one(d.teams.get(course_id, group_set_id, team_id), consistent=True)
        return self._repository.found(found, "TEAM")

    def team_of(self, course_id: str, group_set_id: str, user_id: str) -> Team | None:
        """A student's team in a set."""
        key = course_id, group_set_id, user_id
        membership = self._repository.db.one(d.team_memberships.get(*key), consistent=True)
        return None if membership is None else self.team(course_id, group_set_id, membership.team_id)

    def members(self, team: Team) -> list[Enrolment]:
        """The members who are still in the course, by name."""
        gets = [d.enrolments.get(user_id, team.course_id) for user_id in team.member_ids]
        found = self._repository.db.many(gets, consistent=True)
        return sorted((each for each in found if each is not None), key=lambda each: each.name.lower())

    def without_team(self, group_set: GroupSet) -> list[Enrolment]:
        query = d.team_memberships_of_set(course_id=group_set.course_id, group_set_id=group_set.group_set_id)
        placed = {each.user_id for each in self._repository.db.all(query)}
        return [
            each
            for each in self._courses.members(group_set.course_id, "student")
            if each.user_id not in placed
        ]

    # --- by hand ---

    def create_set(
        self, member: CourseMember, name: str, *, self_enrolment: bool = False, team_size: int | None = None
    ) -> GroupSet:
        mistakes = []
        if not 1 <= len(name.strip()) <= 100:
            mistakes.append(Mistake("INVALID_NAME", "name", "Enter a name of up to 100 characters."))
        if team_size is not None and not 1 <= team_size <= MOST_MEMBERS:
            mistakes.append(Mistake("INVALID_TEAM_SIZE", "teamSize", f"Enter 1 to {MOST_MEMBERS} members."))
        refuse(mistakes)
        group_set = GroupSet(
            course_id=member.course.course_id,
            group_set_id=self._repository.new_uuid(),
            name=name.strip(),
            self_enrolment=self_enrolment,
            team_size=team_size,
            created_at=self._repository.now(),
        )
        self._write(member, "group set created", d.group_sets.create(group_set))
        return group_set

    def create_team(
        self, member: CourseMember, group_set: GroupSet, name: str, member_ids: Sequence[str] = ()
    ) -> Team:
        """A team with these students, none of whom is in another one of the set."""
        if not 1 <= len(name.strip()) <= 100:
            raise Refused("INVALID_NAME", "Enter a name of up to 100 characters.", "name")
        team = Team(
            course_id=group_set.course_id,
            group_set_id=group_set.group_set_id,
            team_id=self._repository.new_uuid(),
            name=name.strip(),
            member_ids=list(dict.fromkeys(member_ids)),
            created_at=self._repository.now(),
        )
        self._refuse_size(group_set, team)
        entering = [self._enter(team, user_id) for user_id in team.member_ids]
        students = [_is_student(user_id, team.course_id) for user_id in team.member_ids]
        self._write(member, "team created", d.teams.create(team), *entering, *students)
        return team

    def add(self, member: CourseMember, group_set: GroupSet, team_id: str, user_id: str) -> Team:
        """Put a student into a team; ALREADY_IN_TEAM if they are in one of the set."""

        def added(team: Team) -> Team:
            if user_id in team.member_ids:
                return team
            after = team.model_copy(update={"member_ids": [*team.member_ids, user_id]})
            self._refuse_size(group_set, after)
            return after

        return self._change(
            member,
            group_set,
            team_id,
            "person joined team",
            added,
            user_id,
            d.team_memberships.create,
            _is_student,
        )

    def take_out(self, member: CourseMember, group_set: GroupSet, team_id: str, user_id: str) -> Team:
        """Take a student out of a team."""

        def without(team: Team) -> Team:
            return team.model_copy(
                update={"member_ids": [each for each in team.member_ids if each != user_id]}
            )

        return self._change(
            member,
            group_set,
            team_id,
            "person left team",
            without,
            user_id,
            d.team_memberships.delete,
            d.enrolments.check,
        )

    # --- by the students ---

    def join(self, member: CourseMember, group_set: GroupSet, team_id: str) -> Team:
        self._refuse_closed(member, group_set)
        return self.add(member, group_set, team_id, member.user.user_id)

    def leave(self, member: CourseMember, group_set: GroupSet, team_id: str) -> Team:
        self._refuse_closed(member, group_set)
        return self.take_out(member, group_set, team_id, member.user.user_id)

    # --- many at once ---

    def at_random(
        self, member: CourseMember, group_set: GroupSet, size: int, *, by_section: bool = False
    ) -> list[Team]:
        """Divide the students without a team into teams of about this size.

        Each team is written as a whole: after a crash the same again divides those who are left.
        """
        if not 1 <= size <= min(group_set.team_size or MOST_MEMBERS, MOST_MEMBERS):
            most = min(group_set.team_size or MOST_MEMBERS, MOST_MEMBERS)
            raise Refused("INVALID_TEAM_SIZE", f"Enter 1 to {most} members.", "teamSize")
        left = self.without_team(group_set)
        sections = sorted({each.section or "" for each in left}) if by_section else [None]
        taken = {team.name.lower() for team in self.teams(group_set)}
        names = (name for each in count(len(taken) + 1) if (name := f"Team {each}").lower() not in taken)
        made: list[Team] = []
        for section in sections:
            ids = [each.user_id for each in left if section is None or (each.section or "") == section]
            parts = _divided(_shuffled(ids, self._repository.world.jitter), size)
            made += [self.create_team(member, group_set, next(names), members) for members in parts]
        return made

    def load(self, member: CourseMember, group_set: GroupSet, content: bytes) -> list[TeamRow]:
        """Teams from a CSV file with the columns `team` and `email`; the same file again changes nothing."""
        students = {each.email: each for each in self._courses.members(member.course.course_id, "student")}
        teams = {team.name.lower(): team for team in self.teams(group_set)}
        report = []
        for row in rows_of(content, ("team", "email"), _KNOWN):
            email, name = (row.get("email") or "").lower(), (row.get("team") or "").strip()[:100]
            student = students.get(email)
            if student is None or not name:
                words = "no such student in this course" if name else "no team is named"
                report.append(TeamRow(row.line, email, name, f"refused: {words}"))
                continue
            report.append(
                TeamRow(row.line, email, name, self._loaded(member, group_set, teams, name, student))
            )
        return report

    def _loaded(
        self, member: CourseMember, group_set: GroupSet, teams: dict[str, Team], name: str, student: Enrolment
    ) -> str:
        team, key = teams.get(name.lower()), name.lower()
        if team is not None and student.user_id in team.member_ids:
            return "unchanged"
        try:
            if team is None:  # with its first member: a row that is refused leaves no team
                teams[key] = self.create_team(member, group_set, name, [student.user_id])
            else:
                teams[key] = self.add(member, group_set, team.team_id, student.user_id)
        except Refused as mistake:
            return f"refused: {mistake.message}"
        return "added"

    # --- parts ---

    def _enter(self, team: Team, user_id: str) -> Write[Any]:
        return d.team_memberships.create(self._membership(team, user_id))

    def _membership(self, team: Team, user_id: str) -> TeamMembership:
        return TeamMembership(
            course_id=team.course_id, group_set_id=team.group_set_id, user_id=user_id, team_id=team.team_id
        )

    def _change(
        self,
        member: CourseMember,
        group_set: GroupSet,
        team_id: str,
        action: str,
        changed: Callable[[Team], Team],
        user_id: str,
        membership: Callable[[TeamMembership], Write[Any]],
        check: Callable[[str, str], Write[Any]],
    ) -> Team:
        def attempt() -> Team:
            before = self.team(group_set.course_id, group_set.group_set_id, team_id)
            after = changed(before)
            if after == before:
                return before
            write = d.teams.change(before, after)
            student = check(user_id, before.course_id)
            self._write(member, action, write, membership(self._membership(before, user_id)), student)
            return write.item or after

        return self._repository.retried(None, attempt)

    def _write(self, member: CourseMember, action: str, first: Write[Any], *writes: Write[Any]) -> None:
        entry = self._repository.audit(
            f"course:{member.course.course_id}", action, member.actor, first.before, first.item
        )
        try:
            self._repository.db.write(first, *writes, entry)
        except AlreadyExists as taken:
            if taken.entity == d.team_memberships.tag:
                words = "This student is already in a team of this set. Take them out of it first."
                raise Conflict("ALREADY_IN_TEAM", words, "userId") from None
            raise Conflict("EXISTS", "This team already exists.", "name") from None
        except NotUnique:
            words = "Another team of this set has this name. Choose another one."
            raise Conflict("TEAM_EXISTS", words, "name") from None
        except ConditionNotMet:
            words = "Only students of this course can be in a team."
            raise Conflict("STUDENTS_ONLY", words, "userId") from None
        except Missing:
            raise NotFound("student", "This person is not in this course.", "userId") from None
        except Stale:
            raise Changed() from None

    def _refuse_size(self, group_set: GroupSet, team: Team) -> None:
        most = group_set.team_size or MOST_MEMBERS
        if len(team.member_ids) > most:
            raise Conflict("TEAM_FULL", f"A team of this set has at most {most} members.", "userId")

    def _refuse_closed(self, member: CourseMember, group_set: GroupSet) -> None:
        if member.role != "student" or not group_set.self_enrolment:
            raise Forbidden("NO_SELF_ENROLMENT", "Your instructor puts the teams of this set together.")


def _is_student(user_id: str, course_id: str) -> Write[Any]:
    return d.enrolments.check(user_id, course_id).when(lambda enrolment: enrolment.role == "student")


def _natural(name: str) -> list[int | str]:
    """Team 2 before Team 10: text and numbers take turns."""
    return [
        int(word) if number % 2 else word for number, word in enumerate(re.split(r"([0-9]+)", name.lower()))
    ]


def _shuffled(ids: Iterable[str], chance: Callable[[], float]) -> list[str]:
    return [each for _, each in sorted((chance(), each) for each in ids)]


def _divided(ids: Sequence[str], size: int) -> list[list[str]]:
    """Parts of nearly equal length, as many as teams of this size are needed."""
    parts = max(1, -(-len(ids) // size)) if ids else 0
    return [list(ids[number::parts]) for number in range(parts)]
