"""Demo data: two courses with deadlines around today, a team assignment, a marked one, a quarantined file.

Everything is made by the service, as people would. Must hold: a second run skips what exists; nothing in it is random.
"""

from tablewright.kit.system import Person, Progress
from tablewright.systems.campus.campus import Campus

LIN, OMAR, NOOR, TESSA, BRANDT, ADMIN = (
    "student_lin", "student_omar", "student_noor", "ta_tessa", "prof_brandt", "admin_kaya",
)  # fmt: skip


def people(campus: Campus) -> tuple[Person, ...]:
    """Three students, a teaching assistant, a professor and an admin."""
    return tuple(
        Person(subject, name, role, sees, (campus_role,), f"{subject.partition('_')[2]}@campus.example")
        for subject, name, role, campus_role, sees in (
            (LIN, "Lin Zhao", "Student", "student", "Files, a team assignment that is due, a grade."),
            (OMAR, "Omar Haddad", "Student", "student", "In Lin's team; a late submission."),
            (NOOR, "Noor de Vries", "Student", "student", "A regrade request that waits for an answer."),
            (TESSA, "Tessa Alvarez", "Teaching assistant", "student", "Marks submissions of CS101."),
            (BRANDT, "Prof. Jonas Brandt", "Instructor", "instructor", "Two courses, the gradebook, grades to release."),
            (ADMIN, "Kaya Demir", "Campus admin", "admin", "Users, quotas, quarantine, storage."),
        )
    )


def seed(campus: Campus, progress: Progress) -> None:
    """The demo world."""
    progress(0, None, "Campus Cloud")
