"""Comments in place: on a line of a text, on a page and position of a PDF, on a position of an image (CC-X22).

Also the saved comments of a course, which markers use again.
Must hold: a comment is on a part of its submission; students see comments with their grade and not before.
"""

from dataclasses import dataclass
from decimal import Decimal

from tablewright.edge.errors import Conflict, Forbidden, Refused
from tablewright.kit.tables import Actor
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Submission
from tablewright.systems.campus.grade_model import Comment, SavedComment
from tablewright.systems.campus.repository import Repository, is_uuid

MOST_TEXT, MOST_SAVED = 5_000, 200
_MOST_LINE, _MOST_PAGE = 1_000_000, 10_000


@dataclass(frozen=True, slots=True)
class CommentPosition:
    """Where a comment is: a line, or a position from 0 to 1 of a page's or image's width and height; else the whole."""

    line: int | None = None
    page: int | None = None
    x: Decimal | None = None
    y: Decimal | None = None


class Comments:
    """Comments on submissions, and those that a course keeps."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def of(self, submission_id: str) -> list[Comment]:
        """By place: part, page, line, position."""
        found = self._repository.db.all(d.comments_of_submission(submission_id=submission_id))
        return sorted(found, key=_order)

    def add(
        self, submission: Submission, part_id: str, place: CommentPosition, text: str, actor: Actor
    ) -> Comment:
        if part_id not in {part.part_id for part in submission.parts}:
            raise Refused("UNKNOWN_PART", "This submission has no such part.", "partId")
        _check(place)
        comment = Comment(
            submission_id=submission.submission_id,
            comment_id=self._repository.new_uuid(),
            part_id=part_id,
            author_id=actor.subject,
            author_name=actor.name,
            line=place.line,
            page=place.page,
            x=place.x,
            y=place.y,
            text=_text(text),
            created_at=self._repository.now(),
        )
        audit = self._repository.audit(_subject(comment), "comment added", actor, None, comment)
        # It may be withdrawn at this moment.
        key = submission.assignment_id, submission.owner_id, submission.submission_number
        self._repository.write("SUBMISSION", d.comments.create(comment), d.submissions.check(*key), audit)
        return comment

    def change(self, submission_id: str, comment_id: str, text: str, actor: Actor) -> Comment:
        before = self._own(submission_id, comment_id, actor)
        write = d.comments.change(before, before.model_copy(update={"text": _text(text)}))
        assert write.item is not None
        audit = self._repository.audit(_subject(before), "comment changed", actor, before, write.item)
        self._repository.write("COMMENT", write, audit)
        return write.item

    def remove(self, submission_id: str, comment_id: str, actor: Actor) -> None:
        found = self._own(submission_id, comment_id, actor)
        audit = self._repository.audit(_subject(found), "comment removed", actor, found, None)
        self._repository.write("COMMENT", d.comments.delete(found), audit)

    def _own(self, submission_id: str, comment_id: str, actor: Actor) -> Comment:
        if not is_uuid(comment_id):
            raise self._repository.not_found("COMMENT")
        found = self._repository.db.one(d.comments.get(submission_id, comment_id), consistent=True)
        comment = self._repository.found(found, "COMMENT")
        if comment.author_id != actor.subject:
            raise Forbidden("NOT_YOURS", "Only the author of a comment can change or remove it.")
        return comment

    # --- saved comments ---

    def saved(self, course_id: str) -> list[SavedComment]:
        """By age."""
        found = self._repository.db.all(d.saved_comments_of_course(course_id=course_id))
        return sorted(found, key=lambda each: each.created_at)

    def save(self, course_id: str, text: str) -> SavedComment:
        """Keep a comment for the markers of a course; one with the same text is not kept twice."""
        clean = _text(text)
        known = self.saved(course_id)
        same = next((each for each in known if each.text == clean), None)
        if same is not None:
            return same
        if len(known) >= MOST_SAVED:
            raise Conflict("TOO_MANY", f"A course keeps {MOST_SAVED} comments. Remove one first.")
        saved = SavedComment(
            course_id=course_id,
            saved_comment_id=self._repository.new_uuid(),
            text=clean,
            created_at=self._repository.now(),
        )
        self._repository.write("COMMENT", d.saved_comments.create(saved))
        return saved

    def forget(self, course_id: str, saved_comment_id: str) -> None:
        """Remove a saved comment; again changes nothing."""
        if is_uuid(saved_comment_id):
            self._repository.db.write(d.saved_comments.discard(course_id, saved_comment_id))


def _order(comment: Comment) -> tuple[object, ...]:
    return (
        comment.part_id,
        comment.page or 0,
        comment.line or 0,
        comment.y or Decimal(0),
        comment.created_at,
    )


def _subject(comment: Comment) -> str:
    return f"submission:{comment.submission_id}"


def _text(text: str) -> str:
    clean = text.strip()
    if not 1 <= len(clean) <= MOST_TEXT:
        raise Refused("INVALID_COMMENT", f"A comment has 1 to {MOST_TEXT} characters.", "text")
    return clean


def _check(place: CommentPosition) -> None:
    if place.line is not None and not 1 <= place.line <= _MOST_LINE:
        raise Refused("INVALID_PLACE", "Lines are counted from 1.", "line")
    if place.page is not None and not 1 <= place.page <= _MOST_PAGE:
        raise Refused("INVALID_PLACE", "Pages are counted from 1.", "page")
    if (place.x is None) != (place.y is None):
        raise Refused("INVALID_PLACE", "A position needs both x and y.", "x")
    for name, value in (("x", place.x), ("y", place.y)):
        if value is not None and not (value.is_finite() and 0 <= value <= 1):
            raise Refused("INVALID_PLACE", f"{name} must be 0 to 1, as a part of the width or height.", name)
