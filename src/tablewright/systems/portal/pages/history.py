"""For staff: the overview, the audit trail by month, and the outbox.

Must hold: the outbox is for admins only, and codes and links in it are masked.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.english import month_and_year
from tablewright.kit.delivery import State
from tablewright.pages.layout import Crumb
from tablewright.systems.portal.access import admin, staff
from tablewright.systems.portal.model import Kind, Order, Product
from tablewright.systems.portal.pages.page import HOME, KIND_WORDS, PortalPages

KINDS: tuple[Kind, ...] = get_args(Kind)
MESSAGES: tuple[tuple[State, str], ...] = (
    ("PENDING", "Waiting"),
    ("SENT", "Sent"),
    ("FAILED", "Failed"),
)
SUBJECTS = {"tenants": f"{HOME}/tenants/{{}}", "products": f"{HOME}/products/{{}}",
            "campaigns": f"{HOME}/campaigns/{{}}/details"}  # fmt: skip
_LATEST = 8


def add_overview(router: APIRouter, pages: PortalPages) -> None:
    catalogue, repository = pages.portal.catalogue, pages.portal.repository

    @router.get("/overview", dependencies=[Depends(staff)])
    def overview(request: Request) -> Response:
        actor = pages.actor(request)
        offers, _ = catalogue.offers(actor, valid_only=True, size=50)
        products = list(catalogue.products(actor, active=True, size=100).items)
        orders = _latest(pages, request)
        return pages.page(
            request,
            "overview",
            title="Overview",
            tally=pages.portal.tenants.tally(),
            for_sale=sum(not product.draft for product in products),
            offers=[offer for offer in offers if offer.state in ("RUNNING", "EXHAUSTED")],
            orders=orders,
            tenants=repository.tenants_by_id([order.tenant_id for order in orders]),
            to_come=_to_come(products, repository.now()),
        )


def _latest(pages: PortalPages, request: Request) -> list[Order]:
    return list(pages.portal.orders.page(pages.actor(request), None, size=_LATEST).items)


def _to_come(products: list[Product], now: datetime) -> list[Product]:
    """Products with a scheduled price, the nearest first."""
    found = [p for p in products if p.next_price_from is not None and p.next_price_from > now]
    return sorted(found, key=lambda product: product.next_price_from or now)


def add_records(router: APIRouter, pages: PortalPages) -> None:
    repository = pages.portal.repository

    @router.get("/audit", dependencies=[Depends(staff)])
    def audit(
        request: Request,
        of: Kind = "tenants",
        month: Annotated[str, Query(pattern=r"^(2\d{3}-(0[1-9]|1[0-2]))?$")] = "",
    ) -> Response:
        """A month in UTC, as the index has it."""
        now = repository.now()
        chosen = datetime.fromisoformat(f"{month}-01T00:00:00+00:00") if month else now
        listing = pages.list(request, repository.audit_of_month(of, chosen), size=20)
        return pages.page(
            request,
            "audit",
            title="Audit log",
            kinds=[(each, KIND_WORDS[each]) for each in KINDS],
            kind=of,
            month=f"{chosen:%Y-%m}",
            month_words=month_and_year(chosen),
            before=_month_from(chosen, -1),
            after=_month_from(chosen, 1) if (chosen.year, chosen.month) < (now.year, now.month) else None,
            subject=SUBJECTS[of],
            listing=listing,
            names=_names(pages, of, [entry.subject_id for entry in listing.items]),
        )

    @router.get("/outbox", dependencies=[Depends(admin)])
    def outbox(request: Request, state: State = "PENDING") -> Response:
        listing: Any = pages.list(request, repository.outbox.in_state(state))
        listing = replace(listing, items=tuple(map(repository.outbox.masked, listing.items)))
        return pages.page(request, "outbox", title="Outbox", states=MESSAGES, state=state, listing=listing)

    @router.get("/outbox/{id}", dependencies=[Depends(admin)])
    def message(request: Request, id: str) -> Response:
        found = repository.outbox.masked(repository.message(id))
        words = dict(MESSAGES)[found.state]
        return pages.page(
            request, "message", title=found.subject or "", crumbs=(Crumb("Outbox", f"{HOME}/outbox"),), mail=found,
            state_words=words,
        )  # fmt: skip


def _names(pages: PortalPages, kind: Kind, ids: list[str]) -> dict[str, str]:
    """The e-mail addresses or names of the changed records, by id."""
    if kind == "tenants":
        return {id: tenant.email for id, tenant in pages.portal.repository.tenants_by_id(ids).items()}
    if kind == "products":
        return {id: product.name for id, product in pages.portal.repository.products_by_id(ids).items()}
    return {}


def _month_from(month: datetime, by: int) -> str:
    index = month.year * 12 + month.month - 1 + by
    return f"{datetime(index // 12, index % 12 + 1, 1, tzinfo=UTC):%Y-%m}"
