"""The gradebook from a file: one table with a column for each assignment, looked at before it is applied.

A number is what the gradebook then shows, after a late penalty; an empty cell changes nothing. Must hold: with one
wrong cell nothing is applied, and all wrong cells are reported at once. What is applied is what was looked at: the plan
has a digest of every grade it would write and of the version it rests on, and is refused if that is another one by now;
each grade is then written on the condition of that version. One that loses against another grader in between is
reported, and the others stay applied: a gradebook is larger than a transaction. It is safe to repeat, because what is
the same is not written.
Elsewhere: the file out (gradebook.py), reading CSV (courses/csv_rows.py), one grade (marks.py, hand_grades.py).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from tablewright.edge.errors import BadRequest, CallerError, Refused
from tablewright.kit.tables import digest
from tablewright.systems.campus.course_model import Assignment, Course, Submission
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.csv_rows import Row, Table, column_name, table_of
from tablewright.systems.campus.courses.lateness import after_penalty
from tablewright.systems.campus.courses.owners import Owner
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.grade_model import Rubric
from tablewright.systems.campus.grading.csv_tables import plain
from tablewright.systems.campus.grading.gradebook import Column, Gradebook, Sheet, StudentRow, column_titles
from tablewright.systems.campus.grading.hand_grades import HandGrades
from tablewright.systems.campus.grading.mark_entries import (
    MarkEntry,
    changed_entry,
    in_cents,
    scores_of,
    typed_number,
)
from tablewright.systems.campus.grading.marks import Marks
from tablewright.systems.campus.grading.release import is_released
from tablewright.systems.campus.grading.rubrics import Rubrics
from tablewright.systems.campus.grading.totals import HUNDRED, check_grade, most_of, penalty_of, rounded
from tablewright.systems.campus.repository import Repository

_STUDENT = {"e mail": "email", "mail": "email", "university": "university id", "name": "student"}
# What a gradebook has beside grades.
_OTHERS = frozenset(("student", "university id", "email", "section", "total %", "letter"))


@dataclass(frozen=True, slots=True)
class GradeChange:
    """A cell that differs: what the gradebook has and what it would have. `by_hand`: there is no submission."""

    line: int
    student: str
    assignment: str
    old: Decimal | None
    new: Decimal
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class WrongCell:
    """A cell that cannot be imported, and why."""

    line: int
    student: str
    column: str
    message: str


@dataclass(frozen=True, slots=True)
class GradePlan:
    """What a file would change. `digest` names exactly this, as the gradebook is now."""

    changes: Sequence[GradeChange]
    wrong: Sequence[WrongCell]
    unknown_students: Sequence[tuple[int, str]]
    unknown_columns: Sequence[str]
    unchanged: int
    digest: str
    released: Sequence[str] = ()


@dataclass(slots=True)
class _Target:
    """A row of the table that is graded, or the owner who has none yet, with the cells that are about it."""

    column: Column
    row: Submission | None
    owner: Owner | None
    cells: list[tuple[int, StudentRow, Decimal]] = field(default_factory=list)

    @property
    def assignment(self) -> Assignment:
        return self.column.assignment

    @property
    def is_team(self) -> bool:
        if self.row is not None:
            return self.row.team_id is not None
        return self.owner is not None and self.owner.team is not None


@dataclass(slots=True)
class _Found:
    """A plan on its way."""

    changes: list[GradeChange] = field(default_factory=list)
    wrong: list[WrongCell] = field(default_factory=list)
    strangers: list[tuple[int, str]] = field(default_factory=list)
    unchanged: int = 0
    targets: dict[tuple[str, str], _Target] = field(default_factory=dict)
    entries: list[tuple[_Target, MarkEntry]] = field(default_factory=list)
    absent: dict[str, dict[str, Owner]] = field(default_factory=dict)


class GradeImport:
    """Looks at files and applies them."""

    def __init__(
        self,
        repository: Repository,
        gradebook: Gradebook,
        marks: Marks,
        rubrics: Rubrics,
        hand_grades: HandGrades,
    ) -> None:
        self._repository, self._gradebook, self._marks = repository, gradebook, marks
        self._rubrics, self._hand_grades = rubrics, hand_grades

    def preview(self, member: CourseMember, content: bytes) -> GradePlan:
        """What a file would change; nothing is written."""
        return self._planned(member, content)[0]

    def apply(self, member: CourseMember, content: bytes, seen: str) -> tuple[GradePlan, list[WrongCell]]:
        """Apply the plan that was seen; Changed if it is another one by now. What lost against another grader."""
        plan, found = self._planned(member, content)
        if plan.wrong:
            facts = {"cells": [_as_fact(each) for each in plan.wrong]}
            count = f"{len(plan.wrong)} cells are" if len(plan.wrong) > 1 else "1 cell is"
            raise Refused("WRONG_CELLS", f"{count} wrong, so nothing was imported.", "file", facts)
        if plan.digest != seen:
            raise Changed
        lost: list[WrongCell] = []
        for target, entry in found.entries:
            try:
                self._save(member, target, entry)
            except CallerError as refused:
                lost += [
                    WrongCell(line, row.student.name, target.assignment.title, refused.message)
                    for line, row, _, _ in _changed(target)
                ]
        return plan, lost

    def _save(self, member: CourseMember, target: _Target, entry: MarkEntry) -> None:
        if target.row is not None:
            expected = target.row.version
            self._marks.save(target.assignment, target.row, entry, member.actor, expected, publish=True)
        elif target.owner is not None:
            self._hand_grades.save_for(member, target.assignment, target.owner, entry, publish=True)

    # --- the plan ---

    def _planned(self, member: CourseMember, content: bytes) -> tuple[GradePlan, _Found]:
        columns = self._gradebook.columns(member.course.course_id)
        sheet = self._gradebook.for_staff(member.course, columns)
        table = table_of(content, [], _STUDENT)
        known = _columns_of(columns, table)
        found = _Found()
        if not {"email", "university id"} & {name for name, _ in table.columns}:
            words = "The first line must name the columns, with E-mail or University id among them."
            raise BadRequest("MISSING_COLUMN", words, "file")
        _refuse_twice(table, known, found)
        for row, student in self._students(sheet, table, found):
            for name, column in known.items():
                self._cell(found, row, student, name, column)
        for target in found.targets.values():
            self._entry(member, found, target)
        unknown = [title for name, title in table.columns if name not in known and name not in _OTHERS]
        return self._plan(member.course, found, [each for each in unknown if each]), found

    def _plan(self, course: Course, found: _Found, unknown: list[str]) -> GradePlan:
        now = self._repository.now()
        written = sorted(
            f"{target.assignment.assignment_id}/{_owner_id(target)}/{_version(target)}/{entry.score}/"
            f"{entry.adjustment}/{sorted(entry.scores.items())}"
            for target, entry in found.entries
        )
        released = {each.assignment.title for each, _ in found.entries if is_released(each.assignment, now)}
        return GradePlan(
            sorted(found.changes, key=lambda each: (each.line, each.assignment)),
            sorted(found.wrong, key=lambda each: (each.line, each.column)),
            found.strangers,
            unknown,
            found.unchanged,
            digest(course.course_id, *written),
            sorted(released),
        )

    def _students(self, sheet: Sheet, table: Table, found: _Found) -> Iterator[tuple[Row, StudentRow]]:
        """The student of each row, by address or university id."""
        by_email = {each.student.email.lower(): each for each in sheet.rows}
        by_id = {each.student.university_id: each for each in sheet.rows if each.student.university_id}
        ids = Counter(each.student.university_id for each in sheet.rows)
        seen: set[str] = set()
        for row in table.rows:
            email, id = (row.get("email") or "").lower(), row.get("university id")
            named = row.get("student") or email or id or ""
            student = by_email.get(email) or by_id.get(id or "")
            if student is None:
                found.strangers.append((row.line, named))
            elif email not in by_email and ids[id] > 1:
                found.wrong.append(WrongCell(row.line, named, "", "Two students have this university id."))
            elif email in by_email and id in by_id and by_email[email] is not by_id[id]:
                words = "The address and the university id are those of two students."
                found.wrong.append(WrongCell(row.line, named, "", words))
            elif student.student.user_id in seen:
                found.wrong.append(WrongCell(row.line, named, "", "This student is in the file twice."))
            else:
                seen.add(student.student.user_id)
                yield row, student

    def _cell(self, found: _Found, row: Row, student: StudentRow, name: str, column: Column) -> None:
        """Sort one cell: empty, the same, wrong, or a grade for its row."""
        text, assignment = row.get(name), column.assignment
        if text is None:
            return
        result = student.results[assignment.assignment_id]
        number = typed_number(text.replace(" ", ""))
        is_word = text.lower() == result.state and result.state in ("missing", "excused")
        if (number is not None and number == result.score) or is_word:
            found.unchanged += 1
            number = result.score
            if number is None:
                return
        try:
            target = self._target(found, student, column, is_same=number == result.score)
            if number is None:
                raise Refused("INVALID_SCORE", f"“{text[:40]}” is not a number.")
        except CallerError as refused:
            found.wrong.append(WrongCell(row.line, student.student.name, assignment.title, refused.message))
            return
        if target is not None:
            target.cells.append((row.line, student, number))

    def _target(self, found: _Found, student: StudentRow, column: Column, *, is_same: bool) -> _Target | None:
        """What a student's grade of an assignment is written to; None for one that stays and may stay so."""
        assignment, user_id = column.assignment, student.student.user_id
        result = student.results[assignment.assignment_id]
        rows = column.submissions.get(user_id, ())
        row = max(rows, key=lambda each: (each.submitted_at, each.submission_number), default=None)
        is_team = assignment.group_set_id is not None or (row is not None and row.team_id is not None)
        if is_same and not is_team:
            return None
        if not is_same:
            hidden = assignment.anonymous and not is_released(assignment, self._repository.now())
            _refuse_elsewhere(assignment, result.state, hidden)
        if row is not None:
            return found.targets.setdefault(
                (assignment.assignment_id, row.owner_id), _Target(column, row, None)
            )
        owner = self._absent(found, assignment).get(user_id)
        if owner is None and is_same:
            return None
        if owner is None:
            raise Refused("NO_TEAM", "This student is in no team, and the assignment is for teams.")
        return found.targets.setdefault(
            (assignment.assignment_id, owner.owner_id), _Target(column, None, owner)
        )

    def _absent(self, found: _Found, assignment: Assignment) -> dict[str, Owner]:
        """The owners without a row, by each of their students."""
        id = assignment.assignment_id
        if id not in found.absent:
            found.absent[id] = {
                member: each.owner
                for each in self._hand_grades.candidates(assignment)
                for member in each.owner.member_ids
            }
        return found.absent[id]

    def _entry(self, member: CourseMember, found: _Found, target: _Target) -> None:
        """The mark that a target gets, or what is wrong with its cells."""
        assignment, title = target.assignment, target.assignment.title
        changed = _changed(target)
        if not changed:
            return
        try:
            rubric = self._rubrics.of_assignment(assignment)
            entry = self._mark(member, target, rubric, [(row, new) for _, row, new in target.cells])
        except CallerError as refused:
            found.wrong += [
                WrongCell(line, row.student.name, title, refused.message) for line, row, _, _ in changed
            ]
            return
        found.entries.append((target, entry))
        is_hand = target.row is None or not handed_in(target.row)
        found.changes += [
            GradeChange(line, row.student.name, title, old, new, is_hand) for line, row, old, new in changed
        ]

    def _mark(
        self,
        member: CourseMember,
        target: _Target,
        rubric: Rubric | None,
        cells: Sequence[tuple[StudentRow, Decimal]],
    ) -> MarkEntry:
        assignment, row = target.assignment, target.row
        percent = penalty_of(assignment, row) if row is not None else Decimal(0)
        most = most_of(assignment, rubric)
        wanted = {
            each.student.user_id: _before_penalty(new, percent, most, assignment) for each, new in cells
        }
        mark = None
        if row is not None:
            known = self._marks.of(row.submission_id)
            own = next((each for each in known if each.marker_id == member.actor.subject), None)
            mark = next((each for each in known if each.published), own)
        feedback = mark.feedback if mark is not None else None
        if target.is_team and assignment.grade_each:
            scores = {**(mark.grades if mark is not None else {}), **wanted}
            entry = changed_entry(mark, rubric, None, scores, feedback)
        else:
            numbers = sorted(set(wanted.values()))
            if len(numbers) > 1:
                given = " and ".join(plain(each) for each in sorted({new for _, new in cells}))
                words = f"All members of a team get the same grade in this assignment; the file has {given}."
                raise Refused("ONE_GRADE", words)
            entry = changed_entry(mark, rubric, numbers[0], {}, feedback)
        entry = in_cents(entry)
        if row is not None:
            scores_of(assignment, row, rubric, entry)
        return entry


def _changed(target: _Target) -> list[tuple[int, StudentRow, Decimal | None, Decimal]]:
    """The cells that differ, with what the gradebook has."""
    id = target.assignment.assignment_id
    cells = [(line, row, row.results[id].score, new) for line, row, new in target.cells]
    return [each for each in cells if each[2] != each[3]]


def _columns_of(columns: Sequence[Column], table: Table) -> dict[str, Column]:
    """The columns of a file that are assignments: by title and points, or by a title that only one has."""
    titles = column_titles([each.assignment for each in columns])
    full = {column_name(title, _STUDENT): each for title, each in zip(titles, columns, strict=True)}
    count = Counter(column_name(each.assignment.title, _STUDENT) for each in columns)
    short = {column_name(each.assignment.title, _STUDENT): each for each in columns}
    known = {name: each for name, each in short.items() if count[name] == 1 and name not in _OTHERS} | full
    return {name: known[name] for name, _ in table.columns if name in known}


def _refuse_twice(table: Table, known: Mapping[str, Column], found: _Found) -> None:
    """Two columns for one assignment, or for one field of the student, are one too many."""
    seen: set[str] = set()
    for name, title in table.columns:
        about = known[name].assignment.assignment_id if name in known else name if name in _OTHERS else ""
        if about and about in seen:
            found.wrong.append(WrongCell(1, "", title, "This column is in the file twice."))
        seen.add(about)


def _refuse_elsewhere(assignment: Assignment, state: str, hidden: bool) -> None:
    """What is not graded here."""
    if state == "excused":
        raise Refused("EXCUSED", "This student is excused, so a grade would not count.")
    if assignment.second_marking:
        raise Refused("SECOND_MARKING", "Two markers agree on this grade: use the page of the submission.")
    if hidden and state != "graded":
        raise Refused(
            "ANONYMOUS", "This assignment is marked anonymously; import its grades after the release."
        )


def _before_penalty(grade: Decimal, percent: Decimal, most: Decimal, assignment: Assignment) -> Decimal:
    """The score whose grade this is; refused if it is out of bounds."""
    if rounded(grade) != grade:
        raise Refused("GRADE_OUT_OF_RANGE", "A grade has at most 2 decimals.")
    left = HUNDRED - percent
    score = grade if not percent else rounded(grade * HUNDRED / left) if left else Decimal(0)
    try:
        checked = check_grade(score, most, extra_credit=assignment.extra_credit)
    except Refused:
        checked = None
    if checked is None or after_penalty(score, percent) != grade:
        late = f" after the late penalty of {plain(percent)} %" if percent else ""
        top = plain(after_penalty(most, percent))
        raise Refused("GRADE_OUT_OF_RANGE", f"The grade must be 0 to {top}{late}.")
    return checked


def _owner_id(target: _Target) -> str:
    if target.row is not None:
        return target.row.owner_id
    return target.owner.owner_id if target.owner is not None else ""


def _version(target: _Target) -> str:
    return f"{target.row.submission_id}:{target.row.version}" if target.row is not None else "none"


def _as_fact(cell: WrongCell) -> Mapping[str, object]:
    return {"line": cell.line, "student": cell.student, "column": cell.column, "message": cell.message}
