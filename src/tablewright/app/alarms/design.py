"""The design of alarms: the state of each, their changes, what systems publish, what each day has cost, webhook calls.

Must hold: a change of state is written with what tells of it, in one transaction on the state's version; a point of a
metric is written once, by one process, and never changed: reading adds up those of one minute.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal

from pydantic import BaseModel

from tablewright.app.alarms.evaluation import State
from tablewright.design import Data, Design, Expires, Load, Retention, at_least, begins, between
from tablewright.kit import outbox

# As long as CloudWatch keeps points of a minute.
POINTS_KEPT = timedelta(days=15)
CHANGES_KEPT = timedelta(days=90)
CHARGES_KEPT = timedelta(days=400)
CALLS_KEPT = timedelta(days=7)

# Not "alarms": that is a page beside those of the designs.
alarm_design = Design("house_alarms", about="States of alarms, metrics that systems publish, daily charges.")
_table = alarm_design.table(
    "house_alarms", pk="PK", sk="SK", ttl="expires", about="States of alarms, and the metrics of systems."
)
_by_state = _table.gsi("CallsByState", pk="stateKey", sk="writtenKey")


class AlarmState(BaseModel):
    """The state of an alarm since a moment. Without one it is INSUFFICIENT_DATA."""

    system: str
    name: str
    state: State
    since: datetime
    version: int = 0


class AlarmChange(BaseModel):
    """A change of state, and the value that led to it."""

    system: str
    name: str
    at: datetime
    state: State
    before: State
    value: Decimal | None = None


class MetricPoint(BaseModel):
    """A metric of a system in a minute, as one process has seen it; `source` is a random name of that writing."""

    system: str
    metric: str
    at: datetime
    source: str
    samples: int
    sum: Decimal
    least: Decimal
    most: Decimal


class DayCharges(BaseModel):
    """What a system has cost on a day, in US dollars."""

    system: str
    day: date
    amount: Decimal
    written: datetime


class WebhookCall(outbox.Message):
    """A change of state to be posted to the webhook. Its address is an option of the server, and not stored."""


def _state_key(system: str, name: str) -> None: ...
def _change_key(system: str, name: str, at: datetime) -> None: ...
def _point_key(system: str, metric: str, at: datetime, source: str) -> None: ...
def _day_key(system: str, day: date) -> None: ...


alarm_states = _table.entity(
    AlarmState,
    _state_key,
    tag="alarm",
    pk="ALARMS#{system}",
    sk="ALARM#{name}",
    version="version",
    retention=Retention(None, "so that a change is told once"),
    load={"change": Load(per_month=500, item_bytes=200, transaction=True)},
)

alarm_changes = _table.entity(
    AlarmChange,
    _change_key,
    tag="change",
    pk="CHANGES#{system}#{name}",
    sk="{at:us}",
    expires=Expires("at", CHANGES_KEPT),
    retention=Retention(CHANGES_KEPT, "to see when an alarm rang"),
    load={"create": Load(per_month=500, item_bytes=200, transaction=True)},
)

metric_points = _table.entity(
    MetricPoint,
    _point_key,
    tag="point",
    pk="METRIC#{system}#{metric}",
    sk="{at:ms}#{source}",
    expires=Expires("at", POINTS_KEPT),
    retention=Retention(POINTS_KEPT, "to evaluate alarms and to draw them"),
    load={"create": Load(per_month=100_000, item_bytes=200)},
)

day_charges = _table.entity(
    DayCharges,
    _day_key,
    tag="charges",
    pk="CHARGES#{system}",
    sk="{day}",
    expires=Expires("written", CHARGES_KEPT),
    retention=Retention(CHARGES_KEPT, "to compare a day with others, and a month with its budget"),
    load={"put": Load(per_month=7_200, item_bytes=120)},
)

webhook_calls = outbox.outbox(
    alarm_design,
    _table,
    WebhookCall,
    key=("message_id",),
    pk="CALL#{message_id}",
    sk="CALL",
    on=_by_state,
    state="CALLS#{state}",
    tag="call",
    name="webhook_calls_by_state",
    writes=Load(per_month=500, item_bytes=600, transaction=True),
    reads=Load(per_month=520_000, items=0),
    descending=False,
    kept=CALLS_KEPT,
    # Names of alarms and values: nothing of people.
    data={"recipient": Data.INTERNAL, "values": Data.INTERNAL},
)


@alarm_design.query(
    alarm_states, pk="ALARMS#{system}", sk=begins("ALARM#"), consistent=True, page=100, at_most=1000,
    load=Load(per_month=220_000, items=20, item_bytes=200),
)  # fmt: skip
def states_of(*, system: str) -> None:
    """The states of a system's alarms."""


@alarm_design.query(
    alarm_changes, pk="CHANGES#{system}#{name}", descending=True, page=20, at_most=100,
    load=Load(per_month=1_000, items=5, item_bytes=200),
)  # fmt: skip
def changes_of(*, system: str, name: str) -> None:
    """When an alarm changed, the newest first."""


@alarm_design.query(
    metric_points, pk="METRIC#{system}#{metric}", sk=between("{since:ms}", "{until:ms}"), page=500, at_most=1000,
    load=Load(per_month=900_000, items=5, item_bytes=200),
)  # fmt: skip
def points_between(*, system: str, metric: str, since: datetime, until: datetime) -> None:
    """The points of a metric in some time, the oldest first."""


@alarm_design.query(
    day_charges, pk="CHARGES#{system}", sk=at_least("{since}"), page=100, at_most=400,
    load=Load(per_month=4_000, items=31, item_bytes=120),
)  # fmt: skip
def charges_since(*, system: str, since: date) -> None:
    """What each day has cost, from a day on."""


alarm_design.build()
