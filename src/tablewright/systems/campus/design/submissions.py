"""Submissions (A.4), drafts and attempts; marks, comments and regrade requests.

In `campus-cloud-submissions` a row's sort key is `{owner}#{number}`; what begins with `~` sorts behind all of them and
is in no index of theirs but where it says so (CC-D13).
"""

from tablewright.design import Copy, Data, Keys, Load, Refresh, Retention, States, begins, below
from tablewright.systems.campus.course_model import (
    AcceptanceRow,
    Attempts,
    Draft,
    MemberEntry,
    Submission,
    SubmissionStatus,
)
from tablewright.systems.campus.design.base import CAMPUS
from tablewright.systems.campus.design.courses import RECORDS_KEPT
from tablewright.systems.campus.grade_model import Comment, Mark, Regrade, RegradeStatus

__all__ = [
    "REGRADE_STATES",
    "SUBMISSION_STATES",
    "acceptance_rows",
    "attempts",
    "comments",
    "comments_of_submission",
    "drafts",
    "grading_queue",
    "grading_queue_index",
    "marking_table",
    "marks",
    "marks_of_submission",
    "member_entries",
    "regrade_index",
    "regrades",
    "regrades_of_course",
    "regrades_of_submission",
    "student_index",
    "submission_by_id",
    "submission_id_index",
    "submission_status_index",
    "submissions",
    "submissions_by_status",
    "submissions_of_assignment",
    "submissions_of_owner",
    "submissions_of_student",
    "submissions_table",
]

_RECORDS = Retention(RECORDS_KEPT, "after the end of the semester", then="archived")
SUBMISSION_STATES = States(
    "status",
    start="submitted",
    moves={
        # Straight to returned where the grades of the assignment are released already.
        "submitted": {"graded": ("staff",), "returned": ("staff",)},
        "graded": {"returned": ("staff", "system"), "submitted": ("staff",)},
        "returned": {"graded": ("staff",), "submitted": ("staff",)},
    },
)
REGRADE_STATES = States(
    "status",
    start="open",
    moves={
        "open": {"answered": ("staff",), "closed": ("staff", "student")},
        "answered": {"open": ("student",), "closed": ("staff", "student")},
    },
)
submissions_table = CAMPUS.table(
    "campus-cloud-submissions",
    pk="assignmentId",
    sk="submissionKey",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Submissions by assignment and student or team.",
)
student_index = submissions_table.gsi("StudentIndex", pk="studentId", sk="submittedAt")
submission_id_index = submissions_table.gsi("SubmissionIdIndex", pk="submissionId")
submission_status_index = submissions_table.gsi("StatusIndex", pk="statusShard", sk="submittedAt")
grading_queue_index = submissions_table.gsi("GradingQueueIndex", pk="gradingCourseId", sk="submittedAt")
marking_table = CAMPUS.table(
    "campus-cloud-marking", pk="PK", sk="SK", about="Marks, comments and regrade requests of submissions."
)
regrade_index = marking_table.gsi("RegradeIndex", pk="regradeKey", sk="openedAt")


def submission_key(assignment_id: str, owner_id: str, submission_number: int) -> None: ...
def attempts_key(assignment_id: str, owner_id: str) -> None: ...
def acceptance_key(assignment_id: str, number: int) -> None: ...
def member_entry_key(assignment_id: str, owner_id: str, submission_number: int, student_id: str) -> None: ...
def mark_key(submission_id: str, marker_id: str) -> None: ...
def comment_key(submission_id: str, comment_id: str) -> None: ...
def regrade_key(submission_id: str, regrade_id: str) -> None: ...


submissions = submissions_table.entity(
    Submission,
    submission_key,
    tag="submission",
    pk="{assignment_id}",
    sk="{owner_id}#{submission_number:4}",
    on={
        student_index: Keys("{student_id}", "{submitted_at}"),
        submission_id_index: Keys("{submission_id}"),
        submission_status_index: Keys("{status}#{submission_id:shard.8}", "{submitted_at}"),
        grading_queue_index: Keys("{status:only.submitted}#{course_id}", "{submitted_at}"),
    },
    version="version",
    states=SUBMISSION_STATES,
    copies=[
        Copy("due_date", "assignment", "due_date", Refresh.JOB),
        Copy("student_name", "user", "name", Refresh.SNAPSHOT),
    ],
    data={
        "student_email": Data.PERSONAL,
        "student_name": Data.PERSONAL,
        "university_id": Data.PERSONAL,
        "filename": Data.PERSONAL,
        "parts": Data.PERSONAL,
        "comments": Data.PERSONAL,
        "grade": Data.PERSONAL,
        "score": Data.PERSONAL,
        "scores": Data.PERSONAL,
        "grades": Data.PERSONAL,
        "feedback": Data.PERSONAL,
        "feedback_file": Data.PERSONAL,
        "graded_by_name": Data.PERSONAL,
    },
    retention=_RECORDS,
    load={
        "create": Load(per_month=100_000, item_bytes=1500, once=True),
        "change": Load(per_month=300_000, item_bytes=1500, changes=("status",)),
    },
)
attempts = submissions_table.entity(
    Attempts,
    attempts_key,
    tag="attempts",
    pk="{assignment_id}",
    sk="~META#{owner_id}#ATTEMPTS",
    retention=_RECORDS,
    load={"update": Load(per_month=100_000, item_bytes=150, transaction=True)},
)
drafts = submissions_table.entity(
    Draft,
    attempts_key,
    tag="draft",
    pk="{assignment_id}",
    sk="~META#{owner_id}#DRAFT",
    version="version",
    data={"parts": Data.PERSONAL, "comments": Data.PERSONAL},
    retention=_RECORDS,
    load={
        "change": Load(per_month=200_000, item_bytes=1200),
        "delete": Load(per_month=100_000, transaction=True),
    },
)
acceptance_rows = submissions_table.entity(
    AcceptanceRow,
    acceptance_key,
    tag="acceptance_row",
    pk="{assignment_id}",
    sk="~GATE#{number:2}#GATE",
    retention=_RECORDS,
    load={
        "create": Load(per_month=40_000, item_bytes=150, transaction=True),
        "check": Load(per_month=300_000, item_bytes=150, transaction=True),
    },
)
member_entries = submissions_table.entity(
    MemberEntry,
    member_entry_key,
    tag="member_entry",
    pk="{assignment_id}",
    sk="~MEMBER#{owner_id}#{submission_number:4}#{student_id}",
    on={student_index: Keys("{student_id}", "{submitted_at}")},
    retention=_RECORDS,
    load={"create": Load(per_month=20_000, item_bytes=250, transaction=True)},
)
marks = marking_table.entity(
    Mark,
    mark_key,
    tag="mark",
    pk="SUBMISSION#{submission_id}",
    sk="MARK#{marker_id}",
    version="version",
    data={
        "score": Data.PERSONAL,
        "grades": Data.PERSONAL,
        "feedback": Data.PERSONAL,
        "feedback_file": Data.PERSONAL,
        "marker_name": Data.PERSONAL,
    },
    retention=_RECORDS,
    load={
        "create": Load(per_month=100_000, item_bytes=900),
        "change": Load(per_month=200_000, item_bytes=900),
    },
)
comments = marking_table.entity(
    Comment,
    comment_key,
    tag="comment",
    pk="SUBMISSION#{submission_id}",
    sk="COMMENT#{comment_id}",
    version="version",
    data={"text": Data.PERSONAL, "author_name": Data.PERSONAL},
    retention=_RECORDS,
    load={"create": Load(per_month=300_000, item_bytes=400)},
)
regrades = marking_table.entity(
    Regrade,
    regrade_key,
    tag="regrade",
    pk="SUBMISSION#{submission_id}",
    sk="REGRADE#{regrade_id}",
    on={regrade_index: Keys("{course_id}#{status}", "{opened_at}")},
    version="version",
    states=REGRADE_STATES,
    data={"posts": Data.PERSONAL, "student_name": Data.PERSONAL},
    retention=_RECORDS,
    load={"create": Load(per_month=2_000, item_bytes=900), "change": Load(per_month=4_000, item_bytes=900)},
)


# --- access patterns ---


@CAMPUS.query(
    submissions, pk="{assignment_id}", sk=below("{before}"), page=50, at_most=500, others=True, consistent=True,
    load=Load(per_month=100_000, items=50, item_bytes=1500),
)  # fmt: skip
def submissions_of_assignment(*, assignment_id: str, before: str = "~") -> None:
    """All submissions of an assignment: by owner, then number. What begins with `~` is none, and not read."""


@CAMPUS.query(
    submissions,
    pk="{assignment_id}",
    sk=begins("{owner_id}#"),
    page=100,
    others=True,
    load=Load(per_month=500_000, items=2, item_bytes=1500),
)
def submissions_of_owner(*, assignment_id: str, owner_id: str) -> None:
    """A student's or team's submissions of an assignment, by number."""


@CAMPUS.query(
    submissions, member_entries, on=student_index, pk="{student_id}", descending=True, page=20, at_most=100,
    load=Load(per_month=500_000, items=10, item_bytes=1500),
)  # fmt: skip
def submissions_of_student(*, student_id: str) -> None:
    """A student's submissions, and those of the student's teams, newest first."""


@CAMPUS.query(
    submissions,
    on=submission_id_index,
    pk="{submission_id}",
    page=1,
    load=Load(per_month=500_000, item_bytes=1500),
)
def submission_by_id(*, submission_id: str) -> None:
    """The key of a submission; decisions rest on a consistent read of the row itself."""


@CAMPUS.query(
    submissions, on=submission_status_index, pk="{status}#{submission_id:shard.8}", page=50, roles=("admin",),
    load=Load(per_month=500, items=50, item_bytes=1500),
)  # fmt: skip
def submissions_by_status(*, status: SubmissionStatus) -> None:
    """Submissions of a status in all courses, oldest first: for admins (CC-42)."""


@CAMPUS.query(
    submissions, on=grading_queue_index, pk="{status:only.submitted}#{course_id}", page=50, at_most=200,
    load=Load(per_month=50_000, items=50, item_bytes=1500),
)  # fmt: skip
def grading_queue(*, course_id: str, status: SubmissionStatus = "submitted") -> None:
    """The submissions of a course that wait for a grade, oldest first (CC-D16)."""


@CAMPUS.query(
    marks,
    pk="SUBMISSION#{submission_id}",
    sk=begins("MARK#"),
    page=20,
    consistent=True,
    load=Load(per_month=200_000, items=1, item_bytes=900),
)
def marks_of_submission(*, submission_id: str) -> None:
    """The marks of a submission, one for each marker."""


@CAMPUS.query(
    comments, pk="SUBMISSION#{submission_id}", sk=begins("COMMENT#"), page=500,
    load=Load(per_month=200_000, items=5, item_bytes=400),
)  # fmt: skip
def comments_of_submission(*, submission_id: str) -> None:
    """The comments in place."""


@CAMPUS.query(
    regrades, pk="SUBMISSION#{submission_id}", sk=begins("REGRADE#"), page=20,
    load=Load(per_month=20_000, items=1, item_bytes=900),
)  # fmt: skip
def regrades_of_submission(*, submission_id: str) -> None:
    """The regrade requests of a submission."""


@CAMPUS.query(
    regrades,
    on=regrade_index,
    pk="{course_id}#{status}",
    page=50,
    load=Load(per_month=5_000, items=5, item_bytes=900),
)
def regrades_of_course(*, course_id: str, status: RegradeStatus) -> None:
    """The regrade requests of a course in a status, oldest first."""
