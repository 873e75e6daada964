"""Blocked requests as sensors report them, and what is counted of them. Pure.

A batch is split into chunks by what its events say, never by what we know of whose they are: delivered again, a batch
falls into the same chunks, though a child may have moved to another time zone or become known since. Must hold: an
event is in one chunk; a chunk touches no more items than fit into one transaction.
Elsewhere: whose events they are, and the counting (ingest.py).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, Field, field_validator, model_validator

from tablewright.edge.errors import BadRequest
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.firewall.driver import BlockedFlow
from tablewright.systems.parental.model import Value

EVENTS_PER_BATCH = 1000
# Of one sender, app and quarter of an hour there is one local day: clocks everywhere differ by whole quarters. One item
# for each of 94, a receipt, and five items of events whose child is unknown make the 100 that a transaction may have.
GROUPS_PER_CHUNK = 94
EVENTS_PER_QUARANTINE = 200
_QUARTER = 15 * 60


def ip_of(given: str) -> IPv4Address | IPv6Address:
    """An address as packets carry it; ValueError if it is none.

    A dual-stack sender writes IPv4 as ::ffff:10.20.30.40. A rule for that would be one of IPv6, which no packet meets.
    """
    found = ip_address(given.strip())
    if isinstance(found, IPv6Address) and found.scope_id is None and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found


class Event(Value):
    """Something was blocked: when, for whom (a number or an address), which app (by its name or by the rule's).

    `device_id`: the firewall that stopped it; the same address behind another is another place.
    """

    at: AwareDatetime
    app_name: str | None = Field(default=None, min_length=1, max_length=80)
    phone_number: str | None = Field(default=None, max_length=40)
    private_ip: str | None = Field(default=None, alias="privateIP", max_length=64)
    rule_name: str | None = Field(default=None, max_length=80)
    device_id: str | None = Field(default=None, min_length=1, max_length=200)
    count: int = Field(default=1, ge=1, le=1_000_000)

    @field_validator("at")
    @classmethod
    def _in_utc(cls, at: datetime) -> datetime:
        at = at.astimezone(UTC)
        return at.replace(microsecond=at.microsecond // 1000 * 1000)

    @field_validator("phone_number")
    @classmethod
    def _one_spelling(cls, given: str | None) -> str | None:
        try:
            return field_rules.phone_number(given) if given is not None else None
        except BadRequest:
            return given  # not a number: no child will be found for it

    @field_validator("private_ip")
    @classmethod
    def _one_address(cls, given: str | None) -> str | None:
        try:
            return str(ip_of(given)) if given is not None else None
        except ValueError:
            return given

    @model_validator(mode="after")
    def _says_enough(self) -> "Event":
        if self.phone_number is None and self.private_ip is None:
            raise ValueError("needs phoneNumber or privateIP")
        if self.app_name is None and self.rule_name is None:
            raise ValueError("needs appName or ruleName")
        return self

    def texts(self) -> dict[str, str]:
        """What it says, as it is kept in quarantine."""
        shown = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {name: str(value) for name, value in shown.items()}


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that are delivered together. However often it comes, a batch has the same id and the same events."""

    batch_id: str
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a batch, counted as one: `receipt` names it, `digest` says what was in it."""

    receipt: str
    digest: str
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Events of one app on one local day."""

    count: int
    hourly: Mapping[str, int]
    first: datetime
    last: datetime


def checked(batch: Batch) -> Batch:
    """A batch as it may be; a mistake names its field."""
    if not 1 <= len(batch.batch_id) <= 200:
        raise BadRequest("INVALID_BATCH", "A batch ID has 1 to 200 characters.", "batchId")
    field_rules.limited(len(batch.events), EVENTS_PER_BATCH, "events in a batch", "events")
    return batch


def event_of(flow: BlockedFlow, device_id: str | None = None) -> Event:
    """What a device tells of a connection it stopped. The rule's name says which app; its label helps."""
    return Event(
        at=flow.at,
        privateIP=flow.source,
        rule_name=flow.rule,
        app_name=flow.label or None,
        device_id=device_id,
    )


def chunks(batch: Batch) -> list[Chunk]:
    """The parts in which a batch is counted; the same for the same batch, in whatever order its events come."""
    groups: dict[_Said, list[Event]] = {}
    for event in batch.events:
        groups.setdefault(_said(event), []).append(event)
    names = sorted(groups)
    found = []
    for number, first in enumerate(range(0, len(names), GROUPS_PER_CHUNK)):
        parts = [(name, groups[name]) for name in names[first : first + GROUPS_PER_CHUNK]]
        events = tuple(event for _, part in parts for event in part)
        found.append(Chunk(f"{batch.batch_id}#{number}", _digest(parts), events))
    return found


def local(at: datetime, zone: str) -> tuple[date, str]:
    """The day and the hour on a child's clock."""
    return _local(int(at.timestamp()) // _QUARTER, zone)


@lru_cache(maxsize=4096)
def _local(quarter: int, zone: str) -> tuple[date, str]:
    here = datetime.fromtimestamp(quarter * _QUARTER, ZoneInfo(zone))
    return here.date(), f"{here.hour:02}"


def summed(events: Iterable[Event], zone: str) -> dict[date, Sum]:
    """Events of one child and one app, by local day."""
    days: dict[date, tuple[dict[str, int], list[datetime]]] = {}
    for event in events:
        day, hour = local(event.at, zone)
        hourly, times = days.setdefault(day, ({}, []))
        hourly[hour] = hourly.get(hour, 0) + event.count
        times.append(event.at)
    return {
        day: Sum(sum(hourly.values()), hourly, min(times), max(times))
        for day, (hourly, times) in days.items()
    }


# Number, address, rule, app, quarter of an hour and firewall.
_Said: TypeAlias = tuple[str, str, str, str, int, str]


def _said(event: Event) -> _Said:
    quarter = int(event.at.timestamp()) // _QUARTER
    return (
        event.phone_number or "",
        event.private_ip or "",
        event.rule_name or "",
        event.app_name or "",
        quarter,
        event.device_id or "",
    )


def _digest(parts: Iterable[tuple[_Said, Sequence[Event]]]) -> str:
    # A firewall only where it was said: a batch from before it could be said has the digest it always had.
    lines = [
        repr((name if name[-1] else name[:-1], sorted((event.at.timestamp(), event.count) for event in part)))
        for name, part in parts
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]
