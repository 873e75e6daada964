"""The demo world: made once, whatever was cut off, and as the pages promise it."""

from decimal import Decimal

from tests.places import scan
from tests.systems.campus.talk import Place

from tablewright.systems.campus import seed
from tablewright.systems.campus.design import CAMPUS
from tablewright.systems.campus.model import User


def silent(done: int, total: int | None, what: str) -> None:
    return None


def counted(at: Place) -> dict[str, int]:
    """How many items each table has; a second run signs people in, which is in the audit log of nobody."""
    return {name: len(scan(at.db, at.call, name)) for name in CAMPUS.tables}


def person(at: Place, subject: str) -> User:
    return at.campus.users.by_id(subject)


def test_the_demo_world_is_made_once(at: Place) -> None:
    seed.seed(at.campus, silent)
    before = counted(at)
    seed.seed(at.campus, silent)
    assert counted(at) == before


def test_the_demo_world_has_what_its_people_are_said_to_see(at: Place) -> None:
    seed.seed(at.campus, silent)
    campus = at.campus
    assert [file.filename for file in campus.scans.quarantine()] == ["free-game.com"]
    lin = person(at, seed.LIN)
    assert [course.name for course, _ in campus.courses.of(lin)] == [
        "Experimental Physics",
        "Introduction to Computer Science",
    ]
    course_id = f"CS101-{at.clock.now():%Y}-AUTUMN"
    assert len(campus.marks.queue(course_id, seed.TESSA, 50).items) == 14
    assert [each.student_id for each in campus.regrades.queue(course_id, "open", seed.BRANDT).items] == [
        seed.NOOR
    ]
    late = [each for each in campus.submissions.history(person(at, seed.OMAR)).items if each.is_late]
    assert [(each.filename, each.penalty_percent) for each in late] == [("essay.txt", Decimal(10))]
    assert {each.kind for each in campus.waiting_tasks()} <= {"reminder", "upload"}
