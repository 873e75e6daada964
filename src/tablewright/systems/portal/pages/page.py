"""What all pages of the portal share: the service, the console, and the words for states and fields.

Must hold: the routes check the roles (access.py); `May` only decides which buttons are shown. Times and days are South
African, and every time is shown with its zone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from fastapi import Request
from pydantic import JsonValue

from tablewright.design import Query
from tablewright.edge import Principal
from tablewright.english import full_date, moment, money, number
from tablewright.kit.tables import Actor
from tablewright.pages.lists import Listing
from tablewright.pages.system_pages import SystemPages
from tablewright.pages.words import label
from tablewright.systems.portal import rules
from tablewright.systems.portal.access import PORTAL, actor_of, is_staff
from tablewright.systems.portal.model import AuditEntry
from tablewright.systems.portal.pages.forms import labelled
from tablewright.systems.portal.portal import Portal

HOME = "/console/portal"
ZONE = str(rules.ZONE)
_MOST_LETTERS = 240
# Fields that an audit entry stores as a plain number.
_MONEY = ("price", "nextPrice", "subtotal", "discount", "tax", "total")
_SHARES = ("discountPercentage",)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")

# The words for kinds and states, and the colours of states.
KIND_WORDS = {"tenants": "Customers", "products": "Plans", "campaigns": "Campaigns"}
ORDER_WORDS = {
    "PENDING": "unpaid",
    "PAID": "paid",
    "CANCELLED": "cancelled",
    "EXPIRED": "expired",
    "REFUNDED": "refunded",
}
TENANT_TONES = {"UNVALIDATED": "warn", "VALIDATED": "busy", "REGISTERED": "good", "SUSPENDED": "bad"}
ORDER_TONES = {"PENDING": "warn", "PAID": "good", "CANCELLED": "", "EXPIRED": "", "REFUNDED": "busy"}
CAMPAIGN_WORDS = {
    "RUNNING": ("running", "good"),
    "SCHEDULED": ("scheduled", "busy"),
    "ENDED": ("ended", ""),
    "EXHAUSTED": ("fully claimed", "warn"),
    "OFF": ("switched off", "bad"),
}


# Roles of audit entries: a customer acts as one of two.
ROLE_WORDS = {"user": "customer", "tenant": "customer"}
# Actions of audit entries whose stored names are not what people say.
ACTION_WORDS = {
    "moved": "status changed",
    "forced": "status forced",
    "order is paid": "order paid",
    "order was cancelled": "order cancelled",
    "order was refunded": "order refunded",
    "payment given back": "payment returned",
    "scheduled price": "scheduled price applied",
    "e-mail changed": "e-mail address changed",
    "destination verified": "address for form submissions confirmed",
    "address verified": "e-mail address confirmed",
}
# Fields of audit entries, by the labels of their forms.
FIELD_WORDS = {
    "email": "E-mail address",
    "organizationName": "Organisation",
    "destinationEmail": "Address for form submissions",
    "pendingDestinationEmail": "Address to be confirmed",
    "reminderSentAt": "Reminder sent",
    "suspensionReason": "Reason for suspension",
    "billingCycle": "Billed",
    "nextPrice": "Scheduled price",
    "nextPriceFrom": "Scheduled price starts",
    "productId": "Plan",
    "alsoProductIds": "Also for",
    "discountPercentage": "Discount",
    "termsConditionsLink": "Terms and conditions",
    "fromDate": "First day",
    "toDate": "Last day",
    "redemptionLimit": "Total limit",
    "perTenantLimit": "Limit per customer",
    "paidByHand": "Marked as paid by hand",
    "erasedAt": "Erased",
}


@dataclass(frozen=True, slots=True)
class May:
    """What a caller may do, for the buttons."""

    read: bool = False
    change: bool = False


def may_of(caller: Principal) -> May:
    """Staff reads; an admin with a second factor changes."""
    return May(read=is_staff(caller), change="admin" in caller.roles and caller.used_mfa)


@dataclass(frozen=True)
class PortalPages(SystemPages):
    """The portal with its console around it."""

    folder = "portal"

    portal: Portal

    def access(self) -> Any:
        return PORTAL.of(self.portal, self.who)

    def words(self, request: Request) -> Mapping[str, Any]:
        return {
            "base": HOME,
            "may": may_of(self.who(request)),
            "zone": ZONE,
            "day": full_date,
            "day_of": lambda at: full_date(rules.local_day(at)),
            "moment": lambda at: moment(at, rules.ZONE),
            "rand": rand,
            "percent": percent_words,
            "times": times_words,
            "named": labelled,
            "pay_until": rules.pay_until,
            "changes_of": changes_of,
            "tenant_tones": TENANT_TONES,
            "order_tones": ORDER_TONES,
            "order_words": ORDER_WORDS,
            "action_words": ACTION_WORDS,
            "by": by_words,
            "role_words": ROLE_WORDS,
            "campaign_words": CAMPAIGN_WORDS,
        }

    def list(self, request: Request, query: Query[Any], size: int = 25) -> Listing[Any]:
        """One page of a query, including deleted records: the portal's queries say what they leave out."""
        return self.console.list(request, self.portal.repository.db, query, size=size, deleted=True)

    def actor(self, request: Request) -> Actor:
        return actor_of(self.who(request))


def rand(amount: Decimal) -> str:
    """`R 1 299.99`."""
    return money(amount, "ZAR")


def times_words(count: int) -> str:
    """`once`, `3 times`."""
    return "once" if count == 1 else f"{number(count)} times"


def percent_words(share: Decimal) -> str:
    """`20 %`, `12.5 %`: no zeros behind the point."""
    return f"{share.normalize():f}\u00a0%"


def by_words(author: str) -> str:
    """`by thandi@bbws.example`, or `automatically` for the portal itself."""
    return "automatically" if author.startswith("system:") else f"by {author}"


def changes_of(entry: AuditEntry) -> list[tuple[str, str | None, str | None]]:
    """The changes of an audit entry: label of the field, before, after (None for no value)."""
    names = [*entry.before, *(name for name in entry.after if name not in entry.before)]
    return [
        (
            FIELD_WORDS.get(name, label(name)),
            _readable(name, entry.before.get(name)),
            _readable(name, entry.after.get(name)),
        )
        for name in names
    ]


def _readable(name: str, value: JsonValue) -> str | None:
    """A stored value for people: states in words, amounts with currency, times with zone, long texts shortened."""
    if value is None:
        return None
    text = _text(value)
    if name in _MONEY:
        return rand(Decimal(text))
    if name == "orderStatus":
        return ORDER_WORDS.get(text, text)
    if name in ("status", "previousStatus"):
        return text.lower()
    if name in _SHARES:
        return percent_words(Decimal(text))
    if _MOMENT.fullmatch(text):
        return moment(datetime.fromisoformat(text), rules.ZONE)
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS] + "…"


def _text(value: JsonValue) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(_text, value))
        case dict():
            return ", ".join(f"{label(name)}: {_text(each)}" for name, each in value.items())
        case _:
            return str(value)
