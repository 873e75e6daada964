"""Ends that people type or choose: a number of minutes, or a time in the child's zone."""

from datetime import datetime, timedelta

from tablewright.pages.forms import Form, FormWrong
from tablewright.systems.parental.model import Child
from tablewright.systems.parental.pages.words import zone_of

_MOST_MINUTES = 366 * 24 * 60


def later(form: Form, child: Child, now: datetime, field: str = "until") -> datetime:
    """The chosen end; FormWrong beside the field. A typed time has precedence over the minutes."""
    text, minutes = form.get(field).strip(), form.get("minutes").strip()
    if text:
        return typed_moment(form, child, field)
    if minutes.isascii() and minutes.isdigit() and 0 < int(minutes) <= _MOST_MINUTES:
        return now + timedelta(minutes=int(minutes))
    raise FormWrong(Form({field: "", **form.values}).wrong(field, "Enter an end time."))


def typed_moment(form: Form, child: Child, field: str = "until") -> datetime:
    """A date and time as browsers send it, in the child's zone."""
    try:
        found = datetime.fromisoformat(form.get(field).strip())
    except ValueError:
        words = "Enter a date and time such as 2026-01-31 18:00."
        raise FormWrong(form.wrong(field, words)) from None
    return found if found.tzinfo else found.replace(tzinfo=zone_of(child))
