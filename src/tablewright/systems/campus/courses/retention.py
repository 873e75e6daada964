"""When the records of a course leave the tables: two years and a day after its semester (CC-53)."""

from datetime import datetime

from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Course
from tablewright.systems.campus.model import Task
from tablewright.systems.campus.repository import Repository

ARCHIVE = "archive"


def archive_day(course: Course) -> datetime:
    return course.semester_end + d.RECORDS_KEPT


def archive_task(repository: Repository, course: Course) -> Task:
    """The task of a course, which waits for the day; one that comes too early or twice does nothing."""
    return Task(
        task_id=repository.new_uuid(),
        kind=ARCHIVE,
        created_at=repository.now(),
        due_at=archive_day(course),
        about=course.course_id,
    )
