"""Offline marking: all submissions of an assignment as a zip with a CSV worksheet, and the same back in (CC-X25).

The newest attempt of each student or team is a folder; files that a marker puts into its `feedback` folder come back
as feedback. Must hold: a row of the worksheet that changes nothing is not applied again, so an import can be repeated;
a row that rests on an older version is reported and not applied; the other rows still are.
Elsewhere: saving one mark (marks.py), zip files (zip_files.py), CSV (csv_tables.py, courses/csv_rows.py).
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import IO, Literal

from tablewright.edge.errors import BadRequest, CallerError, Conflict
from tablewright.kit.tables import Actor
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Part, Submission
from tablewright.systems.campus.courses.csv_rows import MOST_BYTES as MOST_CSV
from tablewright.systems.campus.courses.csv_rows import Row, rows_of
from tablewright.systems.campus.courses.parts import Parts
from tablewright.systems.campus.errors import Locked, TooLarge
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.files.uploads import Uploads
from tablewright.systems.campus.grade_model import Mark
from tablewright.systems.campus.grading.csv_tables import csv_of
from tablewright.systems.campus.grading.disclosure import Pseudonyms, for_staff, is_anonymous
from tablewright.systems.campus.grading.feedback_files import FeedbackFiles
from tablewright.systems.campus.grading.mark_entries import MarkEntry, changed_entry, typed_number
from tablewright.systems.campus.grading.marks import Marks
from tablewright.systems.campus.grading.notices import students_of
from tablewright.systems.campus.grading.rubrics import Rubrics
from tablewright.systems.campus.grading.totals import most_of, penalty_of
from tablewright.systems.campus.grading.zip_files import Entry, opened_zip, safe_name, zip_of
from tablewright.systems.campus.model import User
from tablewright.systems.campus.repository import Repository

WORKSHEET, FEEDBACK = "worksheet.csv", "feedback"
COLUMNS = (
    "Submission", "Folder", "Name", "Student", "University id", "E-mail", "Section", "Attempt", "Submitted",
    "Late penalty %", "Score", "Out of", "Feedback", "Version",
)  # fmt: skip
_KNOWN = {
    "e mail": "email", "mail": "email", "university": "university id", "grade": "score", "points": "score",
    "submission id": "submission", "student id": "student", "comment": "feedback",
}  # fmt: skip

Outcome = Literal["saved", "unchanged", "empty", "refused"]


@dataclass(frozen=True, slots=True)
class RowReport:
    """What became of a row: its line in the worksheet, whose it is, and why it was refused."""

    line: int
    name: str
    outcome: Outcome
    message: str = ""


class Worksheets:
    """Worksheets out and in."""

    def __init__(
        self,
        repository: Repository,
        marks: Marks,
        rubrics: Rubrics,
        library: Library,
        uploads: Uploads,
        pseudonyms: Pseudonyms,
        parts: Parts,
        files: FeedbackFiles,
    ) -> None:
        self._parts, self._files = parts, files
        self._repository, self._marks, self._rubrics = repository, marks, rubrics
        self._library, self._uploads, self._pseudonyms = library, uploads, pseudonyms

    # --- out ---

    def newest(self, assignment: Assignment) -> list[Submission]:
        """The newest attempt of each student or team that was not withdrawn.

        For anonymous marking by pseudonym: in the order of ids it could be read off a list of students whose is whose.
        """
        rows = self._repository.db.all(d.submissions_of_assignment(assignment_id=assignment.assignment_id))
        found = list({each.owner_id: each for each in rows if each.withdrawn_at is None}.values())
        if assignment.anonymous:
            found.sort(key=lambda each: self._pseudonyms.of(each.assignment_id, each.owner_id))
        return found

    def csv(self, assignment: Assignment, actor: Actor) -> str:
        """The worksheet: a row for each submission, or for each member of a team that gets a grade each."""
        most = most_of(assignment, self._rubrics.of_assignment(assignment))
        rows = (self._rows(assignment, each, most, actor) for each in self.newest(assignment))
        return csv_of(COLUMNS, (row for of_one in rows for row in of_one))

    def _rows(
        self, assignment: Assignment, row: Submission, most: Decimal, actor: Actor
    ) -> Iterator[list[object]]:
        shown = for_staff(assignment, row, self._repository.now(), self._pseudonyms)
        mark = self._current(assignment, row, actor)
        version = self._marks.version_for(assignment, row, actor)
        members = students_of(row) if assignment.grade_each and row.team_id else [""]
        hidden = is_anonymous(assignment, row, self._repository.now())
        for member in members:
            score = None if mark is None else mark.grades.get(member, mark.score)
            named = self._pseudonyms.of(row.assignment_id, member) if hidden and member else member
            yield [
                row.submission_id, folder_of(shown), shown.team_name or shown.student_name, named,
                shown.university_id, shown.student_email, shown.section, row.submission_number,
                row.submitted_at.isoformat(timespec="seconds"), penalty_of(assignment, row), score, most,
                mark.feedback if mark is not None else None, version,
            ]  # fmt: skip

    def zip(self, assignment: Assignment, actor: Actor) -> Iterator[bytes]:
        """The worksheet and a folder for each student or team, in chunks."""
        return zip_of(self._entries(assignment, actor), self._repository.now())

    def _entries(self, assignment: Assignment, actor: Actor) -> Iterator[tuple[str, Iterable[bytes]]]:
        yield WORKSHEET, [self.csv(assignment, actor).encode()]
        for row in self.newest(assignment):
            shown = for_staff(assignment, row, self._repository.now(), self._pseudonyms)
            folder = folder_of(shown)
            for number, part in enumerate(shown.parts, 1):
                name, chunks = self._part(part)
                yield f"{folder}/{number:02d} {safe_name(name)}", chunks

    def _part(self, part: Part) -> tuple[str, Iterable[bytes]]:
        if part.kind == "text":
            return "text.txt", [(part.text or "").encode()]
        if part.kind == "link" or part.object_name is None:
            return "link.txt", [(part.url or "").encode()]
        name = part.filename or "file"
        try:
            self._parts.refuse_locked(part, None)
            return name, self._library.open_object(part.object_name)
        except Locked as locked:
            return f"{name}.locked.txt", [f"{name} is not here. {locked.message}\n".encode()]
        except CallerError as gone:
            # One file that cannot be read does not break the others off.
            return f"{name}.missing.txt", [gone.message.encode()]

    # --- in ---

    def take(
        self, assignment: Assignment, source: IO[bytes], user: User, actor: Actor, *, publish: bool = False
    ) -> list[RowReport]:
        """Apply a worksheet, or a zip file with one and with feedback files; what became of each row.

        A zip file may have any size: it is read at the places of the worksheet and the feedback, in chunks.
        """
        head = source.read(2)
        source.seek(0)
        if head != b"PK":
            rows = rows_of(source.read(MOST_CSV + 1), ["score"], _KNOWN)
            return list(_Import(self, assignment, user, actor, publish, {}).lines(rows))
        with opened_zip(source, _is_wanted) as files:
            sheet = next((name for name in files if name.rpartition("/")[2] == WORKSHEET), None)
            if sheet is None:
                raise BadRequest("WORKSHEET_MISSING", f"There is no {WORKSHEET} in this zip file.", "file")
            if files[sheet].size > MOST_CSV:
                raise TooLarge("FILE_TOO_LARGE", f"{WORKSHEET} is too large.", "file")
            rows = rows_of(b"".join(files[sheet].chunks()), ["score"], _KNOWN)
            feedback = _feedback_files(files, sheet.removesuffix(WORKSHEET))
            return list(_Import(self, assignment, user, actor, publish, feedback).lines(rows))

    def _current(self, assignment: Assignment, row: Submission, actor: Actor) -> Mark | None:
        """The mark that a worksheet shows: the marker's own, else the published one."""
        own = self._marks.one(row.submission_id, actor.subject)
        if own is not None or assignment.second_marking:
            return own
        return next((each for each in self._marks.of(row.submission_id) if each.published), None)


class _Import:
    """One worksheet on its way in."""

    def __init__(
        self,
        sheets: Worksheets,
        assignment: Assignment,
        user: User,
        actor: Actor,
        publish: bool,
        feedback: Mapping[str, Sequence[tuple[str, Entry]]],
    ) -> None:
        self._sheets, self._assignment, self._user = sheets, assignment, user
        self._actor, self._publish, self._feedback = actor, publish, feedback
        self._rubric = sheets._rubrics.of_assignment(assignment)
        self._rows = {each.submission_id: each for each in sheets.newest(assignment)}

    def lines(self, rows: list[Row]) -> Iterator[RowReport]:
        """Rows of one submission (a team with a grade each) are applied together, and reported one by one."""
        together: dict[str, list[Row]] = {}
        for row in rows:
            try:
                together.setdefault(self._found(row).submission_id, []).append(row)
            except CallerError as refused:
                yield RowReport(row.line, _name(row), "refused", refused.message)
        for id, of_one in together.items():
            try:
                outcome: Outcome = self._apply(self._rows[id], of_one)
                message = self._left_out(of_one[0])
            except CallerError as refused:
                outcome, message = "refused", refused.message
            for row in of_one:
                yield RowReport(row.line, _name(row), outcome, message)

    def _left_out(self, row: Row) -> str:
        """What is said of feedback files that are not taken: a mark has one."""
        names = [name for name, _ in self._feedback.get(row.get("folder") or "", ())]
        return (
            f"Only one feedback file is taken, {names[0]}. Not taken: {', '.join(names[1:])}."
            if names[1:]
            else ""
        )

    def _found(self, row: Row) -> Submission:
        """The submission of a row: by its id, or the newest of a student by address or university id."""
        if id := row.get("submission"):
            if id in self._rows:
                return self._rows[id]
            raise Conflict(
                "UNKNOWN_SUBMISSION", "This assignment has no such submission, or there is a newer attempt."
            )
        now = self._sheets._repository.now()
        named = [each for each in self._rows.values() if not is_anonymous(self._assignment, each, now)]
        email, id = (row.get("email") or "").lower(), row.get("university id")
        if email and (found := [each for each in named if each.student_email.lower() == email]):
            return found[0]
        found = [each for each in named if id is not None and each.university_id == id]
        if len({each.student_id for each in found}) > 1:
            raise Conflict("UNKNOWN_STUDENT", "Two students have this university id.")
        if not found:
            raise Conflict("UNKNOWN_STUDENT", "There is no submission of this student.")
        return found[0]

    def _apply(self, row: Submission, rows: list[Row]) -> Outcome:
        mark = self._sheets._current(self._assignment, row, self._actor)
        score, scores = self._scores(rows)
        hidden = is_anonymous(self._assignment, row, self._sheets._repository.now())
        scores = self._sheets._pseudonyms.real(row, scores, hidden=hidden)
        folder = rows[0].get("folder") or ""
        file = next(iter(self._feedback.get(folder, ())), None)
        text = rows[0].get("feedback") if "feedback" in rows[0].cells else mark.feedback if mark else None
        if score is None and not scores and text is None and file is None:
            return "empty"
        entry = changed_entry(mark, self._rubric, score, scores, text)
        new_file = file if file is not None and not self._is_stored(mark, file[1]) else None
        if mark is not None and new_file is None and _is_same(mark, entry, publish=self._publish):
            return "unchanged"
        expected = self._sheets._marks.version_for(self._assignment, row, self._actor)
        self._refuse_older(rows[0], expected)
        if new_file is not None:
            name, content = new_file
            stored = self._sheets._uploads.store_whole(
                self._user, name, content.chunks(), content.size, purpose="feedback"
            )
            entry = replace(entry, feedback_file_id=stored.file_id)
        self._sheets._marks.save(self._assignment, row, entry, self._actor, expected, publish=self._publish)
        return "saved"

    def _scores(self, rows: list[Row]) -> tuple[Decimal | None, dict[str, Decimal]]:
        each = {row.get("student"): _number(row.get("score")) for row in rows}
        if list(each) == [None]:
            return each[None], {}
        return None, {
            member: score for member, score in each.items() if member is not None and score is not None
        }

    def _is_stored(self, mark: Mark | None, content: Entry) -> bool:
        pinned = self._sheets._files.of_mark(mark) if mark is not None else None
        if pinned is None or pinned.file_size != content.size:
            return False
        digest = hashlib.sha256()
        for chunk in content.chunks():
            digest.update(chunk)
        return pinned.checksum == f"sha256:{digest.hexdigest()}"

    def _refuse_older(self, row: Row, expected: int) -> None:
        seen = row.get("version")
        if seen is not None and seen != str(expected):
            raise Conflict("VERSION_CONFLICT", "The mark was changed after this worksheet was downloaded.")


def folder_of(shown: Submission) -> str:
    """The folder of a submission; its end is unique, its beginning is for people."""
    return f"{safe_name(shown.team_name or shown.student_name, 60)} {shown.submission_id[-12:]}"


def _feedback_files(files: Mapping[str, Entry], base: str) -> dict[str, list[tuple[str, Entry]]]:
    """The feedback files of each folder by name; the first is taken."""
    found: dict[str, list[tuple[str, Entry]]] = {}
    for path in sorted(files):
        steps = path.removeprefix(base).split("/")
        if len(steps) == 3 and steps[1].lower() == FEEDBACK and not steps[2].startswith("."):
            found.setdefault(steps[0], []).append((steps[2], files[path]))
    return found


def _is_wanted(path: str) -> bool:
    """The worksheet and feedback: what was handed in is in the same zip file, and is not read again."""
    steps = path.split("/")
    return steps[-1] == WORKSHEET or (len(steps) > 1 and steps[-2].lower() == FEEDBACK)


def _name(row: Row) -> str:
    return row.get("name") or row.get("email") or row.get("university id") or row.get("submission") or ""


def _number(text: str | None) -> Decimal | None:
    if text is None:
        return None
    found = typed_number(text.replace(" ", ""))
    if found is None:
        raise BadRequest("INVALID_SCORE", f"“{text[:40]}” is not a number.", "score")
    return found


def _is_same(mark: Mark, entry: MarkEntry, *, publish: bool) -> bool:
    done = mark.published or mark.finished or not publish
    same_score = (
        mark.criteria == dict(entry.criteria)
        and mark.adjustment == entry.adjustment
        and (bool(mark.criteria) or mark.score == entry.score)
    )
    return (
        done
        and same_score
        and mark.grades == dict(entry.scores)
        and (mark.feedback or None) == (entry.feedback or None)
    )
