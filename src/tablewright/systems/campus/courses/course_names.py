"""The name of a course in its assignments: a copy, rewritten by a task when the course gets another name.

Must hold: the task can run again at any point; it writes only the rows that differ.
"""

from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Course
from tablewright.systems.campus.model import Task
from tablewright.systems.campus.repository import Repository

NAME = "course name"


def name_task(repository: Repository, course: Course) -> Task:
    """To be written with the new name."""
    now = repository.now()
    return Task(task_id=repository.new_uuid(), kind=NAME, created_at=now, due_at=now, about=course.course_id)


class CourseNames:
    """Handles the task `course name`."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def run(self, task: Task) -> Finished:
        course = self._repository.course(task.about)
        for each in self._repository.db.all(d.assignments_of_course(course_id=course.course_id)):
            if each.course_name != course.name:
                key = each.course_id, each.assignment_id
                self._repository.try_write(
                    d.assignments.update(*key).at(lambda a: a.course_name).set(course.name)
                )
        return Finished()
