"""Grades without a submission: for an oral exam, for work on paper, or zero for what is missing.

The row that is graded has the number 0 (courses/unsubmitted.py), and from then on is marked, released and asked about
like any other. Must hold: it is written only while its student or team has no attempt, which the same transaction
checks on the counter of attempts, so it is never newer than real work; a student sees nothing of it before its grade is
visible; in anonymous marking staff chooses pseudonyms. The excused are not graded: it would count nowhere.
Elsewhere: marks (marks.py), what a student has for an assignment (gradebook.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tablewright.design import Write, absent
from tablewright.edge.errors import Conflict, NotFound
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Attempts, Submission
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.dates import dates_for, dates_for_team
from tablewright.systems.campus.courses.owners import Owner
from tablewright.systems.campus.courses.submissions import member_entries_of, same_members
from tablewright.systems.campus.courses.teams import Teams
from tablewright.systems.campus.courses.unsubmitted import BY_HAND, handed_in
from tablewright.systems.campus.courses.withdrawals import clearing_task
from tablewright.systems.campus.grading.disclosure import Pseudonyms
from tablewright.systems.campus.grading.mark_entries import (
    MarkEntry,
    in_cents,
    refuse_missing_score,
    scores_of,
)
from tablewright.systems.campus.grading.marks import Marks
from tablewright.systems.campus.grading.release import is_released, visible
from tablewright.systems.campus.grading.rubrics import Rubrics
from tablewright.systems.campus.repository import Repository


@dataclass(frozen=True, slots=True)
class Candidate:
    """A student or team without a submission, by the id and name that staff may see."""

    id: str
    name: str
    section: str | None
    owner: Owner


class HandGrades:
    """Grades students who handed in nothing."""

    def __init__(
        self, repository: Repository, teams: Teams, marks: Marks, rubrics: Rubrics, pseudonyms: Pseudonyms
    ) -> None:
        self._repository, self._teams, self._marks = repository, teams, marks
        self._rubrics, self._pseudonyms = rubrics, pseudonyms

    # --- reads ---

    def candidates(self, assignment: Assignment) -> list[Candidate]:
        """Who has no row yet and is not excused, by name."""
        query = d.submissions_of_assignment(assignment_id=assignment.assignment_id)
        done = {each.owner_id for each in self._repository.db.all(query)}
        found = [
            self._candidate(assignment, owner)
            for owner in self._owners(assignment)
            if owner.owner_id not in done and not owner.dates.excused
        ]
        return sorted(found, key=lambda each: (each.name, each.id))

    def of_owner(self, assignment: Assignment, owner_id: str) -> Submission | None:
        """The row of a student or team that was graded by hand."""
        key = assignment.assignment_id, owner_id, BY_HAND
        return self._repository.db.one(d.submissions.get(*key), consistent=True)

    # --- grading ---

    def begin(self, member: CourseMember, assignment: Assignment, who: str) -> Submission:
        """The row to be marked of a student or team, by the id that staff sees; the same one if it is there."""
        return self._row(member, assignment, self._found(assignment, who))

    def save(
        self,
        member: CourseMember,
        assignment: Assignment,
        who: str,
        entry: MarkEntry,
        *,
        publish: bool = False,
    ) -> Submission:
        """Begin and mark in one: nothing is written if the mark cannot be."""
        return self.save_for(member, assignment, self._found(assignment, who), entry, publish=publish)

    def save_for(
        self,
        member: CourseMember,
        assignment: Assignment,
        owner: Owner,
        entry: MarkEntry,
        *,
        publish: bool = False,
    ) -> Submission:
        planned = self._new(member, assignment, owner)
        scores = self._pseudonyms.real(planned, entry.scores, hidden=self._is_hidden(assignment))
        entry = in_cents(replace(entry, scores=scores))
        score, scores = scores_of(assignment, planned, self._rubrics.of_assignment(assignment), entry)
        if publish:
            refuse_missing_score(score, scores)
        row = self._row(member, assignment, owner)
        if self._marks.of(row.submission_id):
            facts = {"submissionId": row.submission_id}
            raise Conflict("ALREADY_MARKED", "This student has a mark already. Change that.", facts=facts)
        expected = self._marks.version_for(assignment, row, member.actor)
        return self._marks.save(assignment, row, entry, member.actor, expected, publish=publish)

    def remove(self, member: CourseMember, assignment: Assignment, submission: Submission) -> None:
        """Take the row back before a student has seen a grade; a task removes its marks and lets go of their files."""
        if handed_in(submission):
            raise Conflict(
                "HAS_SUBMISSION", "This student has submitted. Only a grade by hand can be removed."
            )

        def attempt() -> None:
            row = self._repository.submission(submission.submission_id)
            if visible(assignment, row, self._repository.now()):
                raise Conflict("RELEASED", "The student sees this grade already. Change it instead.")
            key = row.assignment_id, row.owner_id, BY_HAND
            others = [each for each in row.member_ids if each != row.student_id]
            self._repository.write(
                "SUBMISSION",
                d.submissions.delete(row),
                *(d.member_entries.discard(*key, each) for each in others),
                d.tasks.add(clearing_task(self._repository, row)),
                self._repository.audit(
                    f"submission:{row.submission_id}", "grade by hand removed", member.actor, row, None
                ),
            )

        self._repository.retried(None, attempt)

    # --- parts ---

    def _owners(self, assignment: Assignment) -> Iterator[Owner]:
        """All students of the course, or all teams that have members."""
        people = self._repository.db.all(d.enrolments_of_course(course_id=assignment.course_id))
        students = {each.user_id: each for each in people if each.role == "student"}
        overrides = self._repository.overrides_of(assignment.assignment_id)
        if assignment.group_set_id is None:
            for each in students.values():
                dates = dates_for(assignment, overrides, each.user_id, each.section)
                yield Owner(each, None, (each,), dates)
            return
        group_set = self._teams.group_set(assignment.course_id, assignment.group_set_id)
        for team in self._teams.teams(group_set):
            members = [students[each] for each in team.member_ids if each in students]
            if members:
                ids, sections = [each.user_id for each in members], [each.section for each in members]
                dates = dates_for_team(assignment, overrides, team.team_id, ids, sections)
                yield Owner(members[0], team, tuple(members), dates)

    def _candidate(self, assignment: Assignment, owner: Owner) -> Candidate:
        if self._is_hidden(assignment):
            name = self._pseudonyms.of(assignment.assignment_id, owner.owner_id)
            return Candidate(name, name, None, owner)
        if owner.team is not None:
            return Candidate(owner.owner_id, owner.team.name, None, owner)
        return Candidate(owner.owner_id, owner.student.name, owner.student.section, owner)

    def _is_hidden(self, assignment: Assignment) -> bool:
        return assignment.anonymous and not is_released(assignment, self._repository.now())

    def _found(self, assignment: Assignment, who: str) -> Owner:
        if assignment.status == "draft":
            raise Conflict("NOT_PUBLISHED", "Publish the assignment before you grade it.")
        found = next(
            (owner for owner in self._owners(assignment) if self._candidate(assignment, owner).id == who),
            None,
        )
        if found is None:
            raise NotFound("student", "This assignment has no such student or team.", "studentId")
        if found.dates.excused:
            raise Conflict("EXCUSED", "This student is excused, so a grade would not count.")
        return found

    def _row(self, member: CourseMember, assignment: Assignment, owner: Owner) -> Submission:
        def attempt() -> Submission:
            stored = self.of_owner(assignment, owner.owner_id)
            if stored is not None:
                return stored
            self._refuse_submitted(assignment, owner)
            row = self._new(member, assignment, owner)
            subject = f"submission:{row.submission_id}"
            try:
                self._repository.write(
                    "SUBMISSION",
                    d.submissions.create(row),
                    _without_attempt(assignment, owner.owner_id),
                    d.enrolments.check(owner.student.user_id, assignment.course_id),
                    *same_members(owner),
                    *member_entries_of(row),
                    self._repository.audit(subject, "graded without a submission", member.actor, {}, {}),
                )
            except Conflict as refused:
                if refused.code != "EXISTS":
                    raise
                # Another grader began the same row at this moment.
                return self._repository.found(self.of_owner(assignment, owner.owner_id), "SUBMISSION")
            return row

        return self._repository.retried(None, attempt)

    def _refuse_submitted(self, assignment: Assignment, owner: Owner) -> None:
        key = assignment.assignment_id, owner.owner_id
        attempts = self._repository.db.one(d.attempts.get(*key), consistent=True)
        query = d.submissions_of_owner(assignment_id=key[0], owner_id=key[1])
        # The row of a grader who is quicker is not a submission.
        rows: Sequence[Submission] = [row for row in self._repository.db.all(query) if handed_in(row)]
        if rows or (attempts is not None and attempts.attempts > 0):
            facts = {"submissionId": rows[-1].submission_id} if rows else {}
            words = "There is a submission by now. Reload the page and mark that."
            raise Conflict("HAS_SUBMISSION", words, "studentId", facts)

    def _new(self, member: CourseMember, assignment: Assignment, owner: Owner) -> Submission:
        student, team = owner.student, owner.team
        return Submission(
            assignment_id=assignment.assignment_id,
            submission_id=self._repository.new_uuid(),
            owner_id=owner.owner_id,
            course_id=assignment.course_id,
            student_id=student.user_id,
            student_email=student.email,
            student_name=student.name,
            university_id=student.university_id,
            section=student.section,
            team_id=team.team_id if team is not None else None,
            team_name=team.name if team is not None else None,
            member_ids=owner.member_ids if team is not None else [],
            submitted_at=self._repository.now(),
            submitted_by=member.user.user_id,
            on_behalf=True,
            submission_number=BY_HAND,
            due_date=owner.dates.due,
        )


def _without_attempt(assignment: Assignment, owner_id: str) -> Write[Any]:
    """Refused if there is an attempt; a first attempt that is made at this moment is refused by this, and repeated."""
    start = Attempts(assignment_id=assignment.assignment_id, owner_id=owner_id)
    same = d.attempts.upsert(start).at(lambda a: a.attempts).add(0)
    return same.when(lambda a: absent(a.attempts) | (a.attempts == 0))
