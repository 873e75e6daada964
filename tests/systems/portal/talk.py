"""What the portal's tests say to it: a place with everything around it, an API client that signs in, a few records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests import places
from tests.systems.talk import Caller

from tablewright import Engine
from tablewright.client import Call
from tablewright.edge import Issuer
from tablewright.edge.errors import CallerError
from tablewright.kit.delivery import State
from tablewright.kit.tables import Actor
from tablewright.mapping import Db
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import Campaign, Order, Product, Tenant
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.portal import Portal, open_portal
from tablewright.testing import Clock

Item = dict[str, Any]
Json = dict[str, Any]

# Late enough that no service sweeps away what these tests keep for a while.
START = datetime(2030, 6, 15, 10, tzinfo=UTC)
AUDIENCE = "portal"
SECRET = b"one secret for codes, previews and the gateway"
ADMIN = Actor("thandi@bbws.example", "admin", "admin_1")
OTHER_ADMIN = Actor("johan@bbws.example", "admin", "admin_2")
SUPPORT = Actor("sipho@bbws.example", "support", "support_1")
BUYER = "Customer@Example.com"


@dataclass(frozen=True)
class Place:
    """A portal and what lies around it."""

    portal: Portal
    db: Db
    call: Call
    clock: Clock
    issuer: Issuer
    engine: Engine | None

    # --- a little world ---

    def product(self, price: str = "299.99", **more: Any) -> Product:
        fields: Json = {
            "name": "WordPress Business",
            "description": "For a company whose site must be quick.",
            "price": Decimal(price),
            "billing_cycle": "monthly",
            "features": ["3 sites", "50 GB"],
            **more,
        }
        return self.portal.catalogue.create_product(fields, ADMIN)[0]

    def campaign(
        self, product: Product, code: str = "SUMMER2030", percent: str = "20", **more: Any
    ) -> Campaign:
        today = self.today()
        fields: Json = {
            "code": code,
            "description": "A fifth off.",
            "discount_percentage": Decimal(percent),
            "product_id": product.id,
            "terms_conditions_link": "https://bbws.example/terms",
            "from_date": today - timedelta(days=10),
            "to_date": today + timedelta(days=10),
            **more,
        }
        last = fields["to_date"]
        made, _ = self.portal.catalogue.create_campaign({**fields, "to_date": max(last, today)}, ADMIN)
        # One that is over already cannot be created, but it can be ended.
        return (
            made if last >= today else self.portal.catalogue.change_campaign(code, {"to_date": last}, ADMIN)
        )

    def order(self, product: Product, email: str = BUYER, **more: Any) -> Order:
        return self.portal.checkout.place(email, [Line(product.id)], **more)

    def own_order(self, product: Product, tenant: Tenant, **more: Any) -> Order:
        """An order of a tenant who is signed in."""
        return self.order(product, tenant.email, buyer=tenant.id, **more)

    def tenant(self, email: str = BUYER, status: str = "UNVALIDATED") -> Tenant:
        """A tenant as staff would make one, walked to a status."""
        made = self.portal.tenants.create(email, None, None, ADMIN)
        walk: dict[str, tuple[Any, ...]] = {"UNVALIDATED": (), "VALIDATED": ("VALIDATED",)}
        for step in walk.get(status, ("VALIDATED", "REGISTERED")):
            made = self.portal.tenants.move(made.id, step, Actor(made.email, "user"))
        if status == "SUSPENDED":
            made = self.portal.tenants.move(made.id, "SUSPENDED", ADMIN, reason="charged back")
        return made

    def today(self) -> date:
        return self.clock.now().date()

    # --- behind the portal's back ---

    def scan(self, table: str) -> list[Item]:
        return places.scan(self.db, self.call, table)

    def everything(self) -> dict[str, list[Item]]:
        """All tables with all items, to compare before and after."""
        return places.everything(self.db, self.call, d.PORTAL)

    def guards(self) -> dict[str, str]:
        """The addresses that are taken, and by whom."""
        return {
            item["emailKey"]["S"]: item["tenantId"]["S"]
            for item in self.scan("tenants")
            if "emailKey" in item
        }

    def roots(self) -> list[Item]:
        """The tenants' own records."""
        return [item for item in self.scan("tenants") if item["SK"]["S"] == "METADATA"]

    def mails(self, address: str) -> list[str]:
        """What was written to an address, oldest first, as its reader gets it."""
        states: tuple[State, ...] = ("PENDING", "SENT", "FAILED")
        found = [
            mail
            for state in states
            for mail in self.db.all(d.outbox.in_state(state))
            if mail.recipient == address
        ]
        texts = self.portal.repository.outbox.texts
        return [
            texts.text(mail, mail.message_id, address).body
            for mail in sorted(found, key=lambda mail: mail.created_at)
        ]

    def secret_in_mail(self, address: str) -> tuple[str, str]:
        """The digits and the link's secret of the newest mail."""
        body = next(text for text in reversed(self.mails(address)) if "Your code is" in text)
        code = re.search(r"code is (\d+)\.", body)
        link = re.search(r"secret=([0-9a-f]{32})", body)
        assert code is not None
        assert link is not None
        return code[1], link[1]

    def history(self, tenant_id: str) -> list[tuple[str, str, str]]:
        """What happened to a tenant, newest first: action, actor, role."""
        found = self.db.all(d.audits["tenants"].of(tenant_id))
        return [(entry.action, entry.actor, entry.role) for entry in found]


class Api(Caller[str]):
    """The portal's API over real HTTP. `by` says who asks: admin, admin-without-mfa, support, or a tenant's id."""

    prefix = "/portal/v1.0"

    def token(self, by: str) -> str:
        role, subject, email, claims = "tenant", by, "me@example.com", {}
        if by.startswith("admin"):
            role, subject, email = "admin", ADMIN.subject, ADMIN.name
            claims = {} if by == "admin-without-mfa" else {"amr": ["pwd", "mfa"]}
        elif by == "support":
            role, subject, email = "support", SUPPORT.subject, SUPPORT.name
        elif by.startswith("verified:"):
            role, subject = "verified", by.partition(":")[2]
        return self._issuer.issue(
            subject,
            audience=AUDIENCE,
            lifetime=timedelta(hours=1),
            roles=(role,),
            email=email,
            claims=claims,
        )


def cart(product: Product, email: str = BUYER, **more: Any) -> Json:
    """The body of a checkout."""
    return {"email": email, "items": [{"productId": product.id}], **more}


def new_product(**more: Any) -> Json:
    body: Json = {
        "name": "WordPress Starter",
        "description": "One site, looked after.",
        "price": 99.99,
        "billingCycle": "monthly",
    }
    return body | more


def new_campaign(product: Product, code: str = "BLACK_FRIDAY_2030", **more: Any) -> Json:
    body: Json = {
        "code": code,
        "description": "Once a year.",
        "discountPercentage": 30,
        "productId": product.id,
        "termsConditionsLink": "https://bbws.example/terms",
        "fromDate": "2030-06-01",
        "toDate": "2030-06-30",
    }
    return body | more


@contextmanager
def refuses(code: str) -> Iterator[None]:
    """The block must be refused by the portal with this code."""
    with pytest.raises(CallerError) as mistake:
        yield
    assert mistake.value.code == code, mistake.value.message


def meddled(at: Place, moment: str, deed: Callable[[], object]) -> Portal:
    """The same portal, but somebody does `deed` just before its first transaction that mentions `moment`."""
    left = [deed]

    def call(verb: str, request: Any) -> Json:
        if left and verb == "TransactWriteItems" and moment in repr(request):
            left.pop()()
        return at.call(verb, request)

    db = Db(call, d.PORTAL, world=at.clock.world(), secret=SECRET, environment=at.db.environment)
    return open_portal(db, at.clock.world(), SECRET, at.portal.issue)
