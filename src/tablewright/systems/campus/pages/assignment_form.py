"""The form of an assignment: typed values to fields and back. Times are typed in the zone of the course.

Must hold: all mistakes are shown at once, those of reading and those of the rules.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

from tablewright.pages.forms import Form
from tablewright.systems.campus.course_model import Assignment, LatePenalty
from tablewright.systems.campus.courses.courses import Mistake

MEGABYTE = 1024**2
_OFFICE = "application/vnd.openxmlformats-officedocument."
TYPES = (
    ("application/pdf", "PDF"),
    ("text/plain", "Text and source code"),
    ("image/*", "Images"),
    ("application/zip", "ZIP archives"),
    (f"{_OFFICE}wordprocessingml.document", "Word"),
    (f"{_OFFICE}spreadsheetml.sheet", "Excel"),
    (f"{_OFFICE}presentationml.presentation", "PowerPoint"),
    ("audio/*", "Audio"),
    ("video/*", "Video"),
)
POLICIES = (
    ("accept", "Accept it, marked as late"),
    ("penalise", "Accept it, with a penalty"),
    ("reject", "Do not accept it"),
)
_TICKS = {
    "extraCredit": "extra_credit", "gradeEach": "grade_each", "anonymous": "anonymous", "counts": "counts",
    "hiddenGraders": "hidden_graders", "secondMarking": "second_marking",
}  # fmt: skip
# Fields of the API that have another name in the form.
_NAMES = {
    "latePenalty.percent": "latePercent", "latePenalty.most": "lateMost", "latePenalty.floor": "lateFloor",
    "maxFileSize": "maxMegabytes", "allowedFileTypes": "otherTypes",
}  # fmt: skip


def local_text(moment: datetime | None, zone: str) -> str:
    """A moment as an input of the type datetime-local has it."""
    if moment is None:
        return ""
    local = moment.astimezone(ZoneInfo(zone))
    is_whole = local.second == (59 if local.minute == 59 else 0)
    return f"{local:%Y-%m-%dT%H:%M}" if is_whole else f"{local:%Y-%m-%dT%H:%M:%S}"


def local_moment(text: str, zone: str) -> datetime:
    """What was typed into such an input; ValueError for anything else. 23:59 is the last second of the day."""
    local = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    if not 2000 <= local.year < 9000:
        raise ValueError(text)
    if local.minute == 59 and len(text) == len("2026-11-20T23:59"):
        local = local.replace(second=59)
    return local.astimezone(UTC)


def form_of_assignment(found: Assignment, zone: str) -> Form:
    """The form as it is filled in for an assignment."""
    costs, known = found.late_penalty, {value for value, _ in TYPES}
    values = {
        "title": found.title, "description": found.description, "instructions": found.instructions,
        "availableFrom": local_text(found.available_from, zone), "dueDate": local_text(found.due_date, zone),
        "acceptUntil": local_text(found.accept_until, zone), "graceMinutes": str(found.grace_minutes),
        "maxSubmissions": str(found.max_submissions), "maxMegabytes": f"{found.max_file_size / MEGABYTE:g}",
        "types": "\n".join(each for each in found.allowed_file_types if each in known),
        "otherTypes": "\n".join(each for each in found.allowed_file_types if each not in known),
        "points": _plain(found.points), "missingGrade": _plain(found.missing_grade), "latePolicy": found.late_policy,
        "latePercent": _plain(costs.percent), "lateUnit": costs.unit, "lateMost": _plain(costs.most),
        "lateFloor": _plain(costs.floor), "groupSetId": found.group_set_id, "rubricId": found.rubric_id,
        "gradeGroupId": found.grade_group_id, "rubricUrl": found.rubric_url, "statement": found.statement,
        "regradeDays": str(found.regrade_days), "attachments": "\n".join(found.attachments),
        "updatedAt": found.updated_at.isoformat(),
    }  # fmt: skip
    ticked = {name: "on" for name, field in _TICKS.items() if getattr(found, field)}
    return Form({name: text for name, text in values.items() if text} | ticked)


def _plain(number: Decimal | None) -> str:
    return f"{number.normalize():f}" if number is not None else ""


def read_assignment(form: Form, zone: str) -> tuple[dict[str, Any], Form]:
    """The fields that can be read, and the form with the errors of those that cannot."""
    fields: dict[str, Any] = {
        "title": form.get("title").strip(),
        "description": form.get("description").strip(),
        "instructions": form.get("instructions").strip() or None,
        "allowed_file_types": _lines(form, "types") + _lines(form, "otherTypes"),
        "attachments": _lines(form, "attachments"),
        "late_policy": next((value for value, _ in POLICIES if value == form.get("latePolicy")), "accept"),
        **{field: form.is_ticked(name) for name, field in _TICKS.items()},
    }
    for name, field in (
        ("groupSetId", "group_set_id"), ("rubricId", "rubric_id"), ("gradeGroupId", "grade_group_id"),
        ("rubricUrl", "rubric_url"), ("statement", "statement"),
    ):  # fmt: skip
        fields[field] = form.get(name).strip() or None
    found = form

    def take(name: str, field: str, reading: Callable[[str], Any], words: str, empty: Any = ...) -> None:
        nonlocal found
        text = form.get(name).strip()
        try:
            fields[field] = empty if not text and empty is not ... else reading(text)
        except (ValueError, InvalidOperation):
            found = found.wrong(name, words)

    moment = "Enter a day and a time."
    take("dueDate", "due_date", lambda text: local_moment(text, zone), moment)
    take("availableFrom", "available_from", lambda text: local_moment(text, zone), moment, None)
    take("acceptUntil", "accept_until", lambda text: local_moment(text, zone), moment, None)
    take("graceMinutes", "grace_minutes", int, "Enter a number of minutes.", 0)
    take("maxSubmissions", "max_submissions", int, "Enter a number of attempts.", 1)
    take("regradeDays", "regrade_days", int, "Enter a number of days.", 7)
    take(
        "maxMegabytes",
        "max_file_size",
        lambda text: int(_number(text) * MEGABYTE),
        "Enter a number of megabytes.",
    )
    take("points", "points", _number, "Enter a number of points.", None)
    take("missingGrade", "missing_grade", _number, "Enter a number of points, or leave it empty.", None)
    costs: dict[str, Any] = {"unit": "hour" if form.get("lateUnit") == "hour" else "day"}
    percent = "Enter a number of percent."
    for name, empty in (("percent", Decimal(0)), ("most", Decimal(100)), ("floor", Decimal(0))):
        take(f"late{name.capitalize()}", f"late {name}", _number, percent, empty)
        costs[name] = fields.pop(f"late {name}", empty)
    fields["late_penalty"] = LatePenalty(**costs)
    return fields, found


def with_mistakes(form: Form, mistakes: list[Mistake]) -> Form:
    """The form with the mistakes of the rules, each beside its field."""
    for each in mistakes:
        name = _NAMES.get(each.field, each.field)
        if name not in form.errors:
            form = form.wrong(name, each.message)
    return form


def _lines(form: Form, name: str) -> list[str]:
    return list(dict.fromkeys(line.strip() for line in form.get(name).splitlines() if line.strip()))


def _number(text: str) -> Decimal:
    number = Decimal(text.replace(",", "."))
    if not number.is_finite():
        raise ValueError(text)
    return number


def new_form(due: datetime, zone: str) -> Form:
    """The form of a new assignment."""
    start: Mapping[str, str] = {
        "dueDate": f"{due.astimezone(ZoneInfo(zone)):%Y-%m-%d}T23:59", "maxSubmissions": "1", "maxMegabytes": "20",
        "points": "100", "counts": "on", "latePolicy": "accept", "lateUnit": "day", "regradeDays": "7",
        "types": "application/pdf\ntext/plain",
        "statement": "This is my own work, and I have named all sources I used.",
    }  # fmt: skip
    return Form(start)
