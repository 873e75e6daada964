"""Texts that the pages of Skratch share: places, partial dates, conflicts, times. Pure."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

from pydantic import JsonValue

from tablewright.english import full_date, month_and_year
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import Operation, RegionType, Strategy, Trip, Visit
from tablewright.systems.travel.sync.operations import place_of

TYPES: Mapping[RegionType, str] = {
    "country": "Countries",
    "us_state": "US states",
    "canadian_province": "Canadian provinces",
}
ONE: Mapping[RegionType, str] = {
    "country": "Country",
    "us_state": "US state or territory",
    "canadian_province": "Canadian province or territory",
}
# What else can be marked, and does not count.
REST: Mapping[RegionType, str] = {
    "country": "Territories and places outside the United Nations can be marked too, but don't count.",
    "us_state": "The District of Columbia and the territories can be marked too, but don't count.",
    "canadian_province": "All provinces and territories count.",
}
FIELDS: Mapping[str, str] = {
    "*": "This place",
    "notes": "Notes",
    "visited_date": "Date",
    "display_name": "Name",
    "time_zone": "Time zone",
    "mark_country": "Rule for marking countries",
}
PLATFORMS: Mapping[str, str] = {"ios": "iOS", "android": "Android", "web": "Web"}
STRATEGIES: Mapping[Strategy, str] = {
    "server_wins": "We kept the first change.",
    "client_wins": "We kept the later change.",
    "merged": "We kept both.",
    "manual": "Both together are too long, so we kept the first change.",
}
SETTLED_BY: Mapping[Strategy, str] = {
    "server_wins": "Nothing else changes.",
    "merged": "Nothing else changes.",
    "client_wins": "The other version is used now.",
    "manual": "What you wrote is saved.",
}
_MONTHS = 7  # letters of 2024-05


def day_words(text: str | None) -> str:
    """`2024`, `May 2024`, `1 May 2024`."""
    if not text:
        return ""
    if len(text) == 4:
        return text
    if len(text) == _MONTHS:
        return month_and_year(date.fromisoformat(f"{text}-01"))
    return full_date(date.fromisoformat(text))


def trip_words(trip: Trip) -> str:
    """`May 2024 to June 2024: by train`."""
    until = f" to {day_words(trip.end)}" if trip.end and trip.end != trip.start else ""
    return f"{day_words(trip.start)}{until}{': ' + trip.notes if trip.notes else ''}"


def field_words(name: str) -> str:
    """The label of a field; the id of a trip is made by a device and means nothing to people."""
    if name.startswith("trips/"):
        return "A trip"
    group, _, switch = name.rpartition("/")
    return FIELDS.get(name) or (switch if group else name).replace("_", " ").capitalize()


def side_words(field: str, value: JsonValue) -> str:
    """The value that one device gave a field."""
    if field == "*":
        return "Not marked" if value is None else f"Marked{_what(value)}"
    if value is None or value == "":
        return "Empty"
    if field == "visited_date" and isinstance(value, str):
        return day_words(value)
    if isinstance(value, dict):
        return trip_words(Trip.model_validate(value)) if "start" in value else str(value)
    if isinstance(value, bool):
        return "On" if value else "Off"
    return str(value)


def _what(value: JsonValue) -> str:
    if not isinstance(value, dict):
        return ""
    parts = []
    if isinstance(when := value.get("visited_date"), str):
        parts.append(day_words(when))
    if isinstance(notes := value.get("notes"), str):
        parts.append(f"“{notes}”")
    return f" ({', '.join(parts)})" if parts else ""


def place_name(geography: Geography, entity_id: str) -> str:
    """The name of the place that an operation is about, or of the settings."""
    place = place_of(entity_id)
    if place is None:
        return "Your settings"
    region = geography.get(*place)
    return region.display_name if region is not None else place[1]


def operation_words(operation: Operation) -> str:
    """`Marked`, `Changed the notes`: what a device did, as a label."""
    did = {
        "create": "Marked",
        "update": "Changed",
        "delete": "Removed",
        "restore": "Restored",
        "batch_create": "Marked several places",
        "batch_update": "Changed several places",
        "batch_delete": "Removed several places",
    }[operation.operation_type]
    fields = [field_words(name).lower() for name in operation.entity_data]
    return f"{did} the {' and '.join(fields)}" if operation.operation_type == "update" and fields else did


def did_words(operation: Operation) -> str:
    """`marked this place`, `changed the notes`: what a device did, inside a sentence."""
    label = operation_words(operation)
    return f"{label.lower()}{'' if ' ' in label else ' this place'}"


def excerpt(visit: Visit) -> str:
    """The beginning of a place's notes, for a list."""
    text = visit.notes or ""
    return text if len(text) <= 90 else text[:89] + "…"


def moment(timestamp_ms: int) -> datetime:
    """The time of a mark, from its key."""
    return datetime.fromtimestamp(timestamp_ms / 1000, UTC)
