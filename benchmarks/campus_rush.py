"""A deadline rush: 2 000 submissions in a minute, with exact numbering, and some more than are allowed.

A thousand students submit twice each, a file and a text, as a full service does it: dates, lateness, held bytes, the
receipt, the audit entry, one transaction. Every tenth tries a third time, which is refused. Must hold: every student
has the numbers 1 and 2, the exact count is 2 000, and the count that is kept from the stream settles at 2 000.
Elsewhere: running it (campus.py).
"""

from datetime import timedelta
from pathlib import Path

from benchmarks.load import CannotMeasure
from benchmarks.parental import HEAD, Steady, row, run_steadily
from benchmarks.report import table
from benchmarks.runner import Part, print_progress
from benchmarks.verdict import at_least, under

from tablewright import Engine
from tablewright.client import embedded
from tablewright.edge import Principal
from tablewright.edge.errors import Conflict
from tablewright.mapping import Db
from tablewright.systems.campus.access import member_of
from tablewright.systems.campus.campus import Campus, open_campus
from tablewright.systems.campus.course_model import Assignment
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.parts import NewPart
from tablewright.systems.campus.design import CAMPUS

STUDENTS, EACH, THIRD = 1000, 2, 10  # every tenth student tries once more
REQUESTS = STUDENTS * EACH + STUDENTS // THIRD
SUBMISSIONS = STUDENTS * EACH
WORKERS = 16
HELD, P99 = 0.99, 1000.0
COURSE = "RUSH-2030"


def rush_part(directory: Path, durability: str, seconds: float = 60.0) -> Part:
    """2 000 submissions in so many seconds; a minute is what was promised."""
    with Engine.open(directory / "rush", durability=durability) as engine:
        db = Db(embedded(engine), CAMPUS)
        db.create_tables()
        campus = open_campus(db, db.world, b"a secret of the benchmark", home=directory / "rush-objects")
        consumer = campus.submission_counts.consumer()
        consumer.create_tables()
        print_progress(f"rush: {STUDENTS} students, each with a file")
        assignment, members, files = _class(campus)
        refused: list[int] = []

        def submit(number: int) -> None:
            student = number % STUDENTS if number < SUBMISSIONS else (number - SUBMISSIONS) * THIRD
            parts = [NewPart("file", file_id=files[student]), NewPart("text", text=f"answer {number}")]
            try:
                campus.submissions.submit(members[student], assignment, parts=parts, key=f"request-{number}")
            except Conflict as conflict:
                if conflict.code != "SUBMISSION_LIMIT":
                    raise
                refused.append(number)

        print_progress(f"rush: {REQUESTS} requests in {seconds:.0f} s")
        found = run_steadily(submit, REQUESTS / seconds, seconds, WORKERS)
        consumer.run_once()
        _check(campus, assignment, members, len(refused))
    return _report(found, durability, seconds)


def _class(campus: Campus) -> tuple[Assignment, list[CourseMember], list[str]]:
    teacher = campus.users.entered(
        Principal("teacher", frozenset(("instructor",)), email="teacher@campus.example")
    )
    now = campus.repository.now()
    campus.courses.create(
        teacher,
        {"course_id": COURSE, "name": "Rush", "semester": "2030", "semester_end": now + timedelta(days=100)},
    )
    staff = member_of(campus, teacher, COURSE)
    fields = {
        "title": "Due now", "description": "", "due_date": now + timedelta(hours=1), "max_file_size": 10**6,
        "allowed_file_types": [], "max_submissions": EACH,
    }  # fmt: skip
    made = campus.assignments.create(staff, fields)
    assignment = campus.assignments.publish(staff, made.assignment_id)
    members, files = [], []
    for number in range(STUDENTS):
        login = Principal(f"student-{number}", frozenset(("student",)), email=f"s{number}@campus.example")
        user = campus.users.entered(login)
        campus.courses.place(staff, user, "student", None)
        content = f"the work of student {number}\n".encode()
        files.append(campus.uploads.store_whole(user, "work.txt", [content], len(content)).file_id)
        members.append(member_of(campus, user, COURSE))
    return assignment, members, files


def _check(campus: Campus, assignment: Assignment, members: list[CourseMember], refused: int) -> None:
    """What is stored must be what was promised."""
    for member in members:
        rows = campus.owners.submissions(assignment.assignment_id, member.user.user_id)
        if [each.submission_number for each in rows] != [*range(1, EACH + 1)]:
            raise CannotMeasure(
                f"{member.user.user_id} has the numbers {[each.submission_number for each in rows]}"
            )
    exact = campus.assignments.count(assignment.assignment_id)
    kept = campus.repository.assignment(assignment.assignment_id).submission_count
    if not exact == kept == SUBMISSIONS or refused != REQUESTS - SUBMISSIONS:
        raise CannotMeasure(f"{exact} submissions, {kept} counted, {refused} refused")


def _report(found: Steady, durability: str, seconds: float) -> Part:
    figures = found.figures()
    per_submission = 1000 * found.cpu_seconds / REQUESTS
    title = f"A deadline rush, {SUBMISSIONS} submissions in {seconds:.0f} s ({durability})"
    text = table(title, ["a submission", *HEAD], [row("numbered 1 and 2 for all", figures)])
    held = at_least(f"{SUBMISSIONS} submissions in {seconds:.0f} s, exact", HELD, found.held)
    p99 = under("p99 of a submission, from when it was due", P99, "ms", figures["p99_ms"])
    return Part("rush", text, {**figures, "cpu_ms_per_request": per_submission}, [held, p99])
