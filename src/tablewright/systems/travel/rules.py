"""The rules for the fields of a place and a traveller: dates, texts, ids, times. Pure.

Dates are as exact as the traveller remembers: 2024, 2024-05, 2024-05-01. Length is counted in code points. Fields are
flat: a trip is `trips/{id}`, a setting `privacy_settings/share_visits`, so that each is merged separately.
Must hold: what passes here can be stored and merged; anything else is refused with its own code.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson
from pydantic import JsonValue, ValidationError

from tablewright.edge.errors import BadRequest
from tablewright.systems.travel.geography.regions import Geography, Region
from tablewright.systems.travel.model import (
    MarkCountry,
    NotificationSettings,
    PrivacySettings,
    Profile,
    RegionType,
    Trip,
    Visit,
)
from tablewright.systems.travel.sync.merge import NOTES_AT_MOST, Fields

TRIPS_AT_MOST, TRIP_NOTES_AT_MOST = 20, 100
DATA_BYTES = 32 * 1024
PUSH_AT_MOST = 1_000
PUSHES_A_MINUTE = 60
NAME_AT_MOST = 100
CLOCK_BEHIND, CLOCK_AHEAD = timedelta(days=30), timedelta(minutes=5)
EARLIEST_YEAR = 1900
COUNTERS: Mapping[RegionType, str] = {
    "country": "countries_visited",
    "us_state": "us_states_visited",
    "canadian_province": "canadian_provinces_visited",
}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PARTIAL = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_MARK_COUNTRY: tuple[MarkCountry, ...] = ("ask", "always", "never")
_SETTINGS: Mapping[str, type[PrivacySettings | NotificationSettings]] = {
    "privacy_settings": PrivacySettings,
    "notification_settings": NotificationSettings,
}


# --- ids and times ---


def check_id(text: str, field: str) -> str:
    """Ids are parts of keys: letters, digits, _ and - (SK-D8)."""
    if not _ID.fullmatch(text):
        words = "An ID must have 1 to 64 letters, digits, underscores or hyphens."
        raise BadRequest("INVALID_ID", words, field)
    return text


def clamped(client: datetime, now: datetime) -> datetime:
    """A device's time, limited to the last month and to a few minutes ahead (SK-D10)."""
    return min(max(client, now - CLOCK_BEHIND), now + CLOCK_AHEAD)


def is_believed(client: datetime, now: datetime) -> bool:
    """Whether a device's time is within the limits of `clamped`."""
    return clamped(client, now) == client


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        words = "That isn't a valid time zone. Enter one such as Europe/Paris."
        raise BadRequest("INVALID_TIME_ZONE", words, "time_zone") from None


def today_in(zone: str, now: datetime) -> date:
    """The day it is where the traveller lives."""
    return now.astimezone(zone_of(zone)).date()


# --- regions ---


def present_place(geography: Geography, region_type: RegionType, region_code: str) -> tuple[RegionType, str]:
    """A region by the code it has today: one that was renamed is followed (SK-X12)."""
    codes = geography.follow(region_type, region_code)
    if not codes:
        raise BadRequest("UNKNOWN_REGION", "This region doesn't exist.", "region_code")
    if len(codes) > 1:
        words = f"This region was divided into {', '.join(codes)}. Mark the ones you've visited."
        raise BadRequest("REGION_DIVIDED", words, "region_code", {"became": list(codes)})
    return region_type, codes[0]


def marked_place(geography: Geography, region_type: RegionType, region_code: str) -> tuple[RegionType, str]:
    """A region by its current code, or by the code of a divided region: marks under it stay until they are removed."""
    codes = geography.follow(region_type, region_code)
    return (
        (region_type, region_code) if len(codes) > 1 else present_place(geography, region_type, region_code)
    )


def region_of(geography: Geography, region_type: RegionType, region_code: str) -> Region | None:
    """The region a mark counts for: its own, or the first successor of a divided one."""
    codes = geography.follow(region_type, region_code)
    return geography.get(region_type, codes[0]) if codes else None


# --- partial dates ---


def span(text: str) -> tuple[date, date]:
    """The first and the last day a partial date can mean."""
    found = _PARTIAL.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(part) if part else None for part in found.groups())
        assert year is not None
        if year < EARLIEST_YEAR:
            raise ValueError
        if month is None:
            return date(year, 1, 1), date(year, 12, 31)
        if day is None:
            return date(year, month, 1), date(year, month, monthrange(year, month)[1])
        return date(year, month, day), date(year, month, day)
    except ValueError:
        words = f"Enter a date such as 2024, 2024-05 or 2024-05-01, from {EARLIEST_YEAR} on."
        raise BadRequest("INVALID_DATE", words, "visited_date") from None


def day_of(text: str) -> date | None:
    """The day of a date that names one."""
    first, last = span(text)
    return first if first == last else None


def trip_days(visit: Visit) -> list[str]:
    """The trips of a visit whose days are known, as ISO intervals; one without an end has one day."""
    spans = ((trip.start, trip.end or trip.start) for trip in visit.trips.values())
    return sorted(f"{start}/{end}" for start, end in spans if day_of(start) and day_of(end))


def check_date(text: object, today: date, field: str) -> str:
    """A date that has begun, on the calendar of the traveller's zone (SK-X9)."""
    if not isinstance(text, str):
        raise BadRequest("INVALID_DATE", "A date must be a string such as 2024-05-01.", field)
    if span(text)[0] > today:
        words = f"This date is in the future. Today is {today.isoformat()} in your time zone."
        raise BadRequest("FUTURE_DATE", words, field)
    return text


# --- fields of a visit ---


def visit_edit(data: Mapping[str, JsonValue], today: date) -> dict[str, JsonValue]:
    """The fields of an operation on a visit, flat and checked."""
    _check_size(data)
    edit: dict[str, JsonValue] = {}
    for name, value in data.items():
        match name:
            case "visited_date":
                edit[name] = None if value is None else check_date(value, today, name)
            case "notes":
                edit[name] = _notes(value, name)
            case "trips" if isinstance(value, dict):
                for id, trip in value.items():
                    edit[f"trips/{check_id(id, 'trips')}"] = _trip(trip, today)
            case _:
                raise BadRequest("INVALID_FIELD", f"A visit has no field '{name}' of this type.", name)
    check_trips({name: value for name, value in edit.items() if value is not None})
    return edit


def _notes(value: object, field: str, at_most: int = NOTES_AT_MOST) -> str | None:
    """A text of at most so many code points; None if it is empty."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise BadRequest("INVALID_FIELD", "Notes must be a string.", field)
    if len(value) > at_most:
        words = f"Notes can have at most {at_most} characters; these have {len(value)}."
        raise BadRequest("NOTES_TOO_LONG", words, field)
    return value


def _trip(value: JsonValue, today: date) -> JsonValue:
    if value is None:
        return None
    try:
        trip = Trip.model_validate(value)
    except ValidationError:
        raise BadRequest(
            "INVALID_FIELD", "A trip can have only a start, an end and notes.", "trips"
        ) from None
    check_date(trip.start, today, "trips")
    if trip.end is not None and span(check_date(trip.end, today, "trips"))[1] < span(trip.start)[0]:
        raise BadRequest("INVALID_DATE", "The trip ends before it begins.", "trips")
    notes = _notes(trip.notes, "trips", TRIP_NOTES_AT_MOST)
    return trip.model_copy(update={"notes": notes}).model_dump()


def check_trips(fields: Fields) -> None:
    if sum(name.startswith("trips/") for name in fields) > TRIPS_AT_MOST:
        words = f"A place can have at most {TRIPS_AT_MOST} trips."
        raise BadRequest("TOO_MANY_TRIPS", words, "trips")


def visit_fields(visit: Visit) -> dict[str, JsonValue]:
    """A visit's fields, flat; what is not there is left out."""
    fields: dict[str, JsonValue] = {"visited_date": visit.visited_date, "notes": visit.notes}
    fields |= {f"trips/{id}": trip.model_dump() for id, trip in visit.trips.items()}
    return {name: value for name, value in fields.items() if value is not None}


def into_visit(fields: Fields) -> dict[str, Any]:
    """What a visit takes, from flat fields."""
    trips = {
        name.partition("/")[2]: Trip.model_validate(value)
        for name, value in fields.items()
        if name.startswith("trips/") and value is not None
    }
    return {"visited_date": fields.get("visited_date"), "notes": fields.get("notes"), "trips": trips}


# --- fields of a traveller ---


def user_edit(data: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The fields of an operation on the traveller, flat and checked."""
    _check_size(data)
    edit: dict[str, JsonValue] = {}
    for name, value in data.items():
        if name in _SETTINGS and isinstance(value, dict):
            edit |= {f"{name}/{each}": _switch(name, each, said) for each, said in value.items()}
        elif name in _USER_CHECKS:
            edit[name] = _USER_CHECKS[name](value)
        else:
            raise BadRequest("INVALID_FIELD", f"A traveller has no field '{name}' of this type.", name)
    return edit


def _switch(group: str, name: str, value: JsonValue) -> bool:
    if name not in _SETTINGS[group].model_fields or not isinstance(value, bool):
        words = f"{group} can have {', '.join(_SETTINGS[group].model_fields)}, each true or false."
        raise BadRequest("INVALID_FIELD", words, group)
    return value


def _name(value: JsonValue) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > NAME_AT_MOST:
        words = f"A name can have at most {NAME_AT_MOST} characters."
        raise BadRequest("INVALID_FIELD", words, "display_name")
    return value


def _zone(value: JsonValue) -> str:
    return zone_of(value if isinstance(value, str) else "").key


def _country_rule(value: JsonValue) -> str:
    if value not in _MARK_COUNTRY:
        words = f"mark_country must be one of {', '.join(_MARK_COUNTRY)}."
        raise BadRequest("INVALID_FIELD", words, "mark_country")
    return str(value)


_USER_CHECKS: Mapping[str, Callable[[JsonValue], JsonValue]] = {
    "display_name": _name,
    "time_zone": _zone,
    "mark_country": _country_rule,
}


def user_fields(profile: Profile) -> dict[str, JsonValue]:
    """A traveller's fields, flat; what is not there is left out."""
    fields: dict[str, JsonValue] = {
        "display_name": profile.display_name,
        "time_zone": profile.time_zone,
        "mark_country": profile.mark_country,
    }
    for group, switches in (
        ("privacy_settings", profile.privacy_settings.in_effect),
        ("notification_settings", profile.notification_settings),
    ):
        fields |= {f"{group}/{name}": on for name, on in switches.model_dump().items()}
    return {name: value for name, value in fields.items() if value is not None}


def into_profile(fields: Fields) -> dict[str, Any]:
    """What a profile takes, from flat fields."""
    settings: dict[str, Any] = {
        group: model.model_validate(
            {
                name.partition("/")[2]: value
                for name, value in fields.items()
                if name.startswith(f"{group}/") and value is not None
            }
        )
        for group, model in _SETTINGS.items()
    }
    settings["privacy_settings"] = settings["privacy_settings"].in_effect
    plain = {name: fields.get(name) for name in ("display_name", "time_zone", "mark_country")}
    return {**plain, **settings}


def _check_size(data: Mapping[str, JsonValue]) -> None:
    if len(orjson.dumps(data)) > DATA_BYTES:
        words = f"An operation can have at most {DATA_BYTES // 1024} KB of data."
        raise BadRequest("OPERATION_TOO_LARGE", words, "entity_data")
