"""What all pages of Zoo chat share: the service, the console, the caller, and how times and pictures are shown.

Must hold: the routes check who may see a page (access.py); every time is shown with its zone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from itertools import groupby
from typing import Any

from fastapi import Request

from tablewright.english import WEEKDAYS, full_date, in_zone, moment_of_week
from tablewright.pages.forms import Form
from tablewright.pages.lists import Listing
from tablewright.pages.system_pages import SystemPages
from tablewright.systems.chat.access import CHAT
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.model import Message, Value

HOME = "/console/chat"
STAFF = ("zookeeper", "administrator")
NO_PICTURE = "chat/animals/paw.svg"


@dataclass(frozen=True)
class ChatPages(SystemPages):
    """Zoo chat with its console around it."""

    folder = "chat"

    chat: Chat

    def access(self) -> Any:
        return CHAT.of(self.chat, self.who)

    def words(self, request: Request) -> Mapping[str, Any]:
        caller = self.who(request)
        return {
            "base": HOME,
            "is_staff": not caller.roles.isdisjoint(STAFF),
            "is_administrator": "administrator" in caller.roles,
            "moment": moment_words,
            "clock": clock_words,
            "day": day_words,
            "by_day": messages_by_day,
            "portrait": self.portraits(),
        }

    def portraits(self) -> Callable[[str], str]:
        """The address of an animal's picture by its id, or a paw. The animals are read once for a page."""

        @cache
        def pictures() -> Mapping[str, str]:
            return {each.animal_id: each.picture for each in self.chat.animals.all(disabled=True)}

        def portrait(animal_id: str) -> str:
            drawn = f"chat/animals/{pictures().get(animal_id)}.svg"
            return self.console.asset(drawn if drawn in self.console.assets else NO_PICTURE)

        return portrait

    def list(self, request: Request, query: Any, size: int = 20) -> Listing[Any]:
        """One page of a query."""
        return self.console.list(request, self.chat.repository.db, query, size=size)


def moment_words(at: datetime | None, zone: str = "UTC") -> str:
    """`Fri 16 November 2026, 09:30 CET`."""
    if at is None:
        return "–"
    return moment_of_week(at, zone)


def day_words(at: datetime | date, zone: str = "UTC") -> str:
    """`16 November 2026`."""
    return full_date(in_zone(at, zone) if isinstance(at, datetime) else at)


def clock_words(at: datetime, zone: str = "UTC") -> str:
    """`09:30`: under a heading that says the day and the zone."""
    return f"{in_zone(at, zone):%H:%M}"


def messages_by_day(messages: Sequence[Message], zone: str = "UTC") -> list[tuple[str, list[Message]]]:
    """Messages under the day they were written on, such as `Monday 16 November 2026, PST`."""

    def day(message: Message) -> str:
        local = in_zone(message.timestamp, zone)
        return f"{WEEKDAYS[local.weekday()]} {full_date(local)}, {local.tzname()}"

    return [(name, list(found)) for name, found in groupby(messages, day)]


# --- forms ---


def typed_fields(form: Form, model: type[Value]) -> Form:
    """The fields of a model alone, for `read`."""
    names = {field.alias or name for name, field in model.model_fields.items()}
    return Form({name: text for name, text in form.values.items() if name in names})
