"""What a search finds in the portal: for staff tenants, orders, campaigns, products; for everybody what is sold.

Customers and orders by parts of an address, by number or amount, among the newest (systems/portal/search.py says how
many); the lists of both look further. Must hold: who may not read something does not find it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from tablewright.edge import Principal
from tablewright.pages.area import Hit
from tablewright.pages.words import money
from tablewright.systems.portal.api.router import actor_of
from tablewright.systems.portal.errors import PortalMistake
from tablewright.systems.portal.pages.page import CAMPAIGN_WORDS, HOME
from tablewright.systems.portal.pages.products import state_of
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.repository import Actor
from tablewright.systems.portal.search import search_orders, search_tenants

_FEWEST_LETTERS = 2
# A search is asked with every few letters: it looks through fewer than the lists do.
_LOOKED_THROUGH = 200
_HITS = 5


def finder(portal: Portal) -> Callable[[Principal, str], Sequence[Hit]]:
    def search(caller: Principal, text: str) -> Sequence[Hit]:
        wanted = text.strip()
        if len(wanted) < _FEWEST_LETTERS:
            return ()
        if not caller.roles & {"support", "admin"}:
            return tuple(_sold(portal, wanted.casefold()))
        return (
            *_tenants(portal, wanted),
            *_orders(portal, wanted),
            *_campaigns(portal, actor_of(caller), wanted.casefold()),
            *_products(portal, actor_of(caller), wanted.casefold()),
        )

    return search


def _tenants(portal: Portal, text: str) -> Iterator[Hit]:
    for found in search_tenants(portal, text, limit=_LOOKED_THROUGH).items[:_HITS]:
        yield Hit(found.email, f"{HOME}/tenants/{found.id}", f"Customer, {found.status.lower()}")


def _orders(portal: Portal, text: str) -> Iterator[Hit]:
    for found in search_orders(portal, text, limit=_LOOKED_THROUGH).items[:_HITS]:
        about = f"Order, {found.order_status.lower()}, {money(found.total, 'ZAR')}"
        yield Hit(found.order_number, f"{HOME}/orders/{found.order_id}", about)


def _campaigns(portal: Portal, reader: Actor, text: str) -> Iterator[Hit]:
    offers, _ = portal.catalogue.offers(reader, active=None, size=100)
    for offer in offers:
        if text in f"{offer.campaign.code} {offer.campaign.description}".casefold():
            about = f"Campaign, {CAMPAIGN_WORDS[offer.state][0]}. {offer.campaign.description}"
            yield Hit(offer.campaign.code, f"{HOME}/campaigns/{offer.campaign.code}/details", about)


def _products(portal: Portal, reader: Actor, text: str) -> Iterator[Hit]:
    for product in portal.catalogue.products(reader, active=None, size=100).items:
        if text in product.name.casefold() or text == product.id:
            price = money(portal.catalogue.price_now(product), "ZAR")
            yield Hit(
                product.name, f"{HOME}/products/{product.id}", f"Product, {state_of(product)[0]}, {price}"
            )


def _sold(portal: Portal, text: str) -> Iterator[Hit]:
    for product in portal.catalogue.for_sale():
        if text in product.name.casefold():
            price = money(portal.catalogue.price_now(product), "ZAR")
            yield Hit(product.name, f"{HOME}/checkout?plan={product.id}", f"{price}. {product.description}")
    with suppress(PortalMistake):
        offer = portal.catalogue.landing(text)
        if offer.state != "SCHEDULED":
            yield Hit(
                offer.campaign.code, f"{HOME}/campaigns/{offer.campaign.code}", offer.campaign.description
            )
