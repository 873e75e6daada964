"""Drafts: parts that are collected before they are submitted, by a student or by a team together (CC-X17, CC-X19).

Must hold: a part is added or removed on the version that its author has seen, so no member of a team replaces what
another added unseen; a draft is written only while its assignment takes work.
"""

from collections.abc import Callable

from tablewright.edge.errors import NotFound, Refused
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Stale
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Draft, Part
from tablewright.systems.campus.courses.acceptance import Acceptance, unchanged
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.owners import Owner, Owners
from tablewright.systems.campus.courses.parts import NewPart, Parts, refuse_count
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.repository import Repository

MOST_COMMENTS = 5000


class Drafts:
    """The drafts of students and teams."""

    def __init__(self, repository: Repository, owners: Owners, parts: Parts, acceptance: Acceptance) -> None:
        self._repository, self._owners, self._parts, self._acceptance = repository, owners, parts, acceptance

    def of(self, assignment: Assignment, owner_id: str) -> Draft | None:
        return self._repository.db.one(d.drafts.get(assignment.assignment_id, owner_id), consistent=True)

    def mine(self, member: CourseMember, assignment: Assignment) -> Draft:
        """The draft of the caller or the caller's team; an empty one with version 0 if there is none yet."""
        owner = self._owners.of(assignment, self._owners.student(member))
        found = self.of(assignment, owner.owner_id)
        return (
            found if found is not None else self._empty(assignment, owner).model_copy(update={"version": 0})
        )

    def add(
        self, member: CourseMember, assignment: Assignment, new: NewPart, seen: int | None = None
    ) -> Draft:
        """Add a part; VERSION_CONFLICT if the draft is not at the version `seen`, where 0 is none yet."""
        part = self._parts.part(member.user, assignment, new)
        return self._change(member, assignment, seen, lambda draft: _with(draft, [*draft.parts, part]))

    def remove(
        self, member: CourseMember, assignment: Assignment, part_id: str, seen: int | None = None
    ) -> Draft:
        """Remove a part; one's own, or in a team any."""

        def without(draft: Draft) -> Draft:
            left = [part for part in draft.parts if part.part_id != part_id]
            if len(left) == len(draft.parts):
                raise NotFound("part")
            return draft.model_copy(update={"parts": left})

        return self._change(member, assignment, seen, without)

    def comment(
        self, member: CourseMember, assignment: Assignment, comments: str | None, seen: int | None = None
    ) -> Draft:
        """Set what is said to the grader."""
        if len(comments or "") > MOST_COMMENTS:
            raise Refused("TEXT_TOO_LONG", f"Enter at most {MOST_COMMENTS} characters.", "comments")
        return self._change(
            member, assignment, seen, lambda draft: draft.model_copy(update={"comments": comments or None})
        )

    def _change(
        self,
        member: CourseMember,
        assignment: Assignment,
        seen: int | None,
        changed: Callable[[Draft], Draft],
    ) -> Draft:
        owner = self._owners.of(assignment, self._owners.student(member))

        def attempt() -> Draft:
            before = self.of(assignment, owner.owner_id)
            if seen is not None and seen != (before.version if before is not None else 0):
                raise Changed()
            start = before if before is not None else self._empty(assignment, owner)
            after = changed(start).model_copy(update={"updated_at": self._repository.now()})
            write = d.drafts.create(after) if before is None else d.drafts.change(before, after)
            row = self._acceptance.of(assignment.assignment_id, member.user.user_id)
            if row is None or not row.is_open:
                raise Refused("DEADLINE_PASSED", "This assignment does not accept work any more.")
            try:
                self._repository.db.write(write, unchanged(row))
            except (AlreadyExists, ConditionNotMet, Missing, Stale):
                raise Changed() from None
            return write.item or after

        return self._repository.retried(seen, attempt)

    def _empty(self, assignment: Assignment, owner: Owner) -> Draft:
        return Draft(
            assignment_id=assignment.assignment_id, owner_id=owner.owner_id, updated_at=self._repository.now()
        )


def _with(draft: Draft, parts: list[Part]) -> Draft:
    refuse_count(parts)
    return draft.model_copy(update={"parts": parts})
