"""Orders and customers by part of an address, by number or by amount, among the newest.

DynamoDB has no index for parts of a text, so the newest records are read and compared: at most LOOKED_THROUGH of them,
and the result says how many, and whether that was all. A search through 2 000 orders reads about 220 units of the
index and up to 1 000 for their customers: less than a tenth of a cent. A complete address or id is found
by its key, and a complete order number by its day, however old it is.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Generic, TypeVar

from pydantic import BaseModel

from tablewright.design import Query
from tablewright.edge.errors import CallerError
from tablewright.systems.portal import rules
from tablewright.systems.portal.model import Order, OrderStatus, Tenant
from tablewright.systems.portal.portal import Portal

E = TypeVar("E", bound=BaseModel)
LOOKED_THROUGH = 2_000
FOUND_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class Found(Generic[E]):
    """The matches, newest first; how many records were searched, and whether those were all."""

    items: tuple[E, ...]
    looked_through: int
    is_all: bool


def search_orders(
    portal: Portal,
    text: str,
    status: OrderStatus | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = LOOKED_THROUGH,
) -> Found[Order]:
    """Orders by part of their number or of their customer's address, or by their total."""
    with suppress(CallerError):
        whole = portal.orders.order(text) if text.startswith("ord_") else portal.orders.by_number(text)
        if whole is not None:
            return Found((whole,), 1, True)
    orders, is_all = _newest(portal, portal.orders.listed(status, since=since, until=until), limit)
    tenants = portal.repository.tenants_by_id([order.tenant_id for order in orders])
    fits = [order for order in orders if _order_fits(order, tenants.get(order.tenant_id), text)]
    return Found(tuple(fits[:FOUND_AT_MOST]), len(orders), is_all)


def _order_fits(order: Order, tenant: Tenant | None, text: str) -> bool:
    amount = amount_of(text)
    if amount is not None and order.total == amount:
        return True
    return text.upper() in order.order_number or (tenant is not None and text.lower() in tenant.email)


def search_tenants(
    portal: Portal, text: str, query: Query[Tenant] | None = None, limit: int = LOOKED_THROUGH
) -> Found[Tenant]:
    """Customers by part of their address or of their organisation's name."""
    with suppress(CallerError):
        whole = (
            portal.tenants.get(text)
            if text.startswith("tenant_")
            else portal.repository.tenant_of(rules.email_address(text))
        )
        if whole is not None:
            return Found((whole,), 1, True)
    tenants, is_all = _newest(portal, query or portal.tenants.listed(active=None), limit)
    wanted = text.casefold()
    fits = [one for one in tenants if wanted in f"{one.email}\n{one.organization_name or ''}".casefold()]
    return Found(tuple(fits[:FOUND_AT_MOST]), len(tenants), is_all)


def _newest(portal: Portal, query: Query[E], limit: int) -> tuple[list[E], bool]:
    found = list(islice(portal.repository.db.all(query, deleted=True), limit + 1))
    return found[:limit], len(found) <= limit


def amount_of(text: str) -> Decimal | None:
    """An amount as people type it: `R 1 299,99`; None if it is not one."""
    bare = re.sub(r"[Rr\s\u00a0\u202f]", "", text)
    if bare.count(",") == 1 and "." not in bare:
        bare = bare.replace(",", ".")
    try:
        found = Decimal(bare)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
