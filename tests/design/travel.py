"""A design with some of everything, for the tests of this room: travellers, visits, invites, trips, messages."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, Field

from tablewright.design import (
    Data,
    Design,
    Expires,
    Keys,
    Load,
    SoftDelete,
    States,
    Unique,
    at_least,
    begins,
    between,
    equals,
)

RegionType = Literal["country", "state", "city"]
Stage = Literal["draft", "booked", "done"]


class Address(BaseModel):
    city: str
    door: str | None = None


class User(BaseModel):
    """Somebody who travels."""

    user_id: str
    email: str
    name: str
    rev: int = 0
    logins: int = 0
    credit: Decimal = Decimal(0)
    bonus: int | None = None
    active: bool = True
    tags: set[str] = Field(default_factory=set)
    phones: list[str] = Field(default_factory=list)
    scores: dict[str, int] = Field(default_factory=dict)
    home: Address | None = None
    first_seen: datetime | None = Field(default=None, serialization_alias="firstSeen")


class Visit(BaseModel):
    user_id: str
    region_type: RegionType
    region_code: str
    visited_at: datetime
    times: int = 1
    note: str = ""
    guide: str | None = None


class VisitLine(BaseModel):
    """What a list of visitors shows."""

    user_id: str
    times: int


class Invite(BaseModel):
    user_id: str
    invite_id: str
    email: str
    sent_at: datetime
    expires_at: datetime


class Trip(BaseModel):
    trip_id: str
    stage: Stage = "draft"
    starts: date
    live: bool = True
    price: Decimal = Decimal(0)


def user_key(user_id: str) -> None: ...


def visit_key(user_id: str, region_type: RegionType, region_code: str) -> None: ...


def invite_key(user_id: str, invite_id: str) -> None: ...


def trip_key(trip_id: str) -> None: ...


travel = Design("travel", version=3, about="Who was where")
main = travel.table("travel", pk="PK", sk="SK", ttl="ttl")
gsi1 = main.gsi("GSI1", pk="GSI1PK", sk="GSI1SK")
gsi2 = main.gsi("GSI2", pk="GSI2PK", sk="GSI2SK", project=("user_id", "times"))
trips_table = travel.table("trips", pk="trip_id")
by_stage = trips_table.gsi("by-stage", pk="stage", sk="starts")
spread = trips_table.gsi("spread", pk="day", sk="order")

users = main.entity(
    User,
    user_key,
    tag="user",
    pk="USER#{user_id}",
    sk="PROFILE",
    on={gsi1: Keys("EMAIL#{email:lower}", "USER")},
    unique=[Unique("email", "{email:lower}")],
    version="rev",
    data={"email": Data.PERSONAL},
)
visits = main.entity(
    Visit,
    visit_key,
    tag="visit",
    pk="USER#{user_id}",
    sk="VISIT#{region_type}#{region_code}",
    on={
        gsi1: Keys("REGION#{region_type}#{region_code}", "AT#{visited_at:ms}#{user_id}"),
        gsi2: Keys("GUIDE#{guide}", "TIMES#{times:6}#{user_id}"),
    },
)
invites = main.entity(
    Invite,
    invite_key,
    tag="invite",
    pk="USER#{user_id}",
    sk="INVITE#{invite_id}",
    on={gsi1: Keys("EMAIL#{email:lower}", "INVITE#{sent_at:ms}#{invite_id}")},
    expires=Expires("expires_at", after=timedelta(days=1)),
)
trips = trips_table.entity(
    Trip,
    trip_key,
    tag="trip",
    pk="{trip_id}",
    on={by_stage: Keys("{stage}", "{starts}"), spread: Keys("{starts}#{trip_id:shard.4}", "{price:8.2}")},
    soft_delete=SoftDelete("live"),
    states=States(
        "stage",
        start="draft",
        moves={"draft": {"booked": ("traveller", "agent")}, "booked": {"done": ("agent",)}},
        overrides=("admin",),
    ),
)


@travel.query(users, visits, pk="USER#{user_id}", others=True, load=Load(per_second=40, items=60))
def profile_with_visits(*, user_id: str) -> None:
    """A user and every visit, in one read."""


@travel.query(visits, pk="USER#{user_id}", sk=begins("VISIT#{region_type}#"))
def visits_of_kind(*, user_id: str, region_type: RegionType) -> None:
    """One user's visits of one region type."""


@travel.query(
    visits, on=gsi1, pk="REGION#{region_type}#{region_code}", sk=between("AT#{start:ms}", "AT#{end:ms}")
)
def visitors_of_region(
    *, region_type: RegionType, region_code: str, start: datetime | None = None, end: datetime | None = None
) -> None:
    """Who visited a region in a window, oldest first."""


@travel.query(users, invites, on=gsi1, pk="EMAIL#{email:lower}")
def by_email(*, email: str) -> None:
    """The account and the open invites for an address."""


@travel.query(visits.view(VisitLine), on=gsi2, pk="GUIDE#{guide}", sk=at_least("TIMES#{times:6}"))
def guided_often(*, guide: str, times: int) -> None:
    """Visits of a guide that took place at least this often."""


@travel.query(trips, on=by_stage, pk="{stage}", sk=between("{since}", "{until}"), descending=True, page=20)
def trips_in_stage(*, stage: Stage, since: date | None = None, until: date | None = None) -> None:
    """Trips in a stage, latest first."""


@travel.query(trips, on=spread, pk="{starts}#{trip_id:shard.4}")
def trips_on_day(*, starts: date) -> None:
    """All trips that start on a day, cheapest first."""


@travel.query(trips, on=spread, pk="{starts}#{trip_id:shard.4}", sk=equals("{price:8.2}"))
def trip_at_price(*, starts: date, trip_id: str, price: Decimal) -> None:
    """A trip on a day, if it costs just this."""


@travel.get(users, consistent=True)
def account(*, user_id: str) -> None:
    """One user, as of now."""


travel.build()
