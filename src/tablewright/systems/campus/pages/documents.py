"""What was handed in, as a page shows it: each part with its preview and the comments in place.

Must hold: bytes that may not be read (infected, not scanned yet) have no preview; the page says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tablewright.edge.errors import CallerError
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Part, Submission
from tablewright.systems.campus.courses.course_members import MemberSubmission
from tablewright.systems.campus.files.previews import text_preview
from tablewright.systems.campus.files.readers import Reader
from tablewright.systems.campus.grade_model import Comment
from tablewright.systems.campus.pages.preview_cards import Card, card_of

CONTENT = "/campus/v1/submissions/{}/parts/{}/content"


@dataclass(frozen=True, slots=True)
class Document:
    """A part: its name, how it is shown (or why not), where it is downloaded, and its comments."""

    part: Part
    name: str
    card: Card | None
    note: str
    href: str | None
    comments: tuple[Comment, ...]


def documents_of(
    campus: Campus, found: MemberSubmission, shown: Submission, comments: Sequence[Comment]
) -> list[Document]:
    """The parts of a submission as its reader may see it (grading/disclosure.py)."""
    return [
        _document(campus, found, part, tuple(each for each in comments if each.part_id == part.part_id))
        for part in shown.parts
    ]


def _document(campus: Campus, found: MemberSubmission, part: Part, comments: tuple[Comment, ...]) -> Document:
    if part.kind == "text":
        named = part.model_copy(update={"filename": "Text"})
        card = Card(named, "", "text/plain", text_preview((part.text or "").encode()))
        return Document(part, "Text", card, "", None, comments)
    if part.kind == "link":
        return Document(part, "Link", None, "", part.url, comments)
    name = part.filename or "File"
    try:
        campus.submissions.content(found.member, found.submission, part.part_id)
        id = found.submission.submission_id
        card = card_of(campus, part, Reader("submission", found.member.user.user_id, id, part.part_id))
    except CallerError as locked:
        return Document(part, name, None, locked.message, None, comments)
    href = CONTENT.format(found.submission.submission_id, part.part_id)
    return Document(part, name, card, "", href, comments)


def place_words(comment: Comment) -> str:
    """`Line 12`, `Page 2`, or nothing for a comment on the whole."""
    if comment.line is not None:
        return f"Line {comment.line}"
    return f"Page {comment.page}" if comment.page is not None else ""
