"""Assignments (A.3)."""

from datetime import datetime

from tablewright.design import Copy, Data, Keys, Load, Refresh, Retention, States, between
from tablewright.systems.campus.course_model import Assignment, AssignmentStatus
from tablewright.systems.campus.design.base import CAMPUS
from tablewright.systems.campus.design.courses import RECORDS_KEPT

__all__ = [
    "ASSIGNMENT_STATES",
    "assignment_by_id",
    "assignment_id_index",
    "assignments",
    "assignments_by_due_date",
    "assignments_of_course",
    "assignments_of_instructor",
    "assignments_table",
    "instructor_index",
    "status_due_index",
]

ASSIGNMENT_STATES = States(
    "status",
    start="draft",
    moves={
        "draft": {"active": ("staff",)},
        "active": {"closed": ("staff", "system"), "draft": ("staff",)},
        "closed": {"active": ("staff", "system")},
    },
)
assignments_table = CAMPUS.table(
    "campus-cloud-assignments",
    pk="courseId",
    sk="assignmentId",
    stream="NEW_AND_OLD_IMAGES",
    about="Assignments by course.",
)
instructor_index = assignments_table.gsi("InstructorIndex", pk="instructorId", sk="createdAt")
status_due_index = assignments_table.gsi("StatusDueDateIndex", pk="status", sk="dueDate")
assignment_id_index = assignments_table.gsi("AssignmentIdIndex", pk="assignmentId")


def assignment_key(course_id: str, assignment_id: str) -> None: ...


assignments = assignments_table.entity(
    Assignment,
    assignment_key,
    tag="assignment",
    pk="{course_id}",
    sk="{assignment_id}",
    on={
        instructor_index: Keys("{instructor_id}", "{created_at}"),
        status_due_index: Keys("{status}", "{due_date}"),
        assignment_id_index: Keys("{assignment_id}"),
    },
    version="version",
    states=ASSIGNMENT_STATES,
    immutable=("created_at",),
    copies=[
        Copy("course_name", "course", "name", Refresh.JOB),
        Copy("instructor_name", "user", "name", Refresh.SNAPSHOT),
    ],
    data={"instructor_name": Data.PERSONAL, "instructor_email": Data.PERSONAL},
    retention=Retention(RECORDS_KEPT, "after the end of the semester", then="archived"),
    load={
        "create": Load(per_month=400, item_bytes=2000),
        "change": Load(per_month=2_000, item_bytes=2000),
        # The number of submissions, from the stream in batches (CC-D14).
        "update": Load(per_month=40_000, item_bytes=2000, changes=("submission_count",)),
        "check": Load(per_month=100_000, item_bytes=2000),
    },
)


# --- access patterns ---


@CAMPUS.query(assignments, pk="{course_id}", page=50, load=Load(per_month=600_000, items=10, item_bytes=2000))
def assignments_of_course(*, course_id: str) -> None:
    """The assignments of a course."""


@CAMPUS.query(
    assignments, on=instructor_index, pk="{instructor_id}", descending=True, page=20,
    load=Load(per_month=50_000, items=10, item_bytes=2000),
)  # fmt: skip
def assignments_of_instructor(*, instructor_id: str) -> None:
    """An instructor's assignments, newest first."""


@CAMPUS.query(
    assignments, on=status_due_index, pk="{status}", sk=between("{since}", "{until}"), page=50,
    load=Load(per_month=50_000, items=20, item_bytes=2000),
)  # fmt: skip
def assignments_by_due_date(
    *, status: AssignmentStatus, since: datetime | None = None, until: datetime | None = None
) -> None:
    """Assignments of a status by due date: upcoming, overdue, to be closed."""


@CAMPUS.query(
    assignments,
    on=assignment_id_index,
    pk="{assignment_id}",
    page=1,
    load=Load(per_month=1_000_000, item_bytes=2000),
)
def assignment_by_id(*, assignment_id: str) -> None:
    """The course of an assignment; decisions rest on a consistent read of the assignment itself."""
