"""What is done with all submissions of an assignment: allocation, release, worksheets out and in."""

import io
from typing import IO, Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from tablewright.edge.downloads import attachment
from tablewright.edge.errors import Refused
from tablewright.edge.request_bodies import body_of
from tablewright.edge.routes import Router
from tablewright.kit.http import Page, VersionRead, based_on, listed, view_of
from tablewright.systems.campus.access import InstructorAssignment, InstructorSubmission, StaffAssignment
from tablewright.systems.campus.api import grade_bodies as bodies
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.courses.course_members import MemberAssignment
from tablewright.systems.campus.files.object_reader import object_reader
from tablewright.systems.campus.grading.disclosure import for_staff

Publish = Annotated[bool, Query(description="publish the grades; else they are drafts")]


def worksheets(campus: Campus) -> APIRouter:
    api = Router(tags=["grading"])
    _add_allocation(api, campus)
    _add_release(api, campus)
    _add_worksheets(api, campus)
    return api


def _add_allocation(api: APIRouter, campus: Campus) -> None:
    @api.post("/assignments/{assignment_id}/allocation")
    def allocate(found: InstructorAssignment, body: bodies.AllocationBody) -> dict[str, int]:
        """Allocate the submissions that have no grader yet; how many were."""
        actor = found.member.actor
        if body.method == "evenly":
            return {"allocated": campus.allocation.evenly(found.assignment, body.graders, actor)}
        return {"allocated": campus.allocation.by_section(found.assignment, body.sections, actor)}

    @api.put("/submissions/{submission_id}/graders", response_model_exclude_none=True)
    def set_graders(found: InstructorSubmission, body: bodies.GradersBody) -> bodies.GradeView:
        """Give a submission to a grader by hand; null for none."""
        saved = campus.allocation.by_hand(
            found.assignment, found.submission, body.grader_id, body.second_grader_id, found.member.actor
        )
        return bodies.grade_view(
            for_staff(found.assignment, saved, campus.repository.now(), campus.pseudonyms)
        )


def _add_release(api: APIRouter, campus: Campus) -> None:
    @api.post("/assignments/{assignment_id}:release")
    def release(
        found: InstructorAssignment, body: bodies.ReleaseBody | None = None, read: VersionRead = None
    ) -> bodies.ReleaseView:
        """Release all grades now, or at a moment; before it has come, the moment can be changed."""
        at, version = (body.at, body.version) if body is not None else (None, None)
        saved = campus.release.release(found.assignment, found.member.actor, at, based_on(read, version))
        return view_of(bodies.ReleaseView, saved)

    @api.post("/assignments/{assignment_id}:hold")
    def hold(found: InstructorAssignment, read: VersionRead = None) -> bodies.ReleaseView:
        """Take back a release whose moment has not come."""
        return view_of(bodies.ReleaseView, campus.release.hold(found.assignment, found.member.actor, read))


def _add_worksheets(api: APIRouter, campus: Campus) -> None:
    @api.get("/assignments/{assignment_id}/worksheet")
    def get_worksheet(found: StaffAssignment) -> Response:
        """All submissions as a zip file with a worksheet, streamed."""
        return worksheet_zip(campus, found)

    @api.get("/assignments/{assignment_id}/worksheet.csv")
    def get_worksheet_csv(found: StaffAssignment) -> Response:
        """The worksheet alone."""
        return worksheet_csv(campus, found)

    @api.post("/assignments/{assignment_id}/worksheet")
    def take_worksheet(
        request: Request, found: StaffAssignment, publish: Publish = False
    ) -> Page[bodies.LineView]:
        """Apply a worksheet or zip file, the body of the request; what became of each row. Can be repeated."""
        return _taken(campus, found, io.BytesIO(body_of(request.scope)), publish)

    @api.post("/assignments/{assignment_id}/worksheet:import")
    def take_uploaded(found: StaffAssignment, body: bodies.ImportBody) -> Page[bodies.LineView]:
        """The same with a file that was uploaded before, for zip files that are too large for a body."""
        return _taken(campus, found, uploaded(campus, found, body.file_id), body.publish)


def worksheet_zip(campus: Campus, found: MemberAssignment) -> Response:
    _record(campus, found, "submissions downloaded")
    chunks = campus.worksheets.zip(found.assignment, found.member.actor)
    headers = {**_named(campus, found, "zip"), "Content-Encoding": "identity"}
    return StreamingResponse(chunks, media_type="application/zip", headers=headers)


def worksheet_csv(campus: Campus, found: MemberAssignment) -> Response:
    _record(campus, found, "worksheet downloaded")
    text = campus.worksheets.csv(found.assignment, found.member.actor)
    return Response(text, media_type="text/csv; charset=utf-8", headers=_named(campus, found, "csv"))


def _record(campus: Campus, found: MemberAssignment, action: str) -> None:
    """Who took all of it (CC-X11); a single file that staff opens is recorded with its submission."""
    subject = f"assignment:{found.assignment.assignment_id}"
    campus.repository.db.write(campus.repository.audit(subject, action, found.member.actor))


def uploaded(campus: Campus, found: MemberAssignment, file_id: str) -> IO[bytes]:
    """A file of the caller, to be read at any place: a zip file with all submissions may be large."""
    campus.library.owned(found.member.user, file_id)
    file = campus.library.readable(found.member.user, file_id)
    return object_reader(lambda start, end: campus.library.open(file, start, end), file.file_size)


def _named(campus: Campus, found: MemberAssignment, ending: str) -> dict[str, str]:
    return attachment("campus", found.assignment.title, campus.repository.now(), ending)


def _taken(
    campus: Campus, found: MemberAssignment, source: IO[bytes], publish: bool
) -> Page[bodies.LineView]:
    if not source.read(1):
        raise Refused("FILE_EMPTY", "Send the worksheet as the body of the request.", "file")
    source.seek(0)
    lines = campus.worksheets.take(
        found.assignment, source, found.member.user, found.member.actor, publish=publish
    )
    return listed(view_of(bodies.LineView, each) for each in lines)
