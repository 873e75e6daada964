"""Demo data: two courses with deadlines around today, a team assignment, a marked one, a quarantined file.

Everything is made by the service with a clock that runs from three weeks ago to now, as people would. Must hold: a
second run skips what exists; nothing in it is random.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from tablewright.edge import Principal
from tablewright.edge.errors import Conflict
from tablewright.kit.seed_clock import SeedClock
from tablewright.kit.system import Person, Progress
from tablewright.systems.campus import jobs
from tablewright.systems.campus.campus import Campus, open_campus
from tablewright.systems.campus.course_model import (
    Assignment,
    Course,
    CourseRole,
    GradeGroup,
    GradeLetter,
    LatePenalty,
    Submission,
)
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.parts import NewPart
from tablewright.systems.campus.grade_model import Criterion, CriterionMark, Level, Rubric
from tablewright.systems.campus.grading.comments import CommentPosition
from tablewright.systems.campus.grading.mark_entries import MarkEntry
from tablewright.systems.campus.model import File, User
from tablewright.systems.campus.sharing.addressees import RecipientName
from tablewright.systems.campus.sharing.links import LinkTerms
from tablewright.systems.campus.sharing.shares import Terms
from tablewright.systems.campus.sharing.targets import target_of

LIN, OMAR, NOOR, TESSA, BRANDT, ADMIN = (
    "student_lin", "student_omar", "student_noor", "ta_tessa", "prof_brandt", "admin_kaya",
)  # fmt: skip
_CAST = (
    (LIN, "Lin Zhao", "Student", "student", "Files, a team assignment that is due, a grade."),
    (OMAR, "Omar Haddad", "Student", "student", "In Lin's team; a late submission."),
    (NOOR, "Noor de Vries", "Student", "student", "A regrade request that waits for an answer."),
    (TESSA, "Tessa Alvarez", "Teaching assistant", "student", "Marks submissions of CS101."),
    (
        BRANDT,
        "Prof. Jonas Brandt",
        "Instructor",
        "instructor",
        "Two courses, the gradebook, grades to release.",
    ),
    (ADMIN, "Kaya Demir", "Campus admin", "admin", "Users, quotas, quarantine, storage."),
)
# A student's login has no role.
_ROLES = {"instructor": ("instructor",), "admin": ("admin",)}
# Further students, who have not signed in yet.
_OTHERS = (
    "Ada Okafor", "Ben Fischer", "Chloé Martin", "Dmitri Volkov", "Elif Yıldız", "Farid Rahimi", "Grace Mensah",
    "Hiro Tanaka", "Ines Costa", "Jakub Nowak", "Kofi Asante", "Lea Schmidt", "Mateo García", "Nadia Petrova",
    "Oskar Lind", "Priya Nair", "Quang Tran", "Rosa Bianchi", "Sami Virtanen", "Tala Haddad", "Umar Diallo",
)  # fmt: skip
# Points for the three criteria of the essay, by student: a distribution, not a line.
_LEVELS = "222 212 221 122 211 202 121 221 112 011 212 222 111 121 012 221 122 001 211 222 120 212 111 110"
_ZONE = "Europe/Berlin"
_TYPES = ["text/plain", "application/pdf", "image/png", "application/zip"]
_ESSAY = """What is an algorithm?

An algorithm is a finite list of steps that turns an input into an output. A recipe is one, if every step
can be followed without asking the cook. The oldest one that is still in use finds the greatest common divisor.

def gcd(a, b):
    while b:
        a, b = b, a % b
    return a

It ends because b becomes smaller with each step and never negative.
"""
# In two halves, so that no scanner locks this file.
_EICAR = r"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR" + r"-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"


def people(campus: Campus) -> tuple[Person, ...]:
    """Three students, a teaching assistant, a professor and an admin."""
    return tuple(
        Person(subject, name, role, sees, _ROLES.get(campus_role, ()), _address(subject))
        for subject, name, role, campus_role, sees in _CAST
    )


def seed(campus: Campus, progress: Progress) -> None:
    """The demo world; about three seconds."""
    repository = campus.repository
    world, today = repository.world, repository.now()
    clock = SeedClock(today - timedelta(days=21))
    past = open_campus(
        repository.db,
        replace(world, now=clock),
        b"seeding: no secret of it is sent",
        home=Path(),
        # One file must be in quarantine, whatever scanner the real campus has.
        settings=campus.settings.model_copy(update={"scanner": "signatures"}),
        objects=campus.objects,
    )
    past = replace(past, links=campus.links)  # the tokens of links are made with the real secret
    making = _Making(past, clock, today)
    steps = (
        ("people", making.people),
        ("files", making.files),
        ("courses", making.courses),
        ("a marked assignment", making.marked_essay),
        ("submissions to mark", making.sorting),
        ("a team assignment", making.team_project),
        ("a lab report", making.lab_report),
    )
    for done, (what, make) in enumerate(steps):
        progress(done, len(steps), what)
        make()
        jobs.run_tasks(past)
    clock.now = today
    for _ in range(5):
        jobs.run_tasks(past)
    progress(len(steps), len(steps), "done")


class _Making:
    """The steps, each of which skips what exists already."""

    def __init__(self, campus: Campus, clock: SeedClock, today: datetime) -> None:
        self.campus, self.clock = campus, clock
        # Deadlines are at 18:00.
        self.today = today.replace(hour=17, minute=0, second=0, microsecond=0)
        self.cast: dict[str, User] = {}
        self.students: list[User] = []

    def people(self) -> None:
        users = self.campus.users
        for subject, name, _, role, _ in _CAST:
            login = Principal(subject, frozenset((role,)), email=_address(subject), claims={"name": name})
            user = users.entered(login)
            if user.time_zone != _ZONE:
                user = users.change_profile(user, {"name": name, "time_zone": _ZONE})
            self.cast[subject] = user
        others = [
            users.invited(
                f"{name.split()[0].lower()}@campus.example".encode("ascii", "ignore").decode(), name
            )
            for name in _OTHERS
        ]
        self.students = [self.cast[LIN], self.cast[OMAR], self.cast[NOOR], *others]

    # --- files ---

    def files(self) -> None:
        campus, lin, brandt = self.campus, self.cast[LIN], self.cast[BRANDT]
        if campus.folders.tree(lin.user_id).by_id:
            return
        notes = campus.folders.create(lin, "Lecture notes")
        campus.folders.create(lin, "Photos")
        for week in range(1, 6):
            self.clock.now += timedelta(days=1)
            text = f"Week {week}\n\n" + "Sorting, searching, and what they cost.\n" * (20 * week)
            self._file(lin, f"Week {week}.txt", text.encode(), folder_id=notes.folder_id)
        self._file(lin, "timetable.txt", b"Mon 10:00 CS101\nWed 14:00 PHY201\n")
        self._file(lin, "gcd.py", b"def gcd(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n")
        omar = RecipientName(email=self.cast[OMAR].email)
        self._share(lin, notes, [omar], "Here are my notes.")
        slides = campus.folders.create(brandt, "Slides")
        self._file(
            brandt, "01 Introduction.txt", b"What computers can and cannot do.\n", folder_id=slides.folder_id
        )
        campus.links.create(
            brandt,
            target_of(campus.folders.create(brandt, "Photos of the excursion")),
            LinkTerms(
                kind="drop", title="Photos of the excursion", expires_at=self.today + timedelta(days=10)
            ),
        )
        self._file(self.cast[OMAR], "free-game.com", _EICAR.encode())

    def _file(self, user: User, name: str, content: bytes, **slot: Any) -> File:
        return self.campus.uploads.store_whole(user, name, [content], len(content), **slot)

    def _share(self, owner: User, item: Any, to: list[RecipientName], message: str) -> None:
        found = self.campus.addressees.find(owner, to)
        self.campus.shares.share(owner, target_of(item), found, Terms(message=message))

    # --- courses ---

    def courses(self) -> None:
        brandt = self.cast[BRANDT]
        semester = f"{self.today:%Y} autumn"
        for course_id, name, groups in (
            ("CS101", "Introduction to Computer Science", _GROUPS),
            ("PHY201", "Experimental Physics", []),
        ):
            fields = {
                "course_id": self._id(course_id),
                "name": name,
                "semester": semester,
                "semester_end": self.today + timedelta(days=90),
                "time_zone": _ZONE,
                "sections": ["A", "B"],
                "late_days": 1,
                "grade_groups": groups,
                "letters": _LETTERS,
            }
            try:
                course = self.campus.courses.create(brandt, fields)
            except Conflict:
                continue
            member = CourseMember(brandt, course, "instructor")
            self.campus.courses.place(member, self.cast[TESSA], "ta", None)
            taken = self.students if course_id == "CS101" else self.students[:8]
            for number, student in enumerate(taken):
                self.campus.courses.place(member, student, "student", "AB"[number % 2])

    def _id(self, name: str) -> str:
        return f"{name}-{self.today:%Y}-AUTUMN"

    def _course(self, name: str) -> Course:
        return self.campus.repository.course(self._id(name))

    def _member(self, user: User, course: Course, role: CourseRole = "student") -> CourseMember:
        enrolment = self.campus.repository.enrolment(user.user_id, course.course_id)
        return CourseMember(user, course, role, enrolment)

    def _staff(self, course: Course) -> CourseMember:
        return self._member(self.cast[BRANDT], course, "instructor")

    def _assignment(self, course: Course, title: str, due: datetime, **fields: Any) -> Assignment | None:
        """A published assignment; None if there is one with this title."""
        staff = self._staff(course)
        if any(each.title == title for each in self.campus.assignments.of(staff)):
            return None
        given: dict[str, Any] = {
            "title": title,
            "due_date": due,
            "max_file_size": 10 * 1024 * 1024,
            "allowed_file_types": _TYPES,
            "max_submissions": 3,
            "points": Decimal(6),
            "statement": "This is my own work.",
            **fields,
        }
        made = self.campus.assignments.create(staff, given)
        return self.campus.assignments.publish(staff, made.assignment_id)

    def _submit(self, user: User, course: Course, assignment: Assignment, name: str, text: str) -> Submission:
        file = self._file(user, name, text.encode())
        return self.campus.submissions.submit(
            self._member(user, course),
            assignment,
            parts=[NewPart("file", file_id=file.file_id)],
            key=f"seed-{assignment.assignment_id}",
            agreed=True,
        )

    def marked_essay(self) -> None:
        campus, course = self.campus, self._course("CS101")
        self.clock.now = self.today - timedelta(days=20)
        rubric = self._rubric(course)
        essay = self._assignment(
            course,
            "Essay: what is an algorithm?",
            self.today - timedelta(days=12),
            description="One page, in your own words, with an example.",
            rubric_id=rubric.rubric_id,
            grade_group_id="homework",
            late_policy="penalise",
            late_penalty=LatePenalty(percent=Decimal(10), floor=Decimal(50)),
            # Late work is taken for a week.
            accept_until=self.today - timedelta(days=5),
            regrade_days=14,
        )
        if essay is None:
            return
        marker = self._member(self.cast[TESSA], course, "ta").actor
        made = []
        for number, student in enumerate(self.students):
            late = 1.5 if student.user_id == OMAR else -1
            self.clock.now = self.today - timedelta(days=12 - late, minutes=-23 * number)
            made.append(self._submit(student, course, essay, "essay.txt", f"{_ESSAY}\n{student.name}\n"))
        self.clock.now = self.today - timedelta(days=9)
        for submission, levels in zip(made, _LEVELS.split(), strict=True):
            self._mark(essay, submission, rubric, levels, marker)
        self.clock.now = self.today - timedelta(days=4)
        campus.release.release(campus.repository.assignment(essay.assignment_id), marker)
        self._regrade(essay, course)

    def _rubric(self, course: Course) -> Rubric:
        known = self.campus.rubrics.of_course(course.course_id)
        if known:
            return known[0]
        criteria = [
            Criterion(
                criterion_id=name.lower(),
                title=name,
                description=about,
                levels=[
                    Level(level_id=f"{name.lower()}-{n}", title=words, points=Decimal(n))
                    for n, words in _WORDS
                ],
            )
            for name, about in (
                ("Definition", "Says what an algorithm is, and what it is not."),
                ("Example", "An example that can be followed step by step."),
                ("Reasoning", "Says why the example ends with the right result."),
            )
        ]
        return self.campus.rubrics.create(course.course_id, "Essay", criteria, self._staff(course).actor)

    def _mark(self, essay: Assignment, made: Submission, rubric: Rubric, levels: str, marker: Any) -> None:
        part = made.parts[0].part_id
        if made.student_id == LIN:
            self.campus.comments.add(
                made, part, CommentPosition(line=3), "Well put: steps that need no judgement.", marker
            )
            self.campus.comments.add(
                made, part, CommentPosition(line=11), "Why can it not skip zero?", marker
            )
        chosen = {
            criterion.criterion_id: CriterionMark(level_id=f"{criterion.criterion_id}-{level}")
            for criterion, level in zip(rubric.criteria, levels, strict=True)
        }
        feedback = "A clear essay. Say more about why it ends." if levels != "222" else "Excellent."
        entry = MarkEntry(criteria=chosen, feedback=feedback)
        seen = self.campus.repository.submission(made.submission_id)
        self.campus.marks.save(essay, seen, entry, marker, seen.version, publish=True)

    def _regrade(self, essay: Assignment, course: Course) -> None:
        noor = self.cast[NOOR]
        member = self._member(noor, course)
        self.clock.now = self.today - timedelta(days=2)
        released = self.campus.repository.assignment(essay.assignment_id)
        made = self.campus.submissions.of_student(member, released)[0]
        words = "My example is explained below the code. Could you look at the reasoning again?"
        self.campus.regrades.request(released, made, words, member.actor)

    def sorting(self) -> None:
        course = self._course("CS101")
        self.clock.now = self.today - timedelta(days=9)
        sorting = self._assignment(
            course,
            "Sorting in practice",
            self.today - timedelta(days=2),
            description="Implement two sorting algorithms and compare them on the data of the lecture.",
            points=Decimal(20),
            grade_group_id="homework",
        )
        if sorting is None:
            return
        for number, student in enumerate(self.students[:14]):
            self.clock.now = self.today - timedelta(days=3, minutes=-37 * number)
            code = f"# {student.name}\ndef sort(values):\n    return sorted(values)\n"
            self._submit(student, course, sorting, "sorting.py", code)

    def team_project(self) -> None:
        campus, course = self.campus, self._course("CS101")
        self.clock.now = self.today - timedelta(days=6)
        staff = self._staff(course)
        sets = campus.teams.sets(course.course_id) or [
            campus.teams.create_set(staff, "Project teams", team_size=3)
        ]
        if not campus.teams.teams(sets[0]):
            for number, members in enumerate(_threes(self.students), 1):
                campus.teams.create_team(staff, sets[0], f"Team {number}", [one.user_id for one in members])
        project = self._assignment(
            course,
            "Team project: a web crawler",
            self.today + timedelta(days=3),
            description="A crawler that respects robots.txt, with a report of two pages.",
            points=Decimal(50),
            group_set_id=sets[0].group_set_id,
            grade_group_id="project",
            late_policy="penalise",
            late_penalty=LatePenalty(percent=Decimal(10), floor=Decimal(50)),
            accept_until=self.today + timedelta(days=10),
        )
        if project is None:
            return
        omar = self.cast[OMAR]
        self.clock.now = self.today - timedelta(days=1)
        file = self._file(omar, "crawler.py", b"import urllib.robotparser\n\n\ndef crawl(url):\n    ...\n")
        campus.drafts.add(self._member(omar, course), project, NewPart("file", file_id=file.file_id))

    def lab_report(self) -> None:
        course = self._course("PHY201")
        self.clock.now = self.today - timedelta(days=5)
        self._assignment(
            course,
            "Pendulum: lab report",
            self.today + timedelta(days=1),
            description="Measure g with a pendulum. Two pages with your table and an estimate of the error.",
            points=Decimal(10),
            late_policy="penalise",
            late_penalty=LatePenalty(percent=Decimal(10), floor=Decimal(50)),
            accept_until=self.today + timedelta(days=8),
        )


_WORDS = ((0, "Missing"), (1, "Partly"), (2, "Fully"))
_GROUPS = [
    GradeGroup(group_id="homework", name="Homework", weight=Decimal(60), drop_lowest=0),
    GradeGroup(group_id="project", name="Project", weight=Decimal(40)),
]
_LETTERS = [
    GradeLetter(letter=letter, from_percent=Decimal(percent))
    for letter, percent in (("A", 90), ("B", 75), ("C", 60), ("D", 50), ("F", 0))
]


def _threes(students: list[User]) -> Iterator[list[User]]:
    for start in range(0, len(students), 3):
        yield students[start : start + 3]


def _address(subject: str) -> str:
    return f"{subject.partition('_')[2]}@campus.example"
