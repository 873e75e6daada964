"""Marks: what each marker thinks of a submission, and the grade that is published from one of them (CC-43, CC-X24).

    not marked -> in marking (a draft) -> in review (published, or finished by a marker of two) -> released

Must hold: a grade is within its bounds and computed from the rubric and the lateness as they are when it is written:
the transaction checks the versions of both. Of two graders who saved from the same version one is refused, and the
history has both attempts (CC-S13). A grade that is visible at once is written with the notice to its students.
With second marking each marker has a mark of their own, and the grade is a third one, `AGREED`, once two are finished.
Elsewhere: the arithmetic (totals.py), files (feedback_files.py), when students see it (release.py), what they see
(disclosure.py).
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from tablewright.design import Write, absent
from tablewright.edge.errors import Conflict, Refused
from tablewright.kit.tables import Actor
from tablewright.mapping import Page
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Submission
from tablewright.systems.campus.errors import Changed, RaceLost
from tablewright.systems.campus.grade_model import Mark, Rubric
from tablewright.systems.campus.grading.feedback_files import FeedbackFiles
from tablewright.systems.campus.grading.mark_entries import (
    MarkEntry,
    checked_feedback,
    in_cents,
    refuse_without_score,
    scores_of,
)
from tablewright.systems.campus.grading.notices import GradeNotices
from tablewright.systems.campus.grading.release import is_released, visible
from tablewright.systems.campus.grading.rubrics import Rubrics
from tablewright.systems.campus.grading.totals import (
    graded,
    has_levels,
    most_of,
    rubric_total,
)
from tablewright.systems.campus.model import AuditEntry
from tablewright.systems.campus.repository import Repository

AGREED = "agreed"
MARKERS = 2


class Marks:
    """Saves, publishes and returns marks."""

    def __init__(
        self, repository: Repository, rubrics: Rubrics, notices: GradeNotices, files: FeedbackFiles
    ) -> None:
        self._repository, self._rubrics, self._notices = repository, rubrics, notices
        self._files = files

    # --- reads ---

    def queue(
        self,
        course_id: str,
        reader: str,
        size: int | None = None,
        after: str | None = None,
        *,
        mine: bool = False,
    ) -> Page[Submission]:
        """What waits for a grade in a course, oldest first; `mine` is what is allocated to the reader (CC-D16)."""
        query = d.grading_queue(course_id=course_id)
        if mine:
            query = query.where(lambda row: (row.grader_id == reader) | (row.second_grader_id == reader))
        return self._repository.page(query.where(lambda row: absent(row.withdrawn_at)), size, after, reader)

    def waiting(self, course_id: str, reader: str) -> list[Submission]:
        """All that waits for a grade, in the order in which the reader marks it: their own first, each oldest first."""
        found = self._repository.db.all(d.grading_queue(course_id=course_id))
        return sorted(
            (row for row in found if row.withdrawn_at is None), key=lambda row: turn_of(row, reader)
        )

    def history(self, submission_id: str, reader: str, size: int | None = None) -> list[AuditEntry]:
        """What happened to a submission, newest first."""
        query = self._repository.history(f"submission:{submission_id}")
        return list(self._repository.page(query, size, None, reader).items)

    def of(self, submission_id: str) -> list[Mark]:
        return list(self._repository.db.all(d.marks_of_submission(submission_id=submission_id)))

    def one(self, submission_id: str, marker_id: str) -> Mark | None:
        return self._repository.db.one(d.marks.get(submission_id, marker_id), consistent=True)

    def version_for(self, assignment: Assignment, submission: Submission, actor: Actor) -> int:
        """The version a save must name: the submission's; with second marking that of the own mark, 0 before it."""
        if not assignment.second_marking:
            return submission.version
        own = self.one(submission.submission_id, actor.subject)
        return own.version if own is not None else 0

    def seen_by(self, assignment: Assignment, submission: Submission, actor: Actor) -> list[Mark]:
        """The marks that a marker may see: with second marking only the own one, until it is finished."""
        found = self.of(submission.submission_id)
        own = next((each for each in found if each.marker_id == actor.subject), None)
        if (
            assignment.second_marking
            and submission.status == "submitted"
            and (own is None or not own.finished)
        ):
            return [own] if own is not None else []
        return found

    # --- marking ---

    def save(
        self,
        assignment: Assignment,
        submission: Submission,
        entry: MarkEntry,
        actor: Actor,
        expected: int,
        *,
        publish: bool = False,
    ) -> Submission:
        """Save a mark, as a draft or as the grade; Changed if the version is not the one that was seen."""
        entry = in_cents(entry)

        def attempt(pinned: MarkEntry) -> Submission:
            if assignment.second_marking:
                return self._save_own(submission, pinned, actor, expected, finish=publish)
            if submission.version != expected:
                raise Changed
            return self._on_newest(
                submission, lambda newest: self._save(newest, submission, pinned, actor, publish=publish)
            )

        return self._with_file(submission, entry, actor, attempt, publish=publish)

    def agree(
        self, assignment: Assignment, submission: Submission, entry: MarkEntry, actor: Actor, expected: int
    ) -> Submission:
        """Publish the grade that two markers agreed on; both of their marks are kept."""
        finished = [
            each for each in self.of(submission.submission_id) if each.finished and each.marker_id != AGREED
        ]
        if not assignment.second_marking or len(finished) < MARKERS:
            words = f"A grade is agreed after {MARKERS} markers have finished their marks."
            raise Conflict("MARKS_MISSING", words, facts={"finished": len(finished)})
        same = [_unchanged(mark) for mark in finished]
        entry = in_cents(entry)

        def attempt(pinned: MarkEntry) -> Submission:
            if submission.version != expected:
                raise Changed
            return self._on_newest(
                submission,
                lambda newest: self._save(
                    newest, submission, pinned, actor, *same, publish=True, marker_id=AGREED
                ),
            )

        return self._with_file(submission, entry, actor, attempt, publish=True)

    def return_to_student(
        self, assignment: Assignment, submission: Submission, actor: Actor, expected: int | None = None
    ) -> Submission:
        """Make a published grade visible to its students now (CC-43); again changes nothing.

        ANONYMOUS before the release of an anonymous assignment: a grade alone would tell its markers whose it is.
        """
        if submission.status == "returned":
            return submission
        if submission.status != "graded":
            raise Conflict("NOT_GRADED", "Save a grade before you release it.")
        now = self._repository.now()
        if assignment.anonymous and not is_released(assignment, now):
            words = "This assignment is marked anonymously. Release all of its grades at once."
            raise Refused("ANONYMOUS", words)
        if expected is not None and submission.version != expected:
            raise Changed
        after = submission.model_copy(
            update={"status": "returned", "marking_state": "released", "returned_at": now}
        )
        write = d.submissions.move(submission, after, by="staff")
        audit = self._repository.audit(
            _subject(submission), "returned to student", actor, submission, write.item
        )
        seen = assignment.version
        same = d.assignments.check(assignment.course_id, assignment.assignment_id).when(
            lambda it: it.version == seen
        )
        self._repository.write("SUBMISSION", write, same, audit, *self._notices.released(assignment, after))
        assert write.item is not None
        return write.item

    # --- parts ---

    def _with_file(
        self,
        submission: Submission,
        entry: MarkEntry,
        actor: Actor,
        save: Callable[[MarkEntry], Submission],
        *,
        publish: bool,
    ) -> Submission:
        """Save the entry with its feedback file pinned; files that no mark has afterwards are held no longer."""
        before = self._files.ids_of(submission.submission_id)
        before |= {entry.feedback_file_id} if entry.feedback_file_id is not None else set()
        pinned = replace(entry, feedback_file=self._files.pinned(submission, entry.feedback_file_id, actor))
        row = submission
        try:
            row = save(pinned)
            return row
        except (Changed, RaceLost):
            self._note_refused(submission, entry, actor, publish=publish)
            raise
        finally:
            self._files.release_unused(row, before)

    def _on_newest(self, submission: Submission, attempt: Callable[[Assignment], Submission]) -> Submission:
        """Try with the newest assignment and rubric: either may be changed at this moment, which the write refuses."""
        return self._repository.retried(
            None,
            lambda: attempt(self._repository.assignment(submission.assignment_id)),
            on=RaceLost,
            attempts=5,
            busy=RaceLost(),
        )

    def _save(
        self,
        assignment: Assignment,
        before: Submission,
        entry: MarkEntry,
        actor: Actor,
        *more: Write[Any],
        publish: bool,
        marker_id: str | None = None,
    ) -> Submission:
        _refuse_withdrawn(before)
        rubric = self._rubrics.of_assignment(assignment)
        others = [each for each in self.of(before.submission_id) if each.published] if publish else []
        mark, mark_write = self._mark(assignment, before, rubric, entry, actor, marker_id, published=publish)
        after = self._published(assignment, before, rubric, mark, actor) if publish else _in_marking(before)
        moved = before.status != after.status
        row = d.submissions.move(before, after, by="staff") if moved else d.submissions.change(before, after)
        assert row.item is not None
        writes: list[Write[Any]] = [row, mark_write, *more, self._same_release(assignment)]
        writes += [
            d.marks.change(each, each.model_copy(update={"published": False}))
            for each in others
            if each.marker_id != mark.marker_id
        ]
        if rubric is not None:
            writes.append(_same_rubric(rubric))
        if publish:
            writes.append(
                self._repository.audit(_subject(before), "grade published", actor, before, row.item)
            )
            if visible(assignment, after, self._repository.now()):
                notice = self._notices.changed if before.status == "returned" else self._notices.released
                writes += notice(assignment, after)
        else:
            writes.append(self._repository.audit(_subject(before), "mark saved", actor, {}, _summary(mark)))
        self._write(writes)
        return row.item

    def _save_own(
        self, submission: Submission, entry: MarkEntry, actor: Actor, expected: int, *, finish: bool
    ) -> Submission:
        """One of two marks: on the condition of its own version, so that two markers do not disturb each other."""

        def attempt() -> Submission:
            assignment = self._repository.assignment(submission.assignment_id)
            before = self._repository.submission(submission.submission_id)
            _refuse_withdrawn(before)
            rubric = self._rubrics.of_assignment(assignment)
            mark, mark_write = self._mark(
                assignment, before, rubric, entry, actor, None, expected=expected, finished=finish
            )
            if finish:
                refuse_without_score(mark)
            is_review = finish or before.marking_state == "in review"
            # Once a grade is agreed, another mark leaves it as it is.
            state = (
                before.marking_state
                if before.status != "submitted"
                else "in review"
                if is_review
                else "in marking"
            )
            row = d.submissions.change(before, before.model_copy(update={"marking_state": state}))
            action = "mark finished" if finish else "mark saved"
            audit = self._repository.audit(_subject(before), action, actor, {}, _summary(mark))
            same = [_same_rubric(rubric)] if rubric is not None else []
            try:
                self._write([row, mark_write, audit, *same])
            except Changed:
                # The row changed, unless it was the mark itself.
                if self._version_of(submission.submission_id, actor.subject) != expected:
                    raise
                raise RaceLost from None
            assert row.item is not None
            return row.item

        return self._repository.retried(None, attempt, on=RaceLost)

    def _version_of(self, submission_id: str, marker_id: str) -> int:
        found = self.one(submission_id, marker_id)
        return found.version if found is not None else 0

    def _mark(
        self,
        assignment: Assignment,
        submission: Submission,
        rubric: Rubric | None,
        entry: MarkEntry,
        actor: Actor,
        marker_id: str | None,
        *,
        expected: int | None = None,
        published: bool = False,
        finished: bool = False,
    ) -> tuple[Mark, Write[Mark]]:
        """The marker's mark with the total of its entry, and its write."""
        marker_id = marker_id or actor.subject
        stored = self.one(submission.submission_id, marker_id)
        if expected is not None and (stored.version if stored is not None else 0) != expected:
            raise Changed
        score, scores = scores_of(assignment, submission, rubric, entry)
        mark = Mark(
            submission_id=submission.submission_id,
            marker_id=marker_id,
            marker_name=actor.name,
            assignment_id=assignment.assignment_id,
            rubric_id=rubric.rubric_id if rubric is not None and entry.criteria else None,
            criteria=dict(entry.criteria),
            adjustment=entry.adjustment,
            score=score,
            grades=scores,
            feedback=checked_feedback(entry.feedback),
            feedback_file_id=entry.feedback_file_id,
            feedback_file=entry.feedback_file,
            finished=finished,
            published=published,
            updated_at=self._repository.now(),
            version=stored.version if stored is not None else 1,
        )
        return mark, d.marks.create(mark) if stored is None else d.marks.change(stored, mark)

    def _published(
        self, assignment: Assignment, before: Submission, rubric: Rubric | None, mark: Mark, actor: Actor
    ) -> Submission:
        """The row of CC-43: `returned` if it is visible at once, else `graded`."""
        refuse_without_score(mark)
        now = self._repository.now()
        is_back = before.status == "returned" or is_released(assignment, now)
        after = before.model_copy(
            update={
                "score": mark.score,
                "scores": mark.grades,
                "max_grade": most_of(assignment, rubric),
                "feedback": mark.feedback,
                "feedback_file_id": mark.feedback_file_id,
                "feedback_file": mark.feedback_file,
                "graded_at": now,
                "graded_by": actor.subject,
                "graded_by_name": actor.name,
                "status": "returned" if is_back else "graded",
                "marking_state": "released" if is_back else "in review",
                "returned_at": (before.returned_at or now) if is_back else None,
            }
        )
        return graded(assignment, after)

    def _same_release(self, assignment: Assignment) -> Write[Assignment]:
        """Refused if the grades are released at this moment: the row would miss its notice."""
        check = d.assignments.check(assignment.course_id, assignment.assignment_id)
        moment = assignment.released_at
        if moment is None:
            return check.when(lambda it: absent(it.released_at))
        return check.when(lambda it: it.released_at == moment)

    def _write(self, writes: list[Write[Any]]) -> None:
        try:
            self._repository.write("SUBMISSION", *writes)
        except Conflict as refused:
            if refused.code == "EXISTS":  # the same marker's first mark, sent twice
                raise Changed from None
            raise

    def _note_refused(self, submission: Submission, entry: MarkEntry, actor: Actor, *, publish: bool) -> None:
        """The history has the attempt that lost, too (CC-S13)."""
        tried: dict[str, Any] = {
            "score": None if entry.score is None else float(entry.score),
            "criteria": {
                id: each.model_dump(mode="json", by_alias=True, exclude_none=True)
                for id, each in entry.criteria.items()
            },
            "feedback": entry.feedback,
        }
        tried = {name: value for name, value in tried.items() if value not in (None, {})}
        words = "Changed by another grader first; nothing of this was saved."
        action = "grade refused" if publish else "mark refused"
        self._repository.db.write(
            self._repository.audit(_subject(submission), action, actor, {}, tried, words)
        )

    # --- after a change of the rubric ---

    def recompute(self, assignment: Assignment, submission: Submission, rubric: Rubric, by: str) -> int:
        """Bring the marks of a submission to the points of its rubric; how many totals changed (CC-S20)."""
        made_with_it = [
            mark.marker_id for mark in self.of(submission.submission_id) if mark.rubric_id == rubric.rubric_id
        ]
        return sum(
            self._repository.retried(
                None, partial(self._recompute, assignment, submission.submission_id, rubric, marker_id, by)
            )
            for marker_id in made_with_it
        )

    def _recompute(
        self, assignment: Assignment, submission_id: str, rubric: Rubric, marker_id: str, by: str
    ) -> int:
        mark = self.one(submission_id, marker_id)
        if mark is None or mark.rubric_id != rubric.rubric_id or not has_levels(rubric, mark.criteria):
            return 0  # a mark of a level that is gone keeps its total
        total = rubric_total(rubric, mark.criteria, mark.adjustment) or Decimal(0)
        score = total if assignment.extra_credit else min(total, most_of(assignment, rubric))
        if score == mark.score:
            return 0
        changed = mark.model_copy(update={"score": score, "updated_at": self._repository.now()})
        actor = Actor(by, "staff")
        writes: list[Write[Any]] = [d.marks.change(mark, changed), _same_rubric(rubric)]
        before = self._repository.submission(submission_id)
        if mark.published:
            after = graded(assignment, before.model_copy(update={"score": score}))
            if assignment.points is None:
                after = after.model_copy(update={"max_grade": most_of(assignment, rubric)})
            row = d.submissions.change(before, after)
            writes += [
                row,
                self._repository.audit(_subject(before), "rubric changed", actor, before, row.item),
            ]
            if visible(assignment, after, self._repository.now()):
                writes += self._notices.changed(assignment, after)
        else:
            old, new = _summary(mark), _summary(changed)
            writes.append(self._repository.audit(_subject(before), "rubric changed", actor, old, new))
        self._repository.write("MARK", *writes)
        return 1


def _subject(submission: Submission) -> str:
    return f"submission:{submission.submission_id}"


def _in_marking(before: Submission) -> Submission:
    """A draft leaves a published grade as it is."""
    is_new = before.status == "submitted"
    return before.model_copy(update={"marking_state": "in marking"}) if is_new else before


def _same_rubric(rubric: Rubric) -> Write[Rubric]:
    seen = rubric.version
    return d.rubrics.check(rubric.course_id, rubric.rubric_id).when(lambda it: it.version == seen)


def _unchanged(mark: Mark) -> Write[Mark]:
    seen = mark.version
    return d.marks.check(mark.submission_id, mark.marker_id).when(lambda it: it.version == seen)


def _summary(mark: Mark) -> dict[str, Any]:
    """What an audit entry has of a draft."""
    shown = mark.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        name: shown[name]
        for name in ("markerName", "score", "grades", "feedback")
        if shown.get(name) is not None
    }


def _refuse_withdrawn(submission: Submission) -> None:
    if submission.withdrawn_at is not None:
        raise Conflict("WITHDRAWN", "The student withdrew this submission, so it cannot be graded.")


def turn_of(submission: Submission, reader: str) -> tuple[bool, datetime, str]:
    """When it is a submission's turn to be marked by a reader."""
    is_mine = reader in (submission.grader_id, submission.second_grader_id)
    return not is_mine, submission.submitted_at, submission.submission_id
