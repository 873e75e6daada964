"""What every page of the portal is made with: the service, the console, who may, and the portal's own words.

Must hold: the routes ask for the roles; `May` only decides which buttons are shown. Times and days are those of South
Africa, and every time is shown with its zone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from fastapi import Request

from tablewright.design import Query
from tablewright.edge import Principal, require
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.pages.layout import Console
from tablewright.pages.lists import Listing
from tablewright.pages.system_pages import SystemPages
from tablewright.pages.words import label, money, number
from tablewright.systems.portal import rules
from tablewright.systems.portal.api.router import TENANTS_ALONE, actor_of
from tablewright.systems.portal.model import AuditEntry
from tablewright.systems.portal.pages.forms import labelled
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.repository import Actor

HOME = "/console/portal"
ZONE = str(rules.ZONE)
_MOST_LETTERS = 240
# What stands in an audit entry as a plain number.
_MONEY = ("price", "nextPrice", "subtotal", "discount", "tax", "total")
_SHARES = ("discountPercentage",)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")

# The word for a state, and its colour.
TENANT_TONES = {"UNVALIDATED": "warn", "VALIDATED": "busy", "REGISTERED": "good", "SUSPENDED": "bad"}
ORDER_TONES = {"PENDING": "warn", "PAID": "good", "CANCELLED": "", "EXPIRED": "", "REFUNDED": "busy"}
CAMPAIGN_WORDS = {
    "RUNNING": ("running", "good"),
    "SCHEDULED": ("scheduled", "busy"),
    "ENDED": ("ended", ""),
    "EXHAUSTED": ("fully claimed", "warn"),
    "OFF": ("switched off", "bad"),
}


@dataclass(frozen=True, slots=True)
class May:
    """What a caller may do here, for the buttons."""

    read: bool = False
    change: bool = False


def may_of(caller: Principal) -> May:
    """Staff reads; an admin with a second factor changes."""
    return May(
        read=bool(caller.roles & {"support", "admin"}), change="admin" in caller.roles and caller.used_mfa
    )


@dataclass(frozen=True)
class PortalPages(SystemPages):
    """The portal with its console around it."""

    folder = "portal"

    portal: Portal
    staff: FindPrincipal
    admin: FindPrincipal
    tenant: FindPrincipal

    def words(self, request: Request) -> Mapping[str, Any]:
        return {
            "base": HOME,
            "may": may_of(self.who(request)),
            "zone": ZONE,
            "day": day_words,
            "day_of": lambda at: day_words(rules.local_day(at)),
            "times": times_words,
            "moment": moment_words,
            "rand": rand,
            "percent": percent_words,
            "named": labelled,
            "pay_until": rules.pay_until,
            "changes_of": changes_of,
            "tenant_tones": TENANT_TONES,
            "order_tones": ORDER_TONES,
            "campaign_words": CAMPAIGN_WORDS,
        }

    def list(self, request: Request, query: Query[Any], size: int = 25) -> Listing[Any]:
        """One page of a request of the service, deleted things too: the portal says itself what it leaves out."""
        return self.console.list(request, self.portal.repository.db, query, size=size, deleted=True)

    def actor(self, request: Request) -> Actor:
        return actor_of(self.who(request))


def pages_of(portal: Portal, console: Console, who: FindPrincipal) -> PortalPages:
    return PortalPages(
        console,
        who,
        portal,
        staff=require(who, "support", "admin", code="ADMIN_ONLY"),
        admin=require(who, "admin", mfa=True, code="ADMIN_ONLY"),
        tenant=require(who, "tenant", code="TENANT_ONLY", words=TENANTS_ALONE),
    )


def rand(amount: Decimal) -> str:
    """`R 1 299.99`."""
    return money(amount, "ZAR")


def percent_words(share: Decimal) -> str:
    """`20 %`, `12.5 %`: no zeros behind the point."""
    return f"{share.normalize():f}\u00a0%"


def times_words(count: int) -> str:
    """`once`, `3 times`."""
    return "once" if count == 1 else f"{number(count)} times"


def day_words(day: date) -> str:
    """`1 June 2026`."""
    return f"{day.day} {day:%B %Y}"


def moment_words(at: datetime) -> str:
    """`16 November 2026, 09:30 SAST`."""
    local = at.astimezone(rules.ZONE)
    return f"{day_words(local.date())}, {local:%H:%M} {local.tzname()}"


def changes_of(entry: AuditEntry) -> list[tuple[str, str | None, str | None]]:
    """What an audit entry says changed, by field: a word for it, before, after (None where there was nothing)."""
    names = [*entry.before, *(name for name in entry.after if name not in entry.before)]
    return [
        (label(name), _readable(name, entry.before.get(name)), _readable(name, entry.after.get(name)))
        for name in names
    ]


def _readable(name: str, text: str | None) -> str | None:
    """A stored value for people: money as such, times with their zone, and no more of a long text than fits."""
    if text is None:
        return None
    if name in _MONEY:
        return rand(Decimal(text))
    if name in _SHARES:
        return percent_words(Decimal(text))
    if _MOMENT.fullmatch(text):
        return moment_words(datetime.fromisoformat(text))
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS] + "…"
