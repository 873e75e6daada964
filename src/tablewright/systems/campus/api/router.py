"""Campus Cloud over HTTP: `/v1/...` of C.2. Reads arguments, calls the service, makes the response.

Elsewhere: the routes with their bodies (the modules beside this one), who may call them (access.py).
"""

from fastapi import APIRouter

from tablewright.edge import RateLimiter
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import Router, include
from tablewright.systems.campus.access import CAMPUS
from tablewright.systems.campus.api import (
    admin,
    assignments,
    courses,
    files,
    gradebook,
    hand_grades,
    links,
    marks,
    me,
    regrades,
    rubrics,
    shares,
    signed_reads,
    submissions,
    worksheets,
)
from tablewright.systems.campus.campus import Campus


def router(campus: Campus, who: FindPrincipal, *, buckets: RateLimiter | None = None) -> APIRouter:
    """All routes of Campus Cloud."""
    # not `or`: an empty RateLimiter is falsy
    buckets = RateLimiter() if buckets is None else buckets
    api = Router(prefix="/v1", dependencies=[CAMPUS.of(campus, who)])
    for part in (
        me.me(campus),
        admin.admin(campus),
        files.files(campus, buckets),
        shares.shares(campus, buckets),
        links.links(campus, buckets),
        signed_reads.signed_reads(campus, buckets),
        courses.courses(campus),
        assignments.assignments(campus),
        submissions.submissions(campus, buckets),
        marks.marks(campus, buckets),
        rubrics.rubrics(campus),
        regrades.regrades(campus),
        hand_grades.hand_grades(campus),
        worksheets.worksheets(campus),
        gradebook.gradebook(campus),
    ):
        include(api, part)
    return api
