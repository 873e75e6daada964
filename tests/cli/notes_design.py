"""A small design for the tests of `tablewright mcp`: notes of people, by day, with something personal in them."""

from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from tablewright.design import Copy, Data, Design, Load, Refresh, begins

print("a design may print")  # which must not get into the protocol


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Note(BaseModel):
    """What a person wrote."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    person: str
    at: datetime
    mood: Mood = Mood.GOOD
    text_of_note: str = ""
    author_name: str | None = None
    price: Decimal = Decimal(0)
    version: int = 0


class Person(BaseModel):
    id: str
    name: str
    token: str = ""


class Tag(BaseModel):
    person: str
    label: str


def note_key(person: str, at: datetime) -> None: ...


def person_key(id: str) -> None: ...


def tag_key(person: str, label: str) -> None: ...


NOTES = Design("notes", about="Notes of people.")
main = NOTES.table("notes", pk="PK", sk="SK")
people = main.entity(
    Person,
    person_key,
    tag="person",
    pk="PERSON#{id}",
    sk="PERSON",
    data={"name": Data.PERSONAL, "token": Data.SECRET},
)
notes = main.entity(
    Note,
    note_key,
    tag="note",
    pk="PERSON#{person}",
    sk="NOTE#{at:ms}",
    version="version",
    data={"text_of_note": Data.CHILD},
    copies=[Copy("author_name", "person", "name", Refresh.SNAPSHOT)],
)
tags = main.entity(Tag, tag_key, tag="tag", pk="PERSON#{person}", sk="TAG#{label}")


@NOTES.query(
    notes, pk="PERSON#{person}", sk=begins("NOTE#"), descending=True, load=Load(per_month=1000, items=3)
)
def notes_of(*, person: str) -> None:
    """The notes of a person."""


@NOTES.query(notes, pk="PERSON#{person}", sk=begins("NOTE#{since:ms}"))
def notes_at(*, person: str, since: datetime) -> None:
    """The notes of a moment."""


NOTES.build()
MOMENT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
