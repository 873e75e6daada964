"""Courses, enrolments, teams, rubrics, overrides and saved comments (CC-D17, CC-X18, CC-X19, CC-X21)."""

from datetime import timedelta

from tablewright.design import Data, Keys, Load, Retention, Unique, begins
from tablewright.systems.campus.course_model import (
    Audience,
    Course,
    CourseRole,
    Enrolment,
    FormerEnrolment,
    GroupSet,
    Override,
    Team,
    TeamMembership,
)
from tablewright.systems.campus.design.base import CAMPUS
from tablewright.systems.campus.grade_model import Rubric, SavedComment

__all__ = [
    "RECORDS_KEPT",
    "all_courses",
    "all_courses_index",
    "courses",
    "courses_by_semester",
    "courses_of_user",
    "courses_table",
    "enrolment_course_index",
    "enrolments",
    "enrolments_of_course",
    "enrolments_table",
    "former_enrolments",
    "former_enrolments_of_user",
    "group_sets",
    "group_sets_of_course",
    "overrides",
    "overrides_of_assignment",
    "rubrics",
    "rubrics_of_course",
    "saved_comments",
    "saved_comments_of_course",
    "semester_index",
    "team_memberships",
    "team_memberships_of_set",
    "teams",
    "teams_of_set",
]

# The semester and two years (CC-53); then the records are archived.
RECORDS_KEPT = timedelta(days=2 * 365 + 1)
_RECORDS = Retention(RECORDS_KEPT, "after the end of the semester", then="archived")
courses_table = CAMPUS.table(
    "campus-cloud-courses",
    pk="PK",
    sk="SK",
    about="Courses with their teams, rubrics and saved comments; other dates of assignments; former roles.",
)
all_courses_index = courses_table.gsi("AllCoursesIndex", pk="allCoursesKey", sk="allCoursesAt")
semester_index = courses_table.gsi("SemesterIndex", pk="semesterKey", sk="courseKey")
enrolments_table = CAMPUS.table(
    "campus-cloud-enrollments", pk="userId", sk="courseId", about="Who is in which course, with which role."
)
enrolment_course_index = enrolments_table.gsi("CourseIndex", pk="courseId", sk="userId")


def course_key(course_id: str) -> None: ...
def enrolment_key(user_id: str, course_id: str) -> None: ...
def former_enrolment_key(user_id: str, course_id: str, role: CourseRole) -> None: ...
def group_set_key(course_id: str, group_set_id: str) -> None: ...
def team_key(course_id: str, group_set_id: str, team_id: str) -> None: ...
def team_membership_key(course_id: str, group_set_id: str, user_id: str) -> None: ...
def rubric_key(course_id: str, rubric_id: str) -> None: ...
def saved_comment_key(course_id: str, saved_comment_id: str) -> None: ...
def override_key(assignment_id: str, audience: Audience, audience_id: str) -> None: ...


courses = courses_table.entity(
    Course,
    course_key,
    tag="course",
    pk="COURSE#{course_id}",
    sk="COURSE",
    on={
        semester_index: Keys("{semester}", "{course_id}"),
        all_courses_index: Keys("COURSES", "{semester_end:ms}#{course_id}"),
    },
    version="version",
    retention=_RECORDS,
    load={"create": Load(per_month=20, item_bytes=1200), "change": Load(per_month=200, item_bytes=1200)},
)
enrolments = enrolments_table.entity(
    Enrolment,
    enrolment_key,
    tag="enrolment",
    pk="{user_id}",
    sk="{course_id}",
    on={enrolment_course_index: Keys("{course_id}", "{user_id}")},
    version="version",
    data={"name": Data.PERSONAL, "email": Data.PERSONAL, "university_id": Data.PERSONAL},
    retention=_RECORDS,
    load={"create": Load(per_month=500, item_bytes=350), "change": Load(per_month=200, item_bytes=350)},
)
former_enrolments = courses_table.entity(
    FormerEnrolment,
    former_enrolment_key,
    tag="former_enrolment",
    pk="USER#{user_id}",
    sk="FORMER#{course_id}#{role}",
    retention=_RECORDS,
    load={"put": Load(per_month=50, item_bytes=150, transaction=True)},
)
group_sets = courses_table.entity(
    GroupSet,
    group_set_key,
    tag="group_set",
    pk="COURSE#{course_id}",
    sk="GROUPSET#{group_set_id}",
    version="version",
    retention=_RECORDS,
    load={"create": Load(per_month=40, item_bytes=250)},
)
teams = courses_table.entity(
    Team,
    team_key,
    tag="team",
    pk="COURSE#{course_id}",
    sk="TEAM#{group_set_id}#{team_id}",
    unique=[Unique("name", "{course_id}#{group_set_id}#{name:lower}")],
    version="version",
    data={"member_ids": Data.PERSONAL},
    retention=_RECORDS,
    load={"create": Load(per_month=400, item_bytes=400), "change": Load(per_month=800, item_bytes=400)},
)
team_memberships = courses_table.entity(
    TeamMembership,
    team_membership_key,
    tag="team_membership",
    pk="COURSE#{course_id}",
    sk="MEMBER#{group_set_id}#{user_id}",
    data={"user_id": Data.PERSONAL},
    retention=_RECORDS,
    load={"create": Load(per_month=1_600, item_bytes=250, transaction=True)},
)
rubrics = courses_table.entity(
    Rubric,
    rubric_key,
    tag="rubric",
    pk="COURSE#{course_id}",
    sk="RUBRIC#{rubric_id}",
    version="version",
    retention=_RECORDS,
    load={"create": Load(per_month=40, item_bytes=2500), "change": Load(per_month=80, item_bytes=2500)},
)
saved_comments = courses_table.entity(
    SavedComment,
    saved_comment_key,
    tag="saved_comment",
    pk="COURSE#{course_id}",
    sk="COMMENT#{saved_comment_id}",
    retention=_RECORDS,
    load={"create": Load(per_month=400, item_bytes=300)},
)
overrides = courses_table.entity(
    Override,
    override_key,
    tag="override",
    pk="ASSIGNMENT#{assignment_id}",
    sk="OVERRIDE#{audience}#{audience_id}",
    version="version",
    data={"reason": Data.PERSONAL},
    retention=_RECORDS,
    load={"create": Load(per_month=400, item_bytes=350), "change": Load(per_month=100, item_bytes=350)},
)


# --- access patterns ---


@CAMPUS.query(
    courses, on=semester_index, pk="{semester}", page=50, load=Load(per_month=500, items=20, item_bytes=1200)
)
def courses_by_semester(*, semester: str) -> None:
    """The courses of a semester."""


@CAMPUS.query(
    courses, on=all_courses_index, pk="COURSES", descending=True, page=50, roles=("admin",),
    load=Load(per_month=500, items=50, item_bytes=1200),
)  # fmt: skip
def all_courses() -> None:
    """All courses, the newest semester first: for admins."""


@CAMPUS.query(enrolments, pk="{user_id}", page=100, load=Load(per_month=1_000_000, items=5, item_bytes=350))
def courses_of_user(*, user_id: str) -> None:
    """The courses a user is in, with the role there."""


@CAMPUS.query(
    former_enrolments, pk="USER#{user_id}", sk=begins("FORMER#"), page=100,
    load=Load(per_month=50, items=2, item_bytes=150),
)  # fmt: skip
def former_enrolments_of_user(*, user_id: str) -> None:
    """The roles that a user had in courses and has no more: to erase what they wrote there."""


@CAMPUS.query(
    enrolments,
    on=enrolment_course_index,
    pk="{course_id}",
    page=100,
    load=Load(per_month=20_000, items=60, item_bytes=350),
)
def enrolments_of_course(*, course_id: str) -> None:
    """Everyone in a course."""


@CAMPUS.query(
    group_sets,
    pk="COURSE#{course_id}",
    sk=begins("GROUPSET#"),
    page=50,
    load=Load(per_month=20_000, items=2, item_bytes=250),
)
def group_sets_of_course(*, course_id: str) -> None:
    """The group sets of a course."""


@CAMPUS.query(
    teams, pk="COURSE#{course_id}", sk=begins("TEAM#{group_set_id}#"), page=200,
    load=Load(per_month=20_000, items=20, item_bytes=400),
)  # fmt: skip
def teams_of_set(*, course_id: str, group_set_id: str) -> None:
    """The teams of a group set."""


@CAMPUS.query(
    team_memberships, pk="COURSE#{course_id}", sk=begins("MEMBER#{group_set_id}#"), page=500,
    load=Load(per_month=2_000, items=60, item_bytes=250),
)  # fmt: skip
def team_memberships_of_set(*, course_id: str, group_set_id: str) -> None:
    """Who is in a team of a group set."""


@CAMPUS.query(
    rubrics,
    pk="COURSE#{course_id}",
    sk=begins("RUBRIC#"),
    page=50,
    load=Load(per_month=5_000, items=3, item_bytes=2500),
)
def rubrics_of_course(*, course_id: str) -> None:
    """The rubrics of a course."""


@CAMPUS.query(
    saved_comments, pk="COURSE#{course_id}", sk=begins("COMMENT#"), page=200,
    load=Load(per_month=20_000, items=30, item_bytes=300),
)  # fmt: skip
def saved_comments_of_course(*, course_id: str) -> None:
    """Comments that markers use again."""


@CAMPUS.query(
    overrides, pk="ASSIGNMENT#{assignment_id}", sk=begins("OVERRIDE#"), page=200,
    load=Load(per_month=300_000, items=2, item_bytes=350),
)  # fmt: skip
def overrides_of_assignment(*, assignment_id: str) -> None:
    """The other dates of an assignment."""
