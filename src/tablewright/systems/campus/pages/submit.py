"""Submitting: the parts that are collected, the statement, the receipt; taking the last attempt back.

Must hold: a form of a team's draft names the version it was shown with, so what a teammate added since is seen first;
each of its buttons takes all that was chosen or typed, so nothing is left out of a submission unseen.
"""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Asked, Form, Posted
from tablewright.systems.campus.access import (
    OpenAssignment,
    OpenSubmission,
    StaffAssignment,
    StaffSubmission,
)
from tablewright.systems.campus.api.submissions import receipt_of, seen
from tablewright.systems.campus.course_model import Draft
from tablewright.systems.campus.courses.course_members import MemberAssignment
from tablewright.systems.campus.courses.eligibility import eligibility_of
from tablewright.systems.campus.courses.parts import MOST_PARTS, NewPart
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.model import File, User
from tablewright.systems.campus.pages.assignments import assignment_crumbs, assignment_path
from tablewright.systems.campus.pages.courses import late_words
from tablewright.systems.campus.pages.page import HOME, CampusPages


def add_submit(router: APIRouter, pages: CampusPages) -> None:
    _add_submit(router, pages)
    _add_submit_for(router, pages)
    _add_parts(router, pages)
    _add_receipt(router, pages)


def submit_path(assignment_id: str) -> str:
    return f"{assignment_path(assignment_id)}/submit"


def receipt_path(submission_id: str) -> str:
    return f"{HOME}/submissions/{submission_id}/receipt"


def _page(
    pages: CampusPages, request: Request, found: MemberAssignment, form: Form | None = None, status: int = 200
) -> Response:
    campus, member, given = pages.campus, found.member, found.assignment
    eligibility = eligibility_of(campus.owners, member, given)
    draft: Draft | None = None
    if eligibility is not None and eligibility.owner_id is not None:
        draft = campus.drafts.mine(member, given)
    members = (
        campus.teams.members(eligibility.team)
        if eligibility is not None and eligibility.team is not None
        else []
    )
    return pages.page(
        request,
        "submit",
        title="Submit",
        crumbs=assignment_crumbs(found),
        member=member,
        user=member.user,
        assignment=eligibility.shown(given) if eligibility is not None else given,
        eligibility=eligibility,
        late=late_words(eligibility) if eligibility is not None else "",
        draft=draft,
        names={each.user_id: each.name for each in members},
        team=eligibility.team if eligibility is not None else None,
        files=_files(pages, member.user),
        most=MOST_PARTS,
        key=campus.repository.new_uuid(),
        form=form or Form({"comments": (draft.comments or "") if draft is not None else ""}),
        status=status,
    )


def _add_submit(router: APIRouter, pages: CampusPages) -> None:
    @router.get("/assignments/{assignment_id}/submit")
    def show(request: Request, found: OpenAssignment) -> Response:
        return _page(pages, request, found)

    @router.post("/assignments/{assignment_id}/submit")
    def submit(request: Request, found: OpenAssignment, form: Posted) -> Response:
        try:
            made = pages.campus.submissions.submit(
                found.member,
                found.assignment,
                draft=_number(form.get("version")),
                more=_new_parts(form),
                key=form.get("key") or None,
                attempt=_number(form.get("attempt")),
                agreed=form.is_ticked("agreed"),
                comments=form.get("comments").strip() or None,
            )
        except CallerError as mistake:
            return _page(pages, request, found, _refused(form, mistake), mistake.status)
        return pages.console.go(
            receipt_path(made.submission_id), f"Attempt {made.submission_number} is submitted."
        )


def _add_submit_for(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    def page(request: Request, found: MemberAssignment, form: Form, status: int = 200) -> Response:
        member, given = found.member, found.assignment
        students = campus.courses.members(member.course.course_id, "student")
        return pages.page(
            request,
            "submit_for",
            title="Submit for a student",
            crumbs=assignment_crumbs(found),
            member=member,
            user=member.user,
            assignment=given,
            students=[(each.user_id, each.name) for each in students],
            files=_files(pages, member.user),
            key=campus.repository.new_uuid(),
            form=form,
            status=status,
        )

    @router.get("/assignments/{assignment_id}/submit-for")
    def show(request: Request, found: StaffAssignment) -> Response:
        return page(request, found, Form())

    @router.post("/assignments/{assignment_id}/submit-for")
    def submit(request: Request, found: StaffAssignment, form: Posted) -> Response:
        try:
            made = campus.submissions.submit(
                found.member,
                found.assignment,
                parts=_new_parts(form),
                key=form.get("key") or None,
                attempt=campus.submissions.next_attempt(
                    found.member, found.assignment, form.get("onBehalfOf")
                ),
                on_behalf_of=form.get("onBehalfOf") or None,
                comments=form.get("comments").strip() or None,
            )
        except CallerError as mistake:
            wrong = {"NO_PARTS": "text"}.get(mistake.code)
            refused = form.wrong(wrong, mistake.message) if wrong else form.refused(mistake)
            return page(request, found, refused, mistake.status)
        said = f"Attempt {made.submission_number} of {made.team_name or made.student_name} is submitted."
        return pages.console.go(receipt_path(made.submission_id), said)


def _files(pages: CampusPages, user: User) -> list[File]:
    """The user's newest files that can be submitted."""
    return [each for each in pages.campus.listing.page(user, Wanted(), 30).items if each.status == "active"]


def _new_parts(form: Form) -> list[NewPart]:
    """Files (those that are ticked), a text and a link, as far as there are any."""
    new = [NewPart("file", file_id=one) for one in form.get("fileId").split()]
    if form.get("text").strip():
        new.append(NewPart("text", text=form.get("text")))
    if form.get("url").strip():
        new.append(NewPart("link", url=form.get("url").strip()))
    return new


def _refused(form: Form, mistake: CallerError) -> Form:
    if mistake.code == "VERSION_CONFLICT":
        words = (
            "A part was added or removed after you opened this page. Look at the list below, then try again."
        )
        return Form(form.values, {}, words)
    return form.refused(mistake)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _add_parts(router: APIRouter, pages: CampusPages) -> None:
    drafts = pages.campus.drafts

    @router.post("/assignments/{assignment_id}/submit/parts")
    def add(request: Request, found: OpenAssignment, form: Posted) -> Response:
        """Add files (those that are ticked), a text or a link; what was typed is kept if a teammate was faster."""
        new, keep = _new_parts(form), form.get("do") == "keep"
        if not new and not keep:
            wrong = form.wrong("text", "Choose a file, write a text or enter a link.")
            return _page(pages, request, found, wrong, 422)
        version = _number(form.get("version"))
        try:
            for part in new:
                version = drafts.add(found.member, found.assignment, part, version).version
            comments = form.get("comments").strip()
            if "comments" in form.values and comments != (
                drafts.mine(found.member, found.assignment).comments or ""
            ):
                drafts.comment(found.member, found.assignment, comments, version)
        except CallerError as mistake:
            return _page(pages, request, found, _refused(form, mistake), mistake.status)
        if keep:
            return pages.console.go(assignment_path(found.assignment.assignment_id), "Kept as a draft.")
        return pages.console.go(f"{submit_path(found.assignment.assignment_id)}#parts", "Added.")

    @router.post("/assignments/{assignment_id}/submit/parts/{part_id}/remove")
    def remove(request: Request, found: OpenAssignment, part_id: str, form: Posted) -> Response:
        try:
            drafts.remove(found.member, found.assignment, part_id, _number(form.get("version")))
        except CallerError as mistake:
            return _page(pages, request, found, _refused(form, mistake), mistake.status)
        return pages.console.go(f"{submit_path(found.assignment.assignment_id)}#parts", "Removed.", "note")


def _add_receipt(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/submissions/{submission_id}/receipt")
    def receipt(request: Request, found: OpenSubmission, form: Asked) -> Response:
        """The receipt; for staff, with a code in the address, whether it is a receipt of this submission."""
        member, given, asked = found.member, found.assignment, form.get("code").strip()
        eligibility = eligibility_of(campus.owners, member, given)
        shown = seen(campus, member, given, found.submission)
        is_last = eligibility is not None and eligibility.attempts == shown.submission_number
        return pages.page(
            request,
            "receipt",
            title=f"Attempt {shown.submission_number}",
            crumbs=assignment_crumbs(MemberAssignment(member, given)),
            member=member,
            user=member.user,
            assignment=given,
            submission=shown,
            receipt=receipt_of(campus, member, given, found.submission),
            asked=asked,
            checked=campus.receipts.check(found.submission, asked) if asked and member.is_staff else None,
            at=receipt_path(shown.submission_id),
            can_withdraw=eligibility is not None and is_last and not eligibility.lateness.is_late
            and found.submission.status == "submitted",
            can_set_back=member.is_staff and found.submission.status == "submitted",
            eligibility=eligibility,
        )  # fmt: skip

    @router.post("/submissions/{submission_id}/withdraw")
    def withdraw(found: OpenSubmission) -> Response:
        try:
            campus.withdrawals.withdraw(found.member, found.assignment, found.submission)
        except CallerError as mistake:
            return pages.console.go(receipt_path(found.submission.submission_id), mistake.message, "bad")
        said = "Withdrawn. Its parts are here again; submit them before the deadline."
        return pages.console.go(submit_path(found.assignment.assignment_id), said, "note")

    @router.post("/submissions/{submission_id}/set-back")
    def set_back(found: StaffSubmission) -> Response:
        try:
            campus.withdrawals.set_back(found.member, found.submission)
        except CallerError as mistake:
            return pages.console.go(receipt_path(found.submission.submission_id), mistake.message, "bad")
        path = assignment_path(found.assignment.assignment_id)
        return pages.console.go(path, "The attempt is a draft again; the student can correct it.", "note")
