"""The read and write mix of the document at ten times its load (CC-55, CC-61), over its five tables.

26 million requests a month are ten a second; 8 of 10 read. Each request is one of the service with everything it does:
access, dates, lateness, quota, audit. Must hold: no request fails.
Elsewhere: running it (campus.py), the rush at a deadline (campus_rush.py).
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from benchmarks.campus_rush import COURSE
from benchmarks.parental import HEAD, row, run_steadily
from benchmarks.report import table
from benchmarks.runner import Part, print_progress
from benchmarks.verdict import at_least

from tablewright import Engine
from tablewright.client import embedded
from tablewright.edge import Principal
from tablewright.mapping import Db
from tablewright.systems.campus.access import member_of
from tablewright.systems.campus.campus import Campus, open_campus
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.parts import NewPart
from tablewright.systems.campus.design import CAMPUS
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.sharing.addressees import RecipientName
from tablewright.systems.campus.sharing.shares import Terms
from tablewright.systems.campus.sharing.targets import target_of

# Millions of requests a month, by table, as the document has them.
REQUESTS = {"files": 10, "shares": 5, "assignments": 2, "submissions": 8, "users": 1}
EXPECTED = sum(REQUESTS.values()) * 1_000_000 / (30 * 86_400)
TIMES, STUDENTS, FILES, WORKERS, HELD = 10, 100, 5, 16, 0.99
_SPREAD, _WRITES = 7919, 5  # a prime that visits all tables; every fifth request writes


def mix_part(directory: Path, durability: str, seconds: float = 30.0) -> Part:
    """The mix for so many seconds, at ten times what the document expects of a hundred users."""
    with Engine.open(directory / "mix", durability=durability) as engine:
        db = Db(embedded(engine), CAMPUS)
        db.create_tables()
        campus = open_campus(db, db.world, b"a secret of the benchmark", home=directory / "mix-objects")
        print_progress(f"mix: {STUDENTS} users with {FILES} files each")
        requests = _requests(campus)
        tables = [name for name, many in REQUESTS.items() for _ in range(many)]

        def one(number: int) -> None:
            read, write = requests[tables[number * _SPREAD % len(tables)]]
            (read if number % _WRITES else write)(number)

        rate = EXPECTED * TIMES
        print_progress(f"mix: {rate:.0f} requests a second for {seconds:.0f} s")
        found = run_steadily(one, rate, seconds, WORKERS)
    figures = found.figures()
    spare = seconds / found.cpu_seconds
    title = f"The document's mix at {TIMES} times its load, {rate:.0f} requests a second ({durability})"
    targets = [
        at_least(f"{TIMES} times the expected load, held", HELD, found.held),
        at_least("CPU of one core that it could have had", 1.0, spare),
    ]
    return Part(
        "mix", table(title, ["a request", *HEAD], [row("8 read, 2 write", figures)]), figures, targets
    )


Request = Callable[[int], object]


def _requests(campus: Campus) -> dict[str, tuple[Request, Request]]:
    """What reads and what writes each table."""
    staff, members = _class(campus)
    users = [member.user for member in members]
    files = [
        campus.uploads.store_whole(user, f"notes {number}.txt", [b"notes\n"], 6)
        for user in users
        for number in range(FILES)
    ]
    assignment = campus.assignments.of(staff)[0]

    def user(number: int) -> CourseMember:
        return members[number % STUDENTS]

    def share(number: int) -> object:
        file = files[number % len(files)]
        owner = users[number % len(files) // FILES]
        to = campus.addressees.find(owner, [RecipientName(email=f"reader{number}@campus.example")])
        return campus.shares.share(owner, target_of(file), to, Terms())

    def edit(number: int) -> object:
        file = files[number % len(files)]
        owner = users[number % len(files) // FILES]
        return campus.library.edit(owner, file.file_id, {"description": f"changed {number}"})

    def submit(number: int) -> object:
        return campus.submissions.submit(
            user(number), assignment, parts=[NewPart("text", text=f"answer {number}")], key=f"{number}"
        )

    def change(number: int) -> object:
        return campus.assignments.change(staff, assignment.assignment_id, {"instructions": f"Hint {number}."})

    return {
        "files": (lambda n: campus.listing.page(user(n).user, Wanted(), 20), edit),
        "shares": (
            lambda n: campus.repository.page(campus.shares.with_user(user(n).user), 20, None, "reader"),
            share,
        ),
        "assignments": (lambda n: campus.assignments.of(user(n)), change),
        "submissions": (lambda n: campus.submissions.history(user(n).user, 20), submit),
        "users": (
            lambda n: campus.users.by_id(user(n).user.user_id),
            lambda n: campus.users.change_profile(user(n).user, {"department": f"Department {n}"}),
        ),
    }


def _class(campus: Campus) -> tuple[CourseMember, list[CourseMember]]:
    teacher = campus.users.entered(Principal("teacher", frozenset(("instructor",)), email="t@campus.example"))
    now = campus.repository.now()
    end = now + timedelta(days=100)
    campus.courses.create(
        teacher, {"course_id": COURSE, "name": "Mix", "semester": "2030", "semester_end": end}
    )
    staff = member_of(campus, teacher, COURSE)
    fields = {
        "title": "Every week", "description": "", "due_date": now + timedelta(days=1), "max_file_size": 10**6,
        "allowed_file_types": [], "max_submissions": 50,
    }  # fmt: skip
    campus.assignments.publish(staff, campus.assignments.create(staff, fields).assignment_id)
    members = []
    for number in range(STUDENTS):
        user = campus.users.entered(Principal(f"student-{number}", email=f"s{number}@campus.example"))
        campus.courses.place(staff, user, "student", None)
        members.append(member_of(campus, user, COURSE))
    return staff, members
