"""The gradebook: what each student has for each assignment of a course, and the total (CC-X26).

Must hold: a student's own total is made of what the student may see; staff sees every published grade, but none of an
anonymous assignment before its release, because that would name its students.
Elsewhere: the arithmetic (totals.py), whether a grade is visible (release.py).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from tablewright.edge.errors import Refused
from tablewright.kit.tables import Actor
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import (
    Assignment,
    Course,
    Enrolment,
    GradeGroup,
    GradeLetter,
    Override,
    Submission,
)
from tablewright.systems.campus.courses.dates import Dates, dates_for, dates_for_team
from tablewright.systems.campus.courses.lateness import is_late, missing
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.grading.csv_tables import csv_of
from tablewright.systems.campus.grading.notices import students_of
from tablewright.systems.campus.grading.release import visible
from tablewright.systems.campus.grading.totals import (
    HUNDRED,
    CourseTotal,
    Result,
    ResultState,
    course_total,
    distribution,
    grade_of,
    percent_of,
    what_if,
)
from tablewright.systems.campus.repository import Repository

MOST_GROUPS, MOST_LETTERS = 30, 20


@dataclass(frozen=True, slots=True)
class Column:
    """An assignment with its submissions by student, its overrides, and the teams of its group set with their dates."""

    assignment: Assignment
    submissions: Mapping[str, Sequence[Submission]]
    overrides: Sequence[Override]
    teams: Mapping[str, str]
    team_dates: Mapping[str, Dates]


@dataclass(frozen=True, slots=True)
class StudentRow:
    """A student's results, by assignment, and the total."""

    student: Enrolment
    results: Mapping[str, Result]
    total: CourseTotal
    submissions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The gradebook of a course, as staff sees it."""

    course: Course
    assignments: tuple[Assignment, ...]
    rows: tuple[StudentRow, ...]

    def distribution(self, assignment_id: str | None = None) -> list[int]:
        """How many students are in each band of ten per cent: of the total, or of one assignment."""
        if assignment_id is None:
            return distribution([row.total.percent for row in self.rows if row.total.percent is not None])
        results = [row.results[assignment_id] for row in self.rows if assignment_id in row.results]
        return distribution([each.percent for each in results if each.score is not None and each.points > 0])


class Gradebook:
    """Gradebooks of courses."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    # --- reads ---

    def for_staff(self, course: Course, columns: Sequence[Column] | None = None) -> Sheet:
        now = self._repository.now()
        columns = columns if columns is not None else self.columns(course.course_id)
        people = self._repository.db.all(d.enrolments_of_course(course_id=course.course_id))
        students = sorted(
            (each for each in people if each.role == "student"), key=lambda each: (each.name, each.user_id)
        )
        rows = tuple(self._row(course, columns, each, now, own=False) for each in students)
        return Sheet(course, tuple(each.assignment for each in columns), rows)

    def for_student(
        self, course: Course, student: Enrolment, guesses: Mapping[str, Decimal] | None = None
    ) -> tuple[list[Assignment], StudentRow]:
        """A student's own row; with `guesses`, what the total would be."""
        columns = self.columns(course.course_id, self._own(student.user_id))
        row = self._row(course, columns, student, self._repository.now(), own=True, guesses=guesses or {})
        return [each.assignment for each in columns], row

    def csv(self, course: Course) -> str:
        """The staff's gradebook for a spreadsheet."""
        sheet = self.for_staff(course)
        header = ["Student", "University id", "E-mail", "Section"]
        header += column_titles(sheet.assignments)
        header += ["Total %", "Letter"]
        return csv_of(
            header,
            (
                [
                    *(row.student.name, row.student.university_id, row.student.email, row.student.section),
                    *(_cell(row.results[each.assignment_id]) for each in sheet.assignments),
                    *(row.total.percent, row.total.letter),
                ]
                for row in sheet.rows
            ),
        )

    # --- groups and letters ---

    def set_scheme(
        self,
        course: Course,
        groups: Sequence[GradeGroup],
        letters: Sequence[GradeLetter],
        actor: Actor,
        expected: int,
    ) -> Course:
        """The groups with their weights, and the letters, of a course."""
        if course.version != expected:
            raise Changed
        named = [
            each if each.group_id else each.model_copy(update={"group_id": self._repository.new_uuid()})
            for each in groups
        ]
        _check_groups(named)
        _check_letters(letters)
        update = {"grade_groups": named, "letters": list(letters), "updated_at": self._repository.now()}
        write = d.courses.change(course, course.model_copy(update=update))
        assert write.item is not None
        audit = self._repository.audit(
            f"course:{course.course_id}", "grade scheme changed", actor, course, write.item
        )
        self._repository.write("COURSE", write, audit)
        return write.item

    # --- parts ---

    def _own(self, student_id: str) -> dict[str, list[Submission]]:
        """A student's submissions and those of the teams the student was in, by assignment."""
        found: dict[str, Submission] = {}
        for each in self._repository.db.all(d.submissions_of_student(student_id=student_id)):
            key = each.assignment_id, each.owner_id, each.submission_number
            row = each if isinstance(each, Submission) else self._repository.db.one(d.submissions.get(*key))
            if row is not None:
                found[row.submission_id] = row
        by_assignment: dict[str, list[Submission]] = defaultdict(list)
        for row in found.values():
            by_assignment[row.assignment_id].append(row)
        return by_assignment

    def columns(self, course_id: str, own: Mapping[str, Sequence[Submission]] | None = None) -> list[Column]:
        """The published assignments by due date; with `own` submissions instead of everyone's."""
        every = self._repository.db.all(d.assignments_of_course(course_id=course_id))
        found = sorted(
            (each for each in every if each.status != "draft"),
            key=lambda each: (each.due_date, each.assignment_id),
        )
        return [self._column(each, own) for each in found]

    def _column(self, assignment: Assignment, own: Mapping[str, Sequence[Submission]] | None) -> Column:
        id = assignment.assignment_id
        rows: Iterable[Submission] = (
            own.get(id, ())
            if own is not None
            else self._repository.db.all(d.submissions_of_assignment(assignment_id=id))
        )
        by_student: dict[str, list[Submission]] = defaultdict(list)
        for row in rows:
            for student in students_of(row) if row.withdrawn_at is None else ():
                by_student[student].append(row)
        overrides, teams = self._repository.overrides_of(id), self._teams(assignment)
        return Column(
            assignment, by_student, overrides, teams, self._team_dates(assignment, overrides, teams)
        )

    def _teams(self, assignment: Assignment) -> dict[str, str]:
        if assignment.group_set_id is None:
            return {}
        query = d.team_memberships_of_set(
            course_id=assignment.course_id, group_set_id=assignment.group_set_id
        )
        return {each.user_id: each.team_id for each in self._repository.db.all(query)}

    def _team_dates(
        self, assignment: Assignment, overrides: Sequence[Override], teams: Mapping[str, str]
    ) -> dict[str, Dates]:
        """By team, as for its submission: an extension of one member is one for all."""
        sections: dict[str, str | None] = {}
        if teams and any(each.audience == "section" for each in overrides):
            people = self._repository.db.all(d.enrolments_of_course(course_id=assignment.course_id))
            sections = {each.user_id: each.section for each in people}
        members: dict[str, list[str]] = defaultdict(list)
        for user_id, team_id in teams.items():
            members[team_id].append(user_id)
        return {
            team_id: dates_for_team(assignment, overrides, team_id, ids, [sections.get(id) for id in ids])
            for team_id, ids in members.items()
        }

    def _row(
        self,
        course: Course,
        columns: Sequence[Column],
        student: Enrolment,
        now: datetime,
        *,
        own: bool,
        guesses: Mapping[str, Decimal] | None = None,
    ) -> StudentRow:
        found = [_result(column, student, now, own=own) for column in columns]
        results = what_if([result for result, _ in found], guesses or {})
        total = course_total(course.grade_groups, course.letters, results)
        shown = {result.assignment_id: id for result, id in found if id is not None}
        return StudentRow(student, {each.assignment_id: each for each in results}, total, shown)


def column_titles(assignments: Sequence[Assignment]) -> list[str]:
    """The heads of the columns in a file: title and points, and the end of the id where two are the same."""
    titles = [f"{each.title} ({_points(each).normalize():f})" for each in assignments]
    return [
        title if titles.count(title) == 1 else f"{title} {each.assignment_id[-6:]}"
        for title, each in zip(titles, assignments, strict=True)
    ]


def _points(assignment: Assignment) -> Decimal:
    return assignment.points if assignment.points is not None else HUNDRED


def _result(column: Column, student: Enrolment, now: datetime, *, own: bool) -> tuple[Result, str | None]:
    """What a student has for an assignment, and the submission it is from: the newest with a grade to be seen."""
    assignment = column.assignment
    known = column.submissions.get(student.user_id, ())
    found = [row for row in known if handed_in(row) or _is_seen(assignment, row, now, own=own)]
    rows = sorted(found, key=lambda row: (row.submitted_at, row.submission_number), reverse=True)
    dates = _dates(column, student)
    marked = next((row for row in rows if _is_seen(assignment, row, now, own=own)), None)
    newest = rows[0] if rows else None
    score, points = None, _points(assignment)
    state: ResultState
    if dates.excused:
        state = "excused"
    elif marked is not None:
        state, score, points = "graded", grade_of(marked, student.user_id), marked.max_grade or points
    elif newest is not None:
        state = "submitted"
    else:
        score = missing(assignment, dates.accept_until, now, excused=False)
        state = (
            "missing" if score is not None or is_late(dates.due, now, assignment.grace_minutes) else "open"
        )
    result = Result(
        assignment.assignment_id, assignment.grade_group_id, points, score, state, assignment.counts
    )
    shown = marked or newest
    if shown is not None and not own and assignment.anonymous and not visible(assignment, shown, now):
        return result, None
    return result, shown.submission_id if shown is not None else None


def _dates(column: Column, student: Enrolment) -> Dates:
    """The dates of the student's team, else of the student; excused is also who is excused alone."""
    team_id = column.teams.get(student.user_id)
    own = dates_for(column.assignment, column.overrides, student.user_id, student.section, team_id)
    return own if team_id is None else replace(column.team_dates[team_id], excused=own.excused)


def _is_seen(assignment: Assignment, row: Submission, now: datetime, *, own: bool) -> bool:
    if row.status == "submitted":
        return False
    return visible(assignment, row, now) if own or assignment.anonymous else True


def _cell(result: Result) -> object:
    return (
        result.score
        if result.score is not None
        else ""
        if result.state in ("open", "submitted")
        else result.state
    )


def _check_groups(groups: Sequence[GradeGroup]) -> None:
    if len(groups) > MOST_GROUPS:
        raise Refused("INVALID_GROUPS", f"A course has at most {MOST_GROUPS} groups.", "gradeGroups")
    if len({each.group_id for each in groups}) < len(groups):
        raise Refused("INVALID_GROUPS", "Two groups have the same id.", "gradeGroups")
    for each in groups:
        if not each.name.strip() or len(each.name) > 100:
            raise Refused("INVALID_GROUPS", "A group needs a name of up to 100 characters.", "gradeGroups")
        if not (each.weight.is_finite() and 0 <= each.weight <= 1000) or not 0 <= each.drop_lowest <= 50:
            raise Refused(
                "INVALID_GROUPS", "A weight is 0 to 1000, and 0 to 50 results can be dropped.", "gradeGroups"
            )


def _check_letters(letters: Sequence[GradeLetter]) -> None:
    bounds = [each.from_percent for each in letters]
    if len(letters) > MOST_LETTERS or len(set(bounds)) < len(bounds):
        raise Refused(
            "INVALID_LETTERS", f"Up to {MOST_LETTERS} letters, each from another percentage on.", "letters"
        )
    for each in letters:
        if not 1 <= len(each.letter.strip()) <= 10 or not (
            each.from_percent.is_finite() and 0 <= each.from_percent <= 100
        ):
            raise Refused(
                "INVALID_LETTERS", "A letter has 1 to 10 characters and begins at 0 to 100 %.", "letters"
            )


def share_of(result: Result) -> Decimal | None:
    """A result in per cent, for pages."""
    return percent_of(result.score, result.points) if result.score is not None and result.points > 0 else None
