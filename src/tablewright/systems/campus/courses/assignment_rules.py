"""What an assignment and an override may say. Pure: every mistake at once, each with its field."""

import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit

from tablewright.systems.campus.course_model import Assignment, Course, Override
from tablewright.systems.campus.courses.courses import Mistake

MOST_SUBMISSIONS, MOST_EXTRA, MOST_TYPES, MOST_ATTACHMENTS = 50, 20, 30, 20
MOST_BYTES = 20 * 1024**3
LONGEST_TEXT = 20_000
MOST_POINTS = Decimal(10_000)
MOST_GRACE = timedelta(days=7)
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]{0,126})")


def mistakes_in(assignment: Assignment, course: Course) -> list[Mistake]:
    """All that is wrong with an assignment as a whole."""
    return [
        *_texts(assignment),
        *_dates(assignment),
        *_limits(assignment),
        *_late(assignment),
        *_marks(assignment, course),
    ]


def _texts(found: Assignment) -> Iterator[Mistake]:
    if not 1 <= len(found.title.strip()) <= 200:
        yield Mistake("INVALID_TITLE", "title", "Enter a title of up to 200 characters.")
    for name, text in (("description", found.description), ("instructions", found.instructions or "")):
        if len(text) > LONGEST_TEXT:
            yield Mistake("TEXT_TOO_LONG", name, f"Enter at most {LONGEST_TEXT} characters.")
    if len(found.statement or "") > 1000:
        yield Mistake("TEXT_TOO_LONG", "statement", "Enter at most 1000 characters.")
    url = found.rubric_url
    if url is not None and not is_https(url):
        yield Mistake("INVALID_URL", "rubricUrl", "Enter an address that begins with https://.")


def _dates(found: Assignment) -> Iterator[Mistake]:
    if found.available_from is not None and found.available_from >= found.due_date:
        yield Mistake("INVALID_DATES", "availableFrom", "The work must be available before it is due.")
    if found.accept_until is not None and found.late_policy == "reject":
        words = "Late work is rejected, so leave this empty; or choose another late policy."
        yield Mistake("INVALID_DATES", "acceptUntil", words)
    elif found.accept_until is not None and found.accept_until < found.due_date:
        yield Mistake("INVALID_DATES", "acceptUntil", "Work must be accepted at least until it is due.")
    if not 0 <= found.grace_minutes <= MOST_GRACE // timedelta(minutes=1):
        yield Mistake("INVALID_GRACE", "graceMinutes", "Enter 0 to 10080 minutes (a week).")


def _limits(found: Assignment) -> Iterator[Mistake]:
    if not 1 <= found.max_file_size <= MOST_BYTES:
        yield Mistake("INVALID_SIZE", "maxFileSize", "Enter 1 byte to 20 GiB.")
    if not 1 <= found.max_submissions <= MOST_SUBMISSIONS:
        yield Mistake("INVALID_LIMIT", "maxSubmissions", f"Enter 1 to {MOST_SUBMISSIONS} attempts.")
    if len(found.allowed_file_types) > MOST_TYPES or not all(map(_TYPE.fullmatch, found.allowed_file_types)):
        yield Mistake("INVALID_TYPE", "allowedFileTypes", "Enter types such as application/pdf or image/*.")
    if len(found.attachments) > MOST_ATTACHMENTS:
        yield Mistake("TOO_MANY", "attachments", f"Attach at most {MOST_ATTACHMENTS} files.")


def _late(found: Assignment) -> Iterator[Mistake]:
    costs = found.late_penalty
    for name, value in (("percent", costs.percent), ("most", costs.most), ("floor", costs.floor)):
        if not _within(value, 100):
            yield Mistake(
                "INVALID_PERCENT", f"latePenalty.{name}", "Enter 0 to 100 percent, with at most 2 decimals."
            )
    if found.late_policy == "penalise" and costs.percent == 0:
        yield Mistake("INVALID_PERCENT", "latePenalty.percent", "Enter what each started hour or day costs.")


def _marks(found: Assignment, course: Course) -> Iterator[Mistake]:
    if found.points is not None and not _within(found.points, MOST_POINTS):
        yield Mistake(
            "INVALID_POINTS", "points", f"Enter 0 to {MOST_POINTS} points, with at most 2 decimals."
        )
    most = found.points if found.points is not None else MOST_POINTS
    if found.missing_grade is not None and not _within(found.missing_grade, most):
        yield Mistake("INVALID_POINTS", "missingGrade", f"Enter 0 to {most} points, or nothing.")
    if not 0 <= found.regrade_days <= 365:
        yield Mistake("INVALID_LIMIT", "regradeDays", "Enter 0 to 365 days.")
    if found.grade_each and found.anonymous:
        words = "A grade for each member needs their names, so the marking cannot be anonymous."
        yield Mistake("INVALID_MARKING", "anonymous", words)
    if found.grade_each and found.group_set_id is None:
        yield Mistake("NO_TEAMS", "gradeEach", "A grade for each member needs a team assignment.")
    if found.grade_group_id is not None and found.grade_group_id not in {
        g.group_id for g in course.grade_groups
    }:
        yield Mistake("GROUP_NOT_FOUND", "gradeGroupId", "This course has no such group in its gradebook.")


def _within(value: Decimal, most: Decimal | int) -> bool:
    return 0 <= value <= most and value == round(value, 2)


def mistakes_in_override(override: Override, assignment: Assignment) -> list[Mistake]:
    """All that is wrong with an override."""
    found = []
    dates = override.available_from, override.due_date, override.accept_until
    if not any(dates) and not override.excused and not override.extra_submissions:
        words = "Enter a date or extra attempts, or excuse them."
        found.append(Mistake("NOTHING_TO_CHANGE", "dueDate", words))
    due = max(assignment.due_date, override.due_date or assignment.due_date)
    if override.accept_until is not None and override.accept_until < due:
        found.append(
            Mistake("INVALID_DATES", "acceptUntil", "Work must be accepted at least until it is due.")
        )
    if override.available_from is not None and override.available_from >= due:
        found.append(
            Mistake("INVALID_DATES", "availableFrom", "The work must be available before it is due.")
        )
    if not 0 <= override.extra_submissions <= MOST_EXTRA:
        found.append(Mistake("INVALID_LIMIT", "extraSubmissions", f"Enter 0 to {MOST_EXTRA} attempts."))
    if len(override.reason or "") > 500:
        found.append(Mistake("TEXT_TOO_LONG", "reason", "Enter at most 500 characters."))
    return found


def is_https(url: str) -> bool:
    """Whether this is an address of a page that a browser may open: https, with a host, and of a sane length."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme == "https"
            and bool(parts.hostname)
            and len(url) <= 2000
            and url.isprintable()
            and " " not in url
        )
    except ValueError:
        return False
