"""Marking for staff: the queue of a course, and the view with the document on the left and the rubric on the right.

Must hold: a form names the version it was filled from; if another grader was faster, what was typed stays and the page
says so. Everything works without a script; the script adds keys and comments at their place.
Elsewhere: all submissions of an assignment at once (releases.py), what students see (grades.py).
"""

from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Asked, Form, FormWrong, Posted
from tablewright.systems.campus.access import InstructorSubmission, StaffMember, StaffSubmission
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Assignment, Submission
from tablewright.systems.campus.courses.course_members import MemberAssignment, MemberSubmission
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.grade_model import CriterionMark, Mark
from tablewright.systems.campus.grading.comments import CommentPosition
from tablewright.systems.campus.grading.disclosure import for_staff, is_anonymous, marks_for_staff
from tablewright.systems.campus.grading.mark_entries import MarkEntry, typed_number
from tablewright.systems.campus.grading.marks import AGREED, MARKERS, turn_of
from tablewright.systems.campus.grading.notices import students_of
from tablewright.systems.campus.grading.totals import most_of, penalty_of, rubric_points
from tablewright.systems.campus.pages.assignments import assignment_crumbs, assignment_path
from tablewright.systems.campus.pages.courses import course_crumbs, course_tabs
from tablewright.systems.campus.pages.documents import documents_of, place_words
from tablewright.systems.campus.pages.page import HOME, CampusPages

STATE_TONES = {"not marked": "warn", "in marking": "busy", "in review": "busy", "released": "good"}


def add_marks(router: APIRouter, pages: CampusPages) -> None:
    _add_queue(router, pages)
    _add_marking(router, pages)
    _add_comments(router, pages)


def mark_path(submission_id: str) -> str:
    return f"{HOME}/submissions/{submission_id}/mark"


def queue_path(course_id: str) -> str:
    return f"{HOME}/courses/{course_id}/grading"


def plain(number: Decimal | None) -> str:
    """A number as it is typed and shown; nothing for None."""
    return "" if number is None else f"{number.normalize():f}"


# --- the queue ---


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the marking of an assignment is."""

    assignment: Assignment
    submissions: int
    marked: int


def _add_queue(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/courses/{course_id}/grading")
    def queue(request: Request, member: StaffMember, form: Asked) -> Response:
        course_id, reader = member.course.course_id, member.user.user_id
        mine = form.is_ticked("mine")
        found = campus.marks.queue(course_id, reader, 50, form.get("after") or None, mine=mine)
        known = {each.assignment_id: each for each in campus.assignments.of(member)}
        now = campus.repository.now()
        rows = [
            (for_staff(known[each.assignment_id], each, now, campus.pseudonyms), known[each.assignment_id])
            for each in found.items
            if each.assignment_id in known
        ]
        return pages.page(
            request,
            "grading",
            title="Marking",
            crumbs=course_crumbs(member.course),
            tabs=course_tabs(member, "Marking"),
            member=member,
            course=member.course,
            rows=rows,
            next=found.next,
            mine=mine,
            assignments=[_progress(campus, each) for each in known.values() if each.status != "draft"],
            regrades=len(campus.regrades.queue(course_id, "open", reader, 50).items),
            tones=STATE_TONES,
            now=now,
            zone=member.user.time_zone,
        )


def _progress(campus: Campus, assignment: Assignment) -> Progress:
    rows = campus.worksheets.newest(assignment)
    return Progress(assignment, len(rows), sum(1 for each in rows if each.status != "submitted"))


# --- one submission ---


def _add_marking(router: APIRouter, pages: CampusPages) -> None:
    marks = pages.campus.marks

    @router.get("/submissions/{submission_id}/mark")
    def marking(request: Request, found: StaffSubmission) -> Response:
        return _page(pages, request, found)

    @router.post("/submissions/{submission_id}/mark")
    def save(request: Request, found: StaffSubmission, form: Posted) -> Response:
        actor, do = found.member.actor, form.get("do")
        version = whole(form, "version") or 0
        try:
            entry = _real(pages, found, entry_of(form))
            if do == "agree":
                marks.agree(found.assignment, found.submission, entry, actor, version)
            else:
                publish = do in ("publish", "next")
                marks.save(found.assignment, found.submission, entry, actor, version, publish=publish)
        except FormWrong as wrong:
            return _page(pages, request, found, wrong.form, 422)
        except CallerError as mistake:
            return _page(pages, request, found, _refused(pages, found, form, mistake), mistake.status)
        to = mark_path(found.submission.submission_id)
        if do == "next":
            _, _, after = _neighbours(pages, found)
            to = mark_path(after) if after else queue_path(found.submission.course_id)
        words = {"draft": "Draft saved.", "agree": "Agreed grade saved."}.get(do, "Grade saved.")
        if do != "draft" and found.assignment.second_marking and do != "agree":
            words = "Your mark is finished."
        return pages.console.go(to, words)

    @router.post("/submissions/{submission_id}/return")
    def return_to_student(found: InstructorSubmission) -> Response:
        to = mark_path(found.submission.submission_id)
        try:
            marks.return_to_student(found.assignment, found.submission, found.member.actor)
        except CallerError as mistake:
            return pages.console.go(to, mistake.message, "bad")
        return pages.console.go(to, "Grade released to the student.")


def _real(pages: CampusPages, found: MemberSubmission, entry: MarkEntry) -> MarkEntry:
    hidden = is_anonymous(found.assignment, found.submission, pages.campus.repository.now())
    scores = pages.campus.pseudonyms.real(found.submission, entry.scores, hidden=hidden)
    return replace(entry, scores=scores)


def entry_of(form: Form) -> MarkEntry:
    """What was typed; FormWrong names every number that cannot be read."""
    criteria: dict[str, CriterionMark] = {}
    for name, value in form.values.items():
        kind, _, id = name.partition(":")
        if kind in ("level", "comment", "points") and value.strip():
            known = criteria.get(id, CriterionMark())
            field = {"level": {"level_id": value}, "comment": {"comment": value.strip()}}.get(kind, {})
            criteria[id] = known.model_copy(update=field or {"points": _number(value)})
    wrong = form
    numbers: dict[str, Decimal] = {}
    for name, value in form.values.items():
        if (name in ("score", "adjustment") or name.startswith(("score:", "points:"))) and value.strip():
            number = _number(value)
            if number is None:
                wrong = wrong.wrong(name, "Enter a number, such as 12.5.")
            else:
                numbers[name] = number
    if wrong.errors:
        raise FormWrong(wrong)
    return MarkEntry(
        numbers.get("score"),
        criteria,
        numbers.get("adjustment", Decimal(0)),
        {name.partition(":")[2]: value for name, value in numbers.items() if name.startswith("score:")},
        form.get("feedback"),
        form.get("feedbackFileId") or None,
    )


def _refused(pages: CampusPages, found: MemberSubmission, form: Form, mistake: CallerError) -> Form:
    if mistake.code != "VERSION_CONFLICT":
        field = f"points:{mistake.facts.get('criterionId', '')}"
        known = field in form.values
        return form.wrong(field, mistake.message) if known else form.refused(mistake)
    campus = pages.campus
    row = campus.repository.submission(found.submission.submission_id)
    version = (
        row.version
        if form.get("do") == "agree"
        else campus.marks.version_for(found.assignment, row, found.member.actor)
    )
    now = f" The grade is {plain(row.grade)} now, by {row.graded_by_name}." if row.grade is not None else ""
    kept = "Your entries are still here; saving again replaces theirs."
    words = f"Another grader saved this while you had it open.{now} {kept}"
    return Form({**form.values, "version": str(version)}, {}, words)


def _form_of(mark: Mark | None, version: int) -> Form:
    """The form filled in from a mark."""
    if mark is None:
        return Form({"version": str(version)})
    values = {
        "version": str(version),
        "score": plain(mark.score),
        "adjustment": plain(mark.adjustment) if mark.adjustment else "",
        "feedback": mark.feedback or "",
        "feedbackFileId": mark.feedback_file_id or "",
        **{f"score:{member}": plain(score) for member, score in mark.grades.items()},
    }
    for id, each in mark.criteria.items():
        values |= {f"level:{id}": each.level_id or "", f"comment:{id}": each.comment or ""}
        values[f"points:{id}"] = plain(each.points)
    return Form(values)


def _neighbours(pages: CampusPages, found: MemberSubmission) -> tuple[str | None, str, str | None]:
    """The submission before, how many wait, and the one after, in the order of the queue.

    One that is marked by now keeps its place, so that what comes after it is the same as before.
    """
    row, reader = found.submission, found.member.user.user_id
    turn = turn_of(row, reader)
    waiting = pages.campus.marks.waiting(row.course_id, reader)
    before = [each.submission_id for each in waiting if turn_of(each, reader) < turn]
    after = [each.submission_id for each in waiting if turn_of(each, reader) > turn]
    is_waiting = len(before) + len(after) < len(waiting)
    place = f"{len(before) + 1} of {len(waiting)} waiting" if is_waiting else f"{len(waiting)} waiting"
    return before[-1] if before else None, place, after[0] if after else None


def _page(
    pages: CampusPages, request: Request, found: MemberSubmission, form: Form | None = None, status: int = 200
) -> Response:
    campus, assignment, actor = pages.campus, found.assignment, found.member.actor
    row = campus.repository.submission(found.submission.submission_id)
    now = campus.repository.now()
    shown = for_staff(assignment, row, now, campus.pseudonyms)
    hidden = is_anonymous(assignment, row, now)
    seen = marks_for_staff(campus.marks.seen_by(assignment, row, actor), campus.pseudonyms, hidden=hidden)
    own = next((each for each in seen if each.marker_id == actor.subject), None)
    filled = own or next((each for each in seen if each.published), None)
    rubric = campus.rubrics.of_assignment(assignment)
    before, place, after = _neighbours(pages, found)
    finished = [each for each in seen if each.finished and each.marker_id != AGREED]
    return pages.page(
        request,
        "mark",
        title=shown.team_name or shown.student_name,
        crumbs=assignment_crumbs(MemberAssignment(found.member, assignment)),
        member=found.member,
        assignment=assignment,
        submission=shown,
        documents=documents_of(campus, found, shown, campus.comments.of(row.submission_id)),
        place_words=place_words,
        rubric=rubric,
        most=most_of(assignment, rubric),
        rubric_points=rubric_points(rubric) if rubric is not None else None,
        penalty=penalty_of(assignment, row),
        members=_members(pages, assignment, row),
        marks=[each for each in seen if each is not own],
        finished=finished if len(finished) >= MARKERS and row.status == "submitted" else [],
        row_version=row.version,
        form=form or _form_of(filled, campus.marks.version_for(assignment, row, actor)),
        files=[
            each
            for each in campus.listing.page(found.member.user, Wanted(), 20).items
            if each.status == "active"
        ],
        saved=campus.comments.saved(assignment.course_id),
        history=[] if hidden else campus.marks.history(row.submission_id, actor.subject, 20),
        regrades=[] if hidden else campus.regrades.of(row.submission_id),
        before=before and mark_path(before),
        after=after and mark_path(after),
        place=place,
        queue=queue_path(assignment.course_id),
        plain=plain,
        tones=STATE_TONES,
        now=now,
        at=mark_path(row.submission_id),
        assignment_path=assignment_path(assignment.assignment_id),
        zone=found.member.user.time_zone,
        status=status,
    )


def _members(pages: CampusPages, assignment: Assignment, row: Submission) -> list[tuple[str, str]]:
    """The members that get a grade each, with their names; in anonymous marking with pseudonyms for both."""
    if not assignment.grade_each or row.team_id is None:
        return []
    if is_anonymous(assignment, row, pages.campus.repository.now()):
        return [(each, each) for each in sorted(pages.campus.pseudonyms.members(row))]
    return [(each, pages.campus.users.by_id(each).name) for each in students_of(row)]


# --- comments in place ---


def _add_comments(router: APIRouter, pages: CampusPages) -> None:
    comments = pages.campus.comments

    @router.post("/submissions/{submission_id}/comments")
    def add(request: Request, found: StaffSubmission, form: Posted) -> Response:
        row = found.submission
        to = f"{mark_path(row.submission_id)}#part-{form.get('partId')}"
        text = form.get("text").strip() or form.get("saved").strip()
        try:
            place = CommentPosition(
                whole(form, "line"), whole(form, "page"), _share(form, "x"), _share(form, "y")
            )
            comments.add(row, form.get("partId"), place, text, found.member.actor)
            if form.is_ticked("keep"):
                comments.save(row.course_id, text)
        except CallerError as mistake:
            return pages.console.go(to, mistake.message, "bad")
        return pages.console.go(to, "Comment added.")

    @router.post("/submissions/{submission_id}/comments/{comment_id}/remove")
    def remove(found: StaffSubmission, comment_id: str) -> Response:
        to = mark_path(found.submission.submission_id)
        try:
            comments.remove(found.submission.submission_id, comment_id, found.member.actor)
        except CallerError as mistake:
            return pages.console.go(to, mistake.message, "bad")
        return pages.console.go(to, "Comment removed.", "note")

    @router.post("/courses/{course_id}/saved-comments/{saved_comment_id}/remove")
    def forget(member: StaffMember, saved_comment_id: str) -> Response:
        comments.forget(member.course.course_id, saved_comment_id)
        return pages.console.go(
            f"{HOME}/courses/{member.course.course_id}/rubrics", "Comment removed.", "note"
        )


def whole(form: Form, name: str) -> int | None:
    """A whole number of a form; None if it is not one."""
    text = form.get(name).strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else None


def _number(text: str) -> Decimal | None:
    found = typed_number(text)
    return found if found is not None and abs(found) <= 1_000_000 else None


def _share(form: Form, name: str) -> Decimal | None:
    try:
        return Decimal(form.get(name).strip()).quantize(Decimal("0.0001")) if form.get(name).strip() else None
    except InvalidOperation:
        return None
